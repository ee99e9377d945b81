//! The instruction table, checked for consistency and against NVIDIA's assembler.

use cute_chip::{Chip, ElementType, barriers, registers, threads, tma, wgmma};
use cute_ptx::ast::{Inst, Operand, Type};
use cute_ptx::special::{self, SPECIAL, Special};
use cute_ptx::table::{self, Form, Kind, Mnemonic, Modifier, Opcode, Pair, Space, Target};
use cute_ptxas::Ptxas;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

/// Each alternative of each row.
fn samples() -> impl Iterator<Item = Mnemonic> {
    table::rows()
        .flat_map(|(_, row)| table::samples(row))
        .map(|text| read(&text))
}

fn read(text: &str) -> Mnemonic {
    text.parse()
        .unwrap_or_else(|unknown| panic!("{text}: {unknown}"))
}

#[test]
fn rows_are_disjoint_and_well_formed() {
    let mut seen = HashSet::new();
    for (_, row) in table::rows() {
        let mut own = HashSet::new();
        for text in table::samples(row) {
            let mnemonic = read(&text);
            assert_eq!(mnemonic.as_str(), text);
            let found = mnemonic.row().pattern;
            assert!(
                std::ptr::eq(mnemonic.row(), row),
                "{text} of {} also belongs to {found}",
                row.pattern
            );
            assert!(!mnemonic.forms().is_empty());
            own.insert(mnemonic);
        }
        assert!(
            own.into_iter().all(|mnemonic| seen.insert(mnemonic)),
            "{}",
            row.pattern
        );
    }
    assert!(seen.len() > 1400, "only {} samples", seen.len());
}

/// The numbers in rows are those of every chip.
#[test]
fn rows_have_the_limits_of_the_chips() {
    let operands = |opcode| {
        let (_, row) = table::rows().find(|(_, row)| row.opcode == opcode).unwrap();
        row.operands
    };
    let (named, warp) = (barriers::NAMED - 1, threads::WARP);
    for cta in Chip::ALL.iter().map(|chip| chip.cta_threads) {
        for opcode in [Opcode::BarArrive, Opcode::BarrierArrive] {
            let expected = format!("u32@0..{named}, u32@{warp}..{cta}/{warp}");
            assert_eq!(operands(opcode), expected);
        }
    }
    let (least, most) = registers::SETMAXNREG.into_inner();
    let expected = format!("#{least}..{most}/{}", registers::UNIT);
    assert_eq!(operands(Opcode::Setmaxnreg), expected);
    let expected = format!("#0..{}", wgmma::MAX_PENDING_GROUPS);
    assert_eq!(operands(Opcode::WgmmaWaitGroup), expected);
    let copy = "cp.async.bulk.prefetch.tensor";
    assert!(copy.parse::<Mnemonic>().is_err());
    let copies = |rank: usize| format!("{copy}.{rank}d.L2.global.tile").parse::<Mnemonic>();
    assert!((1..=tma::MAX_RANK).all(|rank| copies(rank).is_ok()));
    assert!(copies(tma::MAX_RANK + 1).is_err());
}

/// wgmma multiplies the element types that the chip's table says, and no others.
#[test]
fn wgmma_has_the_element_types_of_the_chip() {
    for &input in ElementType::ALL {
        let accumulators = input.wgmma().map_or(&[][..], |input| input.accumulators);
        for &accumulator in ElementType::ALL {
            let (k, types) = (
                wgmma::k(input),
                [accumulator, input, input].map(ElementType::ptx),
            );
            let types = types.join(".");
            let text = format!("wgmma.mma_async.sync.aligned.m64n8k{k}.{types}");
            let expected = accumulators.contains(&accumulator);
            assert_eq!(text.parse::<Mnemonic>().is_ok(), expected, "{text}");
        }
    }
}

