//! Suggestions of names close to one that does not exist.

use super::elsewhere::function_elsewhere;

/// `": did you mean …?"`, or nothing.
pub(crate) fn hint<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    // Up to a third of the letters may be wrong: enough for a mistyped name, too few for another word.
    let limit = name.chars().count().div_ceil(3);
    let mut found: Vec<(usize, &str)> = candidates
        .map(|other| (distance(name, other), other))
        .filter(|(distance, _)| *distance <= limit)
        .collect();
    found.sort_unstable();
    found.dedup();
    let names: Vec<String> = found
        .iter()
        .take(3)
        .map(|(_, name)| format!("`{name}`"))
        .collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(": did you mean {}?", names.join(" or "))
    }
}

/// A suggestion for the name of a function that does not exist.
pub(crate) fn function_hint<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    if let Some(here) = function_elsewhere(name) {
        return here;
    }
    let candidates: Vec<&str> = candidates.collect();
    match hint(name, candidates.iter().copied()) {
        none if none.is_empty() => {
            let opcode = name.replace('_', ".");
            let is_opcode =
                |pattern: &str| pattern.split(['.', '{', '[']).next() == opcode.split('.').next();
            match with_these_words(name, &candidates) {
                None if cute_ptx::table::rows().any(|(_, row)| is_opcode(row.pattern)) => {
                    format!(": `ptx!(\"{opcode}…\", …)` is an instruction")
                }
                found => found.unwrap_or_default(),
            }
        }
        found => found,
    }
}

/// The functions that share the most words with a name such as `arrive_and_expect_tx`: at least two words, or the only word of a function.
fn with_these_words(name: &str, candidates: &[&str]) -> Option<String> {
    let words: Vec<&str> = name.split('_').filter(|word| word.len() > 1).collect();
    let in_common = |other: &str| {
        let all = other.split('_').filter(|word| word.len() > 1).count();
        let common = other.split('_').filter(|word| words.contains(word)).count();
        if common == all || common > 1 {
            common
        } else {
            0
        }
    };
    let most = candidates
        .iter()
        .map(|other| in_common(other))
        .max()
        .filter(|most| *most > 0)?;
    let mut found: Vec<&str> = candidates
        .iter()
        .copied()
        .filter(|other| in_common(other) == most)
        .collect();
    found.sort_unstable();
    found.dedup();
    let names: Vec<String> = found
        .iter()
        .take(3)
        .map(|name| format!("`{name}`"))
        .collect();
    Some(format!(": did you mean {}?", names.join(" or ")))
}

/// The Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
