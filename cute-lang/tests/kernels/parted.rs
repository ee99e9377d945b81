//! Random kernels with conditions, loops and jumps: in each that is accepted, all threads come to what they execute together.
//!
//! A kernel counts the threads that come, by a sum over the lanes of a warp or at a barrier of the CTA, and traps if one is
//! missing. On the emulator, lanes that are elsewhere but have not ended are waited for, and a launch without progress is an error.

use crate::random::{Random, seeds};
use cute_emulator::{GlobalMemory, Launch, Program};
use cute_lang::kernel::lower::lower;

/// Threads of the CTA: two warps.
const THREADS: u32 = 64;

/// How the threads of a warp are counted, and those of the CTA.
const COUNTS: [&str; 2] = [
    "if redux_add(one) != 32 { ptx!(\"trap\"); }",
    "if ptx!(u32: \"bar.red.popc.u32\", 0, one == 1) != 64 { ptx!(\"trap\"); }",
];

/// A number that is the same in all threads, in those of a warp, or in neither.
const LEAVES: [&[&str]; 3] = [
    &["n", "2u32", "5u32", "u[3]", "block_idx().0"],
    &[
        "warp()",
        "n",
        "u[warp()]",
        "thread() / 32",
        "shfl_idx(d, 1)",
        "redux_add(d)",
    ],
    &[
        "thread()",
        "lane()",
        "d",
        "u[thread()]",
        "shfl_up(d, 1)",
        "(elect() as u32)",
    ],
];

struct Writer {
    random: Random,
    /// How many loops are around.
    loops: usize,
    /// How many statements may follow.
    left: usize,
}

impl Writer {
    fn number(&mut self, level: usize, depth: usize) -> String {
        let variable = self.random.pick(&["a", "b", "c", "d"]);
        match self.random.below(if depth == 0 { 3 } else { 8 }) {
            // Variables of all levels, so that what is assigned matters.
            0 => variable.into(),
            1 | 2 => {
                let level = self.random.below(level + 1);
                self.random.pick(LEAVES[level]).into()
            }
            3 => {
                let mask = self.random.pick(&["31", "32", "96", "1"]);
                format!("({} & {mask})", self.number(level, depth - 1))
            }
            4 => {
                let by = self.random.pick(&["2", "32", "64", "3"]);
                let op = self.random.pick(&["/", "%", "+", "*"]);
                format!("({} {op} {by})", self.number(level, depth - 1))
            }
            5 => {
                let (a, b) = (self.number(level, depth - 1), self.number(level, depth - 1));
                format!("min({a}, {b})")
            }
            6 => {
                let condition = self.condition(level);
                let (a, b) = (self.number(level, depth - 1), self.number(level, depth - 1));
                format!("(if {condition} {{ {a} }} else {{ {b} }})")
            }
            _ => {
                let op = self.random.pick(&["+", "-", "^", "|"]);
                let (a, b) = (self.number(level, depth - 1), self.number(level, depth - 1));
                format!("({a} {op} {b})")
            }
        }
    }

    fn condition(&mut self, level: usize) -> String {
        let (a, b) = (self.number(level, 1), self.number(level, 1));
        match self.random.below(6) {
            0 => format!("{a} == {b}"),
            1 => format!("({a}) / 32 != 1"),
            2 => format!("{a} >= 32"),
            3 => format!("{a} < 3 && {b} < 9"),
            4 => format!("{a} > 1 || {b} > 4"),
            _ => format!("{a} < {b}"),
        }
    }

    /// How much the conditions of the next statement may differ: mostly little, since other kernels are refused.
    fn level(&mut self) -> usize {
        self.random.pick(&[0, 0, 0, 1, 1, 2])
    }

    fn statements(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..1 + self.random.below(4) {
            text += &self.statement();
        }
        text
    }

