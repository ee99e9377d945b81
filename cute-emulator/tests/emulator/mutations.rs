//! Modules like those of real kernels, with a few random changes: loading and launching them gives a result or an error,
//! never a panic.

use super::{pipeline, tensor_cores};
use cute_emulator::{GlobalMemory, Launch, Limits, Program, Schedule, encode_tensor_map};
use cute_hopper::tma::{L2Promotion, OobFill, TensorMap};
use cute_hopper::{ElementType, SwizzleMode};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The number of mutants.
const MUTANTS: u64 = 3000;
/// A mutant has fewer changes than this, in addition to a change of lines.
const CHANGES: usize = 4;

/// Low limits, so that a mutant that loops forever fails soon.
const LIMITS: Limits = Limits {
    local_bytes: 1 << 12,
    output_bytes: 1 << 10,
    text_bytes: 1 << 20,
    entries: 16,
    instructions: 1 << 16,
    registers: 1 << 16,
    memory_bytes: 1 << 20,
    ctas: 64,
    state_bytes: 64 << 20,
    pending_bytes: 1 << 20,
    recorded_bytes: 1 << 20,
    mbarriers: 64,
    steps: 2048,
    idle_steps: 2048,
};

/// Numbers at or beyond the limits of what instructions take.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "7",
    "31",
    "32",
    "33",
    "63",
    "64",
    "255",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "0f7FC00000",
    "0d7FF0000000000000",
    "1.5",
    "99999999999999999999",
];

/// Words that replace others.
const WORDS: &[&str] = &[
    "%r1",
    "%d1",
    "%f1",
    "%p1",
    "%h1",
    "_",
    "smem",
    "%tid.x",
    "%clock64",
    "WARP_SZ",
    ".b8",
    ".b16",
    ".b32",
    ".b64",
    ".b128",
    ".u64",
    ".s8",
    ".s16",
    ".f16x2",
    ".f64",
    ".pred",
    ".v2",
    ".v4",
    ".v8",
    ".sat",
    ".ftz",
    "bra",
    "exit",
    "trap",
    "bar.sync 0",
    "clz.b32",
    "st.async",
    "{",
    "}",
    "[",
    "]",
    ";",
    ",",
    ":",
    "@",
    "|",
    "!",
    "+",
    "/*",
    "\"",
];

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// The text split into words, numbers and other single characters, so that a change replaces one of them.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let alike = |c: char| match first {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => c.is_ascii_alphanumeric() || c == '_',
            _ => false,
        };
        let end = rest.find(|c| !alike(c)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end.max(first.len_utf8()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// The text with random changes: a line deleted, swapped or repeated; numbers and words replaced; anything deleted.
fn mutant(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let (at, other) = (random.below(lines.len()), random.below(lines.len()));
    match random.below(8) {
        0 => lines[at] = "",
        1 => lines.swap(at, other),
        2 => lines.insert(at, lines[other]),
        _ => {}
    }
    let text = lines.join("\n");
    let mut pieces = pieces(&text);
    for _ in 0..random.below(CHANGES) {
        let begins = |with: fn(char) -> bool, pieces: &[&str]| -> Vec<usize> {
            (0..pieces.len())
                .filter(|i| pieces[*i].starts_with(with))
                .collect()
        };
        let numbers = begins(|c| c.is_ascii_digit(), &pieces);
        let words = begins(|c| c.is_ascii_alphabetic(), &pieces);
        let at = random.below(pieces.len());
        match random.below(10) {
            0 => pieces[at] = "",
            1 => pieces[at] = random.pick(WORDS),
            2..5 => {
                let (one, other) = (random.below(words.len()), random.below(words.len()));
                pieces[words[one]] = pieces[words[other]];
            }
            _ => pieces[numbers[random.below(numbers.len())]] = random.pick(NUMBERS),
        }
    }
    pieces.concat()
}

/// Loads a module and launches its entry, if it has any, with arguments that fit its parameters.
fn run(ptx: &str, seed: u64) -> Result<(), String> {
    let program = Program::load_within(ptx, &LIMITS).map_err(|error| error.to_string())?;
    let mut memory = GlobalMemory::within(&LIMITS);
    let data = memory
        .alloc(1 << 16, 128)
        .map_err(|error| error.to_string())?;
    let map = TensorMap {
        element: ElementType::BF16,
        address: data,
        extents: vec![64; 2],
        strides: vec![128],
        box_extents: vec![64; 2],
        element_strides: vec![1; 2],
        swizzle: SwizzleMode::B128,
        fill: OobFill::Zero,
        l2: L2Promotion::default(),
    };
    let map = encode_tensor_map(&map)?;
    for entry in program.entries() {
        let argument = |bytes: &u32| match bytes {
            8 => data.to_le_bytes().to_vec(),
            128 => map.to_vec(),
            bytes => vec![1; *bytes as usize],
        };
        let args: Vec<Vec<u8>> = entry
            .params
            .iter()
            .map(|(_, bytes)| argument(bytes))
            .collect();
        let launch = Launch {
            block: [160, 1, 1],
            dynamic_shared_bytes: 65536,
            args: &args,
            schedule: Schedule::from_seed(seed),
            limits: LIMITS,
            ..Launch::default()
        };
        program
            .launch(&mut memory, &entry.name, &launch)
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

#[test]
fn mutants_end_with_a_result_or_an_error() {
    let texts = [
        pipeline::kernel(),
        tensor_cores::sample(),
        super::copies::sample(),
    ];
    for text in &texts {
        // The unchanged texts are valid.
        Program::load(text).unwrap();
    }
    let mut loaded = 0;
    for seed in 0..MUTANTS {
        let mut random = Random(seed);
        let text = mutant(&texts[random.below(texts.len())], &mut random);
        match catch_unwind(AssertUnwindSafe(|| run(&text, seed % 3))) {
            Ok(result) => {
                loaded += u64::from(!matches!(result, Err(error) if error.contains("parse")))
            }
            Err(_) => panic!("mutant {seed} panics:\n{text}"),
        }
    }
    // A mutant with a syntax error tests only the parser, so most must parse.
    assert!(loaded > MUTANTS / 2, "{loaded} of {MUTANTS} mutants parse");
}
