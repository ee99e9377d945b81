//! The time of a launch in this crate, without the driver's time: the driver does nothing, and the C compiler builds it.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use cute_runtime::Device;

use crate::launch;

/// The argument that asks a process for its launches, on the driver that it finds.
pub(crate) const CHILD: &str = "child";

/// The driver without a GPU of the tests of `cute-runtime`.
const DRIVER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../cute-runtime/tests/fake_cuda/libcuda.c"
);
/// Bytes of the parameters of the product: three tensor maps and four numbers.
const PARAMETERS: &str = "128,128,128,4,4,4,4";

/// Builds the driver, and starts a process that uses it.
pub(crate) fn table() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("driver");
    fs::create_dir_all(&folder)?;
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let built = Command::new(compiler)
        .args(["-O2", "-shared", "-fPIC", "-pthread", "-o"])
        .arg(folder.join("libcuda.so"))
        .arg(DRIVER)
        .status()?;
    if !built.success() {
        return Err(format!("{DRIVER} does not compile: {built}").into());
    }
    let ran = Command::new(env::current_exe()?)
        .arg(CHILD)
        .env("LD_LIBRARY_PATH", &folder)
        .env("FAKE_CUDA_PARAMETERS", PARAMETERS)
        .status()?;
    match ran.success() {
        true => Ok(()),
        false => Err(format!("the process ended with {ran}").into()),
    }
}

/// Measures the launches.
pub(crate) fn child() -> Result<(), Box<dyn Error>> {
    launch::table(&Device::cuda(0)?)
}
