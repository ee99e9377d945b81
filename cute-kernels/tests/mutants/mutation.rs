//! Mutants of a kernel: copies of its PTX, each with one mistake that somebody could have made.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

use cute_ptx::Module;
use cute_ptx::ast::{Entry, Inst, Item, Line, Place};
use cute_ptx::table::Mnemonic;

use crate::body::Body;
use crate::rules::{RULES, Rule};

/// What a mutant breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// An instruction that makes threads or asynchronous operations wait, or that orders their accesses.
    Synchronisation,
    /// Where an instruction accesses memory.
    Address,
    /// Which instructions a thread executes, and how often.
    Control,
}

/// `synchronisation`, `address` or `control`.
impl Display for Class {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

/// Neighbouring lines of the body of a kernel, and what takes their place.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    pub(crate) lines: Range<usize>,
    pub(crate) with: Vec<Line>,
}

/// A change of the body of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct Mutant {
    pub(crate) class: Class,
    /// The name of the rule that made it.
    pub(crate) rule: &'static str,
    /// The instruction that is changed.
    pub(crate) instruction: Mnemonic,
    /// The line of that instruction.
    pub(crate) at: usize,
    /// Where the instruction comes from: the file, the line and the column of the source.
    pub(crate) source: Option<(String, u32, u32)>,
    /// The number of this way to make the mistake with the instruction.
    pub(crate) way: usize,
    /// What is changed, as text: the lines before and after.
    pub(crate) change: String,
    /// The lines that are changed, from the first to the last.
    pub(crate) edits: Vec<Edit>,
}

impl Mutant {
    /// The kernel with this mistake, in the first version of PTX, from the kernel's on, that has all its instructions.
    pub(crate) fn apply(&self, module: &Module) -> Module {
        let mut module = module.clone();
        let body = &mut entry_mut(&mut module).body;
        for edit in self.edits.iter().rev() {
            body.splice(edit.lines.clone(), edit.with.iter().cloned());
        }
        module.version = module.version.max(module.required_version());
        module
    }

    /// What takes the place of its instruction, if no other line is changed.
    pub(crate) fn replacement(&self) -> Option<&[Line]> {
        match &self.edits[..] {
            [edit] if edit.lines == (self.at..self.at + 1) => Some(&edit.with),
            _ => None,
        }
    }
}

impl Display for Mutant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}: {}", self.rule, self.at, self.change)
    }
}

/// The instructions that a rule changes in the same way: those of one place in the source, or of one mnemonic.
type Kind<'a> = (usize, &'a str, Option<(u32, u32, u32)>);

/// The line of an instruction, and the ways to change it.
type Site = (usize, Vec<Vec<Edit>>);

/// The mutants of a module with one kernel. Unrolled code repeats itself, so each rule is applied to some instructions of each kind,
/// spread evenly.
pub(crate) fn mutants(module: &Module) -> Vec<Mutant> {
    let body = Body::new(&entry(module).body);
    let mut sites: BTreeMap<Kind<'_>, Vec<Site>> = BTreeMap::new();
    for (at, inst) in body.instructions() {
        for (number, rule) in RULES.iter().enumerate() {
            let changes = rule.changes(&body, at, inst);
            if !changes.is_empty() {
                let kind = (number, inst.mnemonic.as_str(), place(rule, inst));
                sites.entry(kind).or_default().push((at, changes));
            }
        }
    }
    let mut mutants = Vec::new();
    for ((number, ..), sites) in sites {
        let rule = &RULES[number];
        let count = sites.len().min(rule.most());
        let spread = (0..count).map(|i| &sites[i * (sites.len() - 1) / (count - 1).max(1)]);
        for (at, changes) in spread {
            let Line::Inst(inst) = &body.lines[*at] else {
                continue;
            };
            for (way, edits) in changes.iter().enumerate() {
                mutants.push(Mutant {
                    class: rule.class,
                    rule: rule.name,
                    instruction: inst.mnemonic,
                    at: *at,
                    source: source(module, inst),
                    way,
                    change: change(&body, edits),
                    edits: edits.clone(),
                });
            }
        }
    }
    mutants
}

fn source(module: &Module, inst: &Inst) -> Option<(String, u32, u32)> {
    let place = inst.place?;
    let path = module.items.iter().find_map(|item| match item {
        Item::File { number, path } if *number == place.file => Some(path.clone()),
        _ => None,
    });
    Some((path?, place.line, place.column))
}

/// The place in the source that tells instructions apart which a rule of synchronisation changes.
fn place(rule: &Rule, inst: &Inst) -> Option<(u32, u32, u32)> {
    let of = |place: Place| (place.file, place.line, place.column);
    let place = inst.place.filter(|_| rule.class == Class::Synchronisation);
    place.map(of)
}

fn change(body: &Body<'_>, edits: &[Edit]) -> String {
    let one = |edit: &Edit| {
        let with = text(&edit.with);
        if edit.lines.is_empty() {
            let before = body.block_before(edit.lines.start).next();
            let before = before.map_or("a label".to_owned(), |(at, _)| {
                text(&body.lines[at..at + 1])
            });
            return format!("behind {before}: {with}");
        }
        format!("{} => {with}", text(&body.lines[edit.lines.clone()]))
    };
    edits.iter().map(one).collect::<Vec<_>>().join(" … ")
}

/// Instructions and labels on one line, without their comments and places.
pub(crate) fn text(lines: &[Line]) -> String {
    let texts = lines.iter().filter_map(|line| match line {
        Line::Inst(inst) => {
            let inst = Inst {
                place: None,
                comment: None,
                ..inst.clone()
            };
            Some(inst.to_string())
        }
        Line::Label(name) => Some(format!("{name}:")),
        _ => None,
    });
    let texts: Vec<String> = texts.collect();
    match texts.is_empty() {
        true => "nothing".into(),
        false => texts.join(" "),
    }
}

pub(crate) fn mnemonic(text: &str) -> Mnemonic {
    text.parse().expect("the instruction is in the table")
}

pub(crate) fn entry(module: &Module) -> &Entry {
    let mut entries = module.items.iter().filter_map(|item| match item {
        Item::Entry(entry) => Some(entry),
        _ => None,
    });
    entries
        .next_back()
        .expect("a module of a kernel has an entry")
}

pub(crate) fn entry_mut(module: &mut Module) -> &mut Entry {
    let mut entries = module.items.iter_mut().filter_map(|item| match item {
        Item::Entry(entry) => Some(entry),
        _ => None,
    });
    entries
        .next_back()
        .expect("a module of a kernel has an entry")
}