/// A mnemonic built from the modifiers of a parsed one is the same: no two mnemonics of an opcode have the same modifiers.
#[test]
fn building_and_reading_agree() {
    for mnemonic in samples() {
        let built = Mnemonic::from_modifiers(mnemonic.opcode(), mnemonic.modifiers());
        assert_eq!(built, Ok(mnemonic));
    }
}

/// All forms of a row write the same operands, and an instruction that does not act writes at least one.
#[test]
fn every_row_says_what_it_does() {
    for mnemonic in samples() {
        let written =
            |form: &Form| -> Vec<bool> { form.iter().map(|slot| slot.kind.writes()).collect() };
        let first = written(&mnemonic.forms()[0]);
        for form in mnemonic.forms() {
            let this = written(form);
            let common = first.len().min(this.len());
            assert_eq!(this[..common], first[..common], "{mnemonic}");
            assert!(!this[common..].contains(&true), "{mnemonic}");
        }
        if mnemonic.effect() != table::Effect::Acts {
            assert!(first.contains(&true), "{mnemonic} has no result");
        }
    }
}

/// For some mnemonics: whether the first operand is written, the effect, and which lanes execute it together.
#[test]
fn effects_of_instructions() {
    use cute_ptx::table::Effect::{Acts, Exchanges, None, Reads};
    use cute_ptx::table::Together::{Members, No, Warp};
    let rows = [
        ("add.u32", true, None, No),
        ("add.cc.u32", true, Acts, No),
        ("mov.b32", true, None, No),
        ("ld.param.u64", true, None, No),
        ("ld.const.v2.u32", true, None, No),
        ("ld.shared.b32", true, Reads, No),
        ("ld.volatile.global.b32", true, Acts, No),
        ("st.global.v4.f32", false, Acts, No),
        ("atom.global.add.u32", true, Acts, No),
        ("red.global.add.u32", false, Acts, No),
        ("nanosleep.u32", false, Acts, No),
        ("shfl.sync.idx.b32", true, Exchanges, Members),
        ("bar.warp.sync", false, Acts, Members),
        ("bar.sync", false, Acts, Warp),
        ("barrier.sync", false, Acts, No),
        ("barrier.cluster.arrive.aligned", false, Acts, Warp),
        (
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
            true,
            Reads,
            Warp,
        ),
        (
            "stmatrix.sync.aligned.m8n8.x4.shared.b16",
            false,
            Acts,
            Warp,
        ),
        ("mbarrier.try_wait.parity.shared::cta.b64", true, Acts, No),
        ("mbarrier.arrive.shared::cta.b64", true, Acts, No),
        ("mbarrier.arrive.shared::cluster.b64", false, Acts, No),
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16",
            true,
            Acts,
            Warp,
        ),
        ("setmaxnreg.inc.sync.aligned.u32", false, Acts, Warp),
    ];
    for (text, writes, effect, together) in rows {
        let mnemonic = read(text);
        let found = (mnemonic.writes(0), mnemonic.effect(), mnemonic.together());
        assert_eq!(found, (writes, effect, together), "{text}");
    }
}

