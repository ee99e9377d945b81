//! Opcodes. The instruction table has one or more rows for each.

/// An instruction, without its types and other modifiers.
///
/// PTX uses some names, such as `cp` or `mbarrier`, for several different instructions. Each of these has its own opcode, named
/// after the words that distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[rustfmt::skip]
#[expect(missing_docs, reason = "the names are PTX's own")]
pub enum Opcode {
    // Arithmetic.
    Add, Sub, Mul, Mad, Div, Rem, Sad, Abs, Neg, Min, Max, Popc, Clz, Bfind, Brev, Bfe, Bfi, Dp4a, Dp2a,
    Mul24, Mad24, Fns, Bmsk, Szext, Vabsdiff4,
    AddCc, Addc, SubCc, Subc, MadCc, Madc,
    Fma, Rcp, Sqrt, Rsqrt, Sin, Cos, Lg2, Ex2, Tanh, Copysign, Testp,
    Setp, Set, Selp, Slct,
    And, Or, Xor, Not, Cnot, Lop3, Shf, Shl, Shr,
    // Data movement and conversion.
    Mov, Prmt, Shfl, Ld, Ldu, St, StAsync,
    Prefetch, Prefetchu, PrefetchTensormap, Applypriority, Discard, Createpolicy,
    Isspacep, Cvta, CvtaTo, Mapa, Getctarank, Cvt, CvtPack,
    CpAsync, CpAsyncCommitGroup, CpAsyncWaitGroup, CpAsyncWaitAll, CpAsyncMbarrierArrive,
    CpAsyncBulk, CpReduceAsyncBulk, CpAsyncBulkPrefetch, CpAsyncBulkCommitGroup, CpAsyncBulkWaitGroup,
    CpAsyncBulkTensor, CpReduceAsyncBulkTensor, CpAsyncBulkPrefetchTensor,
    TensormapReplace, TensormapCpFenceproxy,
    // Control flow.
    Bra, BrxIdx, Call, Ret, Exit,
    // Synchronisation and communication.
    BarSync, BarArrive, BarRed, BarWarpSync, BarrierSync, BarrierArrive, BarrierRed, BarrierClusterArrive, BarrierClusterWait,
    Membar, Fence, FenceProxyAlias, FenceProxyAsync, FenceProxyTensormap, FenceMbarrierInit,
    Atom, Red, RedAsync, Vote, MatchAny, MatchAll, Activemask, Redux, Elect, Griddepcontrol,
    MbarrierInit, MbarrierInval, MbarrierArrive, MbarrierTx, MbarrierTestWait, MbarrierTryWait, MbarrierPendingCount,
    // Matrices.
    Ldmatrix, Stmatrix, Movmatrix, Mma, WmmaLoad, WmmaStore, WmmaMma, WgmmaMmaAsync, WgmmaFence, WgmmaCommitGroup, WgmmaWaitGroup,
    // Others.
    Trap, Brkpt, Nanosleep, Setmaxnreg,
}
