//! The patterns of mnemonics: compiled, and matched against the words of a mnemonic or against modifiers.

use super::modifier::Modifier;
use super::rows;

/// A part of a pattern.
#[derive(Debug)]
pub(super) enum Piece {
    /// A word outside braces, which every mnemonic has.
    Fixed(String),
    /// A word in braces, as a modifier and as text.
    Modifier(Modifier, String),
    /// A choice in braces, and the name that it binds, if any.
    Choice {
        name: Option<String>,
        alternatives: Vec<Vec<Piece>>,
    },
}

/// The input of a match.
#[derive(Clone, Copy, Debug)]
pub(super) enum Input<'a> {
    /// All words of a mnemonic.
    Words(&'a [&'a str]),
    /// The modifiers of a mnemonic; fixed words between them match nothing and are added to the path.
    Modifiers(&'a [Modifier]),
}

impl Input<'_> {
    fn len(self) -> usize {
        match self {
            Input::Words(words) => words.len(),
            Input::Modifiers(modifiers) => modifiers.len(),
        }
    }

    /// The element of this index, as text.
    pub(super) fn text(self, at: usize) -> Option<String> {
        match self {
            Input::Words(words) => words.get(at).map(|word| (*word).to_owned()),
            Input::Modifiers(modifiers) => modifiers.get(at).map(Modifier::to_string),
        }
    }
}

/// The modifiers that a pattern binds to names.
#[derive(Clone, Debug, Default)]
pub(super) struct Named(Vec<(String, Modifier)>);

impl Named {
    pub(super) fn get(&self, name: &str) -> Option<Modifier> {
        let found = self.0.iter().find(|(bound, _)| bound == name);
        found.map(|(_, modifier)| *modifier)
    }
}

/// A sequence of choices in a pattern, and its match.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    /// How many elements of the input are matched.
    at: usize,
    pub(super) words: Vec<String>,
    pub(super) modifiers: Vec<Modifier>,
    pub(super) named: Named,
}

/// The longest match of an input's beginning, for the error if nothing matches the whole input.
#[derive(Debug, Default)]
pub(super) struct Furthest {
    /// How many elements of the input are matched.
    pub(super) at: usize,
    /// The words of the mnemonic up to that point.
    pub(super) words: Vec<String>,
    /// The words that could follow.
    pub(super) expected: Vec<String>,
}

impl Furthest {
    fn note(&mut self, path: &Path, expected: Option<&str>) {
        if path.at > self.at || self.words.is_empty() {
            *self = Furthest {
                at: path.at,
                words: path.words.clone(),
                expected: Vec::new(),
            };
        }
        if path.at == self.at {
            self.expected.extend(expected.map(str::to_owned));
        }
    }
}

/// Compiles a pattern of the table.
pub(super) fn compile(pattern: &str) -> Vec<Piece> {
    let mut rest = pattern;
    let pieces = sequence(&mut rest, 0);
    assert!(rest.is_empty(), "unbalanced braces in {pattern}");
    pieces
}

/// The path through the pattern that matches the whole input. `furthest` records the points where other paths fail.
pub(super) fn matches(pieces: &[Piece], input: Input<'_>, furthest: &mut Furthest) -> Option<Path> {
    let paths = advance(pieces, input, vec![Path::default()], furthest);
    for path in &paths {
        // The pattern ends here. If the input continues, no further word is expected.
        furthest.note(path, None);
    }
    paths.into_iter().find(|path| path.at == input.len())
}

/// Mnemonics of the pattern. Together they contain each alternative of each choice.
pub(super) fn samples(pieces: &[Piece]) -> Vec<String> {
    (0..variety(pieces))
        .map(|index| {
            let mut words = Vec::new();
            pick(pieces, index, &mut words);
            words.join(".")
        })
        .collect()
}