/// For some mnemonics: the class, the group that executes it, what the results depend on, and whether other threads may wait for it.
#[test]
fn classes_groups_and_results_of_instructions() {
    use cute_ptx::table::Class::{
        Arithmetic, Control, Copy, Lanes, Matrix, Memory, Synchronisation,
    };
    use cute_ptx::table::Group::{Cluster, Cta, Warpgroup};
    use cute_ptx::table::Results::{Computed, Gathered, Loaded, Own, Polled, Shuffled};
    let (waits, wgmma) = (
        "mbarrier.try_wait.b64",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16",
    );
    let (copies_in, copies_out) = (
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
        "cp.async.bulk.global.shared::cta.bulk_group",
    );
    let rows = [
        ("add.u32", Arithmetic, None, Computed, false),
        ("mapa.u32", Arithmetic, None, Computed, false),
        ("nanosleep.u32", Control, None, Own, false),
        ("exit", Control, None, Own, false),
        ("shfl.sync.idx.b32", Lanes, None, Shuffled, false),
        ("vote.sync.any.pred", Lanes, None, Gathered, false),
        ("elect.sync", Lanes, None, Own, false),
        ("ld.global.b32", Memory, None, Loaded, false),
        ("ld.relaxed.gpu.global.b32", Memory, None, Own, false),
        ("st.global.b32", Memory, None, Own, true),
        ("atom.global.add.u32", Memory, None, Own, true),
        ("bar.sync", Synchronisation, Some(Cta), Own, true),
        (
            "barrier.red.popc.u32",
            Synchronisation,
            Some(Cta),
            Gathered,
            true,
        ),
        (
            "barrier.cluster.arrive",
            Synchronisation,
            Some(Cluster),
            Own,
            true,
        ),
        (
            "barrier.cluster.wait",
            Synchronisation,
            Some(Cluster),
            Own,
            false,
        ),
        ("fence.acq_rel.gpu", Synchronisation, None, Own, false),
        ("mbarrier.arrive.b64", Synchronisation, None, Own, true),
        (waits, Synchronisation, None, Polled, false),
        (
            "setmaxnreg.inc.sync.aligned.u32",
            Synchronisation,
            Some(Warpgroup),
            Own,
            true,
        ),
        ("cp.async.wait_all", Copy, None, Own, false),
        (copies_in, Copy, None, Own, true),
        (copies_out, Copy, None, Own, false),
        (wgmma, Matrix, Some(Warpgroup), Own, true),
        (
            "wgmma.fence.sync.aligned",
            Matrix,
            Some(Warpgroup),
            Own,
            false,
        ),
    ];
    for (text, class, group, results, signals) in rows {
        let mnemonic = read(text);
        let found = (
            mnemonic.class(),
            mnemonic.group(),
            mnemonic.results(),
            mnemonic.signals(),
        );
        assert_eq!(found, (class, group, results, signals), "{text}");
    }
}

#[test]
fn special_registers_are_found_by_what_they_are() {
    for special in SPECIAL {
        assert_eq!(Special::of(special.register), special);
        for axis in 0..if special.vector { 3 } else { 1 } {
            let found = special::lookup(&special.component(axis));
            assert_eq!(found, Some((special, axis)));
        }
    }
}

#[test]
fn modifiers_that_no_row_takes_are_named() {
    let unknown = |opcode, modifier, ty| {
        let modifiers = [modifier, Modifier::Type(ty)];
        Mnemonic::from_modifiers(opcode, &modifiers)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        unknown(Opcode::Ld, Modifier::Vector(3), Type::F32),
        "`.v3` cannot follow `ld`; expected one of .acquire, .b16, .b32, .b64, .b8, .const, .f32, .f64, .global, .local, .param, .relaxed, …"
    );
    assert_eq!(
        unknown(Opcode::Shl, Modifier::Sat, Type::U32),
        "`.sat` cannot follow `shl`; expected one of .b16, .b32, .b64"
    );
}

/// The assembler accepts each row at the version and target that the table gives: they are not too low.
#[test]
fn the_assembler_accepts_every_row() {
    let Some(ptxas) = Ptxas::find() else { return };
    for text in texts() {
        let report = ptxas
            .assemble(&text.finish(), &text.target.to_string())
            .unwrap();
        let refused: Vec<String> = report
            .errors
            .iter()
            .map(|(line, message)| format!("{}: {message}", text.line(*line)))
            .collect();
        assert!(
            refused.is_empty(),
            "{} for {}:\n{}",
            text.header.lines().next().unwrap(),
            text.target,
            refused.join("\n")
        );
    }
}

