//! The pages of the repository, and those that rustdoc makes: links lead somewhere, and the README's programs are whole.

use std::collections::{HashMap, HashSet};
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

/// A page that is longer begins with links to its sections.
const LONG: usize = 200;
/// Sections at the beginning and at the end, which nobody looks for.
const UNLISTED: &[&str] = &["contents", "from-here", "to-begin"];

#[test]
fn long_pages_begin_with_their_contents() {
    let mut wrong = Vec::new();
    for (page, text) in &pages() {
        // What changed is read from the top, and GitHub lists the sections of the README.
        let is_list = ["CHANGELOG.md", "README.md"].contains(&&*name(page));
        if is_list || text.lines().count() < LONG {
            continue;
        }
        // The contents may have a heading of their own.
        let (head, _) = text.split_once("\n## ").expect("a long page has sections");
        let rest = &text[head.len()..];
        let second = rest[1..]
            .find("\n## ")
            .map_or(text.len(), |at| head.len() + 1 + at);
        let linked: HashSet<&str> = links(&text[..second]).collect();
        for heading in prose(text).filter(|line| line.starts_with("## ")) {
            let anchor = headings(heading).next().expect("a heading");
            if !UNLISTED.contains(&&*anchor) && !linked.contains(&*format!("#{anchor}")) {
                wrong.push(format!("{}: no link to `{heading}`", page.display()));
            }
        }
    }
    wrong.sort();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Words that may begin a line of a block of commands.
const COMMANDS: &[&str] = &[
    "cargo",
    "cd",
    "compute-sanitizer",
    "cute",
    "done",
    "for",
    "ncu",
    "nsys",
    "rustup",
];

/// A comment that is wrapped like prose would take the next command with it.
#[test]
fn lines_of_commands_begin_with_a_command() {
    let mut wrong = Vec::new();
    for (page, text) in &pages() {
        let blocks = text.split("```sh\n").skip(1);
        for block in blocks {
            let (block, _) = block.split_once("```").expect("a block ends");
            let mut continues = false;
            for line in block.lines() {
                let mut words = line
                    .split_whitespace()
                    .skip_while(|word| word.contains('='));
                let is_command = |word: &str| COMMANDS.contains(&word) || word.starts_with(".ci/");
                if !continues && !words.next().is_some_and(is_command) {
                    wrong.push(format!("{}: {line}", page.display()));
                }
                continues = line.ends_with('\\');
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A list that explains a message quotes the parts of the message above it, in their order. `…` stands for the rest of a part.
#[test]
fn explained_parts_of_messages_are_in_the_messages() {
    let mut explained = 0;
    for (page, text) in &pages() {
        let lists = text.split(" message, in their order:\n\n");
        let lists: Vec<&str> = lists.collect();
        for pair in lists.windows(2) {
            let (_, message) = pair[0].rsplit_once("```text\n").expect("a message");
            let (mut message, _) = message.split_once("```").expect("a block ends");
            let items = pair[1].lines().take_while(|line| !line.is_empty());
            for (_, item) in items.filter_map(|line| line.split_once(". `")) {
                let part = item.split(['`', '…']).next().unwrap_or(item);
                let place = message.find(part);
                let place = place.unwrap_or_else(|| panic!("{}: {part}", page.display()));
                message = &message[place + part.len()..];
                explained += 1;
            }
        }
    }
    assert!(explained > 15, "{explained}");
}

/// The pages of `cargo doc`, in the folder that `CUTE_DOC` names, as `.ci/run` does.
#[test]
fn links_of_rustdoc_lead_to_pages_and_headings() {
    let Some(folder) = std::env::var_os("CUTE_DOC").map(PathBuf::from) else {
        return;
    };
    // Beside the crates are the pages of their sources, and files of rustdoc's own.
    let is_ours = |path: &PathBuf| path.join("index.html").is_file() && !path.ends_with("src");
    let crates: Vec<PathBuf> = files(&folder).filter(is_ours).collect();
    assert!(crates.iter().any(|path| path.ends_with("cute_runtime")));
    let mut pages = Vec::new();
    crates
        .iter()
        .for_each(|folder| find_html(folder, &mut pages));

    let mut anchors: HashMap<PathBuf, (bool, HashSet<String>)> = HashMap::new();
    let mut wrong = Vec::new();
    for page in &pages {
        let text = std::fs::read_to_string(page).unwrap();
        for link in values(&text, "href") {
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let path = path.split_once('?').map_or(path, |(path, _)| path);
            // Links of rustdoc itself: into other sites, by scripts, and to methods that are hidden.
            if path.contains("://") || path.contains("${") || anchor.starts_with("tymethod.") {
                continue;
            }
            let mut target = match path {
                "" => page.clone(),
                _ => page.parent().unwrap().join(path),
            };
            if target.is_dir() {
                target.push("index.html");
            }
            let Ok(target) = target.canonicalize() else {
                wrong.push(format!("{}: no file {link}", page.display()));
                continue;
            };
            let is_source = target.starts_with(folder.canonicalize().unwrap().join("src"));
            if anchor.is_empty() || is_source || target.extension().is_none_or(|end| end != "html")
            {
                continue;
            }
            let (leads_on, found) = anchors.entry(target.clone()).or_insert_with(|| {
                let text = std::fs::read_to_string(&target).unwrap();
                // A page for a private path only leads on to where the item is public.
                let leads_on = text.contains("http-equiv=\"refresh\"");
                (leads_on, values(&text, "id").collect())
            });
            if !*leads_on && !found.contains(anchor) {
                wrong.push(format!("{}: no heading {link}", page.display()));
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The values of an attribute, in a page that rustdoc has made.
fn values<'a>(page: &'a str, attribute: &str) -> impl Iterator<Item = String> + 'a {
    let start = format!(" {attribute}=\"");
    let parts: Vec<&str> = page.split(start.as_str()).skip(1).collect();
    parts.into_iter().filter_map(|rest| {
        let (value, _) = rest.split_once('"')?;
        let signs = [
            ("&#39;", "'"),
            ("&quot;", "\""),
            ("&lt;", "<"),
            ("&gt;", ">"),
            ("&amp;", "&"),
        ];
        let plain = |text: String, (sign, character): (&str, &str)| text.replace(sign, character);
        Some(signs.into_iter().fold(value.to_owned(), plain))
    })
}

/// The pages of a folder and of the folders in it.
fn find_html(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in files(folder) {
        if path.is_dir() {
            find_html(&path, found);
        } else if path.extension().is_some_and(|end| end == "html") {
            found.push(path);
        }
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// What is in a folder; nothing if there is no such folder.
fn files(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().path())
}

fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap().canonicalize().unwrap()
}

/// The pages of the root, of `docs` and of the crates.
fn pages() -> HashMap<PathBuf, String> {
    let root = root();
    let mut folders = vec![root.clone()];
    for crate_or_docs in files(&root).filter(|path| path.is_dir() && !path.ends_with("target")) {
        folders.push(crate_or_docs.join("docs"));
        folders.push(crate_or_docs);
    }
    let pages = folders.iter().flat_map(|folder| files(folder));
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
