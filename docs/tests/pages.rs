//! The blocks of code of the README and of the guides, used as a reader uses them: each is pasted into a program of a new crate that
//! depends on `cute-runtime` alone, and prints what the `text` block below it says. `UPDATE_EXPECT=1` writes these blocks anew, and
//! `CUTE_PAGES=kernels` tries only pages with that in their names. A `diff` block changes lines of the program above it, and the `text`
//! block below it is what the changed program prints.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A word behind `rust` in the first line of a block, and what its program needs beside `cute-runtime`.
const NEEDS: &[(&str, &str)] = &[
    (
        "kernels",
        "cute-kernels = { path = \"{root}/cute-kernels\" }",
    ),
    ("ndarray", "ndarray = \"*\""),
    ("cudarc", "cute-cudarc = { path = \"{root}/cute-cudarc\" }"),
];

#[test]
fn programs_print_what_the_page_says() {
    let only = std::env::var("CUTE_PAGES").unwrap_or_default();
    let update = std::env::var("UPDATE_EXPECT").is_ok_and(|update| update == "1");
    let mut wrong = String::new();
    let mut tried = 0;
    for path in pages() {
        if !name(&path).contains(&only) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let page = Page::new(&path, &text);
        tried += page.blocks.len();
        let printed: Vec<Result<String, String>> = page.printed();
        if update {
            fs::write(&path, page.rewritten(&text, &printed)).unwrap();
        }
        for (block, printed) in page.blocks.iter().zip(printed) {
            if let Err(error) = printed.and_then(|printed| match update {
                true => Ok(()),
                false => block.compare(&printed),
            }) {
                let _ = writeln!(wrong, "{}:{}: {error}", path.display(), block.line);
            }
        }
    }
    assert!(tried > 0, "no page has a block of code");
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The blocks of a page, and the crate into which they are pasted.
struct Page<'a> {
    name: String,
    blocks: Vec<Block<'a>>,
}

/// A program on a page, and the output that the page shows.
struct Block<'a> {
    /// The number of the line at which the block begins.
    line: usize,
    /// The name of the program, by which no other page has one.
    program: String,
    /// What is written behind the first backquotes.
    words: Vec<&'a str>,
    code: String,
    /// The text below, up to the next program or heading.
    shown: Option<String>,
    /// The lines of the text, or the place where it would be.
    lines: std::ops::Range<usize>,
}

impl<'a> Page<'a> {
    fn new(path: &Path, text: &'a str) -> Self {
        let page = path.file_stem().unwrap().to_string_lossy().to_lowercase();
        let lines: Vec<&str> = text.lines().collect();
        let mut blocks: Vec<Block> = Vec::new();
        let mut at = 0;
        let mut may_show = false;
        while at < lines.len() {
            may_show &= !lines[at].starts_with('#');
            let Some(kind) = lines[at].strip_prefix("```") else {
                at += 1;
                continue;
            };
            let length = lines[at + 1..].iter().position(|line| *line == "```");
            let end = at + 1 + length.expect("a block ends");
            let mut code = lines[at + 1..end].join("\n") + "\n";
            let words: Vec<&str> = kind.split(',').collect();
            if words[0] == "diff" {
                let program = blocks.iter().rfind(|block| block.words[0] == "rust");
                code = changed(&program.expect("a program stands above").code, &code);
            }
            match (words[0], blocks.last_mut()) {
                ("rust" | "diff", _) => {
                    blocks.push(Block {
                        line: at + 1,
                        program: format!("{page}-{}", blocks.len() + 1),
                        words,
                        code,
                        shown: None,
                        lines: end + 1..end + 1,
                    });
                    may_show = true;
                }
                ("text", Some(block)) if may_show => {
                    block.shown = Some(code);
                    block.lines = at..end + 1;
                    may_show = false;
                }
                _ => may_show = false,
            }
            at = end + 1;
        }
        Page { name: page, blocks }
    }