/// The assembler refuses each row one version or one target lower: they are not too high. It has no targets below sm_75, so
/// those are not checked.
#[test]
fn the_assembler_refuses_every_row_below_its_version_and_target() {
    let Some(ptxas) = Ptxas::find() else { return };
    let mut groups = BTreeMap::new();
    for mnemonic in samples() {
        // The ISA gives `.shared::cta` version 7.8, but the assembler accepts it here in earlier ones.
        if mnemonic.opcode() == Opcode::CpAsync && mnemonic.has(Modifier::SharedCta) {
            continue;
        }
        let (version, target) = (mnemonic.version(), floor(mnemonic.target()));
        let mut below = Vec::new();
        if version > target.version() {
            below.push((previous(version), target));
        }
        if let Some(lower) = lower(target) {
            below.push((version.max(lower.version()), lower));
        }
        for (version, target) in below {
            let text = groups
                .entry((version, target.sm, target.specific))
                .or_insert_with(|| Text::new(version, target));
            text.inst(mnemonic, &mnemonic.forms()[0]);
        }
    }
    let mut accepted = Vec::new();
    for text in groups.values() {
        // The assembler stops at a syntax error. If the module does not report all lines, each is assembled on its own.
        let report = ptxas
            .assemble(&text.finish(), &text.target.to_string())
            .unwrap();
        let named: HashSet<&str> = report
            .errors
            .iter()
            .map(|(line, _)| text.line(*line))
            .collect();
        for line in text
            .lines
            .iter()
            .filter(|line| !named.contains(line.as_str()))
        {
            let alone = Text {
                lines: vec![line.clone()],
                ..text.clone()
            };
            if ptxas
                .assemble(&alone.finish(), &text.target.to_string())
                .unwrap()
                .errors
                .is_empty()
            {
                accepted.push(format!(
                    "{} {line}",
                    text.header.lines().take(2).collect::<Vec<_>>().join(" ")
                ));
            }
        }
    }
    assert!(
        accepted.is_empty(),
        "{} accepted:\n{}",
        accepted.len(),
        accepted.join("\n")
    );
}

/// For each version and target that some row needs, a module with all forms of those rows.
pub(crate) fn texts() -> Vec<Text> {
    let mut groups = BTreeMap::new();
    for mnemonic in samples() {
        let target = floor(mnemonic.target());
        let version = mnemonic.version().max(target.version());
        let text = groups
            .entry((version, target.sm, target.specific))
            .or_insert_with(|| Text::new(version, target));
        for form in mnemonic.forms() {
            text.inst(mnemonic, form);
        }
    }
    groups.into_values().collect()
}

/// Every form of every row, with one operand at a time replaced by a register of another type: by one of each type for
/// the first sample of a row, by one of a single type for the others.
pub(crate) fn mutants() -> Text {
    let mut text = Text::new(
        (9, 0),
        Target {
            sm: 90,
            specific: true,
        },
    );
    for (_, row) in table::rows() {
        for (index, sample_text) in table::samples(row).iter().enumerate() {
            let mnemonic = read(sample_text);
            for (form, place) in mnemonic
                .forms()
                .iter()
                .flat_map(|form| (0..form.len()).map(move |place| (form, place)))
            {
                let some = [POOL[(text.lines.len() * 7 + place) % POOL.len()]];
                for ty in if index == 0 { POOL } else { &some } {
                    text.push(mnemonic, &mutant(form, place, *ty));
                }
            }
        }
    }
    text
}

fn mutant(form: &Form, place: usize, ty: Type) -> Vec<Operand> {
    let mut operands: Vec<Operand> = form
        .iter()
        .enumerate()
        .map(|(i, slot)| sample(&slot.kind, i))
        .collect();
    operands[place] = match &operands[place] {
        Operand::Vector(elements) => Operand::Vector(vec![register(ty, 0); elements.len()]),
        Operand::Address { .. } => Operand::Address {
            base: Box::new(register(ty, 0)),
            offset: 0,
        },
        _ => register(ty, 0),
    };
    operands
}

fn floor(target: Target) -> Target {
    Target {
        sm: target.sm.max(75),
        ..target
    }
}

