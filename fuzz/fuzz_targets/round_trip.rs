//! What is printed is read back as the same value, of every kind.
#![no_main]

use cute_algebra::{ComposedLayout, Coord, Layout, Stride, Swizzle, Tiler, Value};
use cute_fuzz::Numbers::Any;
use cute_fuzz::{composed, coord, layout, shape, swizzle, tiler, value};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::fmt::{Debug, Display};
use std::str::FromStr;

fn check<T: FromStr<Err: Debug> + Display + PartialEq + Debug>(value: &T) {
    let text = value.to_string();
    match text.parse::<T>() {
        Ok(read) => assert_eq!(&read, value, "{text}"),
        Err(error) => panic!("{text}: {error:?}"),
    }
}

fn one(u: &mut Unstructured<'_>) -> Result<()> {
    match u.int_in_range(0..=6)? {
        0 => check(&shape(u, Any)?),
        1 => check::<Coord>(&coord(u)?),
        2 => {
            if let Some(layout) = layout(u, Any)? {
                check::<Layout>(&layout);
                check::<Stride>(layout.stride());
            }
        }
        3 => swizzle(u)?.iter().for_each(check::<Swizzle>),
        4 => composed(u, Any)?.iter().for_each(check::<ComposedLayout>),
        5 => tiler(u, Any, 3)?.iter().for_each(check::<Tiler>),
        _ => value(u, Any)?.iter().for_each(check::<Value>),
    }
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    // Too few bytes end an input early.
    let _ = one(&mut Unstructured::new(bytes));
});
