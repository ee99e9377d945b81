//! Targets of code.

use std::fmt::{self, Display, Formatter};

/// A target: `sm_90`, or `sm_90a`, whose features no other target has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Compute capability, times ten.
    pub sm: u32,
    /// Whether it is the architecture-specific variant.
    pub specific: bool,
}

impl Target {
    /// The target of that name, such as `sm_90a`.
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

    /// Whether code for `self` may use what `needed` has.
    pub fn has(self, needed: Target) -> bool {
        match needed.specific {
            true => self == needed,
            false => self.sm >= needed.sm,
        }
    }

    /// The first PTX version that knows the target.
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
