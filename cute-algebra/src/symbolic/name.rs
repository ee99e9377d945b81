//! How the names of run-time integers read in the notation.

/// Whether a text is a name or a path, such as `m` or `sizes::M`. Any other Rust expression is written in braces.
pub(crate) fn is_path(text: &str) -> bool {
    text.split("::").all(|segment| {
        segment.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && segment.chars().all(|c| c.is_alphanumeric() || c == '_')
    })
}

/// Whether a name is an integer also where a layout may stand: it begins with a lower-case letter, as variables of Rust do. For
/// a path, its last segment decides.
pub fn is_integer_name(path: &str) -> bool {
    let last = path.rsplit("::").next().unwrap_or(path);
    last.trim_start_matches('_').starts_with(char::is_lowercase)
}

/// Whether an integer, as text, has a name outside of braces that is no integer where a layout may stand.
pub(super) fn has_layout_name(integer: &str) -> bool {
    let mut depth = 0u32;
    let is_between = |c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 0 || !(c.is_alphanumeric() || matches!(c, '_' | ':'))
    };
    let mut words = integer.split(is_between);
    words.any(|word| {
        word.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && !is_integer_name(word)
            && word != "Sw"
    })
}
