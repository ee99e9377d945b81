//! Inputs of the fuzz targets: values of the algebra, and texts made of words.

#![forbid(unsafe_code)]

use arbitrary::{Result, Unstructured};
use cute_algebra::{
    ComposedLayout, Coord, Layout, ScaledBasis, Shape, Stride, Swizzle, Tiler, Tuple, Value,
};

/// Deepest tree that is built.
const DEPTH: usize = 3;

/// How large the numbers of a value are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// Small enough to look at every coordinate.
    Small,
    /// Up to the ends of 64 bits.
    Any,
}

/// A tree of leaves.
fn tuple<T>(
    u: &mut Unstructured<'_>,
    depth: usize,
    leaf: &mut dyn FnMut(&mut Unstructured<'_>) -> Result<T>,
) -> Result<Tuple<T>> {
    if depth == 0 || u.ratio(1, 3)? {
        return Ok(Tuple::Leaf(leaf(u)?));
    }
    let modes = (0..u.int_in_range(0..=3)?).map(|_| tuple(u, depth - 1, leaf));
    Ok(Tuple::Node(modes.collect::<Result<_>>()?))
}

fn extent(u: &mut Unstructured<'_>, numbers: Numbers) -> Result<i64> {
    match numbers {
        Numbers::Small => Ok(*u.choose(&[1, 2, 2, 3, 4, 4, 5, 6, 8, 12, 16])?),
        Numbers::Any => integer(u),
    }
}

fn integer(u: &mut Unstructured<'_>) -> Result<i64> {
    match u.int_in_range(0..=3)? {
        0 => u.arbitrary(),
        1 => Ok(1 << u.int_in_range(0..=62)?),
        _ => u.int_in_range(-20..=20),
    }
}

/// A shape.
pub fn shape(u: &mut Unstructured<'_>, numbers: Numbers) -> Result<Shape> {
    tuple(u, DEPTH, &mut |u| extent(u, numbers))
}

/// A coordinate, with `_` here and there.
pub fn coord(u: &mut Unstructured<'_>) -> Result<Coord> {
    tuple(u, DEPTH, &mut |u| {
        Ok(match u.ratio(1, 4)? {
            true => None,
            false => Some(integer(u)?),
        })
    })
}

/// A layout: compact in some order with or without gaps, or with any strides; now and then in a coordinate space.
pub fn layout(u: &mut Unstructured<'_>, numbers: Numbers) -> Result<Option<Layout>> {
    let shape = shape(u, numbers)?;
    let stride: Stride = match u.int_in_range(0..=5)? {
        0..=2 => compact(u, &shape)?,
        3 => {
            let mut failed = Ok(());
            let basis = shape.map(|_| {
                basis(u).unwrap_or_else(|error| {
                    failed = Err(error);
                    ScaledBasis::from(0)
                })
            });
            failed?;
            basis
        }
        _ => {
            let mut failed = Ok(());
            let strides: Shape = shape.map(|_| {
                stride(u, numbers).unwrap_or_else(|error| {
                    failed = Err(error);
                    0
                })
            });
            failed?;
            (&strides).into()
        }
    };
    Ok(Layout::new(shape, stride).ok())
}

fn stride(u: &mut Unstructured<'_>, numbers: Numbers) -> Result<i64> {
    match numbers {
        Numbers::Small => u.int_in_range(-4..=24),
        Numbers::Any => integer(u),
    }
}

fn basis(u: &mut Unstructured<'_>) -> Result<ScaledBasis> {
    let path: Vec<usize> = (0..u.int_in_range(0..=2)?)
        .map(|_| u.int_in_range(0..=2))
        .collect::<Result<_>>()?;
    let value = u.int_in_range(-3..=4)?;
    Ok(ScaledBasis::new(value, path).unwrap_or_else(|_| ScaledBasis::from(value)))
}

fn compact(u: &mut Unstructured<'_>, shape: &Shape) -> Result<Stride> {
    let extents: Vec<i64> = shape.leaves().copied().collect();
    let mut order: Vec<usize> = (0..extents.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, u.int_in_range(0..=i)?);
    }
    let mut strides = vec![0; extents.len()];
    let mut next = 1i64;
    for i in order {
        let gap = *u.choose(&[1, 1, 1, 1, 0, 2, 3])?;
        strides[i] = next.saturating_mul(gap);
        next = next.saturating_mul(gap.max(1)).saturating_mul(extents[i]);
    }
    let mut strides = strides.into_iter();
    Ok((&shape.map(|_| strides.next().unwrap_or(0))).into())
}

/// A swizzle.
pub fn swizzle(u: &mut Unstructured<'_>) -> Result<Option<Swizzle>> {
    let bits = u.int_in_range(0..=4)?;
    let distance = bits as i32 + u.int_in_range(0..=3)?;
    let shift = if u.ratio(1, 4)? { -distance } else { distance };
    Ok(Swizzle::new(bits, u.int_in_range(0..=5)?, shift).ok())
}

/// A swizzle after a layout.
pub fn composed(u: &mut Unstructured<'_>, numbers: Numbers) -> Result<Option<ComposedLayout>> {
    let (Some(swizzle), Some(layout)) = (swizzle(u)?, layout(u, numbers)?) else {
        return Ok(None);
    };
    Ok(ComposedLayout::new(swizzle, u.int_in_range(0..=64)?, layout).ok())
}

/// A tiler.
pub fn tiler(u: &mut Unstructured<'_>, numbers: Numbers, depth: usize) -> Result<Option<Tiler>> {
    Ok(match u.int_in_range(0..=3)? {
        0 => Some(Tiler::Keep),
        1 if depth > 0 => {
            let modes = (0..u.int_in_range(1..=3)?).map(|_| tiler(u, numbers, depth - 1));
            let modes: Option<Vec<_>> = modes.collect::<Result<_>>()?;
            modes.map(Tiler::Modes)
        }
        _ => layout(u, numbers)?.map(Tiler::Layout),
    })
}

/// A value of any kind.
pub fn value(u: &mut Unstructured<'_>, numbers: Numbers) -> Result<Option<Value>> {
    Ok(match u.int_in_range(0..=11)? {
        0 => Some(u.int_in_range(0..=16)?).map(Value::Int),
        1 => Some(coord(u)?.into()),
        2 => Some(shape(u, numbers)?.into()),
        3 => tiler(u, numbers, 2)?.map(Value::from),
        4 => swizzle(u)?.map(Value::from),
        5 | 6 => composed(u, numbers)?.map(Value::from),
        _ => layout(u, numbers)?.map(Value::from),
    })
}

/// A text of words, whose brackets match: each byte is a word.
pub fn words(bytes: &[u8], vocabulary: &[&str]) -> String {
    let mut text = String::new();
    let mut open = Vec::new();
    for &byte in bytes {
        let word = vocabulary[usize::from(byte) % vocabulary.len()];
        for sign in word.chars() {
            match sign {
                '(' => open.push(')'),
                '[' => open.push(']'),
                '{' => open.push('}'),
                ')' | ']' | '}' if open.pop() != Some(sign) => return String::new(),
                _ => {}
            }
        }
        text.push_str(word);
        text.push(' ');
    }
    text.extend(open.into_iter().rev());
    text
}
