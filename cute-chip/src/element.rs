//! Element types: one table, with a column for each of their names and properties.

use core::fmt;

/// How the bits of an element encode a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// An integer of at least 0.
    Unsigned,
    /// An integer in two's complement.
    Signed,
    /// A floating-point number.
    Float,
}

/// The Rust type of the elements on the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RustType {
    /// The primitive type of the same name.
    Primitive,
    /// The type of the same name in `cute-runtime`.
    Library,
    /// The type of these elements. The bits have the same meaning.
    Of(ElementType),
}

/// The properties of an element type.
struct Row {
    name: &'static str,
    bits: u32,
    kind: NumberKind,
    rust: RustType,
    ptx: &'static str,
    tensor_map: u32,
    wgmma: Option<WgmmaInput>,
    cute: &'static [&'static str],
}

/// How wgmma multiplies elements of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WgmmaInput {
    /// The accumulator types of its multiplications, the widest last.
    pub accumulators: &'static [ElementType],
    /// Whether an operand in shared memory can be contiguous along M or N. Every operand can be along K.
    pub mn_major: bool,
}

macro_rules! elements {
    ($($variant:ident: $name:literal, $bits:literal, $kind:ident, $rust:expr, $ptx:literal, $map:ident, $wgmma:expr, $cute:expr;)*) => {
        /// The type of a tensor's elements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ElementType {
            $(#[doc = concat!("`", $name, "`, ", $bits, " bits.")] $variant,)*
        }

        impl ElementType {
            /// Every type, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];
        }

        static ROWS: &[Row] = &[$(Row {
            name: $name,
            bits: $bits,
            kind: NumberKind::$kind,
            rust: $rust,
            ptx: $ptx,
            tensor_map: $map,
            wgmma: $wgmma,
            cute: &$cute,
        },)*];
    };
}

// `CUtensorMapDataType` (CUDA driver API, cuda.h) without `CU_TENSOR_MAP_DATA_TYPE_`.
const UINT8: u32 = 0;
const UINT16: u32 = 1;
const UINT32: u32 = 2;
const INT32: u32 = 3;
const UINT64: u32 = 4;
const INT64: u32 = 5;
const FLOAT16: u32 = 6;
const FLOAT32: u32 = 7;
const FLOAT64: u32 = 8;
const BFLOAT16: u32 = 9;
const TFLOAT32: u32 = 11;

const PRIMITIVE: RustType = RustType::Primitive;
const LIBRARY: RustType = RustType::Library;
const OF_F32: RustType = RustType::Of(ElementType::F32);

const fn wgmma(accumulators: &'static [ElementType], mn_major: bool) -> Option<WgmmaInput> {
    Some(WgmmaInput {
        accumulators,
        mn_major,
    })
}

const F32: &[ElementType] = &[ElementType::F32];
const F16_F32: &[ElementType] = &[ElementType::F16, ElementType::F32];
const S32: &[ElementType] = &[ElementType::I32];

