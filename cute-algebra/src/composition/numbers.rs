//! Composition of numbers.
//!
//! Coalesce A, and let its boundaries Q be the products of its leading extents. Between two boundaries A is linear.
//! So `A(x + y) = A(x) + A(y)` holds for all sums of multiples of strides of B exactly if their remainders modulo a
//! boundary never add up to a carry. Hence each mode of B is cut where its multiples cross a boundary, and then one
//! inequality per boundary decides: `sum of (t-1) * (d mod Q) < Q` over the cut modes `t:d`. Where it fails,
//! composing mode by mode would give wrong values.

use super::{Compose, Leaf, Target, leaves_of, targets_of};
use crate::domain::Numbers;
use crate::error::{ErrorKind, LayoutError, ModePath, Place, Witness};
use crate::from_table::from_table;
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::stride::ScaledBasis;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

/// Most points that are compared one by one when the conditions refuse a composition. A larger one is refused.
pub const ENUMERATION_LIMIT: i64 = 1 << 20;

/// Largest distance of a suggested extent or stride from the refused one, and largest product of leaves and
/// boundaries for a search.
const SUGGESTION_STEPS: i64 = 64;
const SUGGESTION_WORK: usize = 4096;

impl Compose for Numbers {
    fn through(
        &mut self,
        target: &Target<i64>,
        leaves: &[Leaf<i64>],
        overhang: Overhang,
        _: Option<usize>,
    ) -> Result<Vec<Layout>, LayoutError> {
        target
            .admit(leaves, overhang)
            .or_else(|error| target.enumerate(leaves, error))
            .map_err(|error| target.suggest(leaves, overhang, error))
    }
}

/// The composition, where the conditions at the top of this file hold. It never enumerates.
pub(crate) fn compose_by_conditions(a: &Layout, b: &Layout) -> Option<Layout> {
    let leaves = leaves_of(b);
    let mut modes: Vec<Layout> = leaves.iter().cloned().map(Leaf::stationary).collect();
    for target in targets_of(a, &leaves).ok()? {
        let admitted = target.admit(&leaves, Overhang::Strict).ok()?;
        for (&leaf, mode) in target.leaves.iter().zip(admitted) {
            modes[leaf] = mode;
        }
    }
    Layout::replace_leaves(b.shape(), modes).ok()
}

impl Target<i64> {
    /// The modes that replace the leaves, where the conditions hold.
    pub(super) fn admit(
        &self,
        leaves: &[Leaf<i64>],
        overhang: Overhang,
    ) -> Result<Vec<Layout>, LayoutError> {
        self.check_signs(leaves)?;
        if overhang == Overhang::Strict {
            self.check_domain(leaves)?;
        }
        self.refine(leaves)
    }

    pub(super) fn check_domain(&self, leaves: &[Leaf<i64>]) -> Result<(), LayoutError> {
        let reaches = self
            .leaves(leaves)
            .map(|leaf| i128::from(leaf.extent - 1) * i128::from(leaf.stride.value()));
        let (lowest, highest) = reaches.fold((0, 0), |(lowest, highest), reach| {
            (lowest + reach.min(0), highest + reach.max(0))
        });
        let size = self.layout.size();
        if lowest == 0 && highest < i128::from(size) {
            return Ok(());
        }
        let place = match &self.leaves[..] {
            [only] => leaves[*only].place(),
            _ => Place::operand(1),
        };
        let reach = if lowest < 0 { lowest } else { highest };
        Err(ErrorKind::Overhang {
            // The values of a valid B fit 64 bits.
            reach: reach as i64,
            size,
            nearest: Vec::new(),
        }
        .at(place))
    }

    /// Refuses a negative stride of B, unless A is one mode: only a single mode has values below 0.
    fn check_signs(&self, leaves: &[Leaf<i64>]) -> Result<(), LayoutError> {
        let mut leaves = self.leaves(leaves);
        match leaves.find(|leaf| leaf.stride.value() < 0) {
            Some(leaf) if !self.boundaries.is_empty() => {
                let stride = leaf.stride.to_string();
                Err(ErrorKind::NegativeStride { stride }.at(leaf.place().stride()))
            }
            _ => Ok(()),
        }
    }

