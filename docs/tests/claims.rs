//! `docs/claims.md`, which says for each statement of the README which check would fail if it became untrue: the words that it quotes
//! are those of the README, the checks that it names exist, and no sentence, row or program of the README is left out.

use std::path::{Path, PathBuf};

/// The section of `docs/claims.md` with sentences that cannot become untrue.
const NO_CLAIM: &str = "Sentences without a claim";

#[test]
fn quoted_words_are_those_of_the_readme() {
    let readme = sections(&read("README.md"));
    let mut wrong = Vec::new();
    for (title, page) in sections(&read("docs/claims.md")) {
        let text = match readme.iter().find(|(of_readme, _)| *of_readme == title) {
            Some((_, text)) => plain(text),
            // Sentences of any section.
            None if title == NO_CLAIM => plain(&read("README.md")),
            None if rows(&page).next().is_none() => continue,
            None => panic!("the README has no section `{title}`"),
        };
        let quotes = match title == NO_CLAIM {
            true => quotes(&page),
            false => rows(&page).flat_map(|row| quotes(row.words)).collect(),
        };
        assert!(!quotes.is_empty(), "`{title}` quotes nothing");
        for quote in quotes {
            if !text.contains(&quote) {
                wrong.push(format!("`{title}` of the README does not say: {quote}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whoever adds a sentence to the README names the check that holds it.
#[test]
fn nothing_of_the_readme_is_left_out() {
    let claims = sections(&read("docs/claims.md"));
    let no_claim = claims.iter().find(|(title, _)| title == NO_CLAIM);
    let no_claim = quotes(&no_claim.expect("the sentences without a claim").1);
    let mut missing = Vec::new();
    for (title, text) in sections(&read("README.md")) {
        let page = claims.iter().find(|(of_claims, _)| *of_claims == title);
        let page = page.map_or("", |(_, page)| page.as_str());
        let mut quotes: Vec<String> = rows(page).flat_map(|row| quotes(row.words)).collect();
        if quotes.is_empty() {
            missing.push(format!("no row for the section `{title}`"));
        }
        quotes.extend(no_claim.iter().cloned());
        for part in parts(&text) {
            let told = |quote: &String| part.contains(quote) || quote.contains(&part);
            if !quotes.iter().any(told) {
                missing.push(format!("`{title}`: {part}"));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "docs/claims.md has no row for\n{}",
        missing.join("\n")
    );
}

/// A test is named by its file and its function, and a command by the files that it runs.
#[test]
fn checks_are_in_the_tree() {
    let mut wrong = Vec::new();
    let mut tests = 0;
    for (title, page) in sections(&read("docs/claims.md")) {
        for row in rows(&page) {
            let named: Vec<&str> = row.checks.split('`').skip(1).step_by(2).collect();
            if named.is_empty() {
                wrong.push(format!("`{title}`: no check for {}", row.words));
            }
            if row.seen.is_empty() {
                wrong.push(format!("`{title}`: was {} seen to fail?", row.words));
            }
            for check in named {
                tests += usize::from(check.contains("::"));
                if let Err(error) = find(check) {
                    wrong.push(format!("`{title}`: {check}: {error}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tests > 50, "{tests} tests are named");
}

/// A row of a table of `docs/claims.md`.
struct Row<'a> {
    /// Words of the README in quotation marks.
    words: &'a str,
    /// Tests and commands in backquotes.
    checks: &'a str,
    /// How the check was seen to fail.
    seen: &'a str,
}

fn rows(page: &str) -> impl Iterator<Item = Row<'_>> {
    page.lines().filter_map(|line| {
        let cells = line
            .strip_prefix("| ")
            .filter(|cells| cells.starts_with('"'))?;
        let cells: Vec<&str> = cells.strip_suffix('|')?.split(" | ").collect();
        let [words, checks, seen] = cells[..] else {
            panic!("a row has three cells: {line}");
        };
        Some(Row {
            words,
            checks: checks.trim(),
            seen: seen.trim(),
        })
    })
}

/// What stands in quotation marks.
fn quotes(text: &str) -> Vec<String> {
    text.split('"').skip(1).step_by(2).map(plain).collect()
}

/// Whether a test, a file or a command is there.
fn find(check: &str) -> Result<(), String> {
    if let Some((file, name)) = check.split_once("::") {
        let text = text_of(file)?;
        let names = [format!("fn {name}("), format!("{name}: \"")];
        return match names.iter().any(|name| text.contains(name)) {
            true => Ok(()),
            false => Err(format!("{file} has no `{name}`")),
        };
    }
    let mut words = check.split_whitespace().skip_while(|word| {
        // Variables of the environment.
        word.contains('=') && !word.starts_with('-')
    });
    let program = words.next().ok_or("no command")?;
    if program != "cargo" {
        return text_of(program).map(drop);
    }
    let words: Vec<&str> = words.collect();
    let after = |flag: &str| {
        let place = words.iter().position(|word| *word == flag);
        place.and_then(|place| words.get(place + 1)).copied()
    };
    let package = after("-p").unwrap_or("examples");
    if !root().join(package).join("Cargo.toml").is_file() {
        return Err(format!("no package {package}"));
    }
    for (flag, folder) in [("--example", "examples"), ("--bench", "benches")] {
        if let Some(name) = after(flag) {
            let place = root().join(package).join(folder).join(name);
            if !place.join("main.rs").is_file() && !place.with_extension("rs").is_file() {
                return Err(format!("{package} has no {name}"));
            }
        }
    }
    Ok(())
}

/// The text of a file; nothing for a folder.
fn text_of(path: &str) -> Result<String, String> {
    let path = root().join(path);
    match path.is_dir() {
        true => Ok(String::new()),
        false => std::fs::read_to_string(&path).map_err(|error| error.to_string()),
    }
}

/// The sections of a page by their headings.
fn sections(page: &str) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = Vec::new();
    let mut in_code = false;
    for line in page.lines() {
        in_code ^= line.starts_with("```");
        let heading = line.strip_prefix("# ").or(line.strip_prefix("## "));
        match (heading, sections.last_mut()) {
            (Some(heading), _) if !in_code => sections.push((heading.to_owned(), String::new())),
            (_, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            _ => assert!(line.is_empty(), "before the first heading: {line}"),
        }
    }
    sections
}

/// The sentences, rows of tables and blocks of code of a section.
fn parts(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut paragraph = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let item = ["- ", "1. ", "2. ", "3. "];
        let item = item.iter().find_map(|mark| line.strip_prefix(mark));
        let is_code = line.starts_with("```");
        let apart = line.is_empty() || line.starts_with(['|', '<']) || is_code || item.is_some();
        if apart {
            parts.extend(sentences(&std::mem::take(&mut paragraph)));
        }
        if is_code {
            let block: Vec<&str> = lines
                .by_ref()
                .take_while(|line| !line.starts_with("```"))
                .collect();
            parts.push(plain(&block.join("\n")));
        } else if line.starts_with('|') {
            let is_rule = |line: &str| line.starts_with("|---");
            // The line above a rule is the head of the table.
            let is_head = lines.peek().is_some_and(|next| is_rule(next));
            if !is_rule(line) && !is_head {
                parts.push(plain(line));
            }
        } else if !line.starts_with('<') {
            paragraph.push_str(item.unwrap_or(line));
            paragraph.push('\n');
        }
    }
    parts.extend(sentences(&paragraph));
    parts
}

/// The sentences of a paragraph. One ends with a full stop before a space and a new beginning.
fn sentences(paragraph: &str) -> Vec<String> {
    let text = plain(paragraph);
    let mut sentences = Vec::new();
    let mut start = 0;
    for (place, _) in text.match_indices(". ") {
        let next = text[place + 2..].chars().next();
        if next.is_some_and(|next| next.is_uppercase() || next == '`') {
            sentences.push(text[start..=place].to_owned());
            start = place + 2;
        }
    }
    sentences.push(text[start..].to_owned());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// A text without the targets of its links, without bold type, and with single spaces.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let (target, behind) = after.split_once(')').unwrap_or(("", after));
        // Brackets of code, as in `tiles[(_, block)](…)`, would be followed by no path.
        let is_link = !target.contains(' ') && before.contains('[');
        match (is_link, before.rsplit_once('[')) {
            (true, Some((head, shown))) => {
                plain += head;
                plain += shown;
                rest = behind;
            }
            _ => {
                plain += before;
                plain += "](";
                rest = after;
            }
        }
    }
    plain += rest;
    let plain = plain.replace("**", "");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn read(page: &str) -> String {
    std::fs::read_to_string(root().join(page)).unwrap()
}

fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap().to_owned()
}
