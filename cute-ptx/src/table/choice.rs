//! Choices: what an instruction's modifiers are chosen from, as types.
//!
//! [`Modifier`] has every word of PTX. An instruction takes few of them. A choice is a set of words of which a mnemonic has one, or
//! leaves it out; many have a single word. The list of [`op`](super::op) says which choices an instruction takes, so that a
//! [`Mnemonic`](super::Mnemonic) with another word does not compile. A test compares the words of these choices with those of the
//! rows: they are the same. Whether words, types and numbers go together is known when the mnemonic is built.

pub use super::modifier::Mnk;
pub use crate::types::Type;

use super::modifier::Modifier;
use cute_chip::ElementType;
use std::fmt::{self, Display, Formatter};

/// A set of modifiers, one of which is chosen.
pub trait Choice: Copy + Into<Modifier> + sealed::Listed {}

/// An instruction that takes modifiers of a choice.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no modifier of the choice `{C}`",
    note = "no row of the instruction table has it"
)]
pub trait Takes<C: Choice> {}

/// Modifiers of an instruction, in the order of its mnemonic: a [`Choice`] that it [takes](Takes), an `Option` of modifiers, or a tuple
/// of up to six.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a modifier of `{I}`, nor several")]
pub trait Modifiers<I>: sealed::Sealed {
    /// Appends the modifiers to a list.
    fn push_to(self, modifiers: &mut Vec<Modifier>);
}

mod sealed {
    use super::Modifier;

    /// Other crates cannot add words to an instruction.
    pub trait Sealed {}

    /// A choice's modifiers; of types and of those with a number, one.
    pub trait Listed {
        const MODIFIERS: &'static [Modifier];
    }
}

/// The modifiers of a choice; of types and of those with a number, one.
#[cfg(test)]
pub(super) const fn modifiers<C: Choice>() -> &'static [Modifier] {
    C::MODIFIERS
}

impl<M: sealed::Sealed> sealed::Sealed for Option<M> {}

impl<I, M: Modifiers<I>> Modifiers<I> for Option<M> {
    fn push_to(self, modifiers: &mut Vec<Modifier>) {
        if let Some(it) = self {
            it.push_to(modifiers);
        }
    }
}

macro_rules! tuples {
    ($(($($name:ident),*))*) => { $(
        impl<$($name: sealed::Sealed),*> sealed::Sealed for ($($name,)*) {}

        impl<Inst, $($name: Modifiers<Inst>),*> Modifiers<Inst> for ($($name,)*) {
            #[allow(non_snake_case, unused_variables, reason = "the types' names serve as the elements'; () has none")]
            fn push_to(self, modifiers: &mut Vec<Modifier>) {
                let ($($name,)*) = self;
                $($name.push_to(modifiers);)*
            }
        }
    )* };
}

tuples! { () (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) }

/// Makes a type a choice.
macro_rules! choice {
    ($name:ty, [$($modifier:expr),*], $into:expr) => {
        impl From<$name> for Modifier {
            fn from(choice: $name) -> Modifier {
                let into: fn($name) -> Modifier = $into;
                into(choice)
            }
        }

        impl Choice for $name {}

        impl sealed::Sealed for $name {}

        impl sealed::Listed for $name {
            const MODIFIERS: &'static [Modifier] = &[$($modifier),*];
        }

        impl<I: Takes<$name>> Modifiers<I> for $name {
            fn push_to(self, modifiers: &mut Vec<Modifier>) {
                modifiers.push(self.into());
            }
        }
    };
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($word:ident)* })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the names are PTX's own")]
        pub enum $name { $($word),* }

        choice!($name, [$(Modifier::$word),*], |it| match it { $($name::$word => Modifier::$word),* });

        impl Display for $name {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                Modifier::from(*self).fmt(f)
            }
        }
    )* };
}

macro_rules! single {
    ($($word:ident)*) => { $(
        #[doc = concat!("The word [`", stringify!($word), "`](Modifier::", stringify!($word), "), for instructions that take it alone.")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $word;

        choice!($word, [Modifier::$word], |_| Modifier::$word);
    )* };
}