fn sequence(rest: &mut &str, depth: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    while !rest.is_empty() && !rest.starts_with(['|', '}']) {
        if let Some(inner) = rest.strip_prefix('{') {
            *rest = inner;
            pieces.push(choice(rest, depth + 1));
            continue;
        }
        let (text, after) = rest.split_at(rest.find(['{', '}', '|']).unwrap_or(rest.len()));
        *rest = after;
        let words = text.split('.').filter(|word| !word.is_empty());
        pieces.extend(words.map(|word| match depth {
            0 => Piece::Fixed(word.to_owned()),
            _ => Piece::Modifier(modifier(word), word.to_owned()),
        }));
    }
    pieces
}

fn modifier(word: &str) -> Modifier {
    Modifier::from_name(word).unwrap_or_else(|| panic!("no modifier is called {word}"))
}

/// Compiles the text after an opening brace.
fn choice(rest: &mut &str, depth: usize) -> Piece {
    let name = rest
        .split_once('=')
        .map(|(name, _)| name)
        .filter(|name| !name.contains(['{', '}', '|', '.']));
    if let Some(name) = name {
        *rest = &rest[name.len() + 1..];
    }
    let mut alternatives = alternatives(rest, depth);
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

fn alternatives(rest: &mut &str, depth: usize) -> Vec<Vec<Piece>> {
    let mut found = Vec::new();
    loop {
        let end = rest.find(['{', '}', '|']).unwrap_or(rest.len());
        match rows::class(&rest[..end]) {
            Some(class) => {
                *rest = &rest[end..];
                found.extend(alternatives(&mut class.as_str(), depth));
            }
            None => found.push(sequence(rest, depth)),
        }
        match rest.strip_prefix('|') {
            Some(after) => *rest = after,
            None => return found,
        }
    }
}

/// All continuations of `paths` through `pieces`.
fn advance(
    pieces: &[Piece],
    input: Input<'_>,
    mut paths: Vec<Path>,
    furthest: &mut Furthest,
) -> Vec<Path> {
    for piece in pieces {
        let mut next = Vec::new();
        for mut path in paths {
            match (piece, input) {
                (Piece::Fixed(word), Input::Words(words)) => {
                    if words.get(path.at) != Some(&word.as_str()) {
                        furthest.note(&path, Some(word));
                        continue;
                    }
                    path.at += 1;
                    path.words.push(word.clone());
                    next.push(path);
                }
                (Piece::Fixed(word), Input::Modifiers(_)) => {
                    path.words.push(word.clone());
                    next.push(path);
                }
                (Piece::Modifier(modifier, word), input) => {
                    let found = match input {
                        Input::Words(words) => words.get(path.at) == Some(&word.as_str()),
                        Input::Modifiers(modifiers) => modifiers.get(path.at) == Some(modifier),
                    };
                    if !found {
                        furthest.note(&path, Some(word));
                        continue;
                    }
                    path.at += 1;
                    path.words.push(word.clone());
                    path.modifiers.push(*modifier);
                    next.push(path);
                }
                (Piece::Choice { name, alternatives }, input) => {
                    let start = path.modifiers.len();
                    for alternative in alternatives {
                        for mut path in advance(alternative, input, vec![path.clone()], furthest) {
                            if let (Some(name), Some(modifier)) = (name, path.modifiers.get(start))
                            {
                                path.named.0.push((name.clone(), *modifier));
                            }
                            next.push(path);
                        }
                    }
                }
            }
        }
        paths = next;
    }
    paths
}

/// The number of samples needed to contain every alternative.
fn variety(pieces: &[Piece]) -> usize {
    let of = |piece: &Piece| match piece {
        Piece::Fixed(_) | Piece::Modifier(..) => 1,
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
            Piece::Fixed(word) | Piece::Modifier(_, word) => words.push(word.clone()),
            Piece::Choice { alternatives, .. } => {
                let count = alternatives.len();
                pick(&alternatives[index % count], index / count, words);
            }
        }
    }
}
