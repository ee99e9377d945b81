//! Inputs for tests that look for panics and hangs: PTX with random changes, and launches with random arguments.

use cute_chip::tma::{L2Promotion, OobFill, TensorMap};
use cute_chip::{ElementType, SwizzleMode};
use cute_emulator::{
    Checks, EmulatorError, GlobalMemory, Launch, Limits, Program, Schedule, encode_tensor_map,
};
use std::path::Path;

/// A random choice: a number below the argument, which is not 0.
pub(crate) type Below<'a> = &'a mut dyn FnMut(usize) -> usize;

/// A mutant has fewer changes than this, in addition to a change of lines.
const CHANGES: usize = 4;

/// The bytes of global memory that a launch has.
const DATA_BYTES: usize = 1 << 16;

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
    cluster_steps: 2048,
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

/// How far a text came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reached {
    /// It is not PTX.
    Nothing,
    /// It is a module that is not valid, or that holds something which is not modelled.
    Parsed,
    /// Its first launch has failed.
    Loaded,
    /// A launch has ended.
    Launched,
}

/// The texts of the PTX files in a folder, in the order of their names.
pub(crate) fn texts(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).expect("the folder is there");
    let paths = files.map(|file| file.expect("a file").path());
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|it| it == "ptx"))
        .collect();
    paths.sort();
    let read = |path| std::fs::read_to_string(path).expect("a text");
    paths.into_iter().map(read).collect()
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

