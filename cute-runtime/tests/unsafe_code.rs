//! Compares SECURITY.md's table of where `unsafe` is used with the sources.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[test]
fn unsafe_is_where_the_documentation_says() {
    let workspace = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut found = BTreeMap::new();
    count_in(workspace, workspace, &mut found);
    let security = fs::read_to_string(workspace.join("SECURITY.md")).expect("SECURITY.md");
    assert_eq!(found, table(&security), "(found, then SECURITY.md)");
}

/// Every crate without a row in the table forbids the keyword.
#[test]
fn other_crates_forbid_it() {
    let workspace = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let security = fs::read_to_string(workspace.join("SECURITY.md")).expect("SECURITY.md");
    let named = table(&security);
    let mut forbidding = 0;
    for entry in fs::read_dir(workspace).expect("the workspace") {
        let folder = entry.expect("an entry").path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let Ok(library) = fs::read_to_string(folder.join("src/lib.rs")) else {
            continue;
        };
        let uses = named
            .keys()
            .any(|file| file.starts_with(&format!("{name}/src/")));
        let forbids = library.contains("#![forbid(unsafe_code)]");
        assert!(
            uses || forbids,
            "{name} neither forbids unsafe code nor is in the table"
        );
        forbidding += usize::from(forbids);
    }
    assert!(forbidding >= 5, "{forbidding} crates forbid unsafe code");
}

/// The rows `| file | count | reason |` of SECURITY.md.
fn table(security: &str) -> BTreeMap<String, usize> {
    let rows = security.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let file = cells.next()?.trim().trim_end_matches('`');
        let count = cells.next()?.trim().parse().ok()?;
        let reason = cells.next()?.trim();
        assert!(!reason.is_empty(), "{file} has no reason");
        Some((file.to_owned(), count))
    });
    rows.collect()
}

/// How often the keyword occurs in each Rust file below a folder that has it, by the file's path in the workspace.
fn count_in(workspace: &Path, folder: &Path, found: &mut BTreeMap<String, usize>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            // The cases of trybuild must not compile, so they are not code of the workspace.
            if name != "target" && name != "ui" && !name.starts_with('.') {
                count_in(workspace, &path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).expect("a source file");
            // A file that does not parse, such as a case of trybuild, has no keywords to count.
            let count = source.parse().map_or(0, count);
            if count > 0 {
                let relative = path.strip_prefix(workspace).expect("a file inside");
                found.insert(relative.to_string_lossy().replace('\\', "/"), count);
            }
        }
    }
}

/// How often the keyword occurs in code, outside comments and strings.
fn count(tokens: TokenStream) -> usize {
    let in_tree = |tree: TokenTree| match tree {
        TokenTree::Group(group) => count(group.stream()),
        TokenTree::Ident(ident) => usize::from(ident == "unsafe"),
        _ => 0,
    };
    tokens.into_iter().map(in_tree).sum()
}
