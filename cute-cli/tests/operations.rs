//! `docs/operations.md` lists the operations from their table: `UPDATE_EXPECT=1` writes the list anew.

use cute_algebra::operations::{GROUPS, Group, Operation};
use expect_test::expect_file;
use std::process::Command;

/// The longest line of a page.
const WIDTH: usize = 140;

/// A section with the name of a group has what is written by hand, and from its first heading on the operations of the group.
#[test]
fn the_page_lists_every_operation() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/operations.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut sections = page.split("\n## ");
    let mut written = sections.next().unwrap_or_default().trim_end().to_owned();
    let mut groups = GROUPS.iter();
    for section in sections {
        let (title, text) = section.split_once('\n').unwrap_or((section, ""));
        written += &format!("\n\n## {title}\n\n");
        if title == "All operations" {
            written += &index();
            continue;
        }
        let group = groups.next().expect("no section behind the last group");
        assert_eq!(title, self::title(group), "the sections are the groups");
        let by_hand = text.split("\n### ").next().unwrap_or_default().trim();
        assert!(!by_hand.is_empty(), "{title}");
        written += by_hand;
        for row in group.operations {
            written += &entry(row);
        }
    }
    let left: Vec<_> = groups.map(|group| group.name).collect();
    assert!(left.is_empty(), "no section for {left:?}");
    expect_file!["../../docs/operations.md"].assert_eq(&format!("{}\n", written.trim_end()));
}

/// A row for each group, with links to its operations.
fn index() -> String {
    let mut table = "| group | operations |\n|---|---|\n".to_owned();
    for group in GROUPS {
        let links = group.operations.iter().map(|row| link(row.name));
        let links: Vec<_> = links.collect();
        table += &format!("| {} | {} |\n", link(&title(group)), links.join(", "));
    }
    table.trim_end().to_owned()
}

fn link(heading: &str) -> String {
    format!("[{heading}](#{})", heading.to_lowercase())
}

fn title(group: &Group) -> String {
    let (first, rest) = group.name.split_at(1);
    first.to_uppercase() + rest
}

/// What an operation gives, when it is an error, and an example.
fn entry(row: &Operation) -> String {
    let name = row.name;
    let mut text = format!("`{name}({})` gives {}.", row.signature, row.doc);
    if let Some(refusal) = &row.refusal {
        text += &format!(
            " It is an error if {}: `{}`.",
            refusal.when, refusal.example
        );
    }
    if row.ragged {
        text += &format!(" `ragged {name}` goes on past the end.");
    }
    let lines = wrapped(&text);
    let answer = evaluated(row.example);
    format!(
        "\n\n### {name}\n\n{lines}\n\n```console\n$ cute eval \"{}\"\n{answer}```",
        row.example
    )
}

/// What `cute eval` prints.
fn evaluated(expression: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cute"));
    let output = command.args(["eval", expression]).output().unwrap();
    assert!(output.status.success(), "{expression}");
    String::from_utf8(output.stdout).unwrap()
}

/// The text in lines that fit, with code in one piece.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    let mut word = String::new();
    for part in text.split_inclusive(' ') {
        word += part;
        if word.matches('`').count() % 2 == 1 {
            continue;
        }
        let last = lines.last_mut().expect("a line");
        match last.chars().count() + word.trim_end().chars().count() <= WIDTH {
            true => last.push_str(&word),
            false => lines.push(word.clone()),
        }
        word.clear();
    }
    let lines: Vec<_> = lines.iter().map(|line| line.trim_end()).collect();
    lines.join("\n")
}
