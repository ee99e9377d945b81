//! The instructions, each with the choices of its modifiers. The instruction table has one or more rows for each.

/// Makes [`Opcode`] and the types of [`op`].
macro_rules! opcodes {
    ($($(#[$comment:meta])* $name:ident: $($choice:ident)*;)*) => {
        /// An instruction, without its types and other modifiers.
        ///
        /// PTX uses some names, such as `cp` or `mbarrier`, for several different instructions. Each of these has its own opcode, named
        /// after the words that distinguish it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the names are PTX's own")]
        pub enum Opcode { $($name),* }

        /// The opcodes as types, which take only the modifiers of their rows.
        ///
        /// A modifier that no row of the instruction has does not compile:
        ///
        /// ```compile_fail,E0277
        /// use cute_ptx::ast::Type;
        /// use cute_ptx::table::{Mnemonic, choice, op};
        /// Mnemonic::of(op::Ld, (choice::Sat, Type::F32));
        /// ```
        pub mod op {
            use super::super::choice::{self, Takes};
            use super::Opcode;

            /// An opcode as a type.
            pub trait Instruction: Copy {
                /// The opcode.
                const OPCODE: Opcode;
            }

            $(
                #[doc = concat!("[`", stringify!($name), "`](Opcode::", stringify!($name), ").")]
                #[derive(Clone, Copy, Debug)]
                pub struct $name;

                impl Instruction for $name {
                    const OPCODE: Opcode = Opcode::$name;
                }

                $(impl Takes<choice::$choice> for $name {})*
            )*
        }

        /// The modifiers of each opcode's choices.
        #[cfg(test)]
        const TAKEN: &[(Opcode, &[&[super::Modifier]])] = {
            use super::choice::{self, Choice};
            &[$((Opcode::$name, &[$(<choice::$choice as Choice>::MODIFIERS),*])),*]
        };
    };
}

#[rustfmt::skip]
opcodes! {
    // Arithmetic.
    Add: Rounding Ftz Sat PackedIntegers Type;
    Sub: Rounding Ftz Sat Type;
    Mul: Half Wide Rounding Ftz Sat Type;
    Mad: Half Wide Rounding Ftz Sat Type;
    Div: Approx Full Rounding Ftz Type;
    Rem: Type;
    Sad: Type;
    Abs: Ftz Type;
    Neg: Ftz Type;
    Min: Ftz NaN Xorsign Abs Relu PackedIntegers Type;
    Max: Ftz NaN Xorsign Abs Relu PackedIntegers Type;
    Popc: Type;
    Clz: Type;
    Bfind: Shiftamt Type;
    Brev: Type;
    Bfe: Type;
    Bfi: Type;
    Dp4a: Type;
    Dp2a: Half Type;
    Mul24: Half Type;
    Mad24: Half Type;
    Fns:;
    Bmsk: Past;
    Szext: Past Type;
    Vabsdiff4: Type Add;
    AddCc: Type;
    Addc: Cc Type;
    SubCc: Type;
    Subc: Cc Type;
    MadCc: Half Type;
    Madc: Half Cc Type;
    Fma: Rounding Ftz Sat Relu Type;
    Rcp: Approx Rounding Ftz Type;
    Sqrt: Approx Rounding Ftz Type;
    Rsqrt: Ftz Type;
    Sin: Ftz Type;
    Cos: Ftz Type;
    Lg2: Ftz Type;
    Ex2: Ftz Type;
    Tanh: Type;
    Copysign: Type;
    Testp: Test Type;
    Setp: Comparison BoolOp Ftz Type;
    Set: Comparison BoolOp Ftz Type;
    Selp: Type;
    Slct: Ftz Type;
    And: Type;
    Or: Type;
    Xor: Type;
    Not: Type;
    Cnot: Type;
    Lop3:;
    Shf: Side Past;
    Shl: Type;
    Shr: Type;
    // Data movement and conversion.
    Mov: Type;
    Prmt: PermuteMode;
    Shfl: ShuffleMode;
    Ld: Weak Volatile Relaxed Acquire Scope Space Accessible Cs LoadCache Nc L1Eviction L2CacheHint L2Prefetch Vector Type;
    Ldu: Global Vector Type;
    St: Weak Volatile Relaxed Release Scope Local Param Accessible Cs StoreCache L1Eviction L2CacheHint Vector Type;
    StAsync: Weak Vector Type;
    Prefetch: Global Local Level;
    Prefetchu:;
    PrefetchTensormap: Const Param;
    Applypriority: Global;
    Discard: Global;
    Createpolicy: L2Eviction;
    Isspacep: Space;
    Cvta: Space;
    CvtaTo: Space;
    Mapa: SharedCluster Type;
    Getctarank: SharedCluster Type;
    Cvt: Rounding IntegerRounding Rna Ftz Sat Satfinite Relu PackedFp8 Tf32 Type;
    CvtPack: Sat Type;
    CpAsync: AsyncCache Window L2CacheHint L2Prefetch;
    CpAsyncCommitGroup:;
    CpAsyncWaitGroup:;
    CpAsyncWaitAll:;
    CpAsyncMbarrierArrive: Noinc Window;
    CpAsyncBulk: Global SharedCta SharedCluster MulticastCluster L2CacheHint;
    CpReduceAsyncBulk: L2CacheHint ReductionOp Noftz Type;
    CpAsyncBulkPrefetch: L2CacheHint;
    CpAsyncBulkCommitGroup:;
    CpAsyncBulkWaitGroup: Read;
    CpAsyncBulkTensor: Dims Global SharedCta SharedCluster TensorMode MulticastCluster L2CacheHint;
    CpReduceAsyncBulkTensor: Dims ReductionOp Tile L2CacheHint;
    CpAsyncBulkPrefetchTensor: Dims Tile L2CacheHint;
    TensormapReplace: TensormapField Global SharedCta;
    TensormapCpFenceproxy: Scope;
    // Control flow.
    Bra: Uni;
    BrxIdx: Uni;
    Call: Uni;
    Ret: Uni;
    Exit:;
    // Synchronisation and communication.
    BarSync: Cta;
    BarArrive: Cta;
    BarRed: Cta BarrierOp;
    BarWarpSync:;
    BarrierSync: Cta Aligned;
    BarrierArrive: Cta Aligned;
    BarrierRed: Cta BarrierOp Aligned;
    BarrierClusterArrive: Release Relaxed Aligned;
    BarrierClusterWait: Acquire Aligned;
    Membar: MembarScope;
    Fence: Sc AcqRel Scope;
    FenceProxyAlias:;
    FenceProxyAsync: Global SharedCta SharedCluster;
    FenceProxyTensormap: Acquire Release Scope;
    FenceMbarrierInit:;
    Atom: Order Scope Accessible AtomicOp Noftz Type;
    Red: Relaxed Release Scope Accessible ReductionOp Noftz L2CacheHint Vector Type;
    RedAsync: ReductionOp Type;
    Vote: VoteMode;
    MatchAny: Type;
    MatchAll: Type;
    Activemask:;
    Redux: ReduxOp Type;
    Elect:;
    Griddepcontrol: Dependency;
    MbarrierInit: Window;
    MbarrierInval: Window;
    MbarrierArrive: Arrival ExpectTx NoComplete Release Relaxed Cta Cluster Window SharedCluster;
    MbarrierTx: Transaction Relaxed Cta Cluster Window SharedCluster;
    MbarrierTestWait: Parity Acquire Relaxed Cta Cluster Window;
    MbarrierTryWait: Parity Acquire Relaxed Cta Cluster Window;
    MbarrierPendingCount:;
    // Matrices.
    Ldmatrix: Matrices Trans Window;
    Stmatrix: Matrices Trans Window;
    Movmatrix:;
    Mma: Mnk Satfinite MatrixType;
    WmmaLoad: Fragment Major Mnk Global Window Tf32 Type;
    WmmaStore: Major Mnk Global Window Type;
    WmmaMma: Major Mnk Tf32 Type Satfinite;
    WgmmaMmaAsync: Mnk MatrixType Satfinite;
    WgmmaFence:;
    WgmmaCommitGroup:;
    WgmmaWaitGroup:;
    // Others.
    Trap:;
    Brkpt:;
    Nanosleep:;
    Setmaxnreg: Resize;
}

#[cfg(test)]
mod tests {
    use super::super::{Modifier, rows, samples};
    use super::{Opcode, TAKEN};
    use crate::table::Mnemonic;
    use std::collections::BTreeSet;

    /// A modifier compiles for an instruction if and only if one of its rows has it.
    #[test]
    fn choices_have_the_words_of_the_rows() {
        for (opcode, choices) in TAKEN {
            let taken: Vec<_> = choices.iter().copied().flatten().copied().collect();
            let (taken, words) = (names(&taken), names(&modifiers(*opcode)));
            assert_eq!(taken, words, "{opcode:?}");
        }
    }

    /// The modifiers that the rows of an opcode have.
    fn modifiers(opcode: Opcode) -> Vec<Modifier> {
        let rows = rows().filter(|(_, row)| row.opcode == opcode);
        let samples = rows.flat_map(|(_, row)| samples(row));
        let mnemonics = samples.map(|it| it.parse::<Mnemonic>().expect("a mnemonic of a row"));
        mnemonics
            .flat_map(|it| it.modifiers().iter().copied())
            .collect()
    }

    /// Their names, without numbers and types.
    fn names(modifiers: &[Modifier]) -> BTreeSet<String> {
        let name = |it: &Modifier| match it {
            Modifier::Type(_) => "a type".into(),
            Modifier::Vector(_) => "a vector".into(),
            Modifier::Matrices(_) => "matrices".into(),
            Modifier::Dims(_) => "dimensions".into(),
            Modifier::Mnk(_) => "a shape".into(),
            word => word.to_string(),
        };
        modifiers.iter().map(name).collect()
    }
}