    /// The modes that replace the leaves, by cutting them and by the inequality at the top of this file.
    fn refine(&self, leaves: &[Leaf<i64>]) -> Result<Vec<Layout>, LayoutError> {
        let cut: Vec<Vec<(i64, i64)>> = self
            .leaves(leaves)
            .map(|leaf| self.cut(leaf))
            .collect::<Result<_, _>>()?;
        for &boundary in &self.boundaries {
            let carries: Vec<i128> = cut.iter().map(|modes| carry(modes, boundary)).collect();
            if carries.iter().sum::<i128>() < i128::from(boundary) {
                continue;
            }
            let alone = carries
                .iter()
                .position(|&carry| carry >= i128::from(boundary));
            if let Some(i) = alone {
                let leaf = &leaves[self.leaves[i]];
                return Err(drift(leaf, &cut[i], boundary));
            }
            let contributors = carries
                .iter()
                .zip(self.leaves(leaves))
                .filter(|(carry, _)| **carry > 0);
            let modes: Vec<_> = contributors
                .map(|(carry, leaf)| (ModePath(leaf.path.clone()), *carry as i64))
                .collect();
            let place = Place::operand(1).mode(
                modes
                    .last()
                    .map(|(path, _)| path.0.clone())
                    .unwrap_or_default(),
            );
            return Err(ErrorKind::Carry {
                modes,
                boundary,
                nearest: Vec::new(),
                witness: None,
            }
            .at(place));
        }
        let modes = cut.into_iter().zip(self.leaves(leaves));
        modes
            .map(|(modes, leaf)| self.images(&modes, leaf))
            .collect()
    }

    /// Cuts a leaf into parts `extent:stride` where its multiples cross a boundary.
    pub(super) fn cut(&self, leaf: &Leaf<i64>) -> Result<Vec<(i64, i64)>, LayoutError> {
        let place = || leaf.place();
        let (mut rest, mut stride) = (leaf.extent, leaf.stride.value());
        if self.boundaries.is_empty() {
            return Ok(vec![(rest, stride)]);
        }
        let mut modes = Vec::new();
        while rest > 1 {
            let crossings = self
                .boundaries
                .iter()
                .filter(|&&boundary| stride % boundary != 0);
            let crossing = crossings
                .map(|&boundary| ((boundary - 1) / (stride % boundary).abs() + 1, boundary))
                .min();
            let extent = crossing.map_or(rest, |(steps, _)| steps.min(rest));
            if rest % extent != 0 {
                let boundary = crossing.map_or(1, |(_, boundary)| boundary);
                let done = leaf.extent / rest;
                let kind = ErrorKind::Split {
                    extent: leaf.extent,
                    stride: leaf.stride.value(),
                    boundary,
                    after: done * extent,
                    nearest: Vec::new(),
                    witness: None,
                };
                return Err(kind.at(place().shape()));
            }
            modes.push((extent, stride));
            rest /= extent;
            if rest > 1 {
                let next = stride.checked_mul(extent);
                stride =
                    next.ok_or_else(|| ErrorKind::Overflow { quantity: "stride" }.at(place()))?;
            }
        }
        Ok(modes)
    }

    /// The cut leaf, with each stride replaced by the value of A at it.
    fn images(&self, modes: &[(i64, i64)], leaf: &Leaf<i64>) -> Result<Layout, LayoutError> {
        let place = || leaf.place().stride();
        let image = |&(extent, stride): &(i64, i64)| {
            let value = self.layout.extended(stride);
            let value =
                value.ok_or_else(|| ErrorKind::Overflow { quantity: "stride" }.at(place()))?;
            match ScaledBasis::from_int_tuple(&value) {
                Some(stride) => Ok((extent, stride)),
                None => {
                    let value = value.to_string();
                    Err(ErrorKind::Diagonal { stride, value }.at(place()))
                }
            }
        };
        Ok(Layout::from_flat(
            modes.iter().map(image).collect::<Result<_, _>>()?,
        ))
    }

    /// Adds to an error the nearest extents and strides of the refused mode for which the composition exists.
    fn suggest(&self, leaves: &[Leaf<i64>], overhang: Overhang, error: LayoutError) -> LayoutError {
        let refused = self
            .leaves
            .iter()
            .find(|&&i| leaves[i].path == error.place().path.0);
        let Some(&refused) =
            refused.filter(|_| leaves.len() * self.boundaries.len() <= SUGGESTION_WORK)
        else {
            return error;
        };
        let Leaf {
            extent, ref stride, ..
        } = leaves[refused];
        let is_legal = |(extent, stride): (i64, i64)| {
            let mut changed = leaves.to_vec();
            changed[refused].extent = extent;
            changed[refused].stride = ScaledBasis::along(stride, leaves[refused].stride.path());
            self.admit(&changed, overhang).is_ok()
        };
        let (magnitude, sign) = (stride.value().abs(), stride.value().signum());
        let below = |value: i64, least: i64| {
            (least.max(value.saturating_sub(SUGGESTION_STEPS))..value).rev()
        };
        let above = |value: i64| value.saturating_add(1)..value.saturating_add(SUGGESTION_STEPS);
        let nearest = [
            below(extent, 2)
                .map(|extent| (extent, stride.value()))
                .find(|&mode| is_legal(mode)),
            above(extent)
                .map(|extent| (extent, stride.value()))
                .find(|&mode| is_legal(mode)),
            below(magnitude, 1)
                .map(|magnitude| (extent, sign * magnitude))
                .find(|&mode| is_legal(mode)),
            above(magnitude)
                .map(|magnitude| (extent, sign * magnitude))
                .find(|&mode| is_legal(mode)),
        ];
        error.with_nearest(nearest.into_iter().flatten().collect())
    }

