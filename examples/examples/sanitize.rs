//! Runs kernels on the emulator under many schedules, and reports what is wrong with them.
//!
//! ```text
//! cargo run --release --features sanitize --example sanitize -- gemm
//! cargo run --release --features sanitize --example sanitize -- --schedules 100 --json report.json all
//! cargo run --release --features sanitize --example sanitize -- --shape 520,200,384 --trace gemm.json gemm
//! cargo run --release --features sanitize --example sanitize -- launch.json
//! ```

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    ExitCode::from(cute_examples::sanitize::main(
        arguments,
        &mut std::io::stdout(),
    ))
}
