//! The modifiers of an instruction. They record whether the decoder has used each.

use super::operands::Result;
use cute_ptx::ast::Type;
use cute_ptx::table::{Mnemonic, Modifier, Opcode};
use std::cell::Cell;

/// The modifiers of a mnemonic. The decoder asks for each modifier that it models. [`finish`](Bindings::finish) refuses an
/// instruction with other modifiers.
pub(super) struct Bindings {
    mnemonic: Mnemonic,
    /// One bit for each modifier: whether the decoder has asked for it.
    asked: Cell<u64>,
}

impl Bindings {
    pub(super) fn new(mnemonic: Mnemonic) -> Bindings {
        Bindings {
            mnemonic,
            asked: Cell::new(0),
        }
    }

    pub(super) fn opcode(&self) -> Opcode {
        self.mnemonic.opcode()
    }

    /// Whether the mnemonic has a modifier.
    pub(super) fn has(&self, modifier: Modifier) -> bool {
        let mut found = false;
        for (index, it) in self.mnemonic.modifiers().iter().enumerate() {
            if *it == modifier {
                self.asked.set(self.asked.get() | 1 << index);
                found = true;
            }
        }
        found
    }

    /// The modifier that the row binds to a name.
    pub(super) fn get(&self, name: &str) -> Option<Modifier> {
        self.mnemonic.get(name).filter(|found| self.has(*found))
    }

    /// The type that the row binds to a name.
    pub(super) fn ty(&self, name: &str) -> Result<Type> {
        let bound = self.get(name).and_then(Modifier::ty);
        bound.ok_or_else(|| format!("`{}` has no type named `{name}`", self.mnemonic))
    }

    /// The first of these modifiers that the mnemonic has.
    pub(super) fn one_of(&self, modifiers: &[Modifier]) -> Option<Modifier> {
        modifiers.iter().copied().find(|it| self.has(*it))
    }

    /// Accepts the modifiers bound to these names unused. They change no result in the emulator.
    pub(super) fn ignore(&self, names: &[&str]) {
        for name in names {
            self.get(name);
        }
    }

    /// Accepts all modifiers without using them.
    pub(super) fn ignore_all(&self) {
        self.asked.set(u64::MAX);
    }

    /// An error if the mnemonic has a modifier that the decoder did not ask for.
    pub(super) fn finish(&self) -> Result<()> {
        let mut modifiers = self.mnemonic.modifiers().iter().enumerate();
        match modifiers.find(|(index, _)| self.asked.get() >> index & 1 == 0) {
            None => Ok(()),
            Some((_, modifier)) => Err(self.unmodelled(*modifier)),
        }
    }

    /// The error of an instruction that the file of its class does not know.
    pub(super) fn unknown<T>(&self) -> Result<T> {
        Err(format!("`{}` is not modelled", self.mnemonic))
    }

    pub(super) fn unmodelled(&self, modifier: Modifier) -> String {
        format!("`.{modifier}` is not modelled on `{}`", self.instruction())
    }

    pub(super) fn unmodelled_on(&self, ty: Type) -> String {
        format!("`{}` is not modelled on .{}", self.instruction(), ty.name())
    }

    /// The first word of the mnemonic.
    fn instruction(&self) -> &'static str {
        self.mnemonic.as_str().split('.').next().unwrap_or_default()
    }
}

/// The message that a state space is not modelled; `None` is the generic one.
pub(super) fn no_space(space: Option<Modifier>) -> String {
    match space {
        Some(Modifier::Const) => "constant memory is not modelled".to_owned(),
        Some(space) => format!("{space} memory is not modelled"),
        None => "generic addresses are not modelled here".to_owned(),
    }
}
