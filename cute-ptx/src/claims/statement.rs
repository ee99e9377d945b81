//! What holds in the threads that get to a line.

use super::Malformed;
use super::condition::{Condition, Sum};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// A claim on a line of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement<R = String> {
    /// `where %i >= %n`: this holds in all threads that get there.
    Where(Condition<R>),
    /// `uniform %r5 in warp`: a register has the same value there in all threads of each group.
    Uniform {
        /// The register.
        register: R,
        /// The groups of threads.
        group: Group,
    },
}

/// Threads that a claim calls equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The lanes of a warp.
    Warp,
    /// The threads of a warpgroup.
    Warpgroup,
    /// The threads of a CTA.
    Cta,
}

impl Group {
    /// Each group with its word in a comment.
    const ALL: [(&str, Group); 3] = [
        ("warp", Group::Warp),
        ("warpgroup", Group::Warpgroup),
        ("CTA", Group::Cta),
    ];
}

impl Display for Group {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let found = Self::ALL.iter().find(|(_, group)| group == self);
        f.write_str(found.map_or("", |(name, _)| name))
    }
}

impl Statement {
    /// The claim of a comment on a line of its own; `None` if it does not begin like one: with `where` and a register or a number, or with
    /// `uniform`, a register and `in`. An expression of the source, such as `uniform % in_all`, does not.
    ///
    /// # Errors
    ///
    /// If it begins like a claim, and is none.
    pub fn read(comment: &str) -> Result<Option<Self>, Malformed> {
        let of_where = comment
            .strip_prefix("where ")
            .is_some_and(Condition::begins);
        let of_register = comment.strip_prefix("uniform %");
        let of_group =
            of_register.is_some_and(|rest| rest.contains(" in ") && !rest.starts_with(' '));
        match of_where || of_group {
            true => comment.parse().map(Some),
            false => Ok(None),
        }
    }
}

impl<R> Statement<R> {
    /// The same statement, with other names of its registers.
    pub fn map<S>(&self, name: &mut impl FnMut(&R) -> S) -> Statement<S> {
        match self {
            Self::Where(condition) => Statement::Where(condition.map(name)),
            Self::Uniform { register, group } => Statement::Uniform {
                register: name(register),
                group: *group,
            },
        }
    }
}

impl<R: Display> Display for Statement<R> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Where(condition) => write!(f, "where {condition}"),
            Self::Uniform { register, group } => write!(f, "uniform {register} in {group}"),
        }
    }
}

impl FromStr for Statement {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        if let Some(condition) = text.strip_prefix("where ") {
            return condition.parse().map(Self::Where);
        }
        let read = || {
            let (register, name) = text.strip_prefix("uniform ")?.split_once(" in ")?;
            let (_, group) = Group::ALL.iter().find(|(it, _)| *it == name)?;
            // A register alone is a sum, too.
            let sum: Sum = register.parse().ok()?;
            let register = sum.register.filter(|it| it == register)?;
            Some(Self::Uniform {
                register,
                group: *group,
            })
        };
        read().ok_or_else(|| Malformed {
            text: text.to_owned(),
            like: "a claim about threads, such as `uniform %r5 in warp`",
        })
    }
}
