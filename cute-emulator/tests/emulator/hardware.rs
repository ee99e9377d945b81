//! Instructions compared with a Hopper GPU. One entry for each mnemonic of the table that computes from registers alone; what an
//! H200 makes of the same inputs is in `tests/hardware`: for each mnemonic a hash of all results, and for approximations the results.

use super::Run;
use cute_emulator::{Checks, Launch, Program};
use cute_ptx::ast::{Inst, Operand, Type};
use cute_ptx::table::{self, Effect, Form, Kind, Mnemonic, Opcode, Pair};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The inputs of each operand, and the threads of a launch.
const INPUTS: usize = 512;
/// The operands that have inputs of their own.
const OPERANDS: usize = 5;
/// The bytes of an input of each width: 8 for 64 bits, 4 for 32, 4 for two of 16, 2 for 16 and 2 of padding.
const INPUT_BYTES: usize = 24;

/// The results of an H200: a line for each mnemonic with the hash of its results.
const HASHES: &str = include_str!("../hardware/hashes.txt");
/// The mnemonics whose results differ. The assembler makes several products in f16 of these, and does not say which.
const DIFFERENT: &[&str] = &[
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",
    "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32",
];
/// The results of approximations, as lines of hexadecimal numbers.
const APPROXIMATIONS: &str = include_str!("../hardware/approximations.txt");

