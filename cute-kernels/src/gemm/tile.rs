//! How a product is computed, as text.

use std::fmt;

use crate::parts::config::kernels::Config;
use crate::product::operands::{Form, Place};

/// How a product is computed: what a CTA, or a cluster of CTAs, computes at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Tile {
    /// Tiles of A and B in shared memory, of these sizes.
    Shared(Config),
    /// The same with K divided into so many parts, whose sums a second kernel adds up.
    InParts(Config, u32),
    /// Up to 16 rows of one matrix by 16 or 32 of the other, which go from memory to registers.
    Streamed,
}

impl Tile {
    /// How the matrices of a product lie for this tile. Without loads by TMA, rows along K may begin anywhere.
    pub(super) fn form(self, form: Form) -> Form {
        let anywhere = |place: Place| Place {
            copied: place.mn,
            ..place
        };
        match self {
            Self::Streamed => Form {
                a: anywhere(form.a),
                b: anywhere(form.b),
                by_tma: false,
                ..form
            },
            // The kernel that adds up the parts stores by elements.
            Self::InParts(..) => Form {
                by_tma: false,
                ..form
            },
            Self::Shared(_) => form,
        }
    }
}

impl fmt::Display for Tile {
    /// Rows and columns of D, and how they are computed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (config, parts) = match self {
            Self::Shared(config) => (*config, 1),
            Self::InParts(config, parts) => (*config, *parts),
            Self::Streamed => return write!(f, "few rows, from memory to registers"),
        };
        let Config {
            bm,
            bn,
            by_columns,
            pingpong,
            rows,
            cluster_m,
            cluster_n,
            split,
            swapped,
            ..
        } = config;
        let (height, width) = if swapped { (bn, bm) } else { (bm, bn) };
        write!(f, "{height} x {width}")?;
        if pingpong {
            write!(f, ", by warpgroups in turns")?;
        } else if by_columns != swapped {
            write!(f, ", divided by columns")?;
        } else {
            write!(f, ", divided by rows")?;
        }
        if cluster_m * cluster_n > 1 {
            let (of_a, of_b) = if swapped {
                (cluster_m, cluster_n)
            } else {
                (cluster_n, cluster_m)
            };
            write!(f, ", in clusters where {of_a} share A and {of_b} share B")?;
        }
        if split > 1 {
            write!(f, ", K divided by {split}")?;
        }
        if parts > 1 {
            write!(f, ", K in {parts} parts that are added up in memory")?;
        }
        if rows > 0 {
            write!(f, ", A loaded by {rows} rows")?;
        }
        if swapped {
            write!(f, ", stored transposed")?;
        }
        Ok(())
    }
}