    fn statement(&mut self) -> String {
        if self.left == 0 {
            return String::new();
        }
        self.left -= 1;
        let level = self.level();
        match self.random.below(14) {
            0 | 1 => COUNTS[0].into(),
            2 => COUNTS[1].into(),
            3 => format!("if {} {{ {} }}", self.condition(level), self.statements()),
            4 => format!(
                "if {} {{ {} }} else {{ {} }}",
                self.condition(level),
                self.statements(),
                self.statements()
            ),
            5 | 6 => {
                let bound = self.number(level, 1);
                self.loops += 1;
                let body = self.statements();
                self.loops -= 1;
                let k = format!("k{}", self.left);
                match self.random.below(2) {
                    0 => {
                        format!(
                            "let mut {k} = 0u32; while {k} < ({bound}) % 4 {{ {k} += 1; {body} }}"
                        )
                    }
                    _ => format!(
                        "for {k} in ({bound}) % 3..{} {{ {body} }}",
                        self.random.pick(&["n % 5", "4"])
                    ),
                }
            }
            7 if self.loops > 0 => {
                let jump = self.random.pick(&["break", "continue"]);
                format!("if {} {{ {jump}; }}", self.condition(level))
            }
            8 if self.random.once_in(3) => format!("if {} {{ return; }}", self.condition(level)),
            // An assignment in some threads, and what depends on a variable.
            9 => {
                let to = self.random.pick(&["a", "b", "c"]);
                format!(
                    "if {} {{ {to} = {}; }}",
                    self.condition(2),
                    self.number(level, 0)
                )
            }
            10 => {
                let of = self.random.pick(&["a", "b", "c"]);
                format!("if {of} % 3 == 1 {{ {} }}", self.random.pick(&COUNTS))
            }
            _ => {
                let to = self.random.pick(&["a", "b", "c", "d"]);
                format!("{to} = {};", self.number(level, 2))
            }
        }
    }
}

/// The body of a kernel.
fn body(seed: u64) -> String {
    let mut writer = Writer {
        random: Random::new(seed),
        loops: 0,
        left: 14,
    };
    let mut text =
        String::from("let mut a = n; let mut b = warp(); let mut c = 1u32; let mut d = lane();");
    while writer.left > 0 {
        text += &writer.statement();
    }
    text + COUNTS[writer.random.below(2)]
}

#[test]
fn all_threads_come() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in seeds(1500, 40_000) {
        let body = body(seed);
        let module = format!(
            "mod kernels {{
                #[kernel(threads = {THREADS})]
                unsafe fn k(u: Global<u32, 1>, n: u32, one: u32) {{ {body} }}
            }}"
        );
        let lowered = match lower(module.parse().expect("tokens")) {
            Ok(lowered) => lowered,
            // Others have expressions that are errors for other reasons.
            Err(error) if !error.to_string().contains("may differ between") => continue,
            Err(_) => {
                refused += 1;
                continue;
            }
        };
        accepted += 1;
        let text = lowered[0].module.to_string();
        let program = Program::load(&text).unwrap_or_else(|error| panic!("{seed}: {error}"));
        let mut random = Random::new(seed);
        for _ in 0..3 {
            let mut memory = GlobalMemory::new();
            let u = memory.alloc(4 * THREADS as usize, 128).expect("room");
            let words = (0..THREADS).flat_map(|_| (random.below(6) as u32).to_le_bytes());
            memory.write(u, &words.collect::<Vec<u8>>()).expect("room");
            let n = random.below(70) as u32;
            let args = [
                u.to_le_bytes().to_vec(),
                n.to_le_bytes().to_vec(),
                1u32.to_le_bytes().to_vec(),
            ];
            let launch = Launch {
                grid: [2, 1, 1],
                block: [THREADS, 1, 1],
                args: &args,
                dynamic_shared_bytes: lowered[0].smem_bytes,
                ..Launch::default()
            };
            if let Err(error) = program.launch(&mut memory, "k", &launch) {
                panic!("{seed}, n = {n}: {error}\n{body}\n{text}");
            }
        }
    }
    println!("{accepted} accepted, {refused} refused");
    assert!(
        accepted > refused / 20 && refused > 0,
        "{accepted} accepted, {refused} refused"
    );
}
