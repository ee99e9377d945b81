//! The fundamental types of PTX.

use cute_chip::ElementType;

macro_rules! types {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $bits:literal;)*) => {
        /// A fundamental type of PTX (PTX ISA 9.0, §5.2).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the names are PTX's own")]
        pub enum Type { $($name,)* }

        impl Type {
            /// Every type.
            pub const ALL: &[Type] = &[$(Type::$name,)*];

            /// The name without its dot, such as `u32`.
            pub const fn name(self) -> &'static str {
                match self { $(Type::$name => $text,)* }
            }

            /// The type of a name without its dot, such as `u32`.
            pub fn from_name(name: &str) -> Option<Type> {
                Type::ALL.iter().copied().find(|ty| ty.name() == name)
            }

            /// The width in bits; 1 for a predicate.
            pub const fn bits(self) -> u32 {
                match self { $(Type::$name => $bits,)* }
            }
        }
    };
}

types! {
    Pred = "pred", 1;
    B8 = "b8", 8; B16 = "b16", 16; B32 = "b32", 32; B64 = "b64", 64; B128 = "b128", 128;
    U8 = "u8", 8; U16 = "u16", 16; U32 = "u32", 32; U64 = "u64", 64;
    S8 = "s8", 8; S16 = "s16", 16; S32 = "s32", 32; S64 = "s64", 64;
    F16 = "f16", 16; F16x2 = "f16x2", 32; Bf16 = "bf16", 16; Bf16x2 = "bf16x2", 32;
    F32 = "f32", 32; F64 = "f64", 64;
}

impl Type {
    /// The type of a register for one element. A format without a fundamental type in PTX, such as tf32, gets the untyped type of the
    /// same width, and one of 4 bits that of 8, the narrowest.
    pub fn of(element: ElementType) -> Type {
        let untyped = match element.bits() {
            ..=8 => Type::B8,
            16 => Type::B16,
            32 => Type::B32,
            _ => Type::B64,
        };
        Type::from_name(element.ptx()).unwrap_or(untyped)
    }

    /// The untyped (`.b`) type of the same width: `.b32` for `.f32`. `.pred` stays `.pred`.
    pub const fn untyped(self) -> Type {
        match self.bits() {
            1 => Type::Pred,
            8 => Type::B8,
            16 => Type::B16,
            32 => Type::B32,
            64 => Type::B64,
            _ => Type::B128,
        }
    }
}