    /// What the programs print, or why one is none.
    fn printed(&self) -> Vec<Result<String, String>> {
        if self.blocks.is_empty() {
            return Vec::new();
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("pages")
            .join(&self.name);
        self.write_crate(&folder);
        // Of what rustc accepts, all is built at once; if something is refused, each program is asked for its own errors.
        let built = cargo(&folder, &["build", "--bins"]).status.success();
        let blocks = self.blocks.iter();
        blocks.map(|block| block.printed(&folder, built)).collect()
    }

    /// Writes a file only if it changed, so that cargo builds no program again that it has.
    fn write_crate(&self, folder: &Path) {
        let mut manifest = format!(
            "[package]\nname = \"{}\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n",
            self.name
        );
        let needed = |word: &str| self.blocks.iter().any(|block| block.words.contains(&word));
        let features: Vec<String> = NEEDS
            .iter()
            .filter(|(word, need)| needed(word) && !need.contains("{root}"))
            .map(|(word, _)| format!("\"{word}\""))
            .collect();
        let root = root();
        let _ = writeln!(
            manifest,
            "cute-runtime = {{ path = \"{}/cute-runtime\", features = [{}] }}",
            root.display(),
            features.join(", ")
        );
        for (_, need) in NEEDS.iter().filter(|(word, _)| needed(word)) {
            let _ = writeln!(
                manifest,
                "{}",
                need.replace("{root}", &root.display().to_string())
            );
        }
        let mut files = vec![
            (folder.join("Cargo.toml"), manifest),
            (
                folder.join("Cargo.lock"),
                fs::read_to_string(root.join("Cargo.lock")).unwrap(),
            ),
        ];
        for kind in ["src/bin", "examples"] {
            fs::create_dir_all(folder.join(kind)).unwrap();
            for entry in fs::read_dir(folder.join(kind)).unwrap() {
                let path = entry.unwrap().path();
                if !self.blocks.iter().any(|block| path == block.file(folder)) {
                    fs::remove_file(path).unwrap();
                }
            }
        }
        for block in &self.blocks {
            files.push((block.file(folder), block.code.clone()));
        }
        for (path, text) in files {
            // Cargo adds this crate to the lock file.
            let is_lock = path.ends_with("Cargo.lock") && path.exists();
            if !is_lock && fs::read_to_string(&path).ok().as_ref() != Some(&text) {
                fs::write(path, text).unwrap();
            }
        }
    }

    /// The page with what its programs print.
    fn rewritten(&self, text: &str, printed: &[Result<String, String>]) -> String {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (block, printed) in self.blocks.iter().zip(printed).rev() {
            let Ok(printed) = printed else { continue };
            if block.compare(printed).is_ok() {
                continue;
            }
            let mut new: Vec<String> = vec!["```text".into()];
            new.extend(printed.lines().map(str::to_owned));
            new.push("```".into());
            if block.shown.is_none() {
                new.insert(0, String::new());
            }
            lines.splice(block.lines.clone(), new);
        }
        lines.join("\n") + "\n"
    }
}

impl Block<'_> {
    /// Whether rustc refuses the program.
    fn is_refused(&self) -> bool {
        self.words.contains(&"compile_fail")
    }

    /// Where the program is pasted. One that is refused lies apart, so that the others are built without it.
    fn file(&self, folder: &Path) -> PathBuf {
        let kind = if self.is_refused() {
            "examples"
        } else {
            "src/bin"
        };
        folder.join(format!("{kind}/{}.rs", self.program))
    }

