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
    /// None: a value of a Rust type has at least a byte.
    Absent,
}

/// The properties of an element type.
struct Row {
    name: &'static str,
    bits: u32,
    kind: NumberKind,
    rust: RustType,
    ptx: &'static str,
    tensor_map: Option<u32>,
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
    ($($variant:ident: $name:literal, $bits:literal, $kind:ident, $rust:expr, $ptx:literal, $map:expr, $wgmma:expr, $cute:expr;)*) => {
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
const UINT8: Option<u32> = Some(0);
const UINT16: Option<u32> = Some(1);
const UINT32: Option<u32> = Some(2);
const INT32: Option<u32> = Some(3);
const UINT64: Option<u32> = Some(4);
const INT64: Option<u32> = Some(5);
const FLOAT16: Option<u32> = Some(6);
const FLOAT32: Option<u32> = Some(7);
const FLOAT64: Option<u32> = Some(8);
const BFLOAT16: Option<u32> = Some(9);
const TFLOAT32: Option<u32> = Some(11);

/// Tensor maps have elements of 4 bits from Blackwell on only: `16U4_ALIGN8B` and `16U4_ALIGN16B`.
const NO_MAP: Option<u32> = None;

const PRIMITIVE: RustType = RustType::Primitive;
const LIBRARY: RustType = RustType::Library;
const OF_F32: RustType = RustType::Of(ElementType::F32);
const ABSENT: RustType = RustType::Absent;

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
// use the unsigned type of their size, since TMA only copies bits. The formats of 4 bits are PTX's operands of "mma"
// (`u4`, `s4`) and of "cvt" (`e2m1`).
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
    U4:   "u4",    4, Unsigned, ABSENT,    "u4",   NO_MAP,   None,                  ["uint4_t", "uint4b_t"];
    I4:   "i4",    4, Signed,   ABSENT,    "s4",   NO_MAP,   None,                  ["int4_t", "int4b_t"];
    E2M1: "e2m1",  4, Float,    ABSENT,    "e2m1", NO_MAP,   None,                  ["float_e2m1_t"];
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

    /// Width in bytes; an error for elements that are parts of a byte.
    pub const fn bytes(self) -> Result<u32, PartialByte> {
        match self.bytes_of(1) {
            Ok(bytes) => Ok(bytes as u32),
            Err(error) => Err(error),
        }
    }

    /// The bytes that `count` elements fill side by side; an error where their bits are no whole bytes. For a negative
    /// count, it is the distance backwards. The product must fit 128 bits.
    pub const fn bytes_of(self, count: i128) -> Result<i128, PartialByte> {
        let bits = self.bits() as i128;
        let a_byte = 8 / bits;
        match bits {
            8.. => Ok(count * (bits / 8)),
            _ if count % a_byte == 0 => Ok(count / a_byte),
            _ => Err(PartialByte {
                element: self,
                count,
            }),
        }
    }

    /// The fewest bytes that hold `count` elements side by side; `None` where the number does not fit 64 bits.
    pub const fn room_of(self, count: u64) -> Option<u64> {
        match count.checked_mul(self.bits() as u64) {
            Some(bits) => Some(bits.div_ceil(8)),
            None => None,
        }
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

    /// The `CUtensorMapDataType` of the elements in a tensor map; `None` where tensor maps of this chip have no such
    /// elements.
    pub const fn tensor_map(self) -> Option<u32> {
        self.row().tensor_map
    }

    /// The first type in the table with this `CUtensorMapDataType`.
    pub fn from_tensor_map(data_type: u32) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|element| element.tensor_map() == Some(data_type))
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

/// Elements whose bits are no whole bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialByte {
    /// The type of the elements.
    pub element: ElementType,
    /// How many they are.
    pub count: i128,
}

impl core::error::Error for PartialByte {}

impl fmt::Display for PartialByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { element, count } = self;
        let bits = element.bits();
        match count {
            1 => write!(
                f,
                "elements of `{element}` have {bits} bits, which are no whole bytes"
            ),
            _ => write!(
                f,
                "{count} elements of `{element}` have {} bits, which are no whole bytes",
                count * i128::from(bits)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

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
            let first = element.tensor_map().map(ElementType::from_tensor_map);
            let bits = first.map(|first| first.unwrap().bits());
            let expected = (element.bits() >= 8).then(|| element.bits());
            assert_eq!(bits, expected, "{element}");
        }
        assert_eq!(ElementType::from_tensor_map(10), None);
        assert_eq!(ElementType::from_tensor_map(13), None);
    }

    #[test]
    fn bytes_are_whole() {
        for &element in ElementType::ALL {
            let bits = i128::from(element.bits());
            assert!(bits > 0 && 8 % bits == 0 || bits % 8 == 0, "{element}");
            for count in -9..9 {
                let expected = (count * bits % 8 == 0).then_some(count * bits / 8);
                assert_eq!(element.bytes_of(count).ok(), expected, "{count} {element}");
            }
            for count in 0..9 {
                let (room, bits) = (element.room_of(count).unwrap(), count * bits as u64);
                assert!(8 * room >= bits && 8 * room < bits + 8, "{count} {element}");
            }
            assert_eq!(element.bytes().is_ok(), bits >= 8, "{element}");
            assert_eq!(element.room_of(u64::MAX), None);
        }
        let said = |element: ElementType, count| element.bytes_of(count).unwrap_err().to_string();
        assert_eq!(
            said(ElementType::U4, 1),
            "elements of `u4` have 4 bits, which are no whole bytes"
        );
        assert_eq!(
            said(ElementType::E2M1, -3),
            "-3 elements of `e2m1` have -12 bits, which are no whole bytes"
        );
    }
}
