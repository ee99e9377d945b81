//! Products whose second operand is swizzled.

use crate::composed::{ComposedLayout, conjugate, not_a_swizzle};
use crate::composition::{ENUMERATION_LIMIT, compose};
use crate::domain::{Numbers, overflow};
use crate::error::{During, ErrorKind, LayoutError, Place};
use crate::layout::Layout;
use crate::overhang::Overhang;
use crate::product::{Product, places};
use crate::swizzle::Swizzle;
use crate::xor_map::{XOR_MAP_BITS, XorMap};
use alloc::format;
use alloc::string::{String, ToString};

/// The product of A with a swizzled B. The values of B are numbers of copies, and copy n is at the place P(n).
///
/// Let S be the swizzle of B. A swizzle S' with P(S(n)) = S'(P(n)) permutes places as S permutes numbers. If S' leaves the values of A
/// alone, the product is S' after the product of the layouts without their swizzles, and the swizzle of A is applied to that. Where
/// there is no S', the product may still exist if strides can express the swizzle of B.
pub(crate) fn product_of_swizzled(
    a: &ComposedLayout,
    b: &ComposedLayout,
    product: Product,
) -> Result<ComposedLayout, LayoutError> {
    let bound = b.cosize_bound_in(&mut Numbers);
    let count = rounded(bound.map_err(|error| error.blame(1))? - 1).ok_or_else(overflow)?;
    let places = places(a.layout(), count)?;
    let as_it_is = |layout: &Layout| b.map(|_| Ok(layout.clone()));
    let by_strides = |layout: &Layout| {
        let b = as_it_is(layout)?;
        let plain = b.decay().ok_or_else(|| not_a_swizzle("the second operand"));
        ComposedLayout::new(Swizzle::IDENTITY, b.swizzle().apply(b.offset()), plain?)
    };
    let attempt = |numbers: &Numbered| under_one_swizzle(a, b, &places, numbers, product);
    attempt(&as_it_is).or_else(|error| {
        attempt(&by_strides).map_err(|_| match error.kind() {
            ErrorKind::NotASwizzle { .. } => refusal(a, b, &places),
            _ => error,
        })
    })
}

/// The swizzled layout with the values of B, from the layout of B, to which modes `1:0` may be appended.
type Numbered<'a> = dyn Fn(&Layout) -> Result<ComposedLayout, LayoutError> + 'a;

/// The product of A with a map of bits, as a map of bits. `None` where A or the places of its copies are no such maps, and where values
/// of A have bits that places have.
pub(crate) fn product_of_map(a: &ComposedLayout, b: &XorMap, product: Product) -> Option<XorMap> {
    let places = places(a.layout(), rounded(b.support() as i64)?).ok()?;
    let copies = XorMap::from_layout(&places)?.after(b)?;
    let block = XorMap::of(Swizzle::IDENTITY, a.offset(), a.layout())?;
    if block.support() & copies.support() != 0 {
        return None;
    }
    let sums = XorMap::new([block.columns(), copies.columns()].concat())?;
    let sums = sums.with_constant(block.constant() | copies.constant());
    // The columns are in the order of A and B, the modes in that of the product.
    let digits = |map: &XorMap, first| Layout::new(map.shape().clone(), &map.places(first)).ok();
    let (a_digits, b_digits) = (digits(&block, 0)?, digits(&copies, block.bits())?);
    let order = product.arrange(&a_digits, &b_digits, |_, copies| Ok(copies.clone()));
    let product = sums.after(&XorMap::from_layout(&order.ok()?)?)?;
    XorMap::from_swizzle(a.swizzle(), XOR_MAP_BITS - 1).after(&product)
}

/// The smallest power of two above `highest`.
fn rounded(highest: i64) -> Option<i64> {
    let end = u64::try_from(highest).ok()?.checked_add(1)?;
    end.checked_next_power_of_two()?.try_into().ok()
}