    fn printed(&self, folder: &Path, built: bool) -> Result<String, String> {
        self.check()?;
        let program = &self.program;
        if self.is_refused() {
            let output = cargo(folder, &["build", "--example", program]);
            if output.status.success() {
                return Err("rustc accepts a program that the page says it refuses".into());
            }
            return Ok(self.in_main(&errors(&output)));
        }
        if !built {
            let output = cargo(folder, &["build", "--bin", program]);
            if !output.status.success() {
                let errors = self.in_main(&errors(&output));
                return Err(format!("rustc refuses the program\n{errors}"));
            }
        }
        let place = folder.join("runs").join(program);
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).unwrap();
        let output = Command::new(target().join("debug").join(program))
            .current_dir(&place)
            .output()
            .unwrap();
        if !output.status.success() {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(format!("the program ends with {}: {error}", output.status));
        }
        pictures(&place)?;
        let printed = self.in_main(&String::from_utf8_lossy(&output.stdout));
        // Markdown has no spaces at the ends of lines.
        Ok(printed
            .lines()
            .fold(String::new(), |all, line| all + line.trim_end() + "\n"))
    }

    /// A message as it would be about `src/main.rs`.
    fn in_main(&self, message: &str) -> String {
        ["src/bin", "examples"]
            .map(|folder| format!("{folder}/{}.rs", self.program))
            .iter()
            .fold(message.to_owned(), |message, file| {
                message.replace(file, "src/main.rs")
            })
    }

    /// What can be seen without running the program.
    fn check(&self) -> Result<(), String> {
        if !self.code.contains("fn main()") {
            return Err("the block is no program: it has no `fn main()`".into());
        }
        if self
            .code
            .lines()
            .any(|line| line == "#" || line.starts_with("# "))
        {
            return Err("the block has a hidden line, which a reader would paste".into());
        }
        for word in &self.words[1..] {
            let is_known = *word == "compile_fail" || NEEDS.iter().any(|(known, _)| known == word);
            if !is_known {
                return Err(format!("`{word}` is no word of a block"));
            }
        }
        for other in [
            "algebra", "chip", "cudarc", "emulator", "kernels", "lang", "ptx",
        ] {
            if self.code.contains(&format!("cute_{other}")) && !self.words.contains(&other) {
                return Err(format!(
                    "the block uses `cute_{other}`, which a reader does not have"
                ));
            }
        }
        Ok(())
    }

    /// Compares what is printed with what the page shows.
    fn compare(&self, printed: &str) -> Result<(), String> {
        let Some(shown) = &self.shown else {
            return Err(match printed.is_empty() {
                true => "the program prints nothing".into(),
                false => format!("the page does not show what the program prints:\n{printed}"),
            });
        };
        let is_equal = match self.is_refused() {
            true => printed.contains(shown),
            false => printed == shown,
        };
        match is_equal {
            true => Ok(()),
            false => Err(format!("the program prints\n{printed}")),
        }
    }
}

/// A program with the changes of a `diff` block: each line with `-` is one line of the program, and lines with `+` are put in its place.
fn changed(program: &str, diff: &str) -> String {
    let mut lines: Vec<&str> = program.lines().collect();
    let mut place = 0;
    for line in diff.lines() {
        if let Some(removed) = line.strip_prefix('-') {
            let found: Vec<usize> = (0..lines.len())
                .filter(|&at| lines[at] == removed)
                .collect();
            assert_eq!(found.len(), 1, "lines `{removed}`");
            place = found[0];
            lines.remove(place);
        } else {
            lines.insert(place, line.strip_prefix('+').expect("`+` or `-`"));
            place += 1;
        }
    }
    lines.join("\n") + "\n"
}

/// What rustc says, from the first error on.
fn errors(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines = text.lines().skip_while(|line| !line.starts_with("error"));
    let lines = lines.take_while(|line| !line.starts_with("error: could not compile"));
    let errors = lines.fold(String::new(), |all, line| all + line.trim_end() + "\n");
    errors.trim_end().to_owned() + "\n"
}

/// Compares the pictures that a program wrote with those of the pages.
fn pictures(place: &Path) -> Result<(), String> {
    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "svg") {
            continue;
        }
        let kept = root().join("docs/pictures").join(name(&path));
        let drawn = fs::read_to_string(&path).unwrap();
        if std::env::var("UPDATE_EXPECT").is_ok_and(|update| update == "1") {
            fs::write(&kept, &drawn).unwrap();
        }
        if fs::read_to_string(&kept).ok() != Some(drawn) {
            return Err(format!(
                "the program draws another {} than docs/pictures has",
                name(&path)
            ));
        }
    }
    Ok(())
}

/// Runs cargo on the crate of a page. The crates share what they build.
fn cargo(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(arguments)
        .args(["--quiet", "--offline", "--color=never"]);
    command
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target());
    command.output().unwrap()
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages/target")
}

/// The README and the guides.
fn pages() -> Vec<PathBuf> {
    let guides = fs::read_dir(root().join("docs")).unwrap();
    let guides = guides.map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = guides
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap().to_owned()
}
