//! Target architectures.

use std::fmt::{self, Display, Formatter};

/// A target architecture: `sm_90`, or `sm_90a` with features that no other target has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The compute capability times ten: 90 for `sm_90`.
    pub sm: u32,
    /// Whether it is the architecture-specific variant, with the suffix `a`.
    pub specific: bool,
}

impl Target {
    /// The target of a name such as `sm_90a`; `None` if the name has a different form.
    pub fn from_name(name: &str) -> Option<Target> {
        let digits = name.strip_prefix("sm_")?;
        let (digits, specific) = match digits.strip_suffix('a') {
            Some(digits) => (digits, true),
            None => (digits, false),
        };
        let sm = digits
            .bytes()
            .all(|c| c.is_ascii_digit())
            .then(|| digits.parse().ok())??;
        Some(Target { sm, specific })
    }

    /// Whether code for this target can use a feature that needs the target `needed`.
    pub fn has(self, needed: Target) -> bool {
        match needed.specific {
            true => self == needed,
            false => self.sm >= needed.sm,
        }
    }

    /// The first PTX version that has the target, as major and minor number.
    pub fn version(self) -> (u32, u32) {
        let Target { sm, specific } = self;
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
