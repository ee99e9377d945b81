//! The instructions of the table that the emulator does not model, with the reasons. The list is a committed file, so the
//! test fails when a row of the table is added without the emulator's part, or when the emulator no longer models a row.

use cute_emulator::{EmulatorError, Program};
use cute_ptx::ast::{Inst, Operand, Type};
use cute_ptx::table::{self, Kind, Mnemonic, Pair, Space};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The types with which registers `%TYPE_0`, `%TYPE_1` and so on are declared.
const POOL: &[Type] = &[
    Type::Pred,
    Type::B16,
    Type::B32,
    Type::B64,
    Type::U16,
    Type::U32,
    Type::U64,
    Type::S16,
    Type::S32,
    Type::S64,
    Type::F32,
    Type::F64,
];

fn register(ty: Type, index: usize) -> Operand {
    let ty = match ty {
        Type::B8 | Type::U8 | Type::S8 | Type::F16 | Type::Bf16 => Type::B16,
        Type::F16x2 | Type::Bf16x2 => Type::B32,
        other => other,
    };
    Operand::Name(format!("%{}_{index}", ty.name()))
}

/// An operand of a kind, for the place `i` of an instruction.
fn operand(kind: &Kind, i: usize) -> Operand {
    let vector = |len: usize, ty| {
        Operand::Vector((0..len).map(|j| register(ty, 128 * i.min(1) + j)).collect())
    };
    let pair = |ty| Operand::Pair(Box::new(register(ty, i)), Box::new(register(Type::Pred, 8)));
    match kind {
        Kind::Def {
            ty,
            pair: Pair::Never,
            ..
        } => register(*ty, i),
        Kind::Def { ty, .. } => pair(*ty),
        Kind::Use {
            range: Some(range), ..
        }
        | Kind::Int(range) => Operand::Int(range.least()),
        Kind::Use { ty, .. } | Kind::Register(ty) | Kind::Value(ty) => register(*ty, i),
        Kind::Predicate => Operand::Not("%pred_9".into()),
        Kind::Scale => register(Type::Pred, 9),
        Kind::Vector { len, ty, .. } => vector(*len, *ty),
        Kind::Pack { bits: 32, .. } => vector(2, Type::B16),
        Kind::Pack { .. } => vector(2, Type::B32),
        Kind::Address(Space::Param) => Operand::Address {
            base: Box::new(Operand::Name("param".into())),
            offset: 0,
        },
        Kind::Address(space) => {
            let ty = if space.name().starts_with("shared") {
                Type::U32
            } else {
                Type::U64
            };
            Operand::Address {
                base: Box::new(register(ty, 20 + i)),
                offset: 0,
            }
        }
        Kind::Tensor { dims } => Operand::Tensor {
            map: Box::new(register(Type::U64, 20)),
            coords: (0..*dims).map(|j| register(Type::S32, 20 + j)).collect(),
        },
        Kind::Label => Operand::Name("end".into()),
        Kind::Targets => Operand::Name("targets".into()),
        Kind::Function => Operand::Name("function".into()),
        Kind::Prototype => Operand::Name("prototype".into()),
        Kind::Parameters if i == 0 => Operand::List(vec![Operand::Name("received".into())]),
        Kind::Parameters => Operand::List(vec![Operand::Name("passed".into())]),
        Kind::Sink => Operand::Sink,
    }
}

fn load(inst: &Inst) -> Result<Program, EmulatorError> {
    let lists = inst.operands.iter();
    let lists = lists.filter(|it| matches!(it, Operand::List(_))).count();
    let (results, params) = [
        ("", ""),
        ("", ".param .b32 x"),
        ("(.param .b32 r)", ".param .b32 x"),
    ][lists];
    let mut text = format!(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.func {results} function({params}) {{ ret; }}\n\
         .visible .entry k(.param .align 64 .b8 param[128]) .maxntid 128\n{{\n.param .b32 passed;\n.param .b32 received;\n\
         targets: .branchtargets end;\nprototype: .callprototype {results} _ ({params});\n",
    );
    for ty in POOL {
        writeln!(text, ".reg {ty} %{}_<300>;", ty.name()).unwrap();
    }
    writeln!(text, "{inst};\nend: ret;\n}}").unwrap();
    Program::load(&text)
}

#[test]
fn what_is_not_modelled() {
    let mut missing = BTreeSet::new();
    let mut modelled = 0;
    for (_, row) in table::rows() {
        for sample in table::samples(row) {
            let mnemonic: Mnemonic = sample.parse().unwrap();
            for form in mnemonic.forms() {
                let operands = form
                    .iter()
                    .enumerate()
                    .map(|(i, slot)| operand(&slot.kind, i));
                match load(&Inst::new(mnemonic, operands)) {
                    Ok(_) => modelled += 1,
                    Err(EmulatorError::Unsupported { message, .. }) => {
                        missing.insert(format!("{mnemonic}: {message}"));
                    }
                    Err(other) => panic!("{mnemonic}: {other}"),
                }
            }
        }
    }
    assert!(modelled > 1000, "{modelled}");
    let missing: String = missing.iter().map(|line| format!("{line}\n")).collect();
    expect_test::expect_file!["not_modelled.txt"].assert_eq(&missing);
}
