//! The instructions, each with the choices of its modifiers. The instruction table has one or more rows for each.

/// Makes [`Opcode`] and the types of [`op`].
macro_rules! opcodes {
    ($($name:ident: $($choice:ident)*;)*) => {
        /// An instruction, without its types and other modifiers.
        ///
        /// PTX uses some names, such as `cp` or `mbarrier`, for several different instructions. Each of these has its own opcode, named
        /// after the words that distinguish it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the names are PTX's own")]
        pub enum Opcode { $($name),* }

        /// The opcodes as types, which take only the modifiers of their rows.
        ///
        /// ```
        /// use cute_ptx::ast::Type;
        /// use cute_ptx::table::{Mnemonic, choice, op};
        /// Mnemonic::new(op::Ld, (choice::Volatile, Type::F32))?;
        /// # Ok::<(), cute_ptx::table::Unknown>(())
        /// ```
        ///
        /// A word that no row of the instruction has does not compile:
        ///
        /// ```compile_fail,E0277
        /// use cute_ptx::ast::Type;
        /// use cute_ptx::table::{Mnemonic, choice, op};
        /// Mnemonic::new(op::Ld, (choice::Sat, Type::F32))?;
        /// # Ok::<(), cute_ptx::table::Unknown>(())
        /// ```
        pub mod op {
            use super::super::choice::{self, Takes};
            use super::Opcode;

            /// An opcode as a type.
            pub trait Instruction: Copy + sealed::Sealed {
                /// The opcode.
                const OPCODE: Opcode;
            }

            mod sealed {
                /// Other crates cannot add instructions.
                pub trait Sealed {}
            }

            $(
                #[doc = concat!("[`", stringify!($name), "`](Opcode::", stringify!($name), ").")]
                #[derive(Clone, Copy, Debug)]
                pub struct $name;

                impl sealed::Sealed for $name {}

                impl Instruction for $name {
                    const OPCODE: Opcode = Opcode::$name;
                }

                $(impl Takes<choice::$choice> for $name {})*
            )*
        }

        /// The modifiers of each opcode's choices.
        #[cfg(test)]
        const TAKEN: &[(Opcode, &[&[super::Modifier]])] = {
            use super::choice;
            &[$((Opcode::$name, &[$(choice::modifiers::<choice::$choice>()),*])),*]
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
    Ld: Weak Volatile LoadOrder Scope StateSpace Accessible LoadCache Nc L1Eviction L2CacheHint L2Prefetch Vector Type;
    Ldu: Global Vector Type;
    St: Weak Volatile StoreOrder Scope Local Param Accessible StoreCache L1Eviction L2CacheHint Vector Type;
    StAsync: Weak Vector Type;
    Prefetch: Global Local Level;
    Prefetchu:;
    PrefetchTensormap: Const Param;
    Applypriority: Global;
    Discard: Global;
    Createpolicy: L2Eviction;
    Isspacep: StateSpace;
    Cvta: StateSpace;
    CvtaTo: StateSpace;
    Mapa: SharedCluster Type;
    Getctarank: SharedCluster Type;
    Cvt: Rounding IntegerRounding Rna Ftz Sat Satfinite Relu PackedFp8 Tf32 Type;
    CvtPack: Sat Type;
    CpAsync: AsyncCache CtaShared L2CacheHint L2Prefetch;
    CpAsyncCommitGroup:;
    CpAsyncWaitGroup:;
    CpAsyncWaitAll:;
    CpAsyncMbarrierArrive: Noinc CtaShared;
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
    BarrierClusterArrive: StoreOrder Aligned;
    BarrierClusterWait: Acquire Aligned;
    Membar: MembarScope;
    Fence: FenceOrder Scope;
    FenceProxyAlias:;
    FenceProxyAsync: Global SharedCta SharedCluster;
    FenceProxyTensormap: Acquire Release Scope;
    FenceMbarrierInit:;
    Atom: Order Scope Accessible AtomicOp Noftz Type;
    Red: StoreOrder Scope Accessible ReductionOp Noftz L2CacheHint Vector Type;
    RedAsync: ReductionOp Type;
    Vote: VoteMode;
    MatchAny: Type;
    MatchAll: Type;
    Activemask:;
    Redux: ReduxOp Type;
    Elect:;
    Griddepcontrol: Dependency;
    MbarrierInit: CtaShared;
    MbarrierInval: CtaShared;
    MbarrierArrive: Arrival ExpectTx NoComplete StoreOrder MbarrierScope CtaShared SharedCluster;
    MbarrierTx: Transaction Relaxed MbarrierScope CtaShared SharedCluster;
    MbarrierTestWait: Parity LoadOrder MbarrierScope CtaShared;
    MbarrierTryWait: Parity LoadOrder MbarrierScope CtaShared;
    MbarrierPendingCount:;
    // Matrices.
    Ldmatrix: Matrices Trans CtaShared;
    Stmatrix: Matrices Trans CtaShared;
    Movmatrix:;
    Mma: Mnk Satfinite MatrixType;
    WmmaLoad: Fragment Major Mnk Global CtaShared Tf32 Type;
    WmmaStore: Major Mnk Global CtaShared Type;
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

    /// A word compiles for an instruction if and only if one of its rows has it, and a type or a number if one of them has any.
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
