//! Evaluates an expression of the layout notation, and draws layouts.
//!
//! ```text
//! cargo run --release --example eval -- "composition((6,2):(8,2), (4,3):(3,1))"
//! cargo run --release --example eval -- "where m % 64 == 0; logical_divide((m,n):(n,1), <64,_>)"
//! cargo run --release --example eval -- --table "(8,8):(8,1)"
//! cargo run --release --example eval -- --svg smem.svg --color-by bank:16 "smem_atom(K, SW128, 16)"
//! cargo run --release --example eval -- --svg mma.svg "tiled_mma(SM80_16x8x16_F32F16F16F32_TN, (1,1,1), _)"
//! ```

use cute_algebra::notation::{
    Expr, ExprKind, MAX_NESTING, Symbolic, eval, eval_layout, eval_symbolic_str, lex, parse,
};
use cute_algebra::operations::{OPERATIONS, Operation};
use cute_algebra::{
    ColorBy, ComposedLayout, Layout, PICTURE_LIMIT, Picture, Swizzle, TiledCopy, TiledMma, Tiler,
    Tiling, Value, print_layout,
};
use std::error::Error;
use std::process::ExitCode;

const USAGE: &str = "\
usage: eval [OPTIONS] EXPRESSION
       eval --help

Prints the value of an expression of the CuTe layout notation, or draws it. Names in it are run-time integers:
`where m % 64 == 0, n >= 2;` in front states facts about them, and each printed `if` line is a condition that the
facts do not settle.

  --table           prints a layout as CuTe's print_layout does
  --svg FILE        writes a picture as SVG
  --latex           prints a picture as a LaTeX document
  --color-by WHAT   what the colours show: value, thread, bank, bank:BITS, tile or rest
  --data LAYOUT     draws which thread holds which element of LAYOUT; the expression maps (thread, value) to them
  --tiler TILER     draws the tiles that TILER makes of the expression
  --help            prints this text and lists the operations";

/// What to do with the value.
enum Output {
    Text,
    Table,
    Svg(String),
    Latex,
}

struct Options {
    output: Output,
    color_by: Option<ColorBy>,
    data: Option<String>,
    tiler: Option<String>,
    expression: String,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{}", help());
            return ExitCode::SUCCESS;
        }
        Err(message) => {
            eprintln!("error: {message}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let message = error.to_string();
            // Errors of the notation begin with `error: ` themselves, since they show the line.
            let prefix = if message.starts_with("error: ") {
                ""
            } else {
                "error: "
            };
            eprintln!("{prefix}{message}");
            ExitCode::FAILURE
        }
    }
}

/// Parses the command line; `None` asks for help. An argument that begins with a single dash is an expression, such as `-3:1`.
fn options(mut arguments: impl Iterator<Item = String>) -> Result<Option<Options>, String> {
    let (mut output, mut color_by, mut data, mut tiler) = (Output::Text, None, None, None);
    let mut expressions = Vec::new();
    while let Some(argument) = arguments.next() {
        let (name, inline) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
            _ => (&argument[..], None),
        };
        let mut value = || {
            let value = inline.clone().or_else(|| arguments.next());
            value.ok_or_else(|| format!("{name} needs a value"))
        };
        match name {
            "--help" | "-h" => return Ok(None),
            "--table" => output = Output::Table,
            "--latex" => output = Output::Latex,
            "--svg" => output = Output::Svg(value()?),
            "--color-by" => {
                let by: Result<ColorBy, _> = value()?.parse();
                color_by = Some(by.map_err(|error| error.to_string())?);
            }
            "--data" => data = Some(value()?),
            "--tiler" => tiler = Some(value()?),
            option if option.starts_with("--") => return Err(format!("unknown option {option}")),
            _ => expressions.push(argument),
        }
    }
    let is_picture = matches!(output, Output::Svg(_) | Output::Latex);
    if !is_picture && (color_by.is_some() || data.is_some() || tiler.is_some()) {
        return Err("--color-by, --data and --tiler need --svg or --latex".to_owned());
    }
    if data.is_some() && tiler.is_some() {
        return Err("--data and --tiler exclude each other".to_owned());
    }
    match <[String; 1]>::try_from(expressions) {
        Ok([expression]) => Ok(Some(Options {
            output,
            color_by,
            data,
            tiler,
            expression,
        })),
        Err(found) => Err(format!("expected one expression, found {}", found.len())),
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let text = &options.expression;
    match &options.output {
        Output::Text => print!("{}", shown(text)?),
        Output::Table => print!("{}", print_layout(value_of(text)?)?),
        Output::Latex => print!("{}", picture(options)?.to_latex()),
        Output::Svg(file) => std::fs::write(file, picture(options)?.to_svg())
            .map_err(|error| format!("cannot write {file}: {error}"))?,
    }
    Ok(())
}

/// The value as text, with an `if` line for each condition on run-time integers that is left to check.
fn shown(text: &str) -> Result<String, String> {
    let Symbolic { scope, value } = eval_symbolic_str(text).map_err(|error| error.render(text))?;
    let mut shown = format!("{value}\n");
    for check in scope.checks() {
        shown += &format!("  if {}\n", check);
    }
    Ok(shown)
}