/// Bits that look random.
fn random(index: u64) -> u64 {
    let mut bits = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// An input of a width, in turn special, close to 1, of any bits, and a small integer.
fn input(index: u64, special: &[u64], exponent: u32, one: u64, bits: u32) -> u64 {
    let random = random(index);
    let mask = u64::MAX >> (64 - bits);
    let fraction = (1 << exponent) - 1;
    let value = match index % 4 {
        0 => special[random as usize % special.len()],
        1 => {
            one.wrapping_add((random >> 8 & 7) << exponent)
                .wrapping_sub(3 << exponent)
                & !fraction
                | random >> 16 & fraction
                | (random & 1) << (bits - 1)
        }
        2 => random,
        _ => (random >> 32) % 67,
    };
    value & mask
}

#[rustfmt::skip]
const SPECIAL_64: [u64; 16] = [
    0, 1 << 63, 0x3ff0_0000_0000_0000, 0xbff0_0000_0000_0000, 0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000, 1, 0x8000_0000_0000_0001, 0x000f_ffff_ffff_ffff, 0x0010_0000_0000_0000, 0x7fef_ffff_ffff_ffff,
    0x3fe0_0000_0000_0000, 0x3ff8_0000_0000_0000, u64::MAX, 0x41e0_0000_0000_0000,
];
#[rustfmt::skip]
const SPECIAL_32: [u64; 16] = [
    0, 1 << 31, 0x3f80_0000, 0xbf80_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 1, 0x8000_0001, 0x007f_ffff, 0x0080_0000,
    0x7f7f_ffff, 0x3f00_0000, 0x3fc0_0000, 0xffff_ffff, 0x4f00_0000,
];
#[rustfmt::skip]
const SPECIAL_16: [u64; 16] = [
    0, 1 << 15, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 1, 0x8001, 0x03ff, 0x0400, 0x7bff, 0x3f80, 0x7f80, 0xffff, 0x3e00,
];

/// The inputs of all operands.
fn inputs() -> Vec<u8> {
    let mut bytes = Vec::new();
    for index in 0..(OPERANDS * INPUTS) as u64 {
        // Operands get different kinds of inputs together.
        let index = index * 5 + index / INPUTS as u64 * (1 + index % 3);
        bytes.extend(input(index, &SPECIAL_64, 52, 0x3ff0_0000_0000_0000, 64).to_le_bytes());
        bytes.extend((input(index, &SPECIAL_32, 23, 0x3f80_0000, 32) as u32).to_le_bytes());
        let half = |index| input(index, &SPECIAL_16, 10, 0x3c00, 16) as u32;
        let both = half(index) | half(index + 2) << 16;
        bytes.extend(both.to_le_bytes());
        // Finite numbers of 8 and 16 bits, for products of matrices.
        bytes.extend((random(index) as u32 & 0xbfbf_bfbf).to_le_bytes());
        bytes.extend(half(index).to_le_bytes());
    }
    bytes
}

/// The instructions: mnemonics with registers as operands.
fn instructions() -> Vec<(Mnemonic, Form)> {
    let mut found = Vec::new();
    for (_, row) in table::rows() {
        for sample in table::samples(row) {
            let mnemonic: Mnemonic = sample.parse().unwrap();
            let pure = matches!(mnemonic.effect(), Effect::None | Effect::Exchanges);
            let extended = matches!(
                mnemonic.opcode(),
                Opcode::AddCc
                    | Opcode::Addc
                    | Opcode::SubCc
                    | Opcode::Subc
                    | Opcode::MadCc
                    | Opcode::Madc
            );
            // Addresses and opaque values differ, and the hardware's policies are unknown. Most inputs are no lanes for `fns`.
            let opaque = matches!(
                mnemonic.opcode(),
                Opcode::Cvta
                    | Opcode::CvtaTo
                    | Opcode::Isspacep
                    | Opcode::Mapa
                    | Opcode::Getctarank
                    | Opcode::Createpolicy
                    | Opcode::MbarrierPendingCount
                    | Opcode::Fns
                    | Opcode::WmmaMma
            );
            if !(pure || extended) || opaque {
                continue;
            }
            let simple = |form: &&Form| {
                form.iter()
                    .all(|slot| !matches!(slot.kind, Kind::Address(_) | Kind::Tensor { .. }))
            };
            if let Some(form) = mnemonic.forms().iter().find(simple) {
                found.push((mnemonic, form.clone()));
            }
        }
    }
    found.dedup_by(|a, b| a.0 == b.0);
    found
}

/// The type with which a register of a type is declared.
fn declared(ty: Type) -> Type {
    match ty {
        Type::B8 | Type::U8 | Type::S8 | Type::F16 | Type::Bf16 => Type::B16,
        Type::F16x2 | Type::Bf16x2 => Type::B32,
        other => other,
    }
}

/// The body of an entry: inputs into registers, the instruction, results into memory. Returns the number of results, too.
fn body(mnemonic: Mnemonic, form: &Form) -> (String, usize) {
    let mut text = String::new();
    let (mut count, mut registers, mut results) = (0, 0, Vec::new());
    let product = mnemonic.opcode() == Opcode::Mma;
    let packed = |ty| matches!(ty, Type::F16x2 | Type::Bf16x2) || product && ty == Type::B32;
    let mut operands = Vec::new();
    let mut source = |text: &mut String, ty: Type, which: usize, part: usize| {
        let name = format!("%v{registers}");
        registers += 1;
        let width = ty.bits();
        let eight = mnemonic.as_str().contains(".e4m3")
            || mnemonic.as_str().contains(".e5m2")
            || mnemonic.as_str().contains(".s8")
            || mnemonic.as_str().contains(".u8");
        let start = match width {
            64 => 0,
            32 if product && ty == Type::B32 && eight => 16,
            32 if packed(ty) => 12,
            32 => 8,
            _ => 20,
        };
        // Different parts of a vector are inputs of different threads.
        let offset = (which % OPERANDS * INPUTS + part * 37) * INPUT_BYTES + start;
        writeln!(text, ".reg {} {name};", declared(ty)).unwrap();
        match ty {
            Type::Pred => {
                writeln!(
                    text,
                    ".reg .u32 {name}x;\nld.global.u32 {name}x, [%in+{}];",
                    offset - start + 8
                )
                .unwrap();
                writeln!(
                    text,
                    "and.b32 {name}x, {name}x, 1;\nsetp.ne.u32 {name}, {name}x, 0;"
                )
                .unwrap();
            }
            _ => writeln!(text, "ld.global.b{width} {name}, [%in+{offset}];").unwrap(),
        }
        Operand::Name(name)
    };
    let mut result = |text: &mut String, ty: Type| {
        let name = format!("%d{count}");
        count += 1;
        writeln!(text, ".reg {} {name};", declared(ty)).unwrap();
        results.push((name.clone(), ty));
        Operand::Name(name)
    };
    for (i, slot) in form.iter().enumerate() {
        let last = i + 1 == form.len();
        let members = last && mnemonic.together() == table::Together::Members;
        operands.push(match &slot.kind {
            _ if members => Operand::Int(-1),
            Kind::Def {
                ty,
                pair: Pair::Never,
                ..
            } => result(&mut text, *ty),
            Kind::Def { ty, .. } => Operand::Pair(
                Box::new(result(&mut text, *ty)),
                Box::new(result(&mut text, Type::Pred)),
            ),
            Kind::Use {
                range: Some(range), ..
            }
            | Kind::Int(range) => {
                let value = if mnemonic.opcode() == Opcode::Lop3 {
                    0x96
                } else {
                    range.least()
                };
                Operand::Int(value)
            }
            Kind::Use { ty, .. } | Kind::Register(ty) | Kind::Value(ty) => {
                source(&mut text, *ty, i, 0)
            }
            Kind::Predicate | Kind::Scale => source(&mut text, Type::Pred, i, 0),
            Kind::Vector {
                len, ty, def: true, ..
            } => Operand::Vector((0..*len).map(|_| result(&mut text, *ty)).collect()),
            Kind::Vector { len, ty, .. } => Operand::Vector(
                (0..*len)
                    .map(|part| source(&mut text, *ty, i, part))
                    .collect(),
            ),
            Kind::Pack { bits, def } => {
                let ty = if *bits == 32 { Type::B16 } else { Type::B32 };
                let parts = (0..2).map(|part| match def {
                    true => result(&mut text, ty),
                    false => source(&mut text, ty, i, part),
                });
                Operand::Vector(parts.collect())
            }
            other => panic!("{mnemonic}: {other}"),
        });
    }
    let carries = matches!(
        mnemonic.opcode(),
        Opcode::Addc | Opcode::Subc | Opcode::Madc
    );
    if carries {
        // The flag is that of an addition, or of a subtraction, by the lowest bit of an input.
        writeln!(text, ".reg .u32 %c<4>;\nld.global.u32 %c0, [%in];\nand.b32 %c0, %c0, 1;\nadd.cc.u32 %c1, %c0, 0xffffffff;").unwrap();
    }
    writeln!(text, "{};", Inst::new(mnemonic, operands)).unwrap();
    if mnemonic.as_str().contains(".cc") {
        writeln!(text, ".reg .u32 %carry;\naddc.u32 %carry, 0, 0;").unwrap();
        results.push(("%carry".to_owned(), Type::U32));
    }
    for (i, (name, ty)) in results.iter().enumerate() {
        let at = i * 8;
        match ty {
            Type::Pred => writeln!(
                text,
                "selp.u64 %w, 1, 0, {name};\nst.global.u64 [%out+{at}], %w;"
            )
            .unwrap(),
            ty => writeln!(
                text,
                "st.global.b{} [%out+{at}], {name};",
                declared(*ty).bits()
            )
            .unwrap(),
        }
    }
    (text, results.len())
}

/// The module, and for each entry its mnemonic and the number of its results.
fn module() -> (String, Vec<(Mnemonic, usize)>) {
    let mut text = String::from(".version 9.0\n.target sm_90a\n.address_size 64\n");
    let mut entries = Vec::new();
    for (mnemonic, form) in instructions() {
        let (body, results) = body(mnemonic, &form);
        let number = entries.len();
        writeln!(
            text,
            ".visible .entry e{number}(.param .u64 in, .param .u64 out)\n{{\n.reg .u64 %in, %out, %w;\n.reg .u32 %t, %n;\n\
             ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %t, %tid.x;\n\
             mad.wide.u32 %in, %t, {INPUT_BYTES}, %in;\nmad.wide.u32 %out, %t, {}, %out;\n{body}ret;\n}}",
            8 * results
        )
        .unwrap();
        entries.push((mnemonic, results));
    }
    (text, entries)
}

/// A hash of bytes (FNV-1a).
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The results of an entry in the emulator.
fn emulated(program: &Program, number: usize, results: usize) -> Vec<u8> {
    let mut run = Run::threads(INPUTS as u32);
    // Vectors read the inputs of threads after the last one.
    let mut bytes = inputs();
    bytes.resize(bytes.len() + 64 * 37 * INPUT_BYTES, 0);
    let input = run.array(&bytes, u8::to_le_bytes);
    let output = run.array(&vec![0; INPUTS * results], u64::to_le_bytes);
    let args = [input.to_le_bytes().to_vec(), output.to_le_bytes().to_vec()];
    let launch = Launch {
        args: &args,
        // Some divide by 0, whose result on the hardware is recorded, too.
        checks: Checks {
            division: false,
            ..Checks::default()
        },
        ..run.launch.clone()
    };
    program
        .launch(&mut run.memory, &format!("e{number}"), &launch)
        .unwrap();
    run.memory
        .bytes(output, 8 * INPUTS * results)
        .unwrap()
        .to_vec()
}

/// Whether the hardware's result is an approximation, which the emulator rounds correctly.
fn is_approximate(mnemonic: Mnemonic) -> bool {
    let text = mnemonic.as_str();
    text.contains(".approx") || text.contains(".full")
}

#[test]
fn exact_results_are_those_of_the_hardware() {
    let (text, entries) = module();
    if let Some(folder) = std::env::var_os("CUTE_HARDWARE") {
        let folder = std::path::PathBuf::from(folder);
        let list: String = entries
            .iter()
            .map(|(mnemonic, results)| format!("{mnemonic} {results}\n"))
            .collect();
        std::fs::write(folder.join("hardware.ptx"), &text).unwrap();
        std::fs::write(folder.join("hardware.txt"), list).unwrap();
        let mut bytes = inputs();
        bytes.resize(bytes.len() + 64 * 37 * INPUT_BYTES, 0);
        std::fs::write(folder.join("inputs.bin"), bytes).unwrap();
    }
    let program = Program::load(&text).unwrap();
    let known: BTreeMap<&str, &str> = HASHES
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect();
    let mut differences = Vec::new();
    let mut compared = 0;
    if let Some(folder) = std::env::var_os("CUTE_HARDWARE") {
        let all = entries.iter().enumerate();
        let found: Vec<u8> = all
            .flat_map(|(number, it)| emulated(&program, number, it.1))
            .collect();
        std::fs::write(std::path::PathBuf::from(folder).join("emulated.bin"), found).unwrap();
    }
    for (number, (mnemonic, results)) in entries.iter().enumerate() {
        if is_approximate(*mnemonic) {
            continue;
        }
        let Some(expected) = known.get(mnemonic.as_str()) else {
            differences.push(format!("{mnemonic} has no result of the hardware"));
            continue;
        };
        compared += 1;
        let found = format!("{:016x}", hash(&emulated(&program, number, *results)));
        if found != *expected {
            differences.push(mnemonic.to_string());
        }
    }
    let expected: Vec<String> = DIFFERENT.iter().map(|it| it.to_string()).collect();
    assert_eq!(differences, expected, "of {compared}");
}

/// The greatest differences between the hardware's approximations and the correctly rounded results, over inputs for which both are
/// finite and normal: in units of the last place of the hardware's number, and as a number if the result is at most 1; then how many
/// results differ otherwise, such as a subnormal number of the emulator that is a zero of the hardware. Of `sin` and `cos`, arguments
/// up to 2π are compared, for which PTX promises something.
#[test]
fn approximations_are_close_to_those_of_the_hardware() {
    let (text, entries) = module();
    let program = Program::load(&text).unwrap();
    let known: BTreeMap<&str, &str> = APPROXIMATIONS
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect();
    let mut text_of_table = String::new();
    let bytes = inputs();
    for (number, (mnemonic, results)) in entries.iter().enumerate() {
        if !is_approximate(*mnemonic) {
            continue;
        }
        let words = known[mnemonic.as_str()].split(' ');
        let expected: Vec<u64> = words
            .map(|word| u64::from_str_radix(word, 16).unwrap())
            .collect();
        let found = emulated(&program, number, *results);
        let ty = mnemonic.ty("t").unwrap();
        let (mut greatest, mut absolute, mut other) = (0.0_f64, 0.0_f64, 0);
        let angles = matches!(mnemonic.opcode(), Opcode::Sin | Opcode::Cos);
        for (i, (found, expected)) in found.as_chunks().0.iter().zip(&expected).enumerate() {
            let at = (INPUTS + i) * INPUT_BYTES + 8;
            let angle = f32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            if angles && angle.abs() > std::f32::consts::TAU {
                continue;
            }
            for (a, b) in parts(u64::from_le_bytes(*found), ty)
                .into_iter()
                .zip(parts(*expected, ty))
            {
                let (a, b) = (Number::new(a, ty), Number::new(b, ty));
                match a.is_normal && b.is_normal {
                    true => {
                        let difference = (a.value - b.value).abs();
                        greatest = greatest.max(difference / b.unit);
                        if b.value.abs() <= 1.0 {
                            absolute = absolute.max(difference);
                        }
                    }
                    false => {
                        other +=
                            u32::from(a.value != b.value && !(a.value.is_nan() && b.value.is_nan()))
                    }
                }
            }
        }
        // Only the upper half of these is computed.
        let half = mnemonic.has(table::Modifier::Ftz) && ty == Type::F64;
        let units = if half {
            greatest / 32_f64.exp2()
        } else {
            greatest
        };
        writeln!(
            text_of_table,
            "{mnemonic}: {units:.0} units, {absolute:.1e}, {other} others"
        )
        .unwrap();
    }
    expect_test::expect_file!["../hardware/differences.txt"].assert_eq(&text_of_table);
}

/// The numbers in a result of a type.
fn parts(bits: u64, ty: Type) -> Vec<u64> {
    match ty {
        Type::F16x2 | Type::Bf16x2 => vec![bits & 0xffff, bits >> 16 & 0xffff],
        _ => vec![bits],
    }
}

/// A floating-point number, and the unit of its last place.
struct Number {
    value: f64,
    unit: f64,
    is_normal: bool,
}

impl Number {
    fn new(bits: u64, ty: Type) -> Number {
        let (value, fraction, least) = match ty {
            Type::F64 => (f64::from_bits(bits), 52, -1022),
            Type::F32 => (f64::from(f32::from_bits(bits as u32)), 23, -126),
            Type::F16 | Type::F16x2 => (half::f16::from_bits(bits as u16).to_f64(), 10, -14),
            _ => (half::bf16::from_bits(bits as u16).to_f64(), 7, -126),
        };
        let exponent = value.abs().log2().floor();
        Number {
            value,
            unit: (exponent - f64::from(fraction)).exp2(),
            is_normal: value.is_finite() && value != 0.0 && exponent >= f64::from(least),
        }
    }
}
