//! Element types of tensors.

use cute_ptx::ast::Type;
use std::fmt;

macro_rules! elements {
    ($($variant:ident = $name:literal, $bits:literal, $ty:ident;)*) => {
        /// The type of a tensor's elements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the names are the types' own")]
        pub enum Element { $($variant,)* }

        impl Element {
            /// Every element type.
            pub const ALL: &[Element] = &[$(Element::$variant,)*];

            /// The name, as a kernel writes it.
            pub const fn name(self) -> &'static str {
                match self { $(Element::$variant => $name,)* }
            }

            /// Width in bits.
            pub const fn bits(self) -> u32 {
                match self { $(Element::$variant => $bits,)* }
            }

            /// The type of a register that holds one element.
            pub const fn register(self) -> Type {
                match self { $(Element::$variant => Type::$ty,)* }
            }
        }
    };
}

elements! {
    U8 = "u8", 8, U8; I8 = "i8", 8, S8;
    U16 = "u16", 16, U16; I16 = "i16", 16, S16;
    U32 = "u32", 32, U32; I32 = "i32", 32, S32;
    U64 = "u64", 64, U64; I64 = "i64", 64, S64;
    F16 = "f16", 16, F16; Bf16 = "bf16", 16, Bf16;
    F32 = "f32", 32, F32; F64 = "f64", 64, F64;
}

impl Element {
    /// The element type of that name.
    pub fn from_name(name: &str) -> Option<Element> {
        Element::ALL
            .iter()
            .copied()
            .find(|element| element.name() == name)
    }

    /// Width in bytes.
    pub const fn bytes(self) -> u32 {
        self.bits() / 8
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
