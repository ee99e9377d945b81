//! Modifiers: the chosen words of a mnemonic.

use crate::types::Type;
use std::fmt::{self, Display, Formatter};

/// The shape of a product of matrices: M × N × K.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the modes'")]
pub struct Mnk {
    pub m: u8,
    pub n: u16,
    pub k: u8,
}

macro_rules! modifiers {
    ($($name:ident = $text:literal),* $(,)?) => {
        /// A word of a mnemonic that is chosen when the mnemonic is built. The table has it in braces.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the names are PTX's own")]
        pub enum Modifier {
            $($name,)*
            /// A fundamental type: `.u32`.
            Type(Type),
            /// The number of elements of a vector: `.v4`.
            Vector(u8),
            /// The number of matrices of `ldmatrix` and `stmatrix`: `.x4`.
            Matrices(u8),
            /// The number of dimensions of a tensor: `.2d`.
            Dims(u8),
            /// The shape of a product of matrices: `.m64n256k16`.
            Mnk(Mnk),
        }

        const NAMED: &[(Modifier, &str)] = &[$((Modifier::$name, $text)),*];

        impl Display for Modifier {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                match self {
                    $(Modifier::$name => f.write_str($text),)*
                    Modifier::Type(ty) => f.write_str(ty.name()),
                    Modifier::Vector(length) => write!(f, "v{length}"),
                    Modifier::Matrices(count) => write!(f, "x{count}"),
                    Modifier::Dims(dims) => write!(f, "{dims}d"),
                    Modifier::Mnk(Mnk { m, n, k }) => write!(f, "m{m}n{n}k{k}"),
                }
            }
        }
    };
}

modifiers! {
    // Memory: spaces, order, scope, caches.
    Const = "const", Global = "global", Local = "local", Param = "param",
    Shared = "shared", SharedCta = "shared::cta", SharedCluster = "shared::cluster",
    Weak = "weak", Volatile = "volatile", Relaxed = "relaxed", Acquire = "acquire", Release = "release",
    AcqRel = "acq_rel", Sc = "sc",
    Cta = "cta", Cluster = "cluster", Gpu = "gpu", Gl = "gl", Sys = "sys",
    Ca = "ca", Cg = "cg", Cs = "cs", Lu = "lu", Cv = "cv", Wb = "wb", Wt = "wt", Nc = "nc", L1 = "L1", L2 = "L2",
    L1EvictNormal = "L1::evict_normal", L1EvictUnchanged = "L1::evict_unchanged",
    L1EvictFirst = "L1::evict_first", L1EvictLast = "L1::evict_last", L1NoAllocate = "L1::no_allocate",
    L2EvictNormal = "L2::evict_normal", L2EvictUnchanged = "L2::evict_unchanged",
    L2EvictFirst = "L2::evict_first", L2EvictLast = "L2::evict_last",
    L2Prefetch64B = "L2::64B", L2Prefetch128B = "L2::128B", L2Prefetch256B = "L2::256B",
    L2CacheHint = "L2::cache_hint",

    // Arithmetic: rounding, range, halves of a product, formats that are not register types.
    Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp", Rna = "rna", Rni = "rni", Rzi = "rzi", Rmi = "rmi", Rpi = "rpi",
    Approx = "approx", Full = "full",
    Ftz = "ftz", Noftz = "noftz", Sat = "sat", Satfinite = "satfinite", Relu = "relu",
    Hi = "hi", Lo = "lo", Wide = "wide", Cc = "cc", Shiftamt = "shiftamt",
    NaN = "NaN", Xorsign = "xorsign", Abs = "abs",
    L = "l", R = "r", Clamp = "clamp", Wrap = "wrap",
    F4e = "f4e", B4e = "b4e", Rc8 = "rc8", Ecl = "ecl", Ecr = "ecr", Rc16 = "rc16",
    U16x2 = "u16x2", S16x2 = "s16x2",
    Tf32 = "tf32", E4m3 = "e4m3", E5m2 = "e5m2", E4m3x2 = "e4m3x2", E5m2x2 = "e5m2x2",

    // Comparisons and tests.
    Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge",
    Ls = "ls", Hs = "hs",
    Equ = "equ", Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu", Geu = "geu", Num = "num", Nan = "nan",
    Finite = "finite", Infinite = "infinite", Number = "number", Notanumber = "notanumber",
    Normal = "normal", Subnormal = "subnormal",

    // Operations of atomics, reductions and combined predicates.
    Add = "add", Min = "min", Max = "max", Inc = "inc", Dec = "dec",
    And = "and", Or = "or", Xor = "xor", Exch = "exch", Cas = "cas", Popc = "popc",

    // Threads and barriers.
    Uni = "uni", Aligned = "aligned", Up = "up", Down = "down", Bfly = "bfly", Idx = "idx",
    All = "all", Any = "any", Ballot = "ballot",
    Arrive = "arrive", ArriveDrop = "arrive_drop", ExpectTx = "expect_tx", CompleteTx = "complete_tx",
    NoComplete = "noComplete", Parity = "parity", Noinc = "noinc",
    LaunchDependents = "launch_dependents", Wait = "wait",

    // Copies, matrices, tensor maps.
    MulticastCluster = "multicast::cluster", Read = "read",
    FragmentA = "a", FragmentB = "b", FragmentC = "c", Row = "row", Col = "col",
    Tile = "tile", Im2col = "im2col", Im2colNoOffs = "im2col_no_offs", Trans = "trans",
    GlobalAddress = "global_address", Rank = "rank", BoxDim = "box_dim", GlobalDim = "global_dim",
    GlobalStride = "global_stride", ElementStride = "element_stride", Elemtype = "elemtype",
    InterleaveLayout = "interleave_layout", SwizzleMode = "swizzle_mode", FillMode = "fill_mode",
}

impl Modifier {
    /// The modifier of a name without its dot.
    ///
    /// ```
    /// use cute_ptx::table::{Mnk, Modifier};
    /// assert_eq!(Modifier::from_name("shared::cta"), Some(Modifier::SharedCta));
    /// assert_eq!(Modifier::from_name("m64n8k16"), Some(Modifier::Mnk(Mnk { m: 64, n: 8, k: 16 })));
    /// assert_eq!(Modifier::from_name("x04"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Modifier> {
        let number = |prefix: &str, suffix: &str| {
            let digits = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
            digits.parse().ok()
        };
        let shape = || {
            let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
            let (n, k) = rest.split_once('k')?;
            Some(Modifier::Mnk(Mnk {
                m: m.parse().ok()?,
                n: n.parse().ok()?,
                k: k.parse().ok()?,
            }))
        };
        let named = NAMED.iter().find(|(_, text)| *text == name);
        named
            .map(|(modifier, _)| *modifier)
            .or_else(|| Type::from_name(name).map(Modifier::Type))
            .or_else(|| number("v", "").map(Modifier::Vector))
            .or_else(|| number("x", "").map(Modifier::Matrices))
            .or_else(|| number("", "d").map(Modifier::Dims))
            .or_else(shape)
            // Each modifier has one spelling: numbers have no leading zeros and no signs.
            .filter(|modifier| modifier.to_string() == name)
    }

    /// The type, if the modifier is one of PTX's fundamental types.
    pub fn ty(self) -> Option<Type> {
        match self {
            Modifier::Type(ty) => Some(ty),
            _ => None,
        }
    }
}
