//! Small PTX modules, each of which tests one behaviour of the emulator.

mod atomics;
mod bounds;
mod chips;
mod copies;
mod counts;
mod coverage;
mod cuda;
mod endless;
mod events;
mod faults;
mod global;
mod grids;
mod hardware;
mod hostile;
mod instructions;
mod lanes;
mod mbarriers;
mod messages;
mod mutations;
mod phases;
mod pipeline;
mod registers;
mod streams;
#[path = "../support/mod.rs"]
mod support;
mod tensor_cores;
mod tensors;
mod threads;
mod time;
mod together;
mod undefined;
mod ways;

use cute_emulator::{Counts, EmulatorError, FaultKind, GlobalMemory, Launch, Program, Schedule};

/// The seeds of schedules. A correct kernel gives the same result under each.
const SEEDS: std::ops::Range<u64> = 0..6;

/// A module of one entry `k` with registers `%p`, `%h`, `%r`, `%f` and `%d` of 1, 16, 32, 32 and 64 bits, shared memory
/// `smem`, and these parameters.
fn module(params: &str, body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n\
         .visible .entry k({params}) .maxntid 1024\n{{\n.reg .pred %p<32>;\n.reg .b16 %h<32>;\n.reg .b32 %r<64>;\n.reg .f32 %f<256>;\n\
         .reg .b64 %d<32>;\n{body}\nret;\n}}\n"
    )
}

/// The memory and the launch for a kernel.
struct Run<'a> {
    launch: Launch<'a>,
    memory: GlobalMemory,
}

impl<'a> Run<'a> {
    fn threads(threads: u32) -> Run<'a> {
        let launch = Launch {
            block: [threads, 1, 1],
            dynamic_shared_bytes: 65536,
            ..Launch::default()
        };
        Run {
            launch,
            memory: GlobalMemory::new(),
        }
    }

    fn seed(mut self, seed: u64) -> Run<'a> {
        self.launch.schedule = Schedule::from_seed(seed);
        self.launch.limits.steps = 1 << 24;
        self
    }

    fn cluster(mut self, cluster: u32) -> Run<'a> {
        self.launch.grid = [cluster, 1, 1];
        self.launch.cluster = [cluster, 1, 1];
        self
    }

    fn array<T: Copy, const N: usize>(&mut self, values: &[T], bytes: fn(T) -> [u8; N]) -> u64 {
        let data: Vec<u8> = values.iter().flat_map(|value| bytes(*value)).collect();
        let address = self.memory.alloc(data.len(), 128).unwrap();
        self.memory.write(address, &data).unwrap();
        address
    }

    fn words(&mut self, values: &[u32]) -> u64 {
        self.array(values, u32::to_le_bytes)
    }

    fn read_words(&self, address: u64, len: usize) -> Vec<u32> {
        let bytes = self.memory.bytes(address, 4 * len).unwrap();
        bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect()
    }

    fn go(&mut self, ptx: &str, args: &[Vec<u8>]) -> Result<Counts, EmulatorError> {
        let launch = Launch {
            args,
            ..self.launch.clone()
        };
        Program::load(ptx)?.launch(&mut self.memory, "k", &launch)
    }
}

/// The bytes of a pointer, as an argument.
fn pointer(address: u64) -> Vec<u8> {
    address.to_le_bytes().to_vec()
}

/// Runs `body` in each of `threads` threads, with `%tid.x` in `%r0`, and returns the value of `%r1` in each.
fn words_of(threads: u32, body: &str) -> Result<Vec<u32>, EmulatorError> {
    words_under(0, threads, body)
}

fn words_under(seed: u64, threads: u32, body: &str) -> Result<Vec<u32>, EmulatorError> {
    let mut run = Run::threads(threads).seed(seed);
    let out = run.words(&vec![0; threads as usize]);
    let body = format!(
        "ld.param.u64 %d0, [out];\nmov.u32 %r0, %tid.x;\nmad.wide.u32 %d0, %r0, 4, %d0;\n{body}\nst.global.b32 [%d0], %r1;"
    );
    run.go(&module(".param .u64 out", &body), &[pointer(out)])?;
    Ok(run.read_words(out, threads as usize))
}

/// The fault with which a kernel ended, and the instruction.
fn fault(result: Result<impl std::fmt::Debug, EmulatorError>) -> (FaultKind, String) {
    match result {
        Err(EmulatorError::Fault(fault)) => (fault.kind.clone(), fault.site.text.clone()),
        other => panic!("a fault is expected, not {other:?}"),
    }
}