// Sources: PTX ISA 9.0, "Fundamental Types", "Alternate Floating-Point Data Formats" and the tables of types and
// transposes in "wgmma.mma_async". Tensor maps have no signed 8-bit and 16-bit integers and no 8-bit floats; these
// use the unsigned type of their size, since TMA only copies bits.
#[rustfmt::skip] // A table is read by its rows.
elements! {
    // Variant and name, bits, numbers, Rust, PTX, tensor map, wgmma, CuTe.
    U8:   "u8",    8, Unsigned, PRIMITIVE, "u8",   UINT8,    wgmma(S32, false),     ["uint8_t"];
    I8:   "i8",    8, Signed,   PRIMITIVE, "s8",   UINT8,    wgmma(S32, false),     ["int8_t"];
    U16:  "u16",  16, Unsigned, PRIMITIVE, "u16",  UINT16,   None,                  ["uint16_t"];
    I16:  "i16",  16, Signed,   PRIMITIVE, "s16",  UINT16,   None,                  ["int16_t"];
    U32:  "u32",  32, Unsigned, PRIMITIVE, "u32",  UINT32,   None,                  ["uint32_t"];
    I32:  "i32",  32, Signed,   PRIMITIVE, "s32",  INT32,    None,                  ["int32_t", "int"];
    U64:  "u64",  64, Unsigned, PRIMITIVE, "u64",  UINT64,   None,                  ["uint64_t"];
    I64:  "i64",  64, Signed,   PRIMITIVE, "s64",  INT64,    None,                  ["int64_t"];
    BF16: "bf16", 16, Float,    LIBRARY,   "bf16", BFLOAT16, wgmma(F32, true),      ["bfloat16_t"];
    F16:  "f16",  16, Float,    LIBRARY,   "f16",  FLOAT16,  wgmma(F16_F32, true),  ["half_t"];
    F32:  "f32",  32, Float,    PRIMITIVE, "f32",  FLOAT32,  None,                  ["float"];
    F64:  "f64",  64, Float,    PRIMITIVE, "f64",  FLOAT64,  None,                  ["double"];
    TF32: "tf32", 32, Float,    OF_F32,    "tf32", TFLOAT32, wgmma(F32, false),     ["tfloat32_t"];
    E4M3: "e4m3",  8, Float,    LIBRARY,   "e4m3", UINT8,    wgmma(F16_F32, false), ["float_e4m3_t"];
    E5M2: "e5m2",  8, Float,    LIBRARY,   "e5m2", UINT8,    wgmma(F16_F32, false), ["float_e5m2_t"];
}

impl ElementType {
    const fn row(self) -> &'static Row {
        // The macro makes one row for each variant, in order.
        &ROWS[self as usize]
    }

    /// The name in Rust, the notation and the kernel language.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The type with this [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|element| element.name() == name)
    }

    /// Width in bits.
    pub const fn bits(self) -> u32 {
        self.row().bits
    }

    /// Width in bytes.
    pub const fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// The encoding: unsigned integer, signed integer or floating-point number.
    pub const fn kind(self) -> NumberKind {
        self.row().kind
    }

    /// Whether its values are floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self.kind(), NumberKind::Float)
    }

    /// The Rust type of the elements on the host.
    pub const fn rust(self) -> RustType {
        self.row().rust
    }

    /// The type of the same elements on the host: `f32` for `tf32`, otherwise the same type. Instructions ignore the
    /// lowest 13 bits of `tf32`.
    pub const fn host(self) -> Self {
        match self.rust() {
            RustType::Of(element) => element,
            _ => self,
        }
    }

    /// The name in PTX mnemonics, without the dot.
    pub const fn ptx(self) -> &'static str {
        self.row().ptx
    }

    /// The `CUtensorMapDataType` of the elements in a tensor map.
    pub const fn tensor_map(self) -> u32 {
        self.row().tensor_map
    }

    /// The first type in the table with this `CUtensorMapDataType`.
    pub fn from_tensor_map(data_type: u32) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|element| element.tensor_map() == data_type)
    }

    /// How wgmma multiplies elements of this type; `None` where it does not.
    pub const fn wgmma(self) -> Option<WgmmaInput> {
        self.row().wgmma
    }

    /// How wgmma multiplies elements of A, of this type, by elements of B; `None` where it does not. Two types can differ
    /// if they have 8 bits and are both integers or both floating-point numbers.
    pub fn wgmma_by(self, b: Self) -> Option<WgmmaInput> {
        let input = self.wgmma()?;
        let mixes = self.bits() == 8 && b.bits() == 8 && b.wgmma() == Some(input);
        (self == b || mixes).then_some(input)
    }

    /// CuTe's C++ names for it.
    pub const fn cute(self) -> &'static [&'static str] {
        self.row().cute
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_one_type() {
        for &element in ElementType::ALL {
            assert_eq!(ElementType::from_name(element.name()), Some(element));
            let named = |other: &&ElementType| other.ptx() == element.ptx();
            assert_eq!(
                ElementType::ALL.iter().filter(named).count(),
                1,
                "{element}"
            );
        }
    }

    #[test]
    fn a_data_type_of_tensor_maps_has_the_width_of_its_elements() {
        for &element in ElementType::ALL {
            let first = ElementType::from_tensor_map(element.tensor_map()).unwrap();
            assert_eq!(first.bits(), element.bits(), "{element}");
        }
        assert_eq!(ElementType::from_tensor_map(10), None);
    }
}
