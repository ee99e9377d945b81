//! How the modes of a layout nest.

use core::fmt;
use core::iter::successors;

/// How the modes of a layout nest: its shape with `_` for each extent, such as `((_,_),_)`.
///
/// ```
/// use cute_runtime::{Layout, layout};
/// const L: Layout = layout!(((2,2),3):((24,2),8));
/// assert_eq!(L.profile().as_str(), "((_,_),_)");
/// assert_eq!(L.profile().mode(0).leaves(), 2);
/// ```
// Stored as text, which is one constant for rustc. A tree of slices would be a constant for each node, and slower to compile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Profile(&'static str);

/// For expansions: the profile that is written `text`, which must be well formed.
pub const fn profile(text: &'static str) -> Profile {
    Profile(text)
}

impl Profile {
    /// The profile as text, such as `((_,_),_)`.
    pub const fn as_str(self) -> &'static str {
        self.0
    }

    /// Whether the shape is a single integer, not a tuple.
    pub const fn is_leaf(self) -> bool {
        !matches!(self.0.as_bytes(), [b'(', ..])
    }

    /// A tuple of `rank` integers; `None` if `rank` is 0 or more than 8.
    #[cfg(feature = "host")]
    #[inline]
    pub(crate) const fn flat(rank: usize) -> Option<Profile> {
        Some(Profile(match rank {
            1 => "(_)",
            2 => "(_,_)",
            3 => "(_,_,_)",
            4 => "(_,_,_,_)",
            5 => "(_,_,_,_,_)",
            6 => "(_,_,_,_,_,_)",
            7 => "(_,_,_,_,_,_,_)",
            8 => "(_,_,_,_,_,_,_,_)",
            _ => return None,
        }))
    }

    /// Number of leaves, the integers at all levels.
    pub const fn leaves(self) -> usize {
        let text = self.0.as_bytes();
        let (mut i, mut leaves) = (0, 0);
        while i < text.len() {
            leaves += (text[i] == b'_') as usize;
            i += 1;
        }
        leaves
    }

    /// Number of top-level modes. An integer has one.
    pub const fn rank(self) -> usize {
        let (mut rank, mut rest) = (0, self.first());
        while let Some((mode, at)) = rest {
            let _ = mode;
            rank += 1;
            rest = self.after(at);
        }
        rank
    }

    /// Depth of the nesting: 0 for an integer, 1 for a tuple of integers.
    pub const fn depth(self) -> usize {
        let text = self.0.as_bytes();
        let (mut i, mut depth, mut deepest) = (0, 0, 0);
        while i < text.len() {
            match text[i] {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth > deepest {
                deepest = depth;
            }
            i += 1;
        }
        deepest
    }

    /// Top-level mode `index`.
    ///
    /// # Panics
    /// If there is no such mode.
    #[track_caller]
    pub const fn mode(self, index: usize) -> Profile {
        let (mut i, mut rest) = (0, self.first());
        while let Some((mode, at)) = rest {
            if i == index {
                return mode;
            }
            i += 1;
            rest = self.after(at);
        }
        panic!("mode out of range")
    }

    /// The top-level modes.
    pub fn modes(self) -> impl Iterator<Item = Profile> {
        let modes = successors(self.first(), move |&(_, end)| self.after(end));
        modes.map(|(mode, _)| mode)
    }

    /// The first top-level mode, and the offset in the text where it ends.
    pub(super) const fn first(self) -> Option<(Profile, usize)> {
        match self.0.as_bytes() {
            [] | [b'(', b')'] => None,
            [b'(', ..] => self.from(1),
            _ => Some((self, self.0.len())),
        }
    }

    /// The top-level mode after the one that ends at offset `at` of the text, and where it ends.
    pub(super) const fn after(self, at: usize) -> Option<(Profile, usize)> {
        // After a mode comes a comma and the next mode. After the last one comes the closing parenthesis or nothing.
        match at + 1 < self.0.len() {
            true => self.from(at + 1),
            false => None,
        }
    }

    const fn from(self, start: usize) -> Option<(Profile, usize)> {
        let text = self.0.as_bytes();
        let (mut end, mut depth) = (start, 0);
        while end < text.len() && (depth > 0 || !matches!(text[end], b',' | b')')) {
            match text[end] {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            end += 1;
        }
        let mode = self.0.split_at(end).0.split_at(start).1;
        Some((Profile(mode), end))
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
