//! What each instruction of the table does: one arm for an opcode, which takes the modifiers of its row and its operands.

use super::bindings::Bindings;
use super::registers::Arg;
use super::{Decoder, Result, asynchronous, memory, threads};
use crate::arithmetic;
use crate::exec::special::counts_time;
use crate::op::{
    Function, Op, PARAM_WINDOW, PENDING_SHIFT, Reg, SHARED_WINDOW, Together, WINDOW_BYTES,
};
use cute_ptx::ast::{Inst, Operand, Type};
use cute_ptx::special;
use cute_ptx::table::{Modifier, Opcode};

impl Decoder<'_, '_> {
    /// The operation of an instruction, where it is modelled.
    pub(super) fn op(&mut self, inst: &Inst, m: &Bindings, args: Vec<Arg>) -> Result<Op> {
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
            | Opcode::Prmt => arithmetic_op(m, args),
            Opcode::Lop3 => {
                let [dst, a, b, c, table] = take(args)?;
                let table = self.registers.constant(table.int()? as u64);
                arithmetic_op(m, vec![dst, a, b, c, Arg::Row(table)])
            }
            Opcode::AddCc | Opcode::Addc | Opcode::SubCc | Opcode::Subc => {
                unmodelled("the carry flag is not modelled")
            }
            Opcode::Dp4a => unmodelled("dot products of bytes are not modelled"),
            Opcode::Testp => unmodelled("tests for kinds of numbers are not modelled"),
            Opcode::Set => unmodelled("comparisons that give numbers are not modelled"),
            Opcode::Setp => compare(m, args),
            Opcode::Mov => mov(inst, m, args),
            Opcode::Cvt => self.convert(inst, m, args),
            Opcode::Cvta => address_conversion(m, args, false),
            Opcode::CvtaTo => address_conversion(m, args, true),
            Opcode::Isspacep => is_in_space(m, args),
            Opcode::MbarrierPendingCount => {
                // Above the number of the phase.
                computation(
                    Function::F1(|state| state >> PENDING_SHIFT),
                    args,
                    false,
                    false,
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
            Opcode::Brkpt => unmodelled("there is no debugger"),

            Opcode::Ld | Opcode::Ldu => memory::load(&self.registers, inst, m, args),
            Opcode::St => memory::store(m, args),
            Opcode::StAsync => memory::store_async(m, args),
            Opcode::Atom | Opcode::Red => memory::atomic(m, args),
            Opcode::Ldmatrix => memory::load_matrix(m, args),
            Opcode::Stmatrix => memory::store_matrix(m, args),
            Opcode::Movmatrix => unmodelled("transposing a matrix in registers is not modelled"),
            // They change nothing but speed; a cache policy is a number that nobody looks at.
            Opcode::Prefetch
            | Opcode::Prefetchu
            | Opcode::Applypriority
            | Opcode::Discard
            | Opcode::PrefetchTensormap
            | Opcode::Createpolicy
            | Opcode::CpAsyncBulkPrefetch
            | Opcode::CpAsyncBulkPrefetchTensor => {
                m.ignore_all();
                Ok(Op::Nop)
            }

            Opcode::Shfl => threads::shuffle(m, args),
            Opcode::Vote => threads::vote(m, args),
            Opcode::MatchAny | Opcode::MatchAll => {
                unmodelled("comparing the values of lanes is not modelled")
            }
            Opcode::Activemask => {
                let [dst] = take(args)?;
                Ok(Op::ActiveMask { dst: dst.row()? })
            }
            Opcode::Redux => threads::redux(m, args),
            Opcode::Elect => threads::elect(args),
            Opcode::BarWarpSync => Ok(Op::WarpSync),
            Opcode::BarSync | Opcode::BarrierSync => threads::barrier(m, args, true),
            Opcode::BarArrive | Opcode::BarrierArrive => threads::barrier(m, args, false),
            Opcode::BarRed => unmodelled("reductions at a barrier are not modelled"),
            Opcode::BarrierClusterArrive => {
                m.ignore(&["sem"]);
                m.has(Modifier::Aligned);
                Ok(Op::ClusterArrive)
            }
            Opcode::BarrierClusterWait => {
                m.ignore(&["sem"]);
                m.has(Modifier::Aligned);
                Ok(Op::ClusterWait)
            }
            // Accesses happen in order here; what a fence orders is seen through barriers and atomics.
            Opcode::Membar | Opcode::Fence => {
                m.ignore_all();
                Ok(Op::Nop)
            }
            Opcode::FenceProxyAlias => Ok(Op::Nop),
            Opcode::FenceProxyAsync => match m.get("space") {
                // A fence for global memory says nothing about shared memory.
                Some(Modifier::Global) => Ok(Op::Nop),
                _ => Ok(Op::ProxyFence),
            },
            Opcode::FenceMbarrierInit => Ok(Op::InitFence),
            Opcode::FenceProxyTensormap
            | Opcode::TensormapReplace
            | Opcode::TensormapCpFenceproxy => {
                unmodelled("tensor maps that a kernel changes are not modelled")
            }
            Opcode::Griddepcontrol => {
                m.ignore(&["what"]);
                Ok(Op::Nop)
            }
            Opcode::Nanosleep => Ok(Op::Nop),
            Opcode::Setmaxnreg => threads::set_max_registers(m, args),
            Opcode::Mapa => threads::map_rank(m, args),
            Opcode::Getctarank => threads::rank_of(m, args),

            Opcode::MbarrierInit => asynchronous::mbarrier_init(m, args),
            Opcode::MbarrierInval => asynchronous::mbarrier_inval(m, args),
            Opcode::MbarrierArrive => asynchronous::mbarrier_arrive(&mut self.registers, m, args),
            Opcode::MbarrierTx => asynchronous::mbarrier_tx(m, args),
            Opcode::MbarrierTestWait | Opcode::MbarrierTryWait => {
                asynchronous::mbarrier_wait(m, args)
            }

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

            Opcode::WgmmaMmaAsync => asynchronous::wgmma(m, args),
            Opcode::WgmmaFence => Ok(Op::WgmmaFence),
            Opcode::WgmmaCommitGroup => Ok(Op::WgmmaCommit),
            Opcode::WgmmaWaitGroup => Ok(Op::WgmmaWait {
                pending: pending(args)?,
            }),
        }
    }

    /// A conversion. A register wider than the result takes its sign along.
    fn convert(&mut self, inst: &Inst, m: &Bindings, mut args: Vec<Arg>) -> Result<Op> {
        let width = inst
            .operands
            .first()
            .map_or(0, |dst| self.registers.width(dst));
        let ty = match m.get("d").and_then(Modifier::ty) {
            Some(ty @ (Type::S8 | Type::S16 | Type::S32)) if ty.bits() < width => ty,
            _ => return conversion(m, args),
        };
        let narrow = self.registers.row("narrow");
        let dst = match args.first_mut() {
            Some(first) => std::mem::replace(first, Arg::Row(narrow)),
            None => return Err("a conversion has a result".to_owned()),
        };
        let op = conversion(m, args)?;
        self.push(None, op, Together::No, inst.mnemonic.to_string());
        let wide = match width {
            16 => Type::S16,
            32 => Type::S32,
            _ => Type::S64,
        };
        let (wide, ty) = (Modifier::Type(wide), Modifier::Type(ty));
        let function = arithmetic::conversion(None, false, false, wide, ty);
        let function = function.ok_or("no conversion that repeats the sign")?;
        computation(function, vec![dst, Arg::Row(narrow)], false, false)
    }
}

/// The operands, which are so many.
pub(super) fn take<const N: usize>(args: Vec<Arg>) -> Result<[Arg; N]> {
    let found = args.len();
    args.try_into()
        .map_err(|_| format!("{found} operands where {N} are expected"))
}

/// The one number of a `wait_group`.
fn pending(args: Vec<Arg>) -> Result<u64> {
    let [value] = take(args)?;
    let value = value.int()?;
    u64::try_from(value).map_err(|_| format!("{value} is negative"))
}

fn conversion(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let (Some(to), Some(from)) = (m.get("d"), m.get("s")) else {
        return Err("a conversion has two types".to_owned());
    };
    let rounding = m.get("round");
    let (relu, saturate) = (m.has(Modifier::Relu), m.has(Modifier::Sat));
    let flush = m.has(Modifier::Ftz);
    m.has(Modifier::Satfinite);
    let function = arithmetic::conversion(rounding, relu, saturate, to, from);
    let function = function.ok_or_else(|| {
        format!("the conversion from .{from} to .{to} with this rounding is not modelled")
    })?;
    if saturate && matches!(to.ty(), Some(Type::F16 | Type::F64)) {
        return Err(format!("`.sat` is not modelled for .{to}"));
    }
    let single = Modifier::Type(Type::F32);
    // A subnormal f32 vanishes in every other type anyway, and to an integer every conversion from floating point saturates.
    let (flush, saturate) = (
        flush && (to, from) == (single, single),
        saturate && to == single,
    );
    computation(function, args, flush, saturate)
}

/// A function of the sources.
fn computation(function: Function, args: Vec<Arg>, flush: bool, saturate: bool) -> Result<Op> {
    let [Arg::Row(dst), sources @ ..] = &args[..] else {
        return Err("a computation has one result".to_owned());
    };
    Ok(Op::Compute {
        function,
        dst: *dst,
        src: rows_of(sources)?,
        flush,
        saturate,
    })
}

/// Up to four rows; zeros stand for what is not there.
fn rows_of(args: &[Arg]) -> Result<[Reg; 4]> {
    let mut rows = [0; 4];
    if args.len() > rows.len() {
        return Err(format!("{} sources are not modelled", args.len()));
    }
    for (row, arg) in rows.iter_mut().zip(args) {
        *row = match arg {
            Arg::Row(row) => *row,
            other => return Err(format!("{other:?} where a register is expected")),
        };
    }
    Ok(rows)
}

/// An instruction that computes one register from others.
fn arithmetic_op(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    // Those without a type of their own are of 32 bits.
    let ty = m.get("t").and_then(Modifier::ty).unwrap_or(Type::B32);
    if let Some(rounding) = m.get("round") {
        // All round to the nearest, also those that may be off.
        if !matches!(rounding, Modifier::Rn | Modifier::Approx | Modifier::Full) {
            return Err(m.unmodelled(rounding));
        }
    }
    let saturate = m.has(Modifier::Sat);
    if saturate && !matches!(ty, Type::F32 | Type::S32) {
        return Err(format!("`.sat` is not modelled on .{}", ty.name()));
    }
    let variant = m
        .get("part")
        .or_else(|| m.one_of(&[Modifier::NaN, Modifier::Relu]))
        .or((saturate && ty == Type::S32).then_some(Modifier::Sat));
    let function = match (m.get("side"), m.get("past")) {
        (Some(side), Some(past)) => Some(arithmetic::funnel_shift(side, past)),
        _ => arithmetic::function(m.opcode(), variant, ty),
    };
    let function = function.ok_or_else(|| format!("it is not modelled on .{}", ty.name()))?;
    let flush = m.has(Modifier::Ftz);
    computation(function, args, flush, saturate && ty == Type::F32)
}

fn compare(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let (cmp, ty) = (m.get("cmp"), m.ty("t")?);
    let compare = cmp.and_then(|cmp| arithmetic::comparison(cmp, ty));
    let compare = compare.ok_or_else(|| format!("comparisons of .{}", ty.name()))?;
    let combine = m.get("bool").and_then(arithmetic::combination);
    let mut args = args.into_iter();
    let mut next = || args.next().ok_or("an operand is missing");
    let (p, q) = next()?.pair()?;
    let (a, b) = (next()?.row()?, next()?.row()?);
    let combine = match combine {
        Some(function) => Some((function, next()?.row()?)),
        None => None,
    };
    Ok(Op::Compare {
        compare,
        flush: m.has(Modifier::Ftz),
        combine,
        p,
        q,
        a,
        b,
    })
}

fn mov(inst: &Inst, m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let ty = m.ty("t")?;
    match take(args)? {
        [Arg::Row(dst), Arg::Rows(parts)] => Ok(Op::Pack {
            dst,
            bits: ty.bits() / parts.len() as u32,
            parts,
        }),
        [Arg::Rows(parts), Arg::Row(src)] => Ok(Op::Unpack {
            src,
            bits: ty.bits() / parts.len() as u32,
            parts,
        }),
        [Arg::Row(dst), Arg::Row(_)] if inst.operands.get(1).is_some_and(is_clock) => {
            Ok(Op::Clock { dst })
        }
        [dst, src] => {
            let function = arithmetic::function(Opcode::Mov, None, ty);
            let function = function.ok_or_else(|| format!("mov of .{}", ty.name()))?;
            computation(function, vec![dst, src], false, false)
        }
    }
}

/// Whether an operand is a register that counts time.
fn is_clock(operand: &Operand) -> bool {
    let register = match operand {
        Operand::Name(name) => special::lookup(name).map(|(special, _)| special.register),
        _ => None,
    };
    register.is_some_and(counts_time)
}

fn address_conversion(m: &Bindings, args: Vec<Arg>, to: bool) -> Result<Op> {
    let function: fn(u64) -> u64 = match (m.get("space"), to) {
        (Some(Modifier::Shared | Modifier::SharedCta | Modifier::SharedCluster), false) => {
            |a| a | SHARED_WINDOW
        }
        (Some(Modifier::Shared | Modifier::SharedCta | Modifier::SharedCluster), true) => {
            |a| a & (WINDOW_BYTES - 1)
        }
        // Addresses of parameters are generic from the start.
        (Some(Modifier::Global | Modifier::Param | Modifier::Const), _) => |a| a,
        (space, _) => return Err(no_space(space)),
    };
    computation(Function::F1(function), args, false, false)
}

/// Whether a generic address is in a state space.
fn is_in_space(m: &Bindings, args: Vec<Arg>) -> Result<Op> {
    let function: fn(u64) -> u64 = match m.get("space") {
        Some(Modifier::Shared | Modifier::SharedCta | Modifier::SharedCluster) => {
            |a| u64::from(a.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES)
        }
        Some(Modifier::Param) => |a| u64::from(a.wrapping_sub(PARAM_WINDOW) < WINDOW_BYTES),
        Some(Modifier::Global) => |a| u64::from(a < SHARED_WINDOW),
        Some(Modifier::Const | Modifier::Local) => |_| 0,
        space => return Err(no_space(space)),
    };
    computation(Function::F1(function), args, false, false)
}

/// That a state space is not modelled.
pub(super) fn no_space(space: Option<Modifier>) -> String {
    match space {
        Some(Modifier::Const) => "constant memory is not modelled".to_owned(),
        Some(space) => format!("{space} memory is not modelled"),
        None => "generic addresses are not modelled here".to_owned(),
    }
}
