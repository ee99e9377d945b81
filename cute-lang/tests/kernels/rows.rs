//! Tables of statements, each with what is said of it.

/// Checks that each of the statements has this answer.
#[track_caller]
pub(crate) fn check(rows: &[(&str, &str)], answer: impl Fn(&str) -> String) {
    let wrong: Vec<String> = rows
        .iter()
        .map(|(statements, expected)| (statements, expected, answer(statements)))
        .filter(|(_, expected, found)| found != *expected)
        .map(|(statements, expected, found)| {
            format!("{statements}\n  expected: {expected}\n  found:    {found}")
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
