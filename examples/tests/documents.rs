//! The pages of the repository: links lead somewhere, and the README's programs are whole.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

#[test]
fn links_lead_to_files_and_headings() {
    let pages: HashMap<PathBuf, String> = pages();
    assert!(pages.len() > 20, "{}", pages.len());
    let mut wrong = Vec::new();
    for (page, text) in &pages {
        for link in links(text) {
            if link.contains("://") {
                continue;
            }
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => page.clone(),
                _ => page.parent().unwrap().join(path),
            };
            let Ok(target) = target.canonicalize() else {
                wrong.push(format!("{}: no file {link}", page.display()));
                continue;
            };
            let found = |text: &String| headings(text).any(|found| found == heading);
            if !heading.is_empty() && !pages.get(&target).is_some_and(found) {
                wrong.push(format!("{}: no heading {link}", page.display()));
            }
        }
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whoever pastes a block of the README into `main.rs` of a new crate has a program.
#[test]
fn blocks_of_the_readme_are_programs() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let blocks: Vec<&str> = text.split("\n```rust\n").skip(1).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let (block, _) = block.split_once("\n```").unwrap();
        assert!(block.contains("\nfn main()"), "{block}");
        let hidden = block.lines().any(|line| line.starts_with("# "));
        assert!(!hidden, "{block}");
    }
}

fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap().canonicalize().unwrap()
}

/// The pages of the root, of `docs` and of the crates.
fn pages() -> HashMap<PathBuf, String> {
    let root = root();
    let files = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path())
    };
    let mut folders = vec![root.clone()];
    for crate_or_docs in files(root).filter(|path| path.is_dir() && !path.ends_with("target")) {
        folders.push(crate_or_docs.join("docs"));
        folders.push(crate_or_docs);
    }
    let pages = folders.into_iter().flat_map(files);
    pages
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path.canonicalize().unwrap(), text)
        })
        .collect()
}

/// The targets of `[…](target)`, of pictures too, and of `src="target"`, outside of code.
fn links(page: &str) -> impl Iterator<Item = &str> {
    let prose = prose(page);
    let inline = prose.clone().flat_map(|line| line.split("](").skip(1));
    let inline = inline.filter_map(|rest| rest.split_once(')'));
    let html = prose.flat_map(|line| line.split("src=\"").skip(1));
    let html = html.filter_map(|rest| rest.split_once('"'));
    inline.chain(html).map(|(target, _)| target)
}

/// The names by which links refer to headings: lower case, without punctuation, with `-` for spaces.
fn headings(page: &str) -> impl Iterator<Item = String> {
    let headings = prose(page).filter(|line| line.starts_with('#'));
    headings.map(|line| {
        let title = line.trim_start_matches('#').trim();
        let kept = title
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| {
            if c == ' ' {
                '-'
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect()
    })
}

/// The lines that are not in blocks of code.
fn prose(page: &str) -> impl Iterator<Item = &str> + Clone {
    page.split("\n```").step_by(2).flat_map(str::lines)
}