fn under_one_swizzle(
    a: &ComposedLayout,
    b: &ComposedLayout,
    places: &Layout,
    numbers: &Numbered,
    product: Product,
) -> Result<ComposedLayout, LayoutError> {
    let refused = || not_a_swizzle("the product");
    let numbered = numbers(b.layout())?;
    if lowest(&numbered) < 0 {
        return Err(refused());
    }
    let reach = numbered.cosize_bound().ok_or_else(overflow)?;
    let swizzle = conjugate(places, numbered.swizzle(), reach)?;
    let first = places.at(numbered.offset()).ok_or_else(refused)?;
    let copies = |numbers: &Layout| {
        compose(&mut Numbers, places, numbers, Overhang::Ragged)
            .during("composition", [places, numbers])
            .map_err(|error| error.blame(1))
    };
    let repetitions = copies(numbered.layout())?;
    let shifted = ComposedLayout::new(Swizzle::IDENTITY, first, repetitions)?;
    if !is_shifted(places, &numbered, &shifted) || !leaves_alone(swizzle, a, &shifted) {
        return Err(refused());
    }
    let layout = product.arrange(a.layout(), b.layout(), |_, b| copies(numbers(b)?.layout()))?;
    let offset = a.offset().checked_add(first).ok_or_else(overflow)?;
    ComposedLayout::new(swizzle, offset, layout)?.swizzled_by(a.swizzle())
}

/// The lowest value before the swizzle.
fn lowest(b: &ComposedLayout) -> i64 {
    let modes = b.layout().flat_modes().into_iter();
    let below = modes.map(|(extent, stride)| (extent - 1) * stride.value().min(0));
    b.offset() + below.sum::<i64>()
}

/// Whether the places of the numbers `offset + B(x)`, before the swizzle of B, are those of `shifted`.
fn is_shifted(places: &Layout, b: &ComposedLayout, shifted: &ComposedLayout) -> bool {
    let numbers = || b.layout().values().map(|number| number + b.offset());
    let is_linear = b.offset() == 0 || places.flat_modes().len() == 1;
    is_linear
        || b.size() <= ENUMERATION_LIMIT
            && numbers()
                .map(|n| places.at(n))
                .eq(shifted.values().map(Some))
}

/// Whether `swizzle(x + y) = x + swizzle(y)` for all values x of A and y of `moved`, both without their swizzles.
pub(crate) fn leaves_alone(swizzle: Swizzle, a: &ComposedLayout, moved: &ComposedLayout) -> bool {
    let Ok(block) = ComposedLayout::new(Swizzle::IDENTITY, a.offset(), a.layout().clone()) else {
        return false;
    };
    let mask = (swizzle.source_mask() | swizzle.target_mask()) as u64;
    // Without a bit in common there are no carries, and the swizzle is linear over bits.
    if swizzle.is_identity() || block.bits() & (moved.bits() | mask) == 0 {
        return true;
    }
    let sum = |x: i64, y: i64| x.checked_add(y);
    let commutes =
        |x: i64, y: i64| sum(x, y).map(|sum| swizzle.apply(sum)) == sum(x, swizzle.apply(y));
    block.size().saturating_mul(moved.size()) <= ENUMERATION_LIMIT
        && moved
            .layout()
            .values()
            .all(|y| block.values().all(|x| commutes(x, y + moved.offset())))
}

fn refusal(a: &ComposedLayout, b: &ComposedLayout, places: &Layout) -> LayoutError {
    let kind = ErrorKind::SwizzledCopies {
        swizzle: b.swizzle().to_string(),
        places: places.to_string(),
        because: because(a, b, places),
    };
    kind.at(Place::operand(1))
}

/// Why places are not swizzled as their numbers are.
fn because(a: &ComposedLayout, b: &ComposedLayout, places: &Layout) -> String {
    let lowest = lowest(b);
    if lowest < 0 {
        return format!("{lowest} is not the number of a copy");
    }
    let modes = places.flat_modes();
    let mut numbers = modes
        .iter()
        .flat_map(|(extent, stride)| [stride.value(), *extent]);
    if let Some(number) = numbers.find(|number| number & (number - 1) != 0) {
        return format!("{number} is not a power of two");
    }
    let places = modes.iter();
    let reach = places.fold(0, |bits, (extent, stride)| {
        bits | (stride.value() * (extent - 1)) as u64
    });
    match a.bits() & reach {
        0 => "sums of the second operand carry".into(),
        both => format!(
            "the values of the first operand and the places both have the bit {}",
            1u64 << both.trailing_zeros()
        ),
    }
}