words! {
    /// A state space.
    StateSpace { Const Global Local Param Shared SharedCta SharedCluster }
    /// A state space that other threads can access: those of tensors.
    Accessible { Global Shared SharedCta SharedCluster }
    /// The shared memory of the CTA. `.shared` is `.shared::cta`.
    CtaShared { Shared SharedCta }
    /// The order of an atomic operation and the accesses around it.
    Order { Relaxed Acquire Release AcqRel }
    /// The order of a load, or of a wait, and the accesses after it.
    LoadOrder { Relaxed Acquire }
    /// The order of a store, or of an arrival, and the accesses before it.
    StoreOrder { Relaxed Release }
    /// The order that a fence makes.
    FenceOrder { Sc AcqRel }
    /// The threads that observe the order.
    Scope { Cta Cluster Gpu Sys }
    /// The threads that observe the order of an mbarrier.
    MbarrierScope { Cta Cluster }
    /// The threads that observe what is before a `membar`.
    MembarScope { Cta Gl Sys }
    /// How a load uses the caches.
    LoadCache { Ca Cg Cs Lu Cv }
    /// How a store uses the caches.
    StoreCache { Wb Cg Cs Wt }
    /// The caches of an asynchronous copy.
    AsyncCache { Ca Cg }
    /// How long a line stays in the L1 cache.
    L1Eviction { L1EvictNormal L1EvictUnchanged L1EvictFirst L1EvictLast L1NoAllocate }
    /// How long a line stays in the L2 cache.
    L2Eviction { L2EvictNormal L2EvictUnchanged L2EvictFirst L2EvictLast }
    /// How many bytes the L2 cache fetches on a miss.
    L2Prefetch { L2Prefetch64B L2Prefetch128B L2Prefetch256B }
    /// The cache of a prefetch.
    Level { L1 L2 }

    /// How a result is rounded to a number of its type.
    Rounding { Rn Rz Rm Rp }
    /// How a number is rounded to an integer.
    IntegerRounding { Rni Rzi Rmi Rpi }
    /// The half of a product.
    Half { Hi Lo }
    /// What a shift or a width beyond the type's does.
    Past { Clamp Wrap }
    /// The direction of a funnel shift.
    Side { L R }
    /// How `prmt` selects bytes.
    PermuteMode { F4e B4e Rc8 Ecl Ecr Rc16 }
    /// Two integers of 16 bits in a register.
    PackedIntegers { U16x2 S16x2 }
    /// Two numbers of 8 bits in a register.
    PackedFp8 { E4m3x2 E5m2x2 }
    /// A comparison. For numbers that are not ordered, those from `Equ` on hold; `Num` holds if neither is a NaN, `Nan` if one is.
    Comparison { Eq Ne Lt Le Gt Ge Lo Ls Hi Hs Num Nan Equ Neu Ltu Leu Gtu Geu }
    /// How a comparison is combined with a predicate.
    BoolOp { And Or Xor }
    /// A property of a floating-point number.
    Test { Finite Infinite Number Notanumber Normal Subnormal }

    /// An operation of `atom`.
    AtomicOp { Add Min Max Inc Dec And Or Xor Exch Cas }
    /// An operation of `red` and of copies that reduce.
    ReductionOp { Add Min Max Inc Dec And Or Xor }
    /// An operation of `redux`.
    ReduxOp { Add Min Max And Or Xor }
    /// An operation of a barrier on predicates.
    BarrierOp { And Or Popc }

    /// From which lane a shuffle reads.
    ShuffleMode { Up Down Bfly Idx }
    /// What a vote says.
    VoteMode { All Any Uni Ballot }
    /// What an arrival does to the expected arrivals of later phases.
    Arrival { Arrive ArriveDrop }
    /// A change of the expected bytes of an mbarrier.
    Transaction { ExpectTx CompleteTx }
    /// What a grid says to the one that depends on it, or waits for.
    Dependency { LaunchDependents Wait }
    /// Whether a warp takes registers or gives them up.
    Resize { Inc Dec }

    /// Which matrix of a product a fragment is from.
    Fragment { FragmentA FragmentB FragmentC }
    /// The layout of a matrix.
    Major { Row Col }
    /// How a copy takes a tensor apart.
    TensorMode { Tile Im2col Im2colNoOffs }
    /// A field of a tensor map.
    TensormapField {
        GlobalAddress Rank BoxDim GlobalDim GlobalStride ElementStride Elemtype InterleaveLayout SwizzleMode FillMode
    }
}

single! {
    Const Global Local Param SharedCta SharedCluster
    Weak Volatile Relaxed Acquire Release Cta Nc L2CacheHint
    Approx Full Rna Ftz Noftz Sat Satfinite Relu Wide Cc Shiftamt NaN Xorsign Abs Tf32 Add
    Uni Aligned ExpectTx NoComplete Parity Noinc
    MulticastCluster Read Tile Trans
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident($example:literal))*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name(pub u8);

        choice!($name, [Modifier::$name($example)], |it| Modifier::$name(it.0));
    )* };
}

numbers! {
    /// The number of elements of a vector.
    Vector(2)
    /// The number of matrices of `ldmatrix` and `stmatrix`.
    Matrices(1)
    /// The number of dimensions of a tensor.
    Dims(1)
}

/// The type of a matrix's elements: one of registers, or a format that registers of bits hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are PTX's own")]
pub enum MatrixType {
    /// A type of registers.
    Type(Type),
    Tf32,
    E4m3,
    E5m2,
}

impl MatrixType {
    /// PTX's type of these elements; `None` if it has none for matrices.
    pub fn of(element: ElementType) -> Option<MatrixType> {
        match Modifier::from_name(element.ptx())? {
            Modifier::Type(ty) => Some(MatrixType::Type(ty)),
            Modifier::Tf32 => Some(MatrixType::Tf32),
            Modifier::E4m3 => Some(MatrixType::E4m3),
            Modifier::E5m2 => Some(MatrixType::E5m2),
            _ => None,
        }
    }
}

/// A type in place of all.
const A_TYPE: Modifier = Modifier::Type(Type::B32);

choice!(
    MatrixType,
    [A_TYPE, Modifier::Tf32, Modifier::E4m3, Modifier::E5m2],
    |it| match it {
        MatrixType::Type(ty) => Modifier::Type(ty),
        MatrixType::Tf32 => Modifier::Tf32,
        MatrixType::E4m3 => Modifier::E4m3,
        MatrixType::E5m2 => Modifier::E5m2,
    }
);
choice!(Type, [A_TYPE], Modifier::Type);
choice!(
    Mnk,
    [Modifier::Mnk(Mnk { m: 16, n: 8, k: 8 })],
    Modifier::Mnk
);
