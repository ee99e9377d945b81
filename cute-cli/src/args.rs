//! The command line.

use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use cute_algebra::ColorBy;
use std::ffi::OsString;

const NOTATION: &str = "\
A layout is `shape:stride`, such as (4,8):(8,1); the stride may be left out, or be `row` or `col`. `A o B` is A(B(c)),
`L / T` divides by a tiler such as <3:3, (2,4):(1,8)>, `Sw<3,4,3> o L` swizzles, and `ragged` before an operation lets
parts hang over the end. Integers may be computed: (BM/2, 8+1). Other names are integers that are known at run time, and
`where m % 64 == 0, n >= 2;` in front states facts about them; where a layout may stand, one in capitals is
written {BM}. `cute operations` lists all operations.

Exit status: 0, 1 for a wrong expression or a failed check, 2 for a wrong command line.";

const PTX: &str = "\
The file has modules of kernels, `#[kernels] mod name { … }`. They import from each other, and layouts from `layout!` in the
file; names from other files and crates are known to rustc alone, except for layouts that `-D NAME=LAYOUT` gives.

This command is a feature of `cute`: cargo install --path cute-cli --features ptx";

/// A calculator for CuTe layouts. Without a command, it evaluates what is typed or piped into it.
#[derive(Parser)]
#[command(name = "cute", version, after_help = NOTATION, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Args, Clone)]
pub(crate) struct Common {
    /// Writes answers and errors as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Defines a name, for example BM=128
    #[arg(short = 'D', long, global = true, value_name = "NAME=EXPR")]
    pub(crate) define: Vec<String>,

    /// Reads a file of definitions and expressions first; `-` is standard input
    #[arg(short, long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Vec<String>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Prints the values of expressions
    Eval(Expressions),
    /// Prints a layout as a table, as CuTe's print_layout does
    Table {
        #[command(flatten)]
        source: Expressions,
        #[command(flatten)]
        slice: SliceOption,
    },
    /// Draws a layout as SVG; with `--data`, which thread holds which element of a tile
    Svg(Drawing),
    /// Draws a layout as a LaTeX document; with `--data`, which thread holds which element of a tile
    Latex(Drawing),
    /// Shows the steps of an expression, each with the rule that allows it
    Explain(Expressions),
    /// Tells whether two layouts are the same function, and where they differ first
    Compare {
        /// A layout
        a: String,
        /// The layout to compare it with
        b: String,
    },
    /// Counts bank conflicts of warps that access a tile of shared memory
    Banks(Access),
    /// Counts sectors and transactions of warps that access a tensor in global memory
    Coalescing(Access),
    /// Checks the expectations in files, such as `size((4,8)) == 32`
    Check {
        /// Files of expectations; `-` is standard input
        #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
        files: Vec<String>,
    },
    /// Prints the PTX of the kernels of a Rust file
    #[command(after_help = PTX, hide = cfg!(not(feature = "ptx")))]
    Ptx(Kernels),
    /// Lists the operations of the notation by groups, each with an example
    Operations {
        /// Lists only the group of this name, and operations whose names contain it
        #[arg(default_value = "")]
        word: String,
    },
    /// Prints a script that completes commands in a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Prints the manual page, of `cute` or of one of its commands
    Man {
        /// The command
        command: Option<String>,
    },
}

#[derive(Args)]
pub(crate) struct Expressions {
    /// Expressions, and definitions such as `A = (4,8):(8,1)`; `-` reads standard input
    #[arg(value_name = "EXPR")]
    pub(crate) expressions: Vec<String>,
}

#[derive(Args)]
pub(crate) struct SliceOption {
    /// Highlights the elements at a coordinate, for example (2,_)
    #[arg(long, value_name = "COORD")]
    pub(crate) slice: Option<String>,
}

#[derive(Args)]
pub(crate) struct Drawing {
    #[command(flatten)]
    pub(crate) source: Expressions,

    /// The file to write; `-` is standard output
    #[arg(short, long, default_value = "-", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: String,

    /// What the colours show: value, thread, bank, bank:BITS, tile or rest
    #[arg(long, value_name = "WHAT")]
    pub(crate) color_by: Option<ColorBy>,

    #[command(flatten)]
    pub(crate) slice: SliceOption,

    /// Draws which thread holds which element of this layout; the expression maps (thread, value) to elements
    #[arg(long, value_name = "LAYOUT", conflicts_with = "tiler")]
    pub(crate) data: Option<String>,

    /// Draws the tiles that a tiler makes of the expression
    #[arg(long, value_name = "TILER")]
    pub(crate) tiler: Option<String>,
}

#[derive(Args)]
pub(crate) struct Access {
    /// The layout of the elements in memory
    pub(crate) layout: String,

    /// Layouts that map (thread, value) to the elements that threads access together: to 1-D coordinates, or, as a fragment's layout
    /// does, to coordinates (strides such as 8@1)
    #[arg(required = true)]
    pub(crate) access: Vec<String>,

    /// The size of an element in bits
    #[arg(short, long, default_value_t = 32)]
    pub(crate) bits: i64,
}

#[derive(Args)]
#[cfg_attr(
    not(feature = "ptx"),
    allow(dead_code, reason = "only the feature reads them")
)]
pub(crate) struct Kernels {
    /// The Rust file; `-` is standard input
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) source: String,

    /// Prints only the instance of this name, such as `copy` or, as `--list` prints it, `kernels::copy`
    pub(crate) instance: Option<String>,

    /// The file to write; `-` is standard output
    #[arg(short, long, default_value = "-", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: String,

    /// Reads only this module of the file, such as `kernels` or `outer::kernels`
    #[arg(long)]
    pub(crate) module: Option<String>,

    /// Lists the instances, with threads, CTAs of a cluster and bytes of shared memory
    #[arg(long)]
    pub(crate) list: bool,
}

/// An argument that begins with a single dash and a digit is an expression, such as `-3:1`. A space before it keeps it from
/// being an option, and means nothing in the notation.
pub(crate) fn expression(argument: OsString) -> OsString {
    match argument.to_str() {
        Some(text)
            if text.starts_with('-') && text[1..].starts_with(|c: char| c.is_ascii_digit()) =>
        {
            format!(" {text}").into()
        }
        _ => argument,
    }
}
