//! Targets of PTX: the architectures that code is compiled for.

use core::fmt::{self, Display, Formatter};

/// A target of PTX: `sm_90`, or `sm_90a` with features that no other target has (PTX ISA 9.0, ".target").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The compute capability times ten: 90 for `sm_90`.
    pub sm: u32,
    /// Whether it is the architecture-specific variant, with the suffix `a`.
    pub specific: bool,
}

impl Target {
    /// The target of a name such as `sm_90a`; `None` if the name has a different form.
    pub fn from_name(name: &str) -> Option<Self> {
        let digits = name.strip_prefix("sm_")?;
        let (digits, specific) = match digits.strip_suffix('a') {
            Some(digits) => (digits, true),
            None => (digits, false),
        };
        let sm = digits
            .bytes()
            .all(|c| c.is_ascii_digit())
            .then(|| digits.parse().ok())??;
        Some(Self { sm, specific })
    }

    /// The target that a PTX module names in its `.target`; `None` if it names none of this form.
    ///
    /// ```
    /// use cute_chip::Target;
    ///
    /// let ptx = ".version 7.0\n.target sm_80\n.address_size 64\n";
    /// assert_eq!(Target::of_ptx(ptx), Target::from_name("sm_80"));
    /// assert_eq!(Target::of_ptx("// .target sm_80"), None);
    /// ```
    pub fn of_ptx(ptx: &str) -> Option<Self> {
        let mut named = ptx.lines().filter_map(|line| {
            let rest = line.trim_start().strip_prefix(".target")?;
            // Options may follow, after a comma.
            rest.split(',').next()
        });
        Self::from_name(named.next()?.trim())
    }

    /// Whether code for this target can use a feature that needs the target `needed`.
    pub const fn has(self, needed: Self) -> bool {
        match needed.specific {
            true => self.specific && self.sm == needed.sm,
            false => self.sm >= needed.sm,
        }
    }

    /// The compute capability, as major and minor number.
    pub const fn capability(self) -> (u32, u32) {
        (self.sm / 10, self.sm % 10)
    }

    /// Whether a device of this compute capability runs code for the target: of architecture-specific code, one of exactly the
    /// target's capability, and of other code, that one and every later one.
    pub fn runs_on(self, capability: (u32, u32)) -> bool {
        match self.specific {
            true => capability == self.capability(),
            false => capability >= self.capability(),
        }
    }

    /// The first PTX version that has the target, as major and minor number (PTX ISA 9.0, "Release Notes").
    pub const fn version(self) -> (u32, u32) {
        let Self { sm, specific } = self;
        match sm {
            _ if specific && sm == 90 => (8, 0),
            103 | 121 => (8, 8),
            88 | 110 => (9, 0),
            120 => (8, 7),
            100.. => (8, 6),
            89 | 90 => (7, 8),
            87 => (7, 4),
            86 => (7, 1),
            80 => (7, 0),
            75 => (6, 3),
            70 | 72 => (6, 1),
            _ => (5, 0),
        }
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}{}", self.sm, if self.specific { "a" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str) -> Target {
        Target::from_name(name).unwrap()
    }

    #[test]
    fn devices_run_code_of_earlier_targets_and_specific_code_of_their_own() {
        let runs =
            |name| [(7, 5), (8, 0), (8, 9), (9, 0), (10, 0)].map(|it| target(name).runs_on(it));
        assert_eq!(runs("sm_80"), [false, true, true, true, true]);
        assert_eq!(runs("sm_90"), [false, false, false, true, true]);
        assert_eq!(runs("sm_90a"), [false, false, false, true, false]);
    }

    #[test]
    fn targets_are_read_from_ptx() {
        let read = |text: &str| Target::of_ptx(text);
        assert_eq!(
            read("//\n.version 8.0\n\t.target  sm_90a, debug\n"),
            Some(target("sm_90a"))
        );
        assert_eq!(read(".version 8.0\n"), None);
        assert_eq!(read(".target compute_90"), None);
        assert_eq!(Target::from_name("sm_"), None);
        assert_eq!(Target::from_name("sm_+90"), None);
    }
}
