//! Values are serialised as text in the notation.

use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::composed::ComposedLayout;
use crate::layout::Layout;
use crate::picture::ColorBy;
use crate::stride::Stride;
use crate::swizzle::Swizzle;
use crate::tiler::Tiler;
use crate::tiling::Tiling;
use crate::tuple::{Coord, IntTuple};

macro_rules! as_text {
    ($($kind:ty),*) => {$(
        impl Serialize for $kind {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str(Text(PhantomData))
            }
        }
    )*};
}
as_text!(
    IntTuple,
    Stride,
    Coord,
    Layout,
    Tiler,
    Swizzle,
    ComposedLayout,
    Tiling,
    ColorBy
);

/// Reads a value from its text.
struct Text<T>(PhantomData<T>);

impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text in the notation of layouts")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}