fn previous((major, minor): (u32, u32)) -> (u32, u32) {
    match (major, minor) {
        (7, 0) => (6, 5),
        (_, 0) => (major - 1, 8),
        _ => (major, minor - 1),
    }
}

/// The highest target that does not have everything that the given one has.
fn lower(target: Target) -> Option<Target> {
    let sm = match (target.sm, target.specific) {
        (sm, true) => sm,
        (90, _) => 89,
        (80, _) => 75,
        _ => return None,
    };
    Some(Target {
        sm,
        specific: false,
    })
}

/// A module with one instruction in each line.
#[derive(Clone)]
pub(crate) struct Text {
    target: Target,
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
        // Functions and prototypes are numbered by how many lists of parameters they have.
        header.push_str(".func function0() { ret; }\n.func function1(.param .align 16 .b8 argument[64]) { ret; }\n");
        header.push_str(
            ".func (.param .b32 result) function2(.param .align 16 .b8 argument[64]) { ret; }\n",
        );
        header.push_str(".visible .entry k(.param .align 64 .b8 param[128])\n.reqntid 128\n{\n");
        header.push_str(".local .align 128 .b8 local[64];\n.param .align 16 .b8 passed[64];\n.param .b32 received;\n");
        header.push_str("targets: .branchtargets end;\nprototype0: .callprototype _ ();\n");
        header.push_str("prototype1: .callprototype _ (.param .align 16 .b8 _[64]);\n");
        header.push_str(
            "prototype2: .callprototype (.param .b32 _) _ (.param .align 16 .b8 _[64]);\n",
        );
        for ty in POOL {
            writeln!(header, ".reg {ty} %{}_<300>;", ty.name()).unwrap();
        }
        Text {
            target,
            header,
            lines: Vec::new(),
        }
    }

    fn inst(&mut self, mnemonic: Mnemonic, form: &Form) {
        let operands: Vec<Operand> = form
            .iter()
            .enumerate()
            .map(|(i, slot)| sample(&slot.kind, i))
            .collect();
        self.push(mnemonic, &operands);
    }

    fn push(&mut self, mnemonic: Mnemonic, operands: &[Operand]) {
        let lists = operands.iter().filter(|it| matches!(it, Operand::List(_)));
        let lists = lists.count();
        let numbered = |operand: &Operand| match operand {
            Operand::Name(name) if name == "function" || name == "prototype" => {
                Operand::Name(format!("{name}{lists}"))
            }
            other => other.clone(),
        };
        let mut inst = Inst::new(mnemonic, operands.iter().map(numbered));
        // Only what a call passes can be stored to.
        if let (Opcode::St, Some(Operand::Address { base, .. })) =
            (mnemonic.opcode(), inst.operands.first_mut())
            && **base == Operand::Name("param".into())
        {
            **base = Operand::Name("passed".into());
        }
        self.lines.push(format!("{inst};"));
    }

    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }

    pub(crate) fn finish(&self) -> String {
        format!("{}{}\nend: ret;\n}}\n", self.header, self.lines.join("\n"))
    }

    pub(crate) fn line(&self, number: Option<u32>) -> &str {
        let first = self.header.lines().count() + 1;
        let index = number.and_then(|number| (number as usize).checked_sub(first));
        index
            .and_then(|index| self.lines.get(index))
            .map_or("?", String::as_str)
    }
}

/// The types with which registers are declared. Operands of the 16-bit floating-point and packed types use those of
/// `.b16` and `.b32`.
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
        Kind::Targets => Operand::Name("targets".into()),
        Kind::Function => Operand::Name("function".into()),
        Kind::Prototype => Operand::Name("prototype".into()),
        Kind::Parameters if i == 0 => Operand::List(vec![Operand::Name("received".into())]),
        Kind::Parameters => Operand::List(vec![Operand::Name("passed".into())]),
        Kind::Sink => Operand::Sink,
    }
}
