//! From opcode, modifiers and operands to an [`Op`]: one arm for each opcode of the instruction table.

use super::bindings::Bindings;
use super::operands::{Arg, Result, take};
use super::registers::Registers;
use super::{arithmetic, asynchronous, memory, product, threads};
use crate::op::{Flush, Function, Op, PENDING_SHIFT};
use cute_ptx::ast::{Inst, Type};
use cute_ptx::table::{Modifier, Opcode};

/// The operation of an instruction, or the reason why it is not modelled.
pub(super) fn operation(
    registers: &mut Registers,
    inst: &Inst,
    m: &Bindings,
    args: Vec<Arg>,
) -> Result<Op> {
    let unmodelled = |reason: &str| Err(reason.to_owned());
    match m.opcode() {
        Opcode::Add
        | Opcode::Sub
        | Opcode::Mul
        | Opcode::Mad
        | Opcode::Div
        | Opcode::Rem
        | Opcode::Sad
        | Opcode::Abs
        | Opcode::Neg
        | Opcode::Min
        | Opcode::Max
        | Opcode::Popc
        | Opcode::Clz
        | Opcode::Bfind
        | Opcode::Brev
        | Opcode::Bfe
        | Opcode::Bfi
        | Opcode::Fma
        | Opcode::Rcp
        | Opcode::Sqrt
        | Opcode::Rsqrt
        | Opcode::Sin
        | Opcode::Cos
        | Opcode::Lg2
        | Opcode::Ex2
        | Opcode::Tanh
        | Opcode::Copysign
        | Opcode::Selp
        | Opcode::And
        | Opcode::Or
        | Opcode::Xor
        | Opcode::Not
        | Opcode::Cnot
        | Opcode::Shf
        | Opcode::Shl
        | Opcode::Shr
        | Opcode::Prmt
        | Opcode::Mul24
        | Opcode::Mad24
        | Opcode::Fns
        | Opcode::Bmsk
        | Opcode::Szext => match m.get("t") {
            Some(Modifier::U16x2 | Modifier::S16x2) => arithmetic::compute_halves(m, args),
            _ => arithmetic::compute(m, args),
        },
        Opcode::Lop3 => {
            let [dst, a, b, c, table] = take(args)?;
            let table = registers.constant(table.int()? as u64);
            arithmetic::compute(m, vec![dst, a, b, c, Arg::Row(table)])
        }
        Opcode::AddCc
        | Opcode::Addc
        | Opcode::SubCc
        | Opcode::Subc
        | Opcode::MadCc
        | Opcode::Madc => arithmetic::extended(registers, m, args),
        Opcode::Dp4a | Opcode::Dp2a | Opcode::Vabsdiff4 => arithmetic::packed_bytes(m, args),
        Opcode::Testp => arithmetic::test(m, args),
        Opcode::Set => arithmetic::set(registers, m, args),
        Opcode::Slct => arithmetic::select(m, args),
        Opcode::CvtPack => arithmetic::pack(m, args),
        Opcode::Setp if matches!(m.ty("t")?, Type::F16x2 | Type::Bf16x2) => {
            arithmetic::compare_packed(registers, m, args)
        }
        Opcode::Call | Opcode::BrxIdx => unmodelled("calls are decoded with their routine"),
        Opcode::Setp => arithmetic::compare(m, args),
        Opcode::Mov => arithmetic::mov(inst, m, args),
        Opcode::Cvt => arithmetic::convert(registers, inst, m, args),
        Opcode::Cvta => arithmetic::address_conversion(m, args, false),
        Opcode::CvtaTo => arithmetic::address_conversion(m, args, true),
        Opcode::Isspacep => arithmetic::is_in_space(m, args),
        Opcode::MbarrierPendingCount => {
            // The state holds the pending count in the bits above the phase number.
            arithmetic::computation(
                Function::F1(|state| state >> PENDING_SHIFT),
                args,
                Flush::default(),
                None,
            )
        }

        Opcode::Bra => {
            m.has(Modifier::Uni);
            Ok(Op::Branch { target: 0 })
        }
        Opcode::Ret | Opcode::Exit => {
            m.has(Modifier::Uni);
            Ok(Op::Exit)
        }
        Opcode::Trap => Ok(Op::Trap),
        Opcode::Brkpt => unmodelled("breakpoints are not modelled: there is no debugger"),

        Opcode::Ld | Opcode::Ldu => memory::load(registers, inst, m, args),
        Opcode::St => memory::store(m, args),
        Opcode::StAsync => memory::store_async(m, args),
        Opcode::RedAsync => memory::reduce_async(m, args),
        Opcode::Atom | Opcode::Red => memory::atomic(m, args),
        Opcode::Ldmatrix => memory::load_matrix(m, args),
        Opcode::Stmatrix => memory::store_matrix(m, args),
        Opcode::Movmatrix => threads::move_matrix(args),
        // These affect only speed. No instruction reads the cache policy that `createpolicy` returns.
        Opcode::Prefetch
        | Opcode::Prefetchu
        | Opcode::Applypriority
        | Opcode::Discard
        | Opcode::Createpolicy
        | Opcode::CpAsyncBulkPrefetch
        | Opcode::CpAsyncBulkPrefetchTensor => {
            m.ignore_all();
            Ok(Op::Nop)
        }

        Opcode::Shfl => threads::shuffle(m, args),
        Opcode::Vote => threads::vote(m, args),
        Opcode::MatchAny => threads::match_lanes(m, args, false),
        Opcode::MatchAll => threads::match_lanes(m, args, true),
        Opcode::Activemask => {
            let [dst] = take(args)?;
            Ok(Op::ActiveMask { dst: dst.row()? })
        }
        Opcode::Redux => threads::redux(m, args),
        Opcode::Elect => threads::elect(args),
        Opcode::BarWarpSync => {
            let [members] = take(args)?;
            Ok(Op::WarpSync {
                members: members.row()?,
            })
        }
        Opcode::BarSync | Opcode::BarrierSync => threads::barrier(m, args, true),
        Opcode::BarArrive | Opcode::BarrierArrive => threads::barrier(m, args, false),
        Opcode::BarRed | Opcode::BarrierRed => threads::barrier_reduce(m, args),
        Opcode::WmmaLoad => product::wmma_load(registers, m, args),
        Opcode::WmmaStore => product::wmma_store(registers, m, args),
        Opcode::WmmaMma => product::wmma(m, args),
        Opcode::BarrierClusterArrive => {
            m.has(Modifier::Aligned);
            Ok(Op::ClusterArrive {
                relaxed: m.get("sem") == Some(Modifier::Relaxed),
            })
        }
        Opcode::BarrierClusterWait => {
            m.ignore(&["sem"]);
            m.has(Modifier::Aligned);
            Ok(Op::ClusterWait)
        }
        Opcode::Membar | Opcode::Fence => Ok(memory::fence(m)),
        Opcode::FenceProxyAlias => Ok(Op::Nop),
        Opcode::FenceProxyAsync => {
            let space = m.get("space");
            Ok(Op::ProxyFence {
                shared: space != Some(Modifier::Global),
                global: matches!(space, None | Some(Modifier::Global)),
            })
        }
        Opcode::FenceMbarrierInit => Ok(Op::InitFence),
        Opcode::FenceProxyTensormap => {
            m.ignore(&["scope"]);
            match m.get("sem") {
                Some(Modifier::Acquire) => {
                    let [address, _] = take(args)?;
                    Ok(Op::AcquireMap {
                        address: address.address()?,
                    })
                }
                _ => Ok(Op::Nop),
            }
        }
        Opcode::TensormapReplace => memory::replace_in_map(registers, m, args),
        Opcode::TensormapCpFenceproxy => {
            m.ignore(&["scope"]);
            let [to, from, _] = take(args)?;
            Ok(Op::CopyMap {
                to: to.address()?,
                from: from.address()?,
            })
        }
        Opcode::PrefetchTensormap => memory::prefetch_map(m, args),
        Opcode::Griddepcontrol => {
            let waits = m.get("what") == Some(Modifier::Wait);
            Ok(if waits { Op::WaitForGrid } else { Op::Nop })
        }
        Opcode::Nanosleep => Ok(Op::Nop),
        Opcode::Setmaxnreg => threads::set_max_registers(m, args),
        Opcode::Mapa => threads::map_rank(m, args),
        Opcode::Getctarank => threads::rank_of(m, args),

        Opcode::MbarrierInit => asynchronous::mbarrier_init(m, args),
        Opcode::MbarrierInval => asynchronous::mbarrier_inval(m, args),
        Opcode::MbarrierArrive => asynchronous::mbarrier_arrive(registers, m, args),
        Opcode::MbarrierTx => asynchronous::mbarrier_tx(m, args),
        Opcode::MbarrierTestWait | Opcode::MbarrierTryWait => asynchronous::mbarrier_wait(m, args),

        Opcode::CpAsync => asynchronous::copy_async(m, args),
        Opcode::CpAsyncCommitGroup => Ok(Op::CopyAsyncCommit),
        Opcode::CpAsyncWaitGroup => {
            let pending = Some(pending(args)?);
            Ok(Op::CopyAsyncWait { pending })
        }
        Opcode::CpAsyncWaitAll => Ok(Op::CopyAsyncWait { pending: None }),
        Opcode::CpAsyncMbarrierArrive => asynchronous::copy_async_arrive(m, args),
        Opcode::CpAsyncBulk | Opcode::CpAsyncBulkTensor => asynchronous::bulk_copy(m, args),
        Opcode::CpReduceAsyncBulk | Opcode::CpReduceAsyncBulkTensor => {
            asynchronous::bulk_reduce(m, args)
        }
        Opcode::CpAsyncBulkCommitGroup => Ok(Op::BulkCommit),
        Opcode::CpAsyncBulkWaitGroup => Ok(Op::BulkWait {
            read: m.has(Modifier::Read),
            pending: pending(args)?,
        }),

        Opcode::Mma => product::mma(m, args),
        Opcode::WgmmaMmaAsync => asynchronous::wgmma(m, args),
        Opcode::WgmmaFence => Ok(Op::WgmmaFence),
        Opcode::WgmmaCommitGroup => Ok(Op::WgmmaCommit),
        Opcode::WgmmaWaitGroup => Ok(Op::WgmmaWait {
            pending: pending(args)?,
        }),
    }
}

/// The operand of a `wait_group`: the number of groups that may stay pending.
fn pending(args: Vec<Arg>) -> Result<u64> {
    let [value] = take(args)?;
    let value = value.int()?;
    u64::try_from(value).map_err(|_| format!("the number of pending groups, {value}, is negative"))
}
