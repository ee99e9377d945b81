//! Where tokens stand in the files of the source.

use proc_macro2::Span;

extern crate proc_macro;

/// The folders of a package that hold source files.
const FOLDERS: [&str; 4] = ["src", "tests", "examples", "benches"];

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The path known to the compiler, with `/` between its parts. It never begins at the root of the file system.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl Location {
    /// The start of a span. Only the compiler knows it, so it is `None` elsewhere.
    pub(crate) fn of(span: Span) -> Option<Location> {
        if !proc_macro::is_available() {
            return None;
        }
        let span = span.unwrap();
        Some(Location {
            file: relative(&span.file()),
            line: u32::try_from(span.line()).ok()?,
            column: u32::try_from(span.column()).ok()?,
        })
    }

    /// The name of the file, without its folders.
    pub(crate) fn file_name(&self) -> &str {
        self.file.rsplit('/').next().unwrap_or(&self.file)
    }
}

/// A path without parts that differ between machines. For Cargo, files of a workspace have relative paths. The path of another package is
/// absolute; only the part after its own folder is kept: `/home/…/package/src/gemm.rs` is `src/gemm.rs`. Non-ASCII characters become `?`,
/// because ptxas warns about them.
pub(crate) fn relative(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path: String = path
        .chars()
        .map(|c| match c {
            ' '..='~' if c != '"' => c,
            _ => '?',
        })
        .collect();
    let drive = path
        .split('/')
        .next()
        .is_some_and(|start| start.contains(':'));
    if !path.starts_with('/') && !drive {
        return path;
    }
    let parts: Vec<&str> = path.split('/').collect();
    let folder = parts.iter().rposition(|part| FOLDERS.contains(part));
    parts[folder.unwrap_or(parts.len() - 1)..].join("/")
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn paths_do_not_name_the_machine() {
        for (path, kept) in [
            ("cute-kernels/src/gemm.rs", "cute-kernels/src/gemm.rs"),
            ("src\\gemm.rs", "src/gemm.rs"),
            (
                "/home/me/src/package-0.1.0/src/lib/ring.rs",
                "src/lib/ring.rs",
            ),
            ("/home/me/package/tests/a/b.rs", "tests/a/b.rs"),
            ("C:\\package\\src\\gemm.rs", "src/gemm.rs"),
            ("/tmp/build.rs", "build.rs"),
            ("src/\"m\u{fc}\".rs", "src/?m??.rs"),
        ] {
            assert_eq!(relative(path), kept);
        }
    }
}
