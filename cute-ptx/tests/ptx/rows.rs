//! The instruction table against itself and against NVIDIA's assembler.

use cute_ptx::ast::{Operand, Type};
use cute_ptx::ptxas::Ptxas;
use cute_ptx::table::{self, Form, Kind, Match, Pair, Space, Target};
use std::collections::HashSet;
use std::fmt::Write;

const SM_90A: Target = Target {
    sm: 90,
    specific: true,
};

/// Each alternative of each row as a mnemonic.
fn samples() -> impl Iterator<Item = (Match, String)> {
    table::rows()
        .flat_map(|(_, row)| table::samples(row))
        .map(|mnemonic| {
            let found =
                table::lookup(&mnemonic).unwrap_or_else(|| panic!("{mnemonic} is not found"));
            (found, mnemonic)
        })
}

#[test]
fn rows_are_disjoint_and_well_formed() {
    let mut seen = HashSet::new();
    for (_, row) in table::rows() {
        let mut own = HashSet::new();
        for mnemonic in table::samples(row) {
            let found =
                table::lookup(&mnemonic).unwrap_or_else(|| panic!("{mnemonic} is not found"));
            assert!(
                std::ptr::eq(found.row, row),
                "{mnemonic} of {} also belongs to {}",
                row.pattern,
                found.row.pattern
            );
            assert!(!found.forms().is_empty());
            own.insert(mnemonic);
        }
        assert!(
            own.iter().all(|mnemonic| seen.insert(mnemonic.clone())),
            "{}",
            row.pattern
        );
    }
    assert!(seen.len() > 1400, "only {} samples", seen.len());
}

#[test]
fn the_assembler_accepts_every_row() {
    let Some(ptxas) = Ptxas::find() else { return };
    let mut text = Text::new((9, 0), SM_90A);
    for (found, mnemonic) in samples() {
        for form in found.forms() {
            text.inst(&mnemonic, &form);
        }
    }
    let report = ptxas.assemble(&text.finish(), "sm_90a").unwrap();
    let refused: Vec<String> = report
        .errors
        .iter()
        .map(|(line, message)| format!("{}: {message}", text.line(*line)))
        .collect();
    assert!(
        refused.is_empty(),
        "{} of {} refused:\n{}",
        refused.len(),
        text.lines.len(),
        refused.join("\n")
    );
}

/// A module of one instruction a line.
struct Text {
    header: String,
    lines: Vec<String>,
}

impl Text {
    fn new(version: (u32, u32), target: Target) -> Text {
        let mut header = format!(
            ".version {}.{}\n.target {target}\n.address_size 64\n",
            version.0, version.1
        );
        header.push_str(".extern .shared .align 1024 .b8 dynamic[];\n.global .align 128 .b8 global[1024];\n.const .align 128 .b8 constant[1024];\n");
        header.push_str(".visible .entry k(.param .align 64 .b8 param[128])\n.reqntid 128\n{\n");
        header.push_str(".local .align 128 .b8 local[64];\n");
        for ty in POOL {
            writeln!(header, ".reg {ty} %{}_<300>;", ty.name()).unwrap();
        }
        Text {
            header,
            lines: Vec::new(),
        }
    }

    fn inst(&mut self, mnemonic: &str, form: &Form) {
        let operands: Vec<String> = form
            .iter()
            .enumerate()
            .map(|(i, slot)| sample(&slot.kind, i).to_string())
            .collect();
        self.lines
            .push(format!("{mnemonic} {};", operands.join(", ")));
    }

    fn finish(&self) -> String {
        format!("{}{}\nend: ret;\n}}\n", self.header, self.lines.join("\n"))
    }

    fn line(&self, number: Option<u32>) -> &str {
        let first = self.header.lines().count() + 1;
        let index = number.and_then(|number| (number as usize).checked_sub(first));
        index
            .and_then(|index| self.lines.get(index))
            .map_or("?", String::as_str)
    }
}

/// Types that registers are declared with: the packed and the 16-bit floating ones live in `.b32` and `.b16`.
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

/// An operand of that kind, as it would be the `i`th.
fn sample(kind: &Kind, i: usize) -> Operand {
    let vector = |len: usize, ty| {
        Operand::Vector(
            (0..len)
                .map(|element| register(ty, 128 * i.min(1) + element))
                .collect(),
        )
    };
    match kind {
        Kind::Def {
            ty,
            pair: Pair::Never,
            ..
        } => register(*ty, i),
        Kind::Def { ty, .. } => Operand::Pair(
            Box::new(register(*ty, i)),
            Box::new(register(Type::Pred, 8)),
        ),
        Kind::Use {
            ty, range: None, ..
        }
        | Kind::Register(ty)
        | Kind::Value(ty) => register(*ty, i),
        Kind::Use {
            range: Some(range), ..
        }
        | Kind::Int(range) => Operand::Int(range.least()),
        Kind::Predicate => Operand::Not("%pred_9".into()),
        Kind::Scale => register(Type::Pred, 9),
        Kind::Vector { len, ty, .. } => vector(*len, *ty),
        Kind::Pack { bits: 32, .. } => vector(2, Type::B16),
        Kind::Pack { .. } => vector(2, Type::B32),
        Kind::Address(space) => {
            let base = match space {
                Space::Param => Operand::Name("param".into()),
                Space::Shared | Space::SharedCluster => register(Type::U32, i),
                _ => register(Type::U64, i),
            };
            Operand::Address {
                base: Box::new(base),
                offset: 0,
            }
        }
        Kind::Tensor { dims } => Operand::Tensor {
            map: Box::new(register(Type::U64, i)),
            coords: (0..*dims).map(|dim| register(Type::S32, dim)).collect(),
        },
        Kind::Label => Operand::Name("end".into()),
        Kind::Sink => Operand::Sink,
    }
}
