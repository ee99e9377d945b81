//! Suggestions of names close to one that does not exist.

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

/// Parts of names that do not exist, and what to write instead.
const INSTEAD: &[(&str, &str)] = &[(
    "im2col",
    ": tensor maps are tiled here, and `tma_load` from a coordinate below 0 gives the zeros around a tensor that a convolution needs",
)];

/// The same for a function, which may also be an instruction.
pub(crate) fn function_hint<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    if let Some((_, instead)) = INSTEAD.iter().find(|(part, _)| name.contains(part)) {
        return (*instead).into();
    }
    match hint(name, candidates) {
        none if none.is_empty() => ": `ptx!` emits any instruction".into(),
        found => found,
    }
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
