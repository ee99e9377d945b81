//! Patterns of mnemonics: compiled once, matched word by word.

use super::rows;

/// A part of a pattern.
#[derive(Debug)]
pub(super) enum Piece {
    Word(String),
    Choice {
        name: Option<String>,
        alternatives: Vec<Vec<Piece>>,
    },
}

type Bound = Vec<(String, String)>;

/// Takes a pattern of the table apart.
pub(super) fn compile(pattern: &str) -> Vec<Piece> {
    let mut rest = pattern;
    let pieces = sequence(&mut rest);
    assert!(rest.is_empty(), "unbalanced braces in {pattern}");
    pieces
}

/// What the words bind, if the pattern covers all of them.
pub(super) fn matches(pieces: &[Piece], words: &[&str]) -> Option<Bound> {
    let mut failures = Failures::default();
    let states = advance(pieces, words, vec![(0, Vec::new())], &mut failures);
    states
        .into_iter()
        .find(|(end, _)| *end == words.len())
        .map(|(_, bound)| bound)
}

/// How many words the pattern covers at most, and what it expects next.
pub(super) fn furthest(pieces: &[Piece], words: &[&str]) -> (usize, Vec<String>) {
    let mut failures = Failures::default();
    let states = advance(pieces, words, vec![(0, Vec::new())], &mut failures);
    match states.into_iter().map(|(end, _)| end).max() {
        // The pattern ends where the mnemonic goes on.
        Some(end) if end > failures.at => (end, Vec::new()),
        _ => (failures.at, failures.expected),
    }
}

/// Mnemonics in which each alternative of each choice occurs at least once.
pub(super) fn samples(pieces: &[Piece]) -> Vec<String> {
    (0..variety(pieces))
        .map(|index| {
            let mut words = Vec::new();
            pick(pieces, index, &mut words);
            words.join(".")
        })
        .collect()
}

fn sequence(rest: &mut &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    while !rest.is_empty() && !rest.starts_with(['|', '}']) {
        if let Some(inner) = rest.strip_prefix('{') {
            *rest = inner;
            pieces.push(choice(rest));
            continue;
        }
        let (text, after) = rest.split_at(rest.find(['{', '}', '|']).unwrap_or(rest.len()));
        *rest = after;
        pieces.extend(
            text.split('.')
                .filter(|word| !word.is_empty())
                .map(|word| Piece::Word(word.to_owned())),
        );
    }
    pieces
}

/// What follows an opening brace.
fn choice(rest: &mut &str) -> Piece {
    let name = rest
        .split_once('=')
        .map(|(name, _)| name)
        .filter(|name| !name.contains(['{', '}', '|', '.']));
    if let Some(name) = name {
        *rest = &rest[name.len() + 1..];
    }
    let mut alternatives = alternatives(rest);
    assert!(rest.starts_with('}'), "unbalanced braces before {rest}");
    *rest = &rest[1..];
    if let Some(after) = rest.strip_prefix('?') {
        *rest = after;
        alternatives.push(Vec::new());
    }
    Piece::Choice {
        name: name.map(str::to_owned),
        alternatives,
    }
}

fn alternatives(rest: &mut &str) -> Vec<Vec<Piece>> {
    let mut found = Vec::new();
    loop {
        let alternative = sequence(rest);
        let class = match alternative.as_slice() {
            [Piece::Word(word)] => rows::class(word),
            _ => None,
        };
        match class {
            Some(class) => found.extend(alternatives(&mut class.as_str())),
            None => found.push(alternative),
        }
        match rest.strip_prefix('|') {
            Some(after) => *rest = after,
            None => return found,
        }
    }
}

#[derive(Default)]
struct Failures {
    at: usize,
    expected: Vec<String>,
}

impl Failures {
    fn note(&mut self, at: usize, word: &str) {
        if at > self.at {
            self.at = at;
            self.expected.clear();
        }
        if at == self.at {
            self.expected.push(word.to_owned());
        }
    }
}

/// Every way in which the pieces go on from the states: how many words are covered, and what they bind.
fn advance(
    pieces: &[Piece],
    words: &[&str],
    mut states: Vec<(usize, Bound)>,
    failures: &mut Failures,
) -> Vec<(usize, Bound)> {
    for piece in pieces {
        let mut next = Vec::new();
        for (at, bound) in states {
            match piece {
                Piece::Word(word) if words.get(at) == Some(&word.as_str()) => {
                    next.push((at + 1, bound))
                }
                Piece::Word(word) => failures.note(at, word),
                Piece::Choice { name, alternatives } => {
                    for alternative in alternatives {
                        for (end, mut bound) in
                            advance(alternative, words, vec![(at, bound.clone())], failures)
                        {
                            if let Some(name) = name.as_ref().filter(|_| end > at) {
                                bound.push((name.clone(), words[at..end].join(".")));
                            }
                            next.push((end, bound));
                        }
                    }
                }
            }
        }
        states = next;
    }
    states
}

/// How many samples show every alternative.
fn variety(pieces: &[Piece]) -> usize {
    let of = |piece: &Piece| match piece {
        Piece::Word(_) => 1,
        Piece::Choice { alternatives, .. } => {
            alternatives.len()
                * alternatives
                    .iter()
                    .map(|alternative| variety(alternative))
                    .max()
                    .unwrap_or(1)
        }
    };
    pieces.iter().map(of).max().unwrap_or(1)
}

fn pick(pieces: &[Piece], index: usize, words: &mut Vec<String>) {
    for piece in pieces {
        match piece {
            Piece::Word(word) => words.push(word.clone()),
            Piece::Choice { alternatives, .. } => {
                let count = alternatives.len();
                pick(&alternatives[index % count], index / count, words);
            }
        }
    }
}
