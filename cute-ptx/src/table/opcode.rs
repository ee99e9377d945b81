//! Opcodes: the instructions, of each of which the table has one row or several.

/// An instruction, without its types and other modifiers.
///
/// Where PTX gives one name to things that have little to do with one another, such as `cp` or `mbarrier`, each is an
/// opcode; it is called by the words that tell it from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
#[expect(missing_docs, reason = "the names are PTX's own")]
pub enum Opcode {
    // Arithmetic.
    Add, Sub, Mul, Mad, Div, Rem, Sad, Abs, Neg, Min, Max, Popc, Clz, Bfind, Brev, Bfe, Bfi, Dp4a,
    AddCc, Addc, SubCc, Subc,
    Fma, Rcp, Sqrt, Rsqrt, Sin, Cos, Lg2, Ex2, Tanh, Copysign, Testp,
    Setp, Set, Selp,
    And, Or, Xor, Not, Cnot, Lop3, Shf, Shl, Shr,
    // Data movement and conversion.
    Mov, Prmt, Shfl, Ld, Ldu, St, StAsync,
    Prefetch, Prefetchu, PrefetchTensormap, Applypriority, Discard, Createpolicy,
    Isspacep, Cvta, CvtaTo, Mapa, Getctarank, Cvt,
    CpAsync, CpAsyncCommitGroup, CpAsyncWaitGroup, CpAsyncWaitAll, CpAsyncMbarrierArrive,
    CpAsyncBulk, CpReduceAsyncBulk, CpAsyncBulkPrefetch, CpAsyncBulkCommitGroup, CpAsyncBulkWaitGroup,
    CpAsyncBulkTensor, CpReduceAsyncBulkTensor, CpAsyncBulkPrefetchTensor,
    TensormapReplace, TensormapCpFenceproxy,
    // Control flow.
    Bra, Ret, Exit,
    // Synchronisation and communication.
    BarSync, BarArrive, BarRed, BarWarpSync, BarrierSync, BarrierArrive, BarrierClusterArrive, BarrierClusterWait,
    Membar, Fence, FenceProxyAlias, FenceProxyAsync, FenceProxyTensormap, FenceMbarrierInit,
    Atom, Red, Vote, MatchAny, MatchAll, Activemask, Redux, Elect, Griddepcontrol,
    MbarrierInit, MbarrierInval, MbarrierArrive, MbarrierTx, MbarrierTestWait, MbarrierTryWait, MbarrierPendingCount,
    // Matrices.
    Ldmatrix, Stmatrix, Movmatrix, WgmmaMmaAsync, WgmmaFence, WgmmaCommitGroup, WgmmaWaitGroup,
    // Others.
    Trap, Brkpt, Nanosleep, Setmaxnreg,
}
