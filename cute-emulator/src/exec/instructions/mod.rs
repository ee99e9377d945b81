//! Executes operations: one arm for each, and a file for each family.

mod address;
mod agreement;
mod barrier;
mod bounds;
mod call;
mod claim;
mod compute;
mod copy_async;
mod copy_in;
mod copy_out;
mod fence;
mod global;
mod lanes;
mod late_write;
mod mbarrier;
mod memory;
mod product;
mod region;
mod registers;
mod system;
mod tensor_map;
mod traffic;
mod undefined;
mod under_way;
mod way;
mod wgmma;
mod wmma;
mod written;

use super::state::warp::Split;
use super::step::{Blame, Flow, Leave, Result, Step};
use crate::error::FaultKind;
use crate::op::{Instruction, Op};

impl Step<'_> {
    #[inline(always)]
    pub(crate) fn execute(
        &mut self,
        instruction: &Instruction,
        split: &mut Split,
        active: u32,
    ) -> Result<Flow> {
        if !instruction.matrix_registers.is_empty() {
            self.touch(instruction)?;
        }
        if !self.warp.undefined.is_empty() {
            self.follow_undefined(instruction, active)?;
        }
        self.progress |= instruction.signals;
        match &instruction.op {
            Op::Compute(compute) => {
                if let Some(integers) = compute.divides {
                    self.check_division(active, compute, integers)?;
                }
                self.compute(active, compute);
            }
            Op::Compare(compare) => self.compare(active, compare),
            Op::Extended {
                function,
                dst,
                src,
                carry,
                writes,
            } => self.extended(active, *function, *dst, *src, *carry, *writes),
            Op::Pack { dst, parts, bits } => self.pack(active, *dst, parts, *bits),
            Op::Unpack { parts, src, bits } => self.unpack(active, parts, *src, *bits),
            Op::Branch { target } => {
                return Ok(Flow::Leave(Leave::Branch {
                    target: *target,
                    taken: active,
                }));
            }
            Op::BranchIndexed { index, targets } => {
                return self.branch_indexed(active, *index, targets);
            }
            Op::Call(call) => return self.call(split, active, call),
            Op::Return => return self.return_from(split, active),
            Op::Exit => return Ok(Flow::Leave(Leave::Exit(active))),
            Op::Trap => {
                return Err(Blame::lane(
                    FaultKind::Trap,
                    active.trailing_zeros() as usize,
                ));
            }
            Op::WaitForGrid => self.wait_for_grid(active),
            Op::Nop => {}
            Op::Agree(agreement) => self.check_agreement(*agreement, active)?,
            Op::Clock { dst } => {
                let now = self.watch.counts.steps;
                self.warp.fill(*dst, active, |_| now);
            }
            Op::Shuffle(shuffle) => self.shuffle(active, shuffle),
            Op::Vote {
                mode,
                dst,
                predicate,
                members,
            } => self.vote(active, *mode, *dst, *predicate, *members),
            Op::Match {
                all,
                dst,
                same,
                src,
                members,
            } => self.match_lanes(active, *all, *dst, *same, *src, *members),
            Op::Reduce { op, dst, src } => self.reduce(active, *op, *dst, *src),
            Op::Elect {
                dst,
                elected,
                members,
            } => self.elect(active, *dst, *elected, *members),
            Op::ActiveMask { dst } => self.warp.fill(*dst, active, |_| u64::from(active)),
            Op::WarpSync { members } => self.synchronise_lanes(active, *members),
            Op::ProxyFence { shared, global } => {
                self.announce_mbarriers();
                self.proxy_fence(active, *shared, *global);
            }
            Op::Fence { scope, sequential } => self.fence(active, *scope, *sequential),
            Op::ReplaceInMap {
                space,
                address,
                field,
                value,
            } => self.replace_in_map(active, *space, *address, *field, *value)?,
            Op::CopyMap { to, from } => self.copy_map(active, *to, *from)?,
            Op::AcquireMap { address } => self.acquire_map(active, *address)?,
            Op::PrefetchMap { space, address } => self.prefetch_map(active, *space, *address)?,
            Op::InitFence => self.init_fence(),
            Op::RankOf {
                dst,
                address,
                generic,
            } => self.rank_of(active, *dst, *address, *generic)?,
            Op::MapRank {
                dst,
                address,
                rank,
                generic,
            } => self.map_rank(active, *dst, *address, *rank, *generic)?,

            Op::Load {
                access,
                dst,
                address,
            } => self.load(active, *access, dst, *address)?,
            Op::Store {
                access,
                src,
                address,
            } => self.store(active, *access, src, *address)?,
            Op::Atomic(atomic) => self.atomic(active, atomic)?,
            Op::LoadMatrix {
                dst,
                address,
                transpose,
            } => self.load_matrix(active, dst, *address, *transpose)?,
            Op::StoreMatrix {
                src,
                address,
                transpose,
            } => self.store_matrix(active, src, *address, *transpose)?,

            Op::Barrier { id, threads, wait } => {
                return self.barrier(split, *id, *threads, *wait, None);
            }
            Op::BarrierReduce {
                id,
                threads,
                op,
                dst,
                predicate,
            } => {
                let reduction = Some((*op, *dst, *predicate));
                return self.barrier(split, *id, *threads, true, reduction);
            }
            Op::MoveMatrix { dst, src } => self.move_matrix(active, *dst, *src),
            Op::ClusterArrive { relaxed } => self.cluster_arrive(active, *relaxed),
            Op::ClusterWait => return Ok(self.cluster_wait(split)),
            Op::MbarrierInit { address, count } => self.mbarrier_init(active, *address, *count)?,
            Op::MbarrierInval { address } => self.mbarrier_inval(active, *address)?,
            Op::MbarrierArrive { address, arrival } => {
                self.mbarrier_arrive(active, *address, *arrival)?
            }
            Op::MbarrierCompleteTx { address, bytes } => {
                self.mbarrier_complete(active, *address, *bytes)?
            }
            Op::MbarrierWait {
                address,
                done,
                acquire,
                phase,
            } => self.mbarrier_wait(split, active, *address, *done, *acquire, *phase)?,
            Op::SetMaxRegisters { count, increase } => {
                return self.set_max_registers(split, *count, *increase);
            }

            Op::CopyIn {
                to,
                region,
                barrier,
                multicast,
            } => self.copy_in(active, *to, region, *barrier, *multicast)?,
            Op::CopyOut {
                region,
                from,
                reduction,
            } => self.copy_out(active, region, *from, *reduction)?,
            Op::BulkCommit => self.bulk_commit(active),
            Op::BulkWait { pending, read } => self.bulk_wait(active, *pending, *read)?,
            Op::CopyAsync {
                to,
                from,
                bytes,
                source_bytes,
            } => self.copy_async(active, *to, *from, *bytes, *source_bytes)?,
            Op::CopyAsyncCommit => self.copy_async_commit(active),
            Op::CopyAsyncWait { pending } => self.copy_async_wait(active, *pending)?,
            Op::CopyAsyncArrive { address, counted } => {
                self.copy_async_arrive(active, *address, *counted)?
            }

            Op::Mma(mma) => self.mma(mma),
            Op::WmmaLoad(load) => self.wmma_load(active, load)?,
            Op::WmmaStore(store) => self.wmma_store(active, store)?,
            Op::Wmma(product) => self.wmma(product),
            Op::Wgmma(wgmma) => self.wgmma(active, wgmma)?,
            Op::WgmmaFence => self.warp.wgmma_fences += 1,
            Op::WgmmaCommit => self.wgmma_commit(),
            Op::WgmmaWait { pending } => return self.wgmma_wait(split, *pending),
        }
        Ok(Flow::Next)
    }
}
