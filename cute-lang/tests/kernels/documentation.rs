//! The reference has the signature of every function of the language, and every function and operation has a page of its own in
//! the documentation of cute-runtime. `UPDATE_EXPECT=1` writes the pages anew.

use cute_algebra::notation::eval_str;
use cute_algebra::operations::{self, Operation};
use cute_lang::kernel::builtins;
use expect_test::expect_file;
use std::collections::BTreeSet;

const WRITTEN: &str = "// The test `documentation` of cute-lang writes this file: UPDATE_EXPECT=1 cargo test -p cute-lang --test kernels -- documentation";

fn reference() -> String {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../cute-runtime/docs/kernel-language.md"
    );
    std::fs::read_to_string(path).expect("the reference of the language")
}

#[test]
fn every_function_is_in_the_reference() {
    let text = reference();
    let missing: Vec<&str> = builtins::signatures()
        .filter(|signature| !text.contains(&format!("`{signature}`")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_function_has_a_page() {
    let reference = reference();
    let tables = tables(&reference);
    let mut signatures: Vec<&str> = builtins::signatures().collect();
    // Those of tensors and of conditions are described where those of layouts are.
    signatures.retain(|signature| ![builtins::RECAST, builtins::SELECT].contains(signature));
    signatures.sort();
    let mut text = format!(
        "//! The functions of the kernel language, for documentation and editors.\n\n{WRITTEN}\n\nuse crate::operations::{{Value, declare, declare_words}};\n\ndeclare! {{\n"
    );
    for signature in signatures {
        let row = tables.iter().find(|row| row.names(signature));
        let row = row.unwrap_or_else(|| panic!("no row of a table has `{signature}`"));
        for line in row.lines() {
            text += &format!(
                "    /// {}\n",
                line.replace("](#", "](crate::kernel_language#")
            );
        }
        text += &format!("    {};\n", declaration(signature));
    }
    text += "}\n\ndeclare_words! {\n";
    for word in builtins::WORDS {
        text += &format!(
            "    /// A word of the kernel language, which selects a form of a function.\n    {word};\n"
        );
    }
    text += "}\n";
    expect_file!["../../../cute-runtime/src/kernel_language/functions.rs"]
        .assert_eq(&text.replace(" \n", "\n"));
}

#[test]
fn every_operation_has_a_page() {
    let mut text = format!(
        "//! The operations of the notation and of the kernel language, one page each.\n\n{WRITTEN}\n\nuse super::{{Value, declare, declare_words}};\n\ndeclare! {{\n"
    );
    let mut operations: Vec<&Operation> = operations::all().collect();
    operations.sort_by_key(|operation| operation.name);
    let mut words = BTreeSet::new();
    for operation in operations {
        let Operation {
            name,
            signature,
            doc,
            example,
            refusal,
            results,
            ragged,
            ..
        } = operation;
        text += &format!("    /// `{name}({signature})`: {doc}.\n");
        if !results.is_empty() {
            text += &format!("    ///\n    /// It gives {}.\n", results.join(", "));
        }
        if let Some(refusal) = refusal {
            text += &format!(
                "    ///\n    /// It is an error if {}: `{}`.\n",
                refusal.when, refusal.example
            );
        }
        if *ragged {
            text += "    ///\n    /// With `ragged` in front, it rounds up, as CuTe does.\n";
        }
        let value = eval_str(example).unwrap_or_else(|error| panic!("{example}: {error}"));
        text += &format!("    ///\n    /// ```text\n    /// {example} = {value}\n    /// ```\n");
        text += &format!("    {};\n", declaration(&format!("{name}({signature})")));
        let choices = (0..7).filter(|index| operation.takes_word(*index));
        let choices = choices.filter_map(|index| signature.split(", ").nth(index));
        words.extend(
            choices
                .filter(|words| words.contains(" | "))
                .flat_map(|words| words.trim_end_matches(']').split(" | ")),
        );
    }
    text += "}\n\ndeclare_words! {\n";
    for word in words.iter().filter(|word| !builtins::WORDS.contains(word)) {
        text += &format!(
            "    /// A word of the notation, which selects a result of an operation.\n    {word};\n"
        );
    }
    text += "}\n";
    expect_file!["../../../cute-runtime/src/operations/functions.rs"].assert_eq(&text);
}

/// `name[T](a, b)`, from a signature.
fn declaration(signature: &str) -> String {
    let (name, arguments) = signature.split_once('(').expect("arguments");
    let arguments = arguments.trim_end_matches(')');
    let arguments = arguments.replace('[', ",").replace(']', "");
    let mut names: Vec<String> = Vec::new();
    for argument in arguments
        .split(',')
        .map(str::trim)
        .filter(|argument| !argument.is_empty())
    {
        let first = argument.split(" | ").next().unwrap_or(argument);
        let name: String = match first {
            "…" => "further".into(),
            _ => first.to_lowercase().replace(' ', "_"),
        };
        let known = names
            .iter()
            .filter(|known| known.trim_end_matches(char::is_numeric) == name)
            .count();
        names.push(if known == 0 {
            name
        } else {
            format!("{name}{}", known + 1)
        });
    }
    let generic = match name.split_once("::<") {
        Some((name, generic)) => format!("{name}[{}]", generic.trim_end_matches('>')),
        None => name.to_string(),
    };
    format!("{generic}({})", names.join(", "))
}

/// A row of a table of the reference.
struct Row<'t> {
    header: Vec<&'t str>,
    cells: Vec<&'t str>,
}

impl<'t> Row<'t> {
    fn names(&self, signature: &str) -> bool {
        self.cells[0].contains(&format!("`{signature}`"))
    }

    /// The text of a page.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (header, cell) in self.header.iter().zip(&self.cells) {
            let cell = cell.replace("\\|", "|");
            if !lines.is_empty() {
                lines.push(String::new());
            }
            let is_first = lines.is_empty();
            lines.push(match self.header.len() {
                _ if is_first => cell,
                2 if header.is_empty() => format!("{}.", sentence(&cell)),
                2 => format!("{}: {}.", sentence(header), cell.trim_end_matches('.')),
                _ => format!("{}: {}.", sentence(header), cell.trim_end_matches('.')),
            });
        }
        lines
    }
}

fn sentence(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// All rows of tables.
fn tables(text: &str) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let mut header: Option<Vec<&str>> = None;
    for line in text.lines() {
        let Some(line) = line.strip_prefix("| ") else {
            if !line.starts_with("|-") {
                header = None;
            }
            continue;
        };
        let line = line.trim_end_matches('|');
        let cells: Vec<&str> = cells(line);
        match &header {
            None => header = Some(cells),
            Some(header) => rows.push(Row {
                header: header.clone(),
                cells,
            }),
        }
    }
    rows
}

/// The cells of a line. A `|` after a backslash is text.
fn cells(line: &str) -> Vec<&str> {
    let mut cells = Vec::new();
    let mut start = 0;
    let bytes = line.as_bytes();
    for at in 0..bytes.len() {
        if bytes[at] == b'|' && bytes[at - 1] != b'\\' {
            cells.push(line[start..at].trim());
            start = at + 1;
        }
    }
    cells.push(line[start..].trim());
    cells
}
