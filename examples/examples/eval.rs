//! Evaluates an expression of the layout notation.
//!
//! ```text
//! cargo run --release --example eval -- "composition((6,2):(8,2), (4,3):(3,1))"
//! cargo run --release --example eval -- --table "(8,8):(8,1)"
//! ```

use cute_algebra::notation::{MAX_NESTING, NotationError, eval_layout, lex, parse};
use cute_algebra::operations::{OPERATIONS, Operation};
use cute_algebra::{PRINT_LIMIT, Value, print_layout};
use std::process::ExitCode;

const USAGE: &str = "\
usage: eval [--table] EXPRESSION
       eval --help

Prints the value of an expression of the CuTe layout notation.

  --table   a layout as CuTe's print_layout prints it
  --help    this text and the operations";

fn main() -> ExitCode {
    let mut table = false;
    let mut expressions = Vec::new();
    for argument in std::env::args().skip(1) {
        match &argument[..] {
            "--help" | "-h" => {
                println!("{}", help());
                return ExitCode::SUCCESS;
            }
            "--table" => table = true,
            option if option.starts_with("--") => {
                eprintln!("error: unknown option {option}\n\n{USAGE}");
                return ExitCode::from(2);
            }
            _ => expressions.push(argument),
        }
    }
    let [expression] = &expressions[..] else {
        eprintln!(
            "error: expected one expression, found {}\n\n{USAGE}",
            expressions.len()
        );
        return ExitCode::from(2);
    };
    match evaluate(expression) {
        Ok(value) => {
            match table {
                true => print_table(&value),
                false => println!("{value}"),
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}", error.render(expression));
            ExitCode::FAILURE
        }
    }
}

/// A shape alone is its layout with the leftmost mode fastest, as in `layout!`.
fn evaluate(text: &str) -> Result<Value, NotationError> {
    let end = text.len()..text.len();
    eval_layout(&parse(&lex(text)?, end)?, &|_| None)
}

fn print_table(value: &Value) {
    match print_layout(value) {
        Some(table) => print!("{table}"),
        None => {
            println!("{value}");
            eprintln!(
                "no table of {}, or of more than {PRINT_LIMIT} cells",
                value.kind()
            );
        }
    }
}

fn help() -> String {
    let mut text = format!(
        "{USAGE}

A layout is `shape:stride`; the stride may be left out, or be `row` or `col`. `A o B` is A(B(c)), `A then B` is
B(A(c)), `L / T` divides by a tiler such as `<3:3, (2,4):(1,8)>`, `Sw<3,4,3> o L` swizzles, `2@1@0` is a stride along
a coordinate, `ragged` before an operation lets parts hang over the end. Nesting is limited to {MAX_NESTING}.

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