fn picture(options: &Options) -> Result<Picture, Box<dyn Error>> {
    let text = &options.expression;
    let picture = if let Some(picture) = tiled(text)? {
        picture
    } else {
        let value = value_of(text)?;
        match (&options.data, &options.tiler) {
            (Some(data), _) => Picture::thread_values(&layout(value)?, value_of(data)?)?,
            (_, Some(by)) => tiles(value, &tiler(evaluate(by)?)?)?,
            (None, None) => Picture::new(value)?,
        }
    };
    Ok(match options.color_by {
        Some(by) => picture.color_by(by)?,
        None => picture,
    })
}

/// The picture of a tiled MMA or copy. It is written as a call without its last operand, which would select one of its layouts.
fn tiled(text: &str) -> Result<Option<Picture>, Box<dyn Error>> {
    let expr = parsed(text)?;
    let ExprKind::Call {
        operation, args, ..
    } = &expr.kind
    else {
        return Ok(None);
    };
    let value = |expr: &Expr| eval(expr, &|_| None).map_err(|error| error.render(text));
    let picture = match (&operation[..], &args[..]) {
        ("tiled_mma", [operation, atoms, permutation]) => {
            let (atoms, permutation) = (layout(value(atoms)?)?, tiler(value(permutation)?)?);
            let mma = TiledMma::new(name(operation)?.parse()?, &atoms, &permutation)?;
            Picture::tiled_mma(&mma)?
        }
        ("tiled_copy", [operation, bits, threads, values]) => {
            let Value::Int(bits) = value(bits)? else {
                return Err("expected an integer, the bits of an element".into());
            };
            let (threads, values) = (layout(value(threads)?)?, layout(value(values)?)?);
            let copy = TiledCopy::new(&name(operation)?.parse()?, bits, &threads, &values)?;
            Picture::tiled_copy(&copy)?
        }
        _ => return Ok(None),
    };
    Ok(Some(picture.titled(text)))
}

/// The picture of a tiling, which is ragged if the tiler does not divide the layout.
fn tiles(value: Value, tiler: &Tiler) -> Result<Picture, Box<dyn Error>> {
    let title = format!("{value} / {tiler}");
    let whole = match value {
        Value::Composed(composed) => composed,
        value => ComposedLayout::new(Swizzle::IDENTITY, 0, layout(value)?)?,
    };
    match Tiling::new(&whole, tiler) {
        Ok(tiling) => Ok(Picture::tiling(&tiling)?.titled(title)),
        Err(refused) => match Tiling::ragged(&whole, tiler) {
            Ok(tiling) => Ok(Picture::tiling(&tiling)?.titled(format!("ragged {title}"))),
            Err(_) => Err(refused.into()),
        },
    }
}

fn name(expr: &Expr) -> Result<&str, &'static str> {
    match &expr.kind {
        ExprKind::Name(name) => Ok(name),
        _ => Err("expected the name of an operation"),
    }
}

fn parsed(text: &str) -> Result<Expr, String> {
    let end = text.len()..text.len();
    let tokens = lex(text).map_err(|error| error.render(text))?;
    parse(&tokens, end).map_err(|error| error.render(text))
}

fn evaluate(text: &str) -> Result<Value, String> {
    eval(&parsed(text)?, &|_| None).map_err(|error| error.render(text))
}

/// A layout; a shape alone stands for its column-major layout, as in `layout!`.
fn value_of(text: &str) -> Result<Value, String> {
    eval_layout(&parsed(text)?, &|_| None).map_err(|error| error.render(text))
}

fn layout(value: Value) -> Result<Layout, Box<dyn Error>> {
    match value {
        Value::Layout(layout) => Ok(layout),
        Value::Int(extent) => Ok(Layout::left(extent)?),
        Value::Tuple(shape) => Ok(Layout::left(shape)?),
        other => Err(format!("expected a layout, found {}: {other}", other.kind()).into()),
    }
}

/// A tiler; a shape is a tiler by mode.
fn tiler(value: Value) -> Result<Tiler, Box<dyn Error>> {
    match value {
        Value::Tiler(tiler) => Ok(tiler),
        Value::Layout(layout) => Ok(layout.into()),
        Value::Int(extent) => Ok(Tiler::from_shape(&extent.into())?),
        Value::Tuple(shape) => Ok(Tiler::from_shape(&shape)?),
        other => Err(format!("expected a tiler, found {}: {other}", other.kind()).into()),
    }
}

fn help() -> String {
    let mut text = format!(
        "{USAGE}

A layout is `shape:stride`; the stride may be left out, or be `row` or `col`. `A o B` is A(B(c)), `A then B` is
B(A(c)), `L / T` divides by a tiler such as `<3:3, (2,4):(1,8)>`, `Sw<3,4,3> o L` swizzles, `2@1@0` is a stride along
a coordinate, `ragged` before an operation lets parts hang over the end. Nesting is limited to {MAX_NESTING}.

Pictures have at most {PICTURE_LIMIT} cells. `tiled_mma` and `tiled_copy` without their last operand are drawn as a whole.

operations:
"
    );
    for operation in OPERATIONS {
        let Operation {
            name,
            signature,
            doc,
            ..
        } = operation;
        text.push_str(&format!("  {name}({signature})\n      {doc}\n"));
    }
    text
}
