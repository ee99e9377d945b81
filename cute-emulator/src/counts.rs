//! Counts of the instructions, the traffic and the waits of a launch.

use cute_ptx::table::Class;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::ops::{AddAssign, Index};

/// Counts of executed instructions, moved bytes and waits of launches, summed over all CTAs. `Display` shows them as a table.
///
/// The unit of time is a step: a warp instruction that the emulator executed for any warp of the launch. One warp runs at a
/// time, so steps show which warp waited for which, but not the time on hardware.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Launches.
    pub launches: u64,
    /// Warp instructions executed. An instruction whose guard is false in all lanes does not count.
    pub steps: u64,
    /// Steps that slow work is charged in addition, [as limits list it](crate::Limits::steps). The limit holds for `steps + charged`.
    pub charged: u64,
    /// The `steps` by class. Instructions without effect here, such as prefetches, are in [`Class::Control`].
    pub instructions: ByClass,
    /// Operations of wgmma and `mma`: a multiplication and an addition for each product.
    pub matrix_flops: u64,
    /// Accesses of threads to global memory.
    pub global: GlobalTraffic,
    /// Accesses of threads to shared memory, also to that of other CTAs. Reads by wgmma and bulk copies do not count.
    pub shared: SharedTraffic,
    /// Bytes that TMA, other bulk copies and `st.async` wrote to shared memory; a multicast counts once for each CTA.
    pub copied_in: u64,
    /// Bytes that TMA and other bulk copies wrote or reduced to global memory.
    pub copied_out: u64,
    /// Waits of warps, by the name of the barrier: `mbarrier full[1]`, `barrier 3`, `cluster barrier`. Barriers with the same name in
    /// different CTAs count together.
    pub waits: BTreeMap<String, Waits>,
}

/// Accesses to global memory. A request is an instruction of a warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GlobalTraffic {
    /// Bytes that lanes read.
    pub read: u64,
    /// Bytes that lanes wrote.
    pub written: u64,
    /// Warp instructions that accessed it.
    pub requests: u64,
    /// Different sectors of 32 bytes touched by the lanes of each request. A request of 32 lanes with 4 contiguous bytes each touches
    /// 4 sectors.
    pub sectors: u64,
}

/// Accesses to shared memory. A request is an instruction of a warp; for `ldmatrix` and `stmatrix`, each matrix is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedTraffic {
    /// Bytes that lanes read.
    pub read: u64,
    /// Bytes that lanes wrote.
    pub written: u64,
    /// Warp instructions that accessed it.
    pub requests: u64,
    /// Extra passes through the banks: beyond one for each 128 bytes of a request. A bank delivers one word of 4 bytes in a pass.
    pub bank_conflicts: u64,
}

/// Waits of warps at a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// How often threads of a warp had to wait.
    pub count: u64,
    /// How many steps other warps made during the waits.
    pub steps: u64,
}

/// A number for each [`Class`]: `counts.instructions[Class::Copy]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByClass([u64; Class::ALL.len()]);

impl ByClass {
    pub(crate) fn add(&mut self, class: Class, count: u64) {
        self.0[class as usize] += count;
    }
}

impl Index<Class> for ByClass {
    type Output = u64;

    fn index(&self, class: Class) -> &u64 {
        &self.0[class as usize]
    }
}

impl Waits {
    pub(crate) fn add(&mut self, steps: u64) {
        self.count += 1;
        self.steps += steps;
    }
}

impl AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, other: &Counts) {
        let Counts {
            launches,
            steps,
            charged,
            instructions,
            matrix_flops,
            global,
            shared,
            copied_in,
            copied_out,
            waits,
        } = other;
        for class in Class::ALL {
            self.instructions.add(class, instructions[class]);
        }
        for (mine, its) in [
            (&mut self.launches, launches),
            (&mut self.steps, steps),
            (&mut self.charged, charged),
            (&mut self.matrix_flops, matrix_flops),
            (&mut self.global.read, &global.read),
            (&mut self.global.written, &global.written),
            (&mut self.global.requests, &global.requests),
            (&mut self.global.sectors, &global.sectors),
            (&mut self.shared.read, &shared.read),
            (&mut self.shared.written, &shared.written),
            (&mut self.shared.requests, &shared.requests),
            (&mut self.shared.bank_conflicts, &shared.bank_conflicts),
            (&mut self.copied_in, copied_in),
            (&mut self.copied_out, copied_out),
        ] {
            *mine += its;
        }
        for (barrier, its) in waits {
            let mine = self.waits.entry(barrier.clone()).or_default();
            mine.count += its.count;
            mine.steps += its.steps;
        }
    }
}

/// A table of the counts that are not zero, without `charged`, which is about the emulator and not about the kernel.
impl Display for Counts {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Counts {
            launches: _,
            steps,
            charged: _,
            instructions,
            matrix_flops,
            global,
            shared,
            copied_in,
            copied_out,
            waits,
        } = self;
        let classes = Class::ALL.map(|class| (instructions[class], class));
        let classes = classes.iter().filter(|(count, _)| *count > 0);
        let classes: Vec<String> = classes
            .map(|(count, class)| format!("{count} {class}"))
            .collect();
        write!(f, "warp instructions  {steps}")?;
        if !classes.is_empty() {
            write!(f, ": {}", classes.join(", "))?;
        }
        if *matrix_flops > 0 {
            write!(f, "\nwgmma and mma      {matrix_flops} operations")?;
        }
        if global.requests > 0 {
            let GlobalTraffic {
                read,
                written,
                requests,
                sectors,
            } = global;
            let each = *sectors as f64 / *requests as f64;
            write!(
                f,
                "\nglobal memory      {read} bytes read, {written} written; {requests} requests of {each:.1} sectors"
            )?;
        }
        if shared.requests > 0 {
            let SharedTraffic {
                read,
                written,
                requests,
                bank_conflicts,
            } = shared;
            write!(
                f,
                "\nshared memory      {read} bytes read, {written} written; {requests} requests, {bank_conflicts} bank conflicts"
            )?;
        }
        if copied_in + copied_out > 0 {
            write!(
                f,
                "\nbulk copies        {copied_in} bytes to shared memory, {copied_out} from it"
            )?;
        }
        for (barrier, Waits { count, steps }) in waits {
            write!(
                f,
                "\nwaits              {count} at {barrier}, {steps} steps"
            )?;
        }
        Ok(())
    }
}
