//! Where the values of a fragment lie in global memory.

use crate::kernel::access::crd2idx::along;
use crate::kernel::access::global::address::Addresses;
use crate::kernel::access::global::inside::Inside;
use crate::kernel::builtins::copy::options::Options;
use crate::kernel::builtins::copy::partition::{check_elements, partition};
use crate::kernel::builtins::copy::vector::WIDEST;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::facts::Quantity;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Coordinates, Fragment, Global, Num, Scalar};
use cute_algebra::Layout;
use cute_ptx::ast::Type;
use cute_ptx::table::choice::Accessible;
use syn::Result;

/// The values of a fragment in global memory.
#[derive(Clone)]
pub(super) struct Part {
    global: Global,
    addresses: Addresses,
    /// Bytes of an element.
    pub(super) width: i64,
    /// The coordinate of each value in the parameter, relative to the origin.
    pub(super) coordinates: Vec<Vec<i64>>,
    /// The options of the copy.
    pub(super) options: Options,
}

impl Part {
    /// The part of a tile for this thread.
    pub(super) fn new(b: &mut Builder, tile: &Global, fragment: &Fragment) -> Result<Self> {
        check_elements(b, tile.element, fragment.element)?;
        Self::of_values(b, tile, fragment)
    }

    /// The same for a copy with options.
    pub(super) fn with(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// The part of a tile at the coordinates of a fragment, which may have another element type.
    pub(super) fn of_values(b: &mut Builder, tile: &Global, fragment: &Fragment) -> Result<Self> {
        let layout = known_tile(b, tile)?;
        let mut global = tile.clone();
        let mut coordinates = vec![Vec::new(); fragment.values.len()];
        for mode in 0..tile.origin.len() {
            let (offset, own) = partition(b, &along(layout, &[mode]), fragment, 1)?;
            global.advance(b, mode, &offset)?;
            for (coordinate, own) in coordinates.iter_mut().zip(own) {
                coordinate.push(own);
            }
        }
        Self::of(b, global, coordinates)
    }

    /// The elements at these coordinates in the parameter, relative to the origin.
    pub(super) fn of(b: &Builder, global: Global, coordinates: Vec<Vec<i64>>) -> Result<Self> {
        Ok(Self {
            addresses: Addresses::new(&global),
            width: b.whole(global.element.bytes())?.into(),
            global,
            coordinates,
            options: Options::of(Accessible::Global),
        })
    }

    /// Which values are inside of the tensor.
    pub(super) fn inside(&self, b: &Builder) -> Inside {
        Inside::new(b, &self.global, &self.coordinates)
    }

    /// The first coordinate of this thread's part in the last mode, if the tile has been moved and no range limits this mode.
    pub(super) fn moved_start(&self) -> Option<&Num> {
        let is_whole = matches!(self.global.ranges.last(), Some(None));
        let is_moved = self.global.is_moved.last() == Some(&true);
        let origin = self.global.origin.last();
        origin.filter(|_| is_moved && is_whole)
    }

    /// The end of the part of the tensor in the last mode.
    pub(super) fn end(&self, b: &mut Builder) -> Num {
        self.global.end(b, self.global.origin.len() - 1)
    }

    /// The address at [`moved_start`](Self::moved_start), with the coordinates of a value in the other modes.
    pub(super) fn row(&mut self, b: &mut Builder, value: usize) -> Result<Scalar> {
        let coordinate = &self.coordinates[value];
        self.addresses
            .row(b, &coordinate[..coordinate.len().saturating_sub(1)])
    }

    /// The address of the first value.
    pub(super) fn first(&mut self, b: &mut Builder) -> Result<Scalar> {
        let row = self.row(b, 0)?;
        let last = self.coordinates[0].last().copied().unwrap_or(0);
        let bytes = last * self.width;
        let address = b.add(&row.into(), &Num::from(bytes))?;
        b.to_register(&address, Type::U64)
    }

    /// The address of a value.
    pub(super) fn operand(&mut self, b: &mut Builder, value: usize) -> Result<Operand> {
        self.addresses.operand(b, &self.coordinates[value])
    }

    /// For each value, its coordinates in all modes but the last, and its coordinate in the last mode.
    pub(super) fn places(&self) -> Vec<(Vec<i64>, i64)> {
        let place = |coordinate: &Vec<i64>| match coordinate.split_last() {
            Some((last, row)) => (row.to_vec(), *last),
            None => (Vec::new(), 0),
        };
        self.coordinates.iter().map(place).collect()
    }

    /// The greatest power of two n such that, for every thread, a coordinate in the last mode that is a multiple of n has an address that
    /// is a multiple of the bytes of n elements, and one access can move n elements.
    pub(super) fn lanes(&self, b: &Builder) -> i64 {
        let width = i128::from(self.width);
        let multiples = self.multiples(b).into_iter();
        let powers = multiples.map(|(multiple, _)| multiple & multiple.wrapping_neg());
        let bytes = powers.fold(i128::from(WIDEST), |least, power| {
            least.min(power.max(width))
        });
        (bytes / width) as i64
    }

    /// The summands of the address of an element, except its coordinate in the last mode. Each has a known divisor in bytes, and the number
    /// of the launch that determines the divisor, if it is not the coordinate.
    pub(super) fn multiples(&self, b: &Builder) -> Vec<(i128, Option<Quantity>)> {
        let (id, origin) = (self.global.id(), &self.global.origin);
        let width = i128::from(self.width);
        let last = origin.len() - 1;
        let address = Quantity::Address(id);
        let mut multiples = vec![(b.known.facts.divisor(address), Some(address))];
        for (mode, origin) in origin.iter().enumerate() {
            let at_origin = self
                .coordinates
                .iter()
                .all(|coordinate| coordinate[mode] == 0);
            let multiple = 1i128 << b.known.possible_bits(origin).trailing_zeros().min(62);
            if mode == last {
                multiples.push((multiple * width, None));
            } else if *origin != Num::Const(0) || !at_origin {
                let quantity = Quantity::Stride(id, mode);
                let stride = b.known.facts.divisor(quantity);
                let steps = if at_origin { multiple } else { 1 };
                let multiple = stride.saturating_mul(width).saturating_mul(steps);
                multiples.push((multiple, Some(quantity)));
            }
        }
        multiples
    }

    /// The greatest power of two n such that no vector of n values at a multiple of n crosses the end of the last mode.
    pub(super) fn lanes_at_end(&self, b: &Builder) -> i64 {
        let last = self.global.origin.len() - 1;
        let extent = match &self.global.ranges[last] {
            // Vectors lie across neither end of it.
            Some(Coordinates { first, end }) => {
                let bits = b.known.possible_bits(first) | b.known.possible_bits(end);
                1 << bits.trailing_zeros().min(62)
            }
            None => b
                .known
                .facts
                .divisor(Quantity::Extent(self.global.id(), last)),
        };
        let origin = 1i128
            << b.known
                .possible_bits(&self.global.origin[last])
                .trailing_zeros()
                .min(62);
        (extent & extent.wrapping_neg())
            .min(origin)
            .min(WIDEST.into()) as i64
    }
}

/// The layout of a tile.
pub(super) fn known_tile<'t>(b: &Builder, tile: &'t Global) -> Result<&'t Layout> {
    tile.tile().ok_or_else(|| {
        let name = &b.params[tile.param].name;
        b.error(format!(
            "the extents of this part of `{name}` are known only when the kernel runs: copy a `local_tile` of it"
        ))
    })
}
