//! How many threads or values hold one element.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The most further holders that a note names one by one.
const NAMED: usize = 3;

/// What a picture tells about elements with several holders. A cell shows the first one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub(super) struct Sharing {
    /// Whether some elements have more holders than others. Then their cells are marked.
    is_mixed: bool,
    /// What to write under the picture.
    pub(super) note: Option<String>,
}

/// Collects the further holders of all elements of a grid.
#[derive(Default)]
pub(super) struct Holders {
    /// How far the thread and the value of each are from those of the first, for the element that has most.
    steps: Vec<(i64, i64)>,
    has_other_steps: bool,
}

impl Sharing {
    /// The mark of a cell with so many further holders.
    pub(super) fn mark(&self, others: i64) -> String {
        match self.is_mixed && others > 0 {
            true => format!("+{others}"),
            false => String::new(),
        }
    }
}

impl Holders {
    /// Notes a further holder of an element that has `others` of them.
    pub(super) fn add(&mut self, others: i64, step: (i64, i64)) {
        match self.steps.get(others as usize) {
            None => self.steps.push(step),
            Some(known) => self.has_other_steps |= *known != step,
        }
    }

    /// What to tell about elements with these numbers of further holders.
    pub(super) fn sharing(self, mut others: impl Iterator<Item = i64>) -> Sharing {
        let most = self.steps.len();
        let is_mixed = !others.all(|others| others == most as i64);
        let note = match is_mixed {
            _ if most == 0 => None,
            true => Some("+1 in a cell: one more thread or value holds the element".to_owned()),
            false => Some(self.named().unwrap_or_else(|| {
                let holders = most + 1;
                format!("each element has {holders} holders; cells show the first")
            })),
        };
        Sharing { is_mixed, note }
    }

    /// The holders by their names, if they are at the same distances for each element.
    fn named(&self) -> Option<String> {
        if self.has_other_steps {
            return None;
        }
        let (threads, values): (Vec<i64>, Vec<i64>) = self.steps.iter().copied().unzip();
        let is_still = |steps: &[i64]| steps.iter().all(|&step| step == 0);
        if is_still(&values) {
            let threads = sums("t", &threads)?;
            Some(format!(
                "threads {threads} hold the same elements; cells show t"
            ))
        } else if is_still(&threads) {
            let values = sums("v", &values)?;
            Some(format!(
                "values {values} of a thread are the same element; cells show v"
            ))
        } else {
            None
        }
    }
}

/// `t, t + 16 and t + 32` for the steps 16 and 32; `None` for many steps without a common difference.
fn sums(name: &str, steps: &[i64]) -> Option<String> {
    let sum = |step: &i64| format!("{name} + {step}");
    let (last, inner) = steps.split_last()?;
    if steps.len() <= NAMED {
        let inner: String = inner
            .iter()
            .map(|step| format!(", {}", sum(step)))
            .collect();
        return Some(format!("{name}{inner} and {}", sum(last)));
    }
    let [first, second, ..] = steps else {
        return None;
    };
    let is_even = (1..).zip(steps).all(|(count, step)| *step == count * first);
    is_even.then(|| format!("{name}, {}, {}, …, {}", sum(first), sum(second), sum(last)))
}