/// The text with random changes: a line deleted, swapped or repeated; operands swapped or repeated; numbers and words replaced;
/// anything deleted; a bit flipped.
pub(crate) fn mutant(text: &str, below: Below<'_>) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (at, other) = (below(lines.len()), below(lines.len()));
    match below(16) {
        0 => lines[at].clear(),
        1 => lines.swap(at, other),
        2 => lines.insert(at, lines[other].clone()),
        3 => lines[at] = other_operands(&lines[at], below),
        4 => lines.truncate(at),
        _ => {}
    }
    let text = lines.join("\n");
    let mut pieces = pieces(&text);
    for _ in 0..below(CHANGES) {
        let begins = |with: fn(char) -> bool, pieces: &[&str]| -> Vec<usize> {
            (0..pieces.len())
                .filter(|i| pieces[*i].starts_with(with))
                .collect()
        };
        let numbers = begins(|c| c.is_ascii_digit(), &pieces);
        let words = begins(|c| c.is_ascii_alphabetic(), &pieces);
        if numbers.is_empty() || words.is_empty() {
            break;
        }
        let at = below(pieces.len());
        match below(20) {
            0 => pieces[at] = "",
            1 => pieces[at] = WORDS[below(WORDS.len())],
            2..5 => {
                let (one, other) = (below(words.len()), below(words.len()));
                pieces[words[one]] = pieces[words[other]];
            }
            _ => pieces[numbers[below(numbers.len())]] = NUMBERS[below(NUMBERS.len())],
        }
    }
    let mut bytes = pieces.concat().into_bytes();
    if !bytes.is_empty() && below(32) == 0 {
        let at = below(bytes.len());
        bytes[at] ^= 1 << below(8);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A line with one of its operands in place of another one, or in addition.
fn other_operands(line: &str, below: Below<'_>) -> String {
    let mut operands: Vec<&str> = line.split(',').collect();
    let (at, other) = (below(operands.len()), below(operands.len()));
    match below(3) {
        0 => operands.swap(at, other),
        1 => operands.insert(at, operands[other]),
        _ => operands[at] = operands[other],
    }
    operands.join(",")
}

/// Parses, prints, loads and launches a text, with random dimensions and arguments. Whatever they are, that gives a result or an
/// error, and a module that is printed is read as the same module.
pub(crate) fn run(ptx: &str, below: Below<'_>) -> Reached {
    let Ok(module) = cute_ptx::parse(ptx) else {
        return Reached::Nothing;
    };
    let printed = module.to_string();
    match cute_ptx::parse(&printed) {
        Ok(read) => assert_eq!(read, module, "{printed}"),
        Err(error) => panic!("{error}\n{printed}"),
    }
    let Ok(program) = Program::load_within(ptx, &LIMITS) else {
        return Reached::Parsed;
    };
    let ended = program
        .entries()
        .all(|entry| launch(&program, &entry.name, below).is_ok());
    match ended {
        true => Reached::Launched,
        false => Reached::Loaded,
    }
}

fn launch(program: &Program, entry: &str, below: Below<'_>) -> Result<(), EmulatorError> {
    const MAX: u32 = u32::MAX;
    let mut memory = GlobalMemory::within(&LIMITS);
    let data = memory.alloc(DATA_BYTES, 128)?;
    let bytes: Vec<u8> = (0..DATA_BYTES).map(|i| i as u8 & 15).collect();
    memory.write(data, &bytes)?;
    let params = program.entries().find(|it| it.name == entry);
    let params = params.map_or(Vec::new(), |entry| entry.params.clone());
    let mut args: Vec<Vec<u8>> = Vec::new();
    for (_, bytes) in params {
        args.push(argument(bytes as usize, data, below));
    }
    match below(40) {
        0 => args.push(vec![0; 4]),
        1 => drop(args.pop()),
        2 if !args.is_empty() => args[0].push(0),
        _ => {}
    }
    let dimensions = [
        [1, 1, 1],
        [2, 1, 1],
        [3, 2, 2],
        [0, 1, 1],
        [65, 1, 1],
        [MAX, MAX, MAX],
    ];
    let blocks = [
        [160, 1, 1],
        [32, 1, 1],
        [64, 2, 1],
        [1, 1, 33],
        [1024, 1, 1],
        [1025, 1, 1],
        [MAX, MAX, MAX],
    ];
    let clusters = [
        [1, 1, 1],
        [2, 1, 1],
        [1, 2, 2],
        [17, 1, 1],
        [0, 1, 1],
        [MAX, MAX, MAX],
    ];
    let launch = Launch {
        grid: mostly_first(&dimensions, below),
        block: mostly_first(&blocks, below),
        cluster: mostly_first(&clusters, below),
        dynamic_shared_bytes: mostly_first(&[65_536, 0, 1, 232_448, MAX], below),
        args: &args,
        schedule: Schedule::from_seed(below(10) as u64),
        checks: Checks {
            registers: below(4) > 0,
            uninitialised: below(4) > 0,
            order: below(4) > 0,
            global: below(4) > 0,
            tensors: below(4) > 0,
            ways: below(4) > 0,
            division: below(4) > 0,
            strict: below(4) > 0,
        },
        extents: &[],
        overlaps: below(2) > 0,
        limits: LIMITS,
    };
    program.launch(&mut memory, entry, &launch).map(drop)
}

/// An argument of so many bytes: mostly the address of memory, a small number, or a tensor map.
fn argument(bytes: usize, data: u64, below: Below<'_>) -> Vec<u8> {
    match bytes {
        8 => {
            let values = [
                data,
                data,
                data + 4,
                data + DATA_BYTES as u64 - 4,
                5,
                0,
                u64::MAX,
            ];
            mostly_first(&values, below).to_le_bytes().to_vec()
        }
        4 => {
            let values = [64, 1, 0, 1000, 0x3f80_0000, u32::MAX];
            mostly_first(&values, below).to_le_bytes().to_vec()
        }
        128 => {
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
            let mut map = encode_tensor_map(&map).map_or(vec![0; 128], |map| map.to_vec());
            if below(4) == 0 {
                map[below(128)] ^= 1 << below(8);
            }
            map
        }
        bytes => vec![1; bytes],
    }
}

/// In two of three cases the first.
fn mostly_first<T: Copy>(values: &[T], below: Below<'_>) -> T {
    match below(3) {
        0 => values[below(values.len())],
        _ => values[0],
    }
}