    /// Compares the values at all points. The conditions of `refine` are exact where A's jumps at its boundaries have
    /// one sign. Where the signs differ, jumps can cancel, and a refused composition may exist. If it does not exist,
    /// this finds the witness of the error.
    fn enumerate(
        &self,
        leaves: &[Leaf<i64>],
        error: LayoutError,
    ) -> Result<Vec<Layout>, LayoutError> {
        if !error.kind().takes_witness() || !self.layout.is_integral() {
            return Err(error);
        }
        let all = leaves;
        let leaves: Vec<&Leaf<i64>> = self.leaves(leaves).collect();
        let size = leaves
            .iter()
            .try_fold(1i64, |size, leaf| size.checked_mul(leaf.extent));
        let Some(size) = size.filter(|&size| size <= ENUMERATION_LIMIT) else {
            return Err(error);
        };
        let mut modes = self.layout.integral_modes(0)?;
        let last = modes.pop();
        modes.retain(|&(extent, _)| extent != 1);
        modes.extend(last);
        let overflow = || ErrorKind::Overflow { quantity: "index" }.at(Place::operand(1));
        let value = |index: i128| extended(&modes, index).ok_or_else(overflow);

        // The values along each leaf must be those of a layout.
        let mut tables = Vec::new();
        let mut images = Vec::new();
        for leaf in &leaves {
            let stride = i128::from(leaf.stride.value());
            let table = (0..leaf.extent)
                .map(|x| value(i128::from(x) * stride))
                .collect::<Result<Vec<_>, _>>()?;
            match from_table(&table) {
                Ok(image) => images.push(image),
                Err(refusal) => {
                    return Err(match *refusal.kind() {
                        ErrorKind::NotALayout {
                            position,
                            found,
                            expected,
                        } => error.with_witness(Witness {
                            index: position * weight(all, leaf),
                            value: found,
                            expected,
                        }),
                        _ => error,
                    });
                }
            }
            tables.push(table);
        }
        // At each point, the values along the leaves must add up to the value there.
        let mut digits = vec![0usize; leaves.len()];
        for _ in 0..size {
            let terms = || leaves.iter().zip(&digits);
            let inner: i128 = terms()
                .map(|(leaf, &x)| i128::from(leaf.stride.value()) * x as i128)
                .sum();
            let sum: i128 = tables
                .iter()
                .zip(&digits)
                .map(|(table, &x)| i128::from(table[x]))
                .sum();
            let found = value(inner)?;
            if i128::from(found) != sum {
                let index = terms().map(|(leaf, &x)| weight(all, leaf) * x as i64).sum();
                let expected = i64::try_from(sum).map_err(|_| overflow())?;
                return Err(error.with_witness(Witness {
                    index,
                    value: found,
                    expected,
                }));
            }
            for (digit, leaf) in digits.iter_mut().zip(&leaves) {
                *digit += 1;
                if (*digit as i64) < leaf.extent {
                    break;
                }
                *digit = 0;
            }
        }
        Ok(images)
    }
}

/// The product of the extents to the left of a leaf: the 1-D coordinate of B grows by this with each step of the
/// leaf.
fn weight(leaves: &[Leaf<i64>], leaf: &Leaf<i64>) -> i64 {
    let before = leaves.iter().take_while(|known| known.path != leaf.path);
    before.map(|known| known.extent).product()
}

/// The largest sum of the remainders of these modes modulo a boundary.
pub(super) fn carry(modes: &[(i64, i64)], boundary: i64) -> i128 {
    modes
        .iter()
        .map(|&(extent, stride)| i128::from(extent - 1) * i128::from((stride % boundary).abs()))
        .sum()
}

fn drift(leaf: &Leaf<i64>, cut: &[(i64, i64)], boundary: i64) -> LayoutError {
    let stride = leaf.stride.value();
    let terms = cut
        .iter()
        .map(|&(extent, stride)| (extent - 1, (stride % boundary).abs()))
        .filter(|&(_, rest)| rest != 0)
        .collect();
    let kind = ErrorKind::Drift {
        extent: leaf.extent,
        stride,
        boundary,
        terms,
        nearest: Vec::new(),
        witness: None,
    };
    kind.at(leaf.place().stride())
}

/// The value at `index`, where the last mode has no end; `None` on overflow.
fn extended(modes: &[(i64, i64)], index: i128) -> Option<i64> {
    let mut rest = i64::try_from(index).ok()?;
    let mut sum = 0i128;
    for (i, &(extent, stride)) in modes.iter().enumerate() {
        let digit = if i + 1 == modes.len() {
            rest
        } else {
            rest % extent
        };
        rest /= extent;
        sum += i128::from(digit) * i128::from(stride);
    }
    i64::try_from(sum).ok()
}
