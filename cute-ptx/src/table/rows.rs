//! The rows of the instruction table. [`table`](super) describes their notation.

use super::column::Class::{self, *};
use super::column::{Effect, Group, Results};
use super::opcode::Opcode::{self, *};
use cute_chip::{Target, wgmma};

/// A row of the instruction table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The instruction. An opcode can have several rows.
    pub opcode: Opcode,
    /// The effect besides writing its destinations.
    pub effect: Effect,
    /// What its destinations depend on.
    pub results: Results,
    /// Whether other threads may wait for it: it writes memory before the next instruction of its thread, changes or arrives at a
    /// barrier, starts work that completes on an mbarrier, gives up registers, or does its part of the work of a group.
    pub signals: bool,
    /// The pattern of its mnemonics. [`table`](super) describes the notation.
    pub pattern: &'static str,
    /// The forms of their operands. [`table`](super) describes the notation.
    pub operands: &'static str,
    /// The PTX version that introduced it, as major and minor number. Some modifiers can need a later one.
    pub version: (u32, u32),
    /// The lowest target that has it. Some modifiers can need a higher one.
    pub target: Target,
}

/// Rows with what they have in common.
pub(super) struct Section {
    /// The section of the PTX ISA 9.0 that specifies them.
    pub(super) title: &'static str,
    pub(super) class: Class,
    /// The threads that all have to execute them, if they are more than a warp.
    pub(super) group: Option<Group>,
    pub(super) rows: &'static [Row],
}

const fn section(title: &'static str, class: Class, rows: &'static [Row]) -> Section {
    Section {
        title,
        class,
        group: None,
        rows,
    }
}

impl Section {
    const fn of(mut self, group: Group) -> Section {
        self.group = Some(group);
        self
    }
}

/// Every row, with the section of the PTX ISA 9.0 that specifies it.
pub fn rows() -> impl Iterator<Item = (&'static str, &'static Row)> {
    sections()
        .iter()
        .flat_map(|section| section.rows.iter().map(|row| (section.title, row)))
}

/// Every section of rows.
pub(super) fn sections() -> &'static [Section] {
    SECTIONS
}

/// The alternatives of a name in capitals in a pattern.
pub(super) fn class(name: &str) -> Option<String> {
    Some(match name {
        "INT" => "u16|s16|u32|s32|u64|s64".into(),
        "INT8" => "u8|s8|u16|s16|u32|s32|u64|s64".into(),
        "SINT" => "s16|s32|s64".into(),
        "UINT" => "u16|u32|u64".into(),
        "BITS" => "b16|b32|b64".into(),
        "HALF" => "f16|f16x2".into(),
        "BHALF" => "bf16|bf16x2".into(),
        "MEM32" => "b8|b16|b32|u8|s8|u16|s16|u32|s32|f32".into(),
        "MEM" => "b8|b16|b32|b64|u8|s8|u16|s16|u32|s32|u64|s64|f32|f64".into(),
        // One access has at most 128 bits.
        "VECTOR" => "{vec=.v2}{t=MEM}|{vec=.v4}{t=MEM32}|{t=MEM}".into(),
        "ROUND" => "rn|rz|rm|rp".into(),
        "ROUNDI" => "rni|rzi|rmi|rpi".into(),
        "ORDER" => "eq|ne|lt|le|gt|ge".into(),
        "UORDER" => "eq|ne|lo|ls|hi|hs|lt|le|gt|ge".into(),
        "FORDER" => "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan".into(),
        "BOOL" => "and|or|xor".into(),
        "SCOPE" => "cta|cluster|gpu|sys".into(),
        "ACCESSIBLE" => "global|shared|shared::cta|shared::cluster".into(),
        "EVICT" => "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate".into(),
        "PREFETCH" => "L2::64B|L2::128B|L2::256B".into(),
        "HINT" => "L2::cache_hint".into(),
        "ATOMIC" => {
            "{op=.add}{t=.u32|.s32|.u64|.f32|.f64}|{op=.min|.max}{t=.u32|.s32|.u64|.s64}|{op=.inc|.dec}{t=.u32}".into()
        }
        "ORDERED" => "{sem=.relaxed|.acquire|.release|.acq_rel}{scope=.cta|.cluster|.gpu|.sys}".into(),
        "SQUARE" => "m16n16k16|m32n8k16|m8n32k16".into(),
        "DIM" => "1d|2d|3d|4d|5d".into(),
        "M64K8" => shapes(8, false),
        "M64K16" => shapes(16, false),
        "M64K32" => shapes(32, false),
        "M64K32INT" => shapes(32, true),
        _ => return None,
    })
}

/// The shapes of wgmma.
fn shapes(k: u32, integers: bool) -> String {
    let shapes: Vec<_> = wgmma::N
        .filter(|&n| wgmma::has_n(n, integers))
        .map(|n| format!("m64n{n}k{k}"))
        .collect();
    shapes.join("|")
}

/// Consecutive words of a mnemonic that need a later PTX version or a higher target than their row.
pub(super) struct Phrase {
    pub(super) words: &'static str,
    pub(super) version: (u32, u32),
    pub(super) sm: u32,
}

const fn phrase(words: &'static str, version: (u32, u32), sm: u32) -> Phrase {
    Phrase { words, version, sm }
}

/// The phrases that occur in the words of a mnemonic.
pub(super) fn phrases(words: &[String]) -> impl Iterator<Item = &'static Phrase> {
    PHRASES.iter().filter(|phrase| {
        let phrase: Vec<&str> = phrase.words.split('.').collect();
        words
            .windows(phrase.len())
            .any(|window| window.iter().eq(phrase.iter()))
    })
}

const PHRASES: &[Phrase] = &[
    phrase("shared::cta", (7, 8), 30),
    phrase("shared::cluster", (7, 8), 90),
    phrase("cluster", (7, 8), 90),
    phrase("mbarrier.arrive.release", (8, 0), 90),
    phrase("mbarrier.arrive_drop.release", (8, 0), 90),
    phrase("mbarrier.arrive.relaxed", (8, 6), 90),
    phrase("mbarrier.arrive_drop.relaxed", (8, 6), 90),
    phrase("arrive.expect_tx.relaxed", (8, 6), 90),
    phrase("arrive_drop.expect_tx.relaxed", (8, 6), 90),
    phrase("test_wait.relaxed", (8, 6), 80),
    phrase("try_wait.relaxed", (8, 6), 90),
    phrase("parity.relaxed", (8, 6), 80),
    phrase("barrier.cluster.arrive.release", (8, 0), 90),
    phrase("barrier.cluster.wait.acquire", (8, 0), 90),
    phrase("noComplete.release", (8, 0), 80),
    phrase("test_wait.acquire", (8, 0), 80),
    phrase("try_wait.acquire", (8, 0), 90),
    phrase("parity.acquire", (8, 0), 80),
    phrase("bar.cta", (7, 8), 10),
    phrase("barrier.cta", (7, 8), 30),
    phrase("isspacep.param", (7, 7), 70),
    phrase("cvta.param", (7, 7), 70),
    phrase("cvta.to.param", (7, 7), 70),
    phrase("L2::cache_hint", (7, 4), 80),
    phrase("L1::evict_normal", (7, 4), 70),
    phrase("L1::evict_unchanged", (7, 4), 70),
    phrase("L1::evict_first", (7, 4), 70),
    phrase("L1::evict_last", (7, 4), 70),
    phrase("L1::no_allocate", (7, 4), 70),
    phrase("L2::64B", (7, 4), 75),
    phrase("L2::128B", (7, 4), 75),
    phrase("L2::256B", (7, 4), 80),
    phrase("NaN", (7, 0), 80),
    phrase("xorsign", (7, 2), 86),
];

/// The constructors of rows, by what their instructions do: effect, results, and whether they signal.
macro_rules! kinds {
    ($($name:ident: $effect:ident, $results:ident, $signals:literal;)*) => { $(
        const fn $name(
            opcode: Opcode,
            pattern: &'static str,
            operands: &'static str,
            version: (u32, u32),
            target: Target,
        ) -> Row {
            Row {
                opcode,
                effect: Effect::$effect,
                results: Results::$results,
                signals: $signals,
                pattern,
                operands,
                version,
                target,
            }
        }
    )* };
}

kinds! {
    computes: None, Computed, false;
    exchanges: Exchanges, Own, false;
    gathers: Exchanges, Gathered, false;
    shuffles: Exchanges, Shuffled, false;
    reads: Reads, Own, false;
    loads: Reads, Loaded, false;
    acts: Acts, Own, false;
    polls: Acts, Polled, false;
    signals: Acts, Own, true;
    // A barrier with a result.
    reduces: Acts, Gathered, true;
}

const fn sm(sm: u32) -> Target {
    Target {
        sm,
        specific: false,
    }
}

const SM_90A: Target = Target {
    sm: 90,
    specific: true,
};

// A `static`, since rows are compared by their addresses.
#[rustfmt::skip]
static SECTIONS: &[Section] = &[
    section("9.7.1 Integer Arithmetic", Arithmetic, &[
        computes(Add, "add{t=INT}", "=t, t, t", (1, 0), sm(10)),
        computes(Add, "add{.sat}{t=.s32}", "=t, t, t", (1, 0), sm(10)),
        computes(Sub, "sub{t=INT}", "=t, t, t", (1, 0), sm(10)),
        computes(Sub, "sub{.sat}{t=.s32}", "=t, t, t", (1, 0), sm(10)),
        computes(Mul, "mul{part=.hi|.lo}{t=INT}", "=t, t, t", (1, 0), sm(10)),
        computes(Mul, "mul{part=.wide}{t=.u16|.s16|.u32|.s32}", "=2t, t, t", (1, 0), sm(10)),
        computes(Mad, "mad{part=.hi|.lo}{t=INT}", "=t, t, t, t", (1, 0), sm(10)),
        computes(Mad, "mad{part=.wide}{t=.u16|.s16|.u32|.s32}", "=2t, t, t, 2t", (1, 0), sm(10)),
        computes(Div, "div{t=INT}", "=t, t, t", (1, 0), sm(10)),
        computes(Rem, "rem{t=INT}", "=t, t, t", (1, 0), sm(10)),
        computes(Sad, "sad{t=INT}", "=t, t, t, t", (1, 0), sm(10)),
        computes(Abs, "abs{t=SINT}", "=t, t", (1, 0), sm(10)),
        computes(Neg, "neg{t=SINT}", "=t, t", (1, 0), sm(10)),
        computes(Min, "min{t=INT}", "=t, t, t", (1, 0), sm(10)),
        computes(Max, "max{t=INT}", "=t, t, t", (1, 0), sm(10)),
        computes(Popc, "popc{t=.b32|.b64}", "=u32, t", (2, 0), sm(20)),
        computes(Clz, "clz{t=.b32|.b64}", "=u32, t", (2, 0), sm(20)),
        computes(Bfind, "bfind{.shiftamt}?{t=.u32|.s32|.u64|.s64}", "=u32, t", (2, 0), sm(20)),
        computes(Brev, "brev{t=.b32|.b64}", "=t, t", (2, 0), sm(20)),
        computes(Bfe, "bfe{t=.u32|.s32|.u64|.s64}", "=t, t, u32, u32", (2, 0), sm(20)),
        computes(Bfi, "bfi{t=.b32|.b64}", "=t, t, t, u32, u32", (2, 0), sm(20)),
        computes(Dp4a, "dp4a{a=.u32|.s32}{b=.u32|.s32}", "=u32, u32, u32, u32", (5, 0), sm(61)),
        computes(Dp2a, "dp2a{part=.lo|.hi}{a=.u32|.s32}{b=.u32|.s32}", "=u32, u32, u32, u32", (5, 0), sm(61)),
        computes(Mul24, "mul24{part=.hi|.lo}{t=.u32|.s32}", "=t, t, t", (1, 0), sm(10)),
        computes(Mad24, "mad24{part=.hi|.lo}{t=.u32|.s32}", "=t, t, t, t", (1, 0), sm(10)),
        computes(Fns, "fns.b32", "=b32, b32, b32, s32", (6, 0), sm(30)),
        computes(Bmsk, "bmsk{past=.clamp|.wrap}.b32", "=u32, u32, u32", (7, 6), sm(70)),
        computes(Szext, "szext{past=.clamp|.wrap}{t=.u32|.s32}", "=t, t, u32", (7, 6), sm(70)),
        computes(Add, "add{t=.u16x2|.s16x2}", "=b32!, b32!, b32!", (8, 0), sm(90)),
        computes(Min, "min{t=.u16x2}", "=b32!, b32!, b32!", (8, 0), sm(90)),
        computes(Min, "min{.relu}?{t=.s16x2}", "=b32!, b32!, b32!", (8, 0), sm(90)),
        computes(Min, "min{.relu}{t=.s32}", "=t, t, t", (8, 0), sm(90)),
        computes(Max, "max{t=.u16x2}", "=b32!, b32!, b32!", (8, 0), sm(90)),
        computes(Max, "max{.relu}?{t=.s16x2}", "=b32!, b32!, b32!", (8, 0), sm(90)),
        computes(Max, "max{.relu}{t=.s32}", "=t, t, t", (8, 0), sm(90)),
        computes(Vabsdiff4, "vabsdiff4.u32{t=.u32|.s32}{u=.u32|.s32}{.add}?", "=u32, u32, u32, u32", (3, 0), sm(30)),
    ]),
    section("9.7.2 Extended-Precision Integer Arithmetic", Arithmetic, &[
        acts(AddCc, "add.cc{t=.u32|.s32|.u64|.s64}", "=t, t, t", (1, 2), sm(10)),
        acts(Addc, "addc{.cc}?{t=.u32|.s32|.u64|.s64}", "=t, t, t", (1, 2), sm(10)),
        acts(SubCc, "sub.cc{t=.u32|.s32|.u64|.s64}", "=t, t, t", (1, 2), sm(10)),
        acts(Subc, "subc{.cc}?{t=.u32|.s32|.u64|.s64}", "=t, t, t", (1, 2), sm(10)),
        acts(MadCc, "mad{part=.hi|.lo}.cc{t=.u32|.s32|.u64|.s64}", "=t, t, t, t", (3, 0), sm(20)),
        acts(Madc, "madc{part=.hi|.lo}{.cc}?{t=.u32|.s32|.u64|.s64}", "=t, t, t, t", (3, 0), sm(20)),
    ]),
    section("9.7.3 Floating Point", Arithmetic, &[
        computes(Add, "add{round=ROUND}?{.ftz}?{.sat}?{t=.f32}", "=t, t, t", (1, 0), sm(10)),
        computes(Add, "add{round=ROUND}?{t=.f64}", "=t, t, t", (1, 0), sm(13)),
        computes(Sub, "sub{round=ROUND}?{.ftz}?{.sat}?{t=.f32}", "=t, t, t", (1, 0), sm(10)),
        computes(Sub, "sub{round=ROUND}?{t=.f64}", "=t, t, t", (1, 0), sm(13)),
        computes(Mul, "mul{round=ROUND}?{.ftz}?{.sat}?{t=.f32}", "=t, t, t", (1, 0), sm(10)),
        computes(Mul, "mul{round=ROUND}?{t=.f64}", "=t, t, t", (1, 0), sm(13)),
        computes(Mad, "mad{round=ROUND}{.ftz}?{.sat}?{t=.f32}", "=t, t, t, t", (1, 4), sm(20)),
        computes(Mad, "mad{round=ROUND}{t=.f64}", "=t, t, t, t", (1, 4), sm(13)),
        computes(Fma, "fma{round=ROUND}{.ftz}?{.sat}?{t=.f32}", "=t, t, t, t", (1, 4), sm(20)),
        computes(Fma, "fma{round=ROUND}{t=.f64}", "=t, t, t, t", (1, 4), sm(13)),
        computes(Div, "div{round=.approx|.full|ROUND}{.ftz}?{t=.f32}", "=t, t, t", (1, 4), sm(10)),
        computes(Div, "div{round=ROUND}{t=.f64}", "=t, t, t", (1, 4), sm(13)),
        computes(Abs, "abs{.ftz}?{t=.f32}", "=t, t", (1, 0), sm(10)),
        computes(Abs, "abs{t=.f64}", "=t, t", (1, 0), sm(13)),
        computes(Neg, "neg{.ftz}?{t=.f32}", "=t, t", (1, 0), sm(10)),
        computes(Neg, "neg{t=.f64}", "=t, t", (1, 0), sm(13)),
        computes(Min, "min{.ftz}?{.NaN}?{.xorsign.abs}?{t=.f32}", "=t, t, t", (1, 0), sm(10)),
        computes(Min, "min{t=.f64}", "=t, t, t", (1, 0), sm(13)),
        computes(Max, "max{.ftz}?{.NaN}?{.xorsign.abs}?{t=.f32}", "=t, t, t", (1, 0), sm(10)),
        computes(Max, "max{t=.f64}", "=t, t, t", (1, 0), sm(13)),
        computes(Rcp, "rcp{round=.approx|ROUND}{.ftz}?{t=.f32}", "=t, t", (1, 4), sm(10)),
        computes(Rcp, "rcp{round=ROUND}{t=.f64}", "=t, t", (1, 4), sm(13)),
        computes(Rcp, "rcp{round=.approx}{.ftz}{t=.f64}", "=t, t", (2, 1), sm(20)),
        computes(Sqrt, "sqrt{round=.approx|ROUND}{.ftz}?{t=.f32}", "=t, t", (1, 4), sm(10)),
        computes(Sqrt, "sqrt{round=ROUND}{t=.f64}", "=t, t", (1, 4), sm(13)),
        computes(Rsqrt, "rsqrt.approx{.ftz}?{t=.f32}", "=t, t", (1, 4), sm(10)),
        computes(Rsqrt, "rsqrt.approx{t=.f64}", "=t, t", (1, 4), sm(13)),
        computes(Rsqrt, "rsqrt.approx{.ftz}{t=.f64}", "=t, t", (4, 0), sm(20)),
        computes(Sin, "sin.approx{.ftz}?{t=.f32}", "=t, t", (1, 4), sm(10)),
        computes(Cos, "cos.approx{.ftz}?{t=.f32}", "=t, t", (1, 4), sm(10)),
        computes(Lg2, "lg2.approx{.ftz}?{t=.f32}", "=t, t", (1, 4), sm(10)),
        computes(Ex2, "ex2.approx{.ftz}?{t=.f32}", "=t, t", (1, 4), sm(10)),
        computes(Tanh, "tanh.approx{t=.f32}", "=t, t", (7, 0), sm(75)),
        computes(Copysign, "copysign{t=.f32|.f64}", "=t, t, t", (2, 0), sm(20)),
        computes(Testp, "testp{test=.finite|.infinite|.number|.notanumber|.normal|.subnormal}{t=.f32|.f64}", "=pred, t", (2, 0), sm(20)),
    ]),
    section("9.7.4 Half Precision Floating Point", Arithmetic, &[
        computes(Add, "add{round=.rn}?{.ftz}?{.sat}?{t=HALF}", "=t, t, t", (4, 2), sm(53)),
        computes(Add, "add{round=.rn}?{t=BHALF}", "=t, t, t", (7, 8), sm(90)),
        computes(Sub, "sub{round=.rn}?{.ftz}?{.sat}?{t=HALF}", "=t, t, t", (4, 2), sm(53)),
        computes(Sub, "sub{round=.rn}?{t=BHALF}", "=t, t, t", (7, 8), sm(90)),
        computes(Mul, "mul{round=.rn}?{.ftz}?{.sat}?{t=HALF}", "=t, t, t", (4, 2), sm(53)),
        computes(Mul, "mul{round=.rn}?{t=BHALF}", "=t, t, t", (7, 8), sm(90)),
        computes(Fma, "fma{round=.rn}{.ftz}?{.sat}?{t=HALF}", "=t, t, t, t", (4, 2), sm(53)),
        computes(Fma, "fma{round=.rn}{.ftz}?{.relu}{t=HALF}", "=t, t, t, t", (7, 0), sm(80)),
        computes(Fma, "fma{round=.rn}{.relu}?{t=BHALF}", "=t, t, t, t", (7, 0), sm(80)),
        computes(Neg, "neg{.ftz}?{t=HALF}", "=t, t", (6, 0), sm(53)),
        computes(Neg, "neg{t=BHALF}", "=t, t", (7, 0), sm(80)),
        computes(Abs, "abs{.ftz}?{t=HALF}", "=t, t", (6, 5), sm(53)),
        computes(Abs, "abs{t=BHALF}", "=t, t", (7, 0), sm(80)),
        computes(Min, "min{.ftz}?{.NaN}?{.xorsign.abs}?{t=HALF}", "=t, t, t", (7, 0), sm(80)),
        computes(Min, "min{.NaN}?{.xorsign.abs}?{t=BHALF}", "=t, t, t", (7, 0), sm(80)),
        computes(Max, "max{.ftz}?{.NaN}?{.xorsign.abs}?{t=HALF}", "=t, t, t", (7, 0), sm(80)),
        computes(Max, "max{.NaN}?{.xorsign.abs}?{t=BHALF}", "=t, t, t", (7, 0), sm(80)),
        computes(Tanh, "tanh.approx{t=HALF}", "=t, t", (7, 0), sm(75)),
        computes(Tanh, "tanh.approx{t=BHALF}", "=t, t", (7, 8), sm(90)),
        computes(Ex2, "ex2.approx{t=HALF}", "=t, t", (7, 0), sm(75)),
        computes(Ex2, "ex2.approx{.ftz}{t=BHALF}", "=t, t", (7, 8), sm(90)),
    ]),
    section("9.7.6 Comparison and Selection", Arithmetic, &[
        computes(Setp, "setp{cmp=.eq|.ne}{bool=BOOL}?{t=BITS}", "=pred[|pred], t, t, bool?!pred", (1, 0), sm(10)),
        computes(Setp, "setp{cmp=UORDER}{bool=BOOL}?{t=UINT}", "=pred[|pred], t, t, bool?!pred", (1, 0), sm(10)),
        computes(Setp, "setp{cmp=ORDER}{bool=BOOL}?{t=SINT}", "=pred[|pred], t, t, bool?!pred", (1, 0), sm(10)),
        computes(Setp, "setp{cmp=FORDER}{bool=BOOL}?{.ftz}?{t=.f32}", "=pred[|pred], t, t, bool?!pred", (1, 0), sm(10)),
        computes(Setp, "setp{cmp=FORDER}{bool=BOOL}?{t=.f64}", "=pred[|pred], t, t, bool?!pred", (1, 0), sm(13)),
        computes(Set, "set{cmp=.eq|.ne}{bool=BOOL}?{d=.u32|.s32|.f32}{t=BITS}", "=d, t, t, bool?!pred", (1, 0), sm(10)),
        computes(Set, "set{cmp=UORDER}{bool=BOOL}?{d=.u32|.s32|.f32}{t=UINT}", "=d, t, t, bool?!pred", (1, 0), sm(10)),
        computes(Set, "set{cmp=ORDER}{bool=BOOL}?{d=.u32|.s32|.f32}{t=SINT}", "=d, t, t, bool?!pred", (1, 0), sm(10)),
        computes(Set, "set{cmp=FORDER}{bool=BOOL}?{.ftz}?{d=.u32|.s32|.f32}{t=.f32}", "=d, t, t, bool?!pred", (1, 0), sm(10)),
        computes(Set, "set{cmp=FORDER}{bool=BOOL}?{d=.u32|.s32|.f32}{t=.f64}", "=d, t, t, bool?!pred", (1, 0), sm(13)),
        computes(Slct, "slct{t=BITS|INT|.f32|.f64}{c=.s32}", "=t, t, t, s32", (1, 0), sm(10)),
        computes(Slct, "slct{.ftz}?{t=BITS|INT|.f32|.f64}{c=.f32}", "=t, t, t, f32", (1, 0), sm(10)),
        computes(Selp, "selp{t=BITS|INT|.f32|.f64}", "=t, t, t, !pred", (1, 0), sm(10)),
    ]),
    section("9.7.7 Half Precision Comparison", Arithmetic, &[
        computes(Setp, "setp{cmp=FORDER}{bool=BOOL}?{.ftz}?{t=.f16}", "=pred, t, t, bool?!pred", (4, 2), sm(53)),
        computes(Setp, "setp{cmp=FORDER}{bool=BOOL}?{t=.bf16}", "=pred, t, t, bool?!pred", (7, 8), sm(90)),
        computes(Setp, "setp{cmp=FORDER}{bool=BOOL}?{.ftz}?{t=.f16x2}", "=pred|pred, t, t, bool?!pred", (4, 2), sm(53)),
        computes(Setp, "setp{cmp=FORDER}{bool=BOOL}?{t=.bf16x2}", "=pred|pred, t, t, bool?!pred", (7, 8), sm(90)),
        computes(Set, "set{cmp=FORDER}{bool=BOOL}?{.ftz}?{d=.f16}{t=.f16}", "=d, t, t, bool?!pred", (4, 2), sm(53)),
        computes(Set, "set{cmp=FORDER}{bool=BOOL}?{.ftz}?{d=.u16|.s16|.u32|.s32}{t=.f16}", "=d, t, t, bool?!pred", (6, 5), sm(53)),
        computes(Set, "set{cmp=FORDER}{bool=BOOL}?{.ftz}?{d=.f16x2}{t=.f16x2}", "=d, t, t, bool?!pred", (4, 2), sm(53)),
        computes(Set, "set{cmp=FORDER}{bool=BOOL}?{.ftz}?{d=.u32|.s32}{t=.f16x2}", "=d, t, t, bool?!pred", (6, 5), sm(53)),
        computes(Set, "set{cmp=FORDER}{bool=BOOL}?{d=.bf16|.u16|.s16|.u32|.s32}{t=.bf16}", "=d, t, t, bool?!pred", (7, 8), sm(90)),
        computes(Set, "set{cmp=FORDER}{bool=BOOL}?{d=.bf16x2|.u32|.s32}{t=.bf16x2}", "=d, t, t, bool?!pred", (7, 8), sm(90)),
    ]),
    section("9.7.8 Logic and Shift", Arithmetic, &[
        computes(And, "and{t=.pred|BITS}", "=t, t, t", (1, 0), sm(10)),
        computes(Or, "or{t=.pred|BITS}", "=t, t, t", (1, 0), sm(10)),
        computes(Xor, "xor{t=.pred|BITS}", "=t, t, t", (1, 0), sm(10)),
        computes(Not, "not{t=.pred|BITS}", "=t, t", (1, 0), sm(10)),
        computes(Cnot, "cnot{t=BITS}", "=t, t", (1, 0), sm(10)),
        computes(Lop3, "lop3.b32", "=b32, b32, b32, b32, #0..255", (4, 3), sm(50)),
        computes(Shf, "shf{side=.l|.r}{past=.clamp|.wrap}.b32", "=b32, b32, b32, u32", (3, 1), sm(32)),
        computes(Shl, "shl{t=BITS}", "=t, t, u32", (1, 0), sm(10)),
        computes(Shr, "shr{t=BITS|INT}", "=t, t, u32", (1, 0), sm(10)),
    ]),
    section("9.7.9 Data Movement and Conversion", Arithmetic, &[
        computes(Mov, "mov{t=.b32|.b64}", "=t, @t; ={t}, t; =t, {t}", (1, 0), sm(10)),
        computes(Mov, "mov{t=.pred|.b16|INT|.f32|.f64}", "=t, @t", (1, 0), sm(10)),
        computes(Prmt, "prmt.b32{mode=.f4e|.b4e|.rc8|.ecl|.ecr|.rc16}?", "=b32, b32, b32, b32", (2, 0), sm(20)),
        computes(Createpolicy, "createpolicy.fractional{.L2::evict_last|.L2::evict_normal|.L2::evict_first|.L2::evict_unchanged}{.L2::evict_first|.L2::evict_unchanged}?.b64",
            "=u64, f32?", (7, 4), sm(80)),
        computes(Isspacep, "isspacep{space=.const|.global|.local|.shared|.shared::cta|.shared::cluster|.param}", "=pred, u64", (2, 0), sm(20)),
        computes(Cvta, "cvta{space=.const|.global|.local|.shared|.shared::cta|.shared::cluster|.param}.u64", "=u64, @u64", (2, 0), sm(20)),
        computes(CvtaTo, "cvta.to{space=.const|.global|.local|.shared|.shared::cta|.shared::cluster|.param}.u64", "=u64, u64", (2, 0), sm(20)),
        computes(Mapa, "mapa{space=.shared::cluster}?{t=.u32|.u64}", "=t, @t, u32", (7, 8), sm(90)),
        computes(Getctarank, "getctarank{space=.shared::cluster}?{t=.u32|.u64}", "=u32, @t", (7, 8), sm(90)),

        computes(Cvt, "cvt{d=INT8}{s=INT8}", "=~d, ~s", (1, 0), sm(10)),
        computes(Cvt, "cvt{.sat}{{d=.u8|.s8}{s=INT}|{d=.u16|.s16}{s=.u32|.s32|.u64|.s64}|{d=.u32|.s32}{s=.u64|.s64}|{d=.u32}{s=.s32}|{d=.s32}{s=.u32}}",
            "=~d, ~s", (1, 0), sm(10)),
        computes(Cvt, "cvt{round=ROUNDI}{{.ftz}?{.sat}?{d=INT8}{s=.f32}|{.sat}?{d=INT8}{s=.f16|.f64}}", "=~d, s", (1, 0), sm(10)),
        computes(Cvt, "cvt{round=ROUND}{.sat}?{d=.f16|.f32|.f64}{s=INT8}", "=d, ~s", (1, 0), sm(10)),
        computes(Cvt, "cvt{round=ROUNDI}{.ftz}?{.sat}?{d=.f32}{s=.f32}", "=d, s", (1, 0), sm(10)),
        computes(Cvt, "cvt{round=ROUNDI}{.sat}?{d=.f64}{s=.f64}", "=d, s", (1, 0), sm(13)),
        computes(Cvt, "cvt{round=ROUNDI}{.sat}?{d=.f16}{s=.f16}", "=d, s", (1, 0), sm(10)),
        computes(Cvt, "cvt{.ftz}?{.sat}?{d=.f32}{s=.f16|.f32}", "=d, s", (1, 0), sm(10)),
        computes(Cvt, "cvt{.ftz}?{.sat}?{d=.f64}{s=.f32}", "=d, s", (1, 0), sm(13)),
        computes(Cvt, "cvt{.sat}?{d=.f64}{s=.f16}", "=d, s", (1, 0), sm(13)),
        computes(Cvt, "cvt{d=.f32}{s=.bf16}", "=d, s", (7, 1), sm(80)),
        computes(Cvt, "cvt{d=.f64}{s=.bf16}", "=d, s", (7, 8), sm(90)),
        computes(Cvt, "cvt{round=ROUND}{.ftz}?{.sat}?{d=.f16}{s=.f32}", "=d, s", (1, 0), sm(10)),
        computes(Cvt, "cvt{round=ROUND}{.sat}?{d=.f16}{s=.f64}", "=d, s", (1, 0), sm(13)),
        computes(Cvt, "cvt{round=ROUND}{.ftz}?{.sat}?{d=.f32}{s=.f64}", "=d, s", (1, 0), sm(13)),
        computes(Cvt, "cvt{round=ROUND}{d=.f16}{s=.bf16}", "=d, s", (7, 8), sm(90)),
        computes(Cvt, "cvt{round=ROUND}{d=.bf16}{s=.f16|.f64}", "=d, s", (7, 8), sm(90)),
        computes(Cvt, "cvt{round=ROUND}{d=.bf16}{s=INT}", "=d, s", (7, 8), sm(90)),
        computes(Cvt, "cvt{round=ROUNDI}{d=INT}{s=.bf16}", "=d, s", (7, 8), sm(90)),
        computes(Cvt, "cvt{round=.rn|.rz}{.relu}{d=.f16|.bf16}{s=.f32}", "=d, s", (7, 0), sm(80)),
        computes(Cvt, "cvt{round=.rn|.rz}{d=.bf16}{s=.f32}", "=d, s", (7, 0), sm(80)),
        computes(Cvt, "cvt{round=.rn|.rz}{.relu}?{d=.f16x2|.bf16x2}{s=.f32}", "=d, f32, f32", (7, 0), sm(80)),
        computes(Cvt, "cvt{round=.rna}{d=.tf32}{s=.f32}", "=b32!, f32", (7, 0), sm(80)),
        computes(Cvt, "cvt{round=.rn|.rz}{.relu}?{d=.tf32}{s=.f32}", "=b32!, f32", (7, 8), sm(90)),
        computes(Cvt, "cvt{round=.rn}{.satfinite}{.relu}?{d=.e4m3x2|.e5m2x2}{s=.f32}", "=b16!, f32, f32", (7, 8), sm(90)),
        computes(Cvt, "cvt{round=.rn}{.satfinite}{.relu}?{d=.e4m3x2|.e5m2x2}{s=.f16x2}", "=b16!, f16x2", (7, 8), sm(90)),
        computes(Cvt, "cvt{round=.rn}{.relu}?{d=.f16x2}{s=.e4m3x2|.e5m2x2}", "=f16x2, b16!", (7, 8), sm(90)),
        computes(CvtPack, "cvt.pack{.sat}{d=.u16|.s16}.s32", "=u32, s32, s32", (6, 5), sm(72)),
        computes(CvtPack, "cvt.pack{.sat}{d=.u8|.s8}.s32.b32", "=u32, s32, s32, b32", (6, 5), sm(72)),
    ]),
    section("9.7.9 Data Movement and Conversion", Lanes, &[
        shuffles(Shfl, "shfl.sync{mode=.up|.down|.bfly|.idx}.b32", "=b32[|pred], b32, b32, b32, members", (6, 0), sm(30)),
    ]),
    section("9.7.9 Data Movement and Conversion", Memory, &[
        loads(Ld, "ld{sem=.weak}?{space=.const|.param|.shared|.shared::cta|.shared::cluster}?{VECTOR}",
            "=vec*~t, [space]", (1, 0), sm(10)),
        loads(Ld, "ld{sem=.weak}?{space=.global|.local}{cop=.ca|.cg|.cs|.lu|.cv}?{VECTOR}",
            "=vec*~t, [space]", (1, 0), sm(10)),
        loads(Ld, "ld{sem=.weak}?{space=.global}{{evict=EVICT}{hint=HINT}?{PREFETCH}?|{hint=HINT}{PREFETCH}?|{cop=.ca|.cg|.cs|.lu|.cv}?{PREFETCH}}{VECTOR}",
            "=vec*~t, [space], hint?u64", (7, 4), sm(70)),
        acts(Ld, "ld{sem=.volatile}{space=ACCESSIBLE}?{VECTOR}",
            "=vec*~t, [space]", (1, 1), sm(10)),
        acts(Ld, "ld{sem=.relaxed|.acquire}{scope=SCOPE}{{space=ACCESSIBLE}?|{space=.global}{evict=EVICT}}{VECTOR}",
            "=vec*~t, [space]", (6, 0), sm(70)),
        loads(Ld, "ld{space=.global}{{cop=.ca|.cg|.cs}?.nc|.nc{evict=EVICT}}{hint=HINT}?{PREFETCH}?{VECTOR}",
            "=vec*~t, [space], hint?u64", (3, 1), sm(32)),

        signals(St, "st{space=.param}{VECTOR}",
            "[space], vec*~t", (2, 0), sm(20)),
        signals(St, "st{sem=.weak}?{space=.shared|.shared::cta|.shared::cluster}?{VECTOR}",
            "[space], vec*~t", (1, 0), sm(10)),
        signals(St, "st{sem=.weak}?{space=.global|.local}{cop=.wb|.cg|.cs|.wt}?{VECTOR}",
            "[space], vec*~t", (1, 0), sm(10)),
        signals(St, "st{sem=.weak}?{space=.global}{{evict=EVICT}{hint=HINT}?|{hint=HINT}}{VECTOR}",
            "[space], vec*~t, hint?u64", (7, 4), sm(70)),
        signals(St, "st{sem=.volatile}{space=ACCESSIBLE}?{VECTOR}",
            "[space], vec*~t", (1, 1), sm(10)),
        signals(St, "st{sem=.relaxed|.release}{scope=SCOPE}{{space=ACCESSIBLE}?|{space=.global}{evict=EVICT}}{VECTOR}",
            "[space], vec*~t", (6, 0), sm(70)),

        loads(Ldu, "ldu{space=.global}?{VECTOR}", "=vec*~t, [space]", (2, 0), sm(20)),
        acts(Prefetch, "prefetch{space=.global|.local}?{level=.L1|.L2}", "[space]", (2, 0), sm(20)),
        acts(Prefetchu, "prefetchu.L1", "[generic]", (2, 0), sm(20)),
        acts(Applypriority, "applypriority{space=.global}?.L2::evict_normal", "[space], #128", (7, 4), sm(80)),
        acts(Discard, "discard{space=.global}?.L2", "[space], #128", (7, 4), sm(80)),
        acts(PrefetchTensormap, "prefetch{space=.const|.param}?.tensormap", "[space]", (8, 0), sm(90)),
    ]),
    section("9.7.9 Data Movement and Conversion", Copy, &[
        signals(StAsync, "st.async{sem=.weak}?.shared::cluster.mbarrier::complete_tx::bytes{{vec=.v2}{t=.b32|.b64|.u32|.s32|.u64|.s64|.f32|.f64}|{vec=.v4}{t=.b32|.u32|.s32|.f32}|{t=.b32|.b64|.u32|.s32|.u64|.s64|.f32|.f64}}",
            "[shared::cluster], vec*t, [shared::cluster]", (8, 1), sm(90)),
    ]),
    section("9.7.9 Data Movement and Conversion: Asynchronous Copy", Copy, &[
        acts(CpAsync, "cp.async{cop=.ca}{space=.shared|.shared::cta}.global{hint=HINT}?{PREFETCH}?",
            "[space], [global], #4|8|16, hint?u64; [space], [global], #4|8|16, u32, hint?u64",
            (7, 0), sm(80)),
        acts(CpAsync, "cp.async{cop=.cg}{space=.shared|.shared::cta}.global{hint=HINT}?{PREFETCH}?",
            "[space], [global], #16, hint?u64; [space], [global], #16, u32, hint?u64",
            (7, 0), sm(80)),
        acts(CpAsyncCommitGroup, "cp.async.commit_group", "", (7, 0), sm(80)),
        acts(CpAsyncWaitGroup, "cp.async.wait_group", "#0..2147483647", (7, 0), sm(80)),
        acts(CpAsyncWaitAll, "cp.async.wait_all", "", (7, 0), sm(80)),
        signals(CpAsyncMbarrierArrive, "cp.async.mbarrier.arrive{.noinc}?{space=.shared|.shared::cta}?.b64", "[space]", (7, 0), sm(80)),

        signals(CpAsyncBulk, "cp.async.bulk{to=.shared::cluster}{from=.global}.mbarrier::complete_tx::bytes{mask=.multicast::cluster}?{hint=HINT}?",
            "[shared::cluster], [global], u32@0..4294967280/16, [shared], mask?u16, hint?u64", (8, 0), sm(90)),
        signals(CpAsyncBulk, "cp.async.bulk{to=.shared::cta}{from=.global}.mbarrier::complete_tx::bytes{hint=HINT}?",
            "[shared], [global], u32@0..4294967280/16, [shared], hint?u64", (8, 6), sm(90)),
        signals(CpAsyncBulk, "cp.async.bulk{to=.shared::cluster}{from=.shared::cta}.mbarrier::complete_tx::bytes",
            "[shared::cluster], [shared], u32@0..4294967280/16, [shared::cluster]", (8, 0), sm(90)),
        acts(CpAsyncBulk, "cp.async.bulk{to=.global}{from=.shared::cta}.bulk_group{hint=HINT}?",
            "[global], [shared], u32@0..4294967280/16, hint?u64", (8, 0), sm(90)),
        acts(CpReduceAsyncBulk, "cp.reduce.async.bulk.global.shared::cta.bulk_group{hint=HINT}?{{op=.add}{{t=.u32|.s32|.u64|.f32|.f64}|.noftz{t=.f16|.bf16}}|{op=.min|.max}{t=.u32|.s32|.u64|.s64|.f16|.bf16}|{op=.inc|.dec}{t=.u32}|{op=.and|.or|.xor}{t=.b32|.b64}}",
            "[global], [shared], u32@0..4294967280/16, hint?u64", (8, 0), sm(90)),
        acts(CpAsyncBulkPrefetch, "cp.async.bulk.prefetch.L2.global{hint=HINT}?",
            "[global], u32@0..4294967280/16, hint?u64", (8, 0), sm(90)),
        acts(CpAsyncBulkCommitGroup, "cp.async.bulk.commit_group", "", (8, 0), sm(90)),
        acts(CpAsyncBulkWaitGroup, "cp.async.bulk.wait_group{.read}?", "#0..2147483647", (8, 0), sm(90)),

        signals(CpAsyncBulkTensor, "cp.async.bulk.tensor{dim=DIM}{to=.shared::cluster}{from=.global}{mode=.tile}?.mbarrier::complete_tx::bytes{mask=.multicast::cluster}?{hint=HINT}?",
            "[shared::cluster], [tensor dim], [shared], mask?u16, hint?u64", (8, 0), sm(90)),
        signals(CpAsyncBulkTensor, "cp.async.bulk.tensor{dim=DIM}{to=.shared::cta}{from=.global}{mode=.tile}?.mbarrier::complete_tx::bytes{hint=HINT}?",
            "[shared], [tensor dim], [shared], hint?u64", (8, 6), sm(90)),
        signals(CpAsyncBulkTensor, "cp.async.bulk.tensor{dim=.3d|.4d|.5d}{to=.shared::cluster}{from=.global}{mode=.im2col}.mbarrier::complete_tx::bytes{mask=.multicast::cluster}?{hint=HINT}?",
            "[shared::cluster], [tensor dim], [shared], offsets, mask?u16, hint?u64", (8, 0), sm(90)),
        acts(CpAsyncBulkTensor, "cp.async.bulk.tensor{{dim=DIM}{to=.global}{from=.shared::cta}{mode=.tile}?|{dim=.3d|.4d|.5d}{to=.global}{from=.shared::cta}{mode=.im2col_no_offs}}.bulk_group{hint=HINT}?",
            "[tensor dim], [shared], hint?u64", (8, 0), sm(90)),
        acts(CpReduceAsyncBulkTensor, "cp.reduce.async.bulk.tensor{dim=DIM}.global.shared::cta{op=.add|.min|.max|.inc|.dec|.and|.or|.xor}{mode=.tile}?.bulk_group{hint=HINT}?",
            "[tensor dim], [shared], hint?u64", (8, 0), sm(90)),
        acts(CpAsyncBulkPrefetchTensor, "cp.async.bulk.prefetch.tensor{dim=DIM}.L2.global{mode=.tile}?{hint=HINT}?",
            "[tensor dim], hint?u64", (8, 0), sm(90)),
        signals(TensormapCpFenceproxy, "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release{scope=SCOPE}.sync.aligned",
            "[global], [shared], #128", (8, 3), sm(90)),
    ]),
    section("9.7.9 Data Movement and Conversion: Asynchronous Copy", Memory, &[
        signals(TensormapReplace, "tensormap.replace.tile{field=.global_address}{space=.global|.shared::cta}?.b1024.b64", "[space], b64", (8, 3), SM_90A),
        signals(TensormapReplace, "tensormap.replace.tile{field=.rank}{space=.global|.shared::cta}?.b1024.b32", "[space], b32@0..4", (8, 3), SM_90A),
        signals(TensormapReplace, "tensormap.replace.tile{field=.box_dim|.global_dim|.element_stride}{space=.global|.shared::cta}?.b1024.b32",
            "[space], #0..4, b32", (8, 3), SM_90A),
        signals(TensormapReplace, "tensormap.replace.tile{field=.global_stride}{space=.global|.shared::cta}?.b1024.b64", "[space], #0..3, b64", (8, 3), SM_90A),
        signals(TensormapReplace, "tensormap.replace.tile{field=.elemtype|.interleave_layout|.swizzle_mode|.fill_mode}{space=.global|.shared::cta}?.b1024.b32",
            "[space], #0..15", (8, 3), SM_90A),
    ]),
    section("9.7.12 Control Flow", Control, &[
        acts(Bra, "bra{.uni}?", "label", (1, 0), sm(10)),
        acts(BrxIdx, "brx.idx{.uni}?", "u32, targets", (6, 0), sm(30)),
        acts(Call, "call{.uni}?", "function; function, (param); (param), function, (param); %u64, prototype; %u64, (param), prototype; (param), %u64, (param), prototype",
            (2, 1), sm(20)),
        acts(Ret, "ret{.uni}?", "", (1, 0), sm(10)),
        acts(Exit, "exit", "", (1, 0), sm(10)),
    ]),
    section("9.7.13 Parallel Synchronization and Communication", Synchronisation, &[
        signals(BarSync, "bar{.cta}?.sync", "u32@0..15, u32@32..1024/32?", (1, 0), sm(10)),
        signals(BarArrive, "bar{.cta}?.arrive", "u32@0..15, u32@32..1024/32", (2, 0), sm(20)),
        reduces(BarRed, "bar{.cta}?.red{op=.popc}.u32", "=u32, u32@0..15, !pred; =u32, u32@0..15, u32@32..1024/32, !pred", (2, 0), sm(20)),
        reduces(BarRed, "bar{.cta}?.red{op=.and|.or}.pred", "=pred, u32@0..15, !pred; =pred, u32@0..15, u32@32..1024/32, !pred", (2, 0), sm(20)),
        reduces(BarrierRed, "barrier{.cta}?.red{op=.popc}{.aligned}?.u32", "=u32, u32@0..15, !pred; =u32, u32@0..15, u32@32..1024/32, !pred", (6, 0), sm(30)),
        reduces(BarrierRed, "barrier{.cta}?.red{op=.and|.or}{.aligned}?.pred", "=pred, u32@0..15, !pred; =pred, u32@0..15, u32@32..1024/32, !pred", (6, 0), sm(30)),
        signals(BarrierSync, "barrier{.cta}?.sync{.aligned}?", "u32@0..15, u32@32..1024/32?", (6, 0), sm(30)),
        signals(BarrierArrive, "barrier{.cta}?.arrive{.aligned}?", "u32@0..15, u32@32..1024/32", (6, 0), sm(30)),
    ]).of(Group::Cta),
    section("9.7.13 Parallel Synchronization and Communication", Lanes, &[
        acts(BarWarpSync, "bar.warp.sync", "members", (6, 0), sm(30)),

        gathers(Vote, "vote.sync{mode=.all|.any|.uni}.pred", "=pred, !pred, members", (6, 0), sm(30)),
        gathers(Vote, "vote.sync{mode=.ballot}.b32", "=b32, !pred, members", (6, 0), sm(30)),
        exchanges(MatchAny, "match.any.sync{t=.b32|.b64}", "=u32, t, members", (6, 0), sm(70)),
        gathers(MatchAll, "match.all.sync{t=.b32|.b64}", "=u32[|pred], t, members", (6, 0), sm(70)),
        exchanges(Activemask, "activemask.b32", "=b32", (6, 2), sm(30)),
        gathers(Redux, "redux.sync{op=.add|.min|.max}{t=.u32|.s32}", "=t, t, members", (7, 0), sm(80)),
        gathers(Redux, "redux.sync{op=.and|.or|.xor}{t=.b32}", "=u32, u32, members", (7, 0), sm(80)),
        exchanges(Elect, "elect.sync", "=_u32|pred, members", (8, 0), sm(90)),
    ]),
    section("9.7.13 Parallel Synchronization and Communication", Synchronisation, &[
        signals(BarrierClusterArrive, "barrier.cluster.arrive{sem=.release}?{.aligned}?", "", (7, 8), sm(90)),
        signals(BarrierClusterArrive, "barrier.cluster.arrive{sem=.relaxed}{.aligned}?", "", (8, 0), sm(90)),
        acts(BarrierClusterWait, "barrier.cluster.wait{sem=.acquire}?{.aligned}?", "", (7, 8), sm(90)),
    ]).of(Group::Cluster),
    section("9.7.13 Parallel Synchronization and Communication", Synchronisation, &[
        acts(Membar, "membar{level=.cta|.gl|.sys}", "", (1, 4), sm(10)),
        acts(Fence, "fence{sem=.sc|.acq_rel}{scope=SCOPE}", "", (6, 0), sm(70)),
        acts(FenceProxyAlias, "fence.proxy.alias", "", (7, 5), sm(70)),
        acts(FenceProxyAsync, "fence.proxy.async{space=.global|.shared::cta|.shared::cluster}?", "", (8, 0), sm(90)),
        acts(FenceProxyTensormap, "fence.proxy.tensormap::generic{sem=.release}{scope=SCOPE}", "", (8, 3), sm(90)),
        acts(FenceProxyTensormap, "fence.proxy.tensormap::generic{sem=.acquire}{scope=SCOPE}", "[generic], #128", (8, 3), sm(90)),
        acts(FenceMbarrierInit, "fence.mbarrier_init.release.cluster", "", (8, 0), sm(90)),
        acts(Griddepcontrol, "griddepcontrol{what=.launch_dependents|.wait}", "", (7, 8), sm(90)),

        signals(MbarrierInit, "mbarrier.init{space=.shared|.shared::cta}?.b64", "[space], u32@1..1048575", (7, 0), sm(80)),
        signals(MbarrierInval, "mbarrier.inval{space=.shared|.shared::cta}?.b64", "[space]", (7, 0), sm(80)),
        signals(MbarrierArrive, "mbarrier{kind=.arrive|.arrive_drop}{{sem=.release|.relaxed}{scope=.cta|.cluster}}?{space=.shared|.shared::cta}?.b64",
            "=_u64, [space], u32@1..1048575?", (7, 8), sm(90)),
        signals(MbarrierArrive, "mbarrier{kind=.arrive|.arrive_drop}{.expect_tx}{{sem=.release|.relaxed}{scope=.cta|.cluster}}?{space=.shared|.shared::cta}?.b64",
            "=_u64, [space], u32@0..1048575", (8, 0), sm(90)),
        signals(MbarrierArrive, "mbarrier{kind=.arrive|.arrive_drop}{{sem=.release|.relaxed}{scope=.cta|.cluster}}?{space=.shared::cluster}.b64",
            "_, [space], u32@1..1048575?", (8, 0), sm(90)),
        signals(MbarrierArrive, "mbarrier{kind=.arrive|.arrive_drop}{.expect_tx}{{sem=.release|.relaxed}{scope=.cta|.cluster}}?{space=.shared::cluster}.b64",
            "_, [space], u32@0..1048575", (8, 0), sm(90)),
        signals(MbarrierArrive, "mbarrier{kind=.arrive|.arrive_drop}{.noComplete}{{sem=.release}{scope=.cta}}?{space=.shared|.shared::cta}?.b64",
            "=u64, [space], u32@1..1048575", (7, 0), sm(80)),
        signals(MbarrierTx, "mbarrier{kind=.expect_tx|.complete_tx}{{sem=.relaxed}{scope=.cta|.cluster}}?{space=.shared|.shared::cta|.shared::cluster}?.b64",
            "[space], u32@0..1048575", (8, 0), sm(90)),
        polls(MbarrierTestWait, "mbarrier.test_wait{{sem=.acquire|.relaxed}{scope=.cta|.cluster}}?{space=.shared|.shared::cta}?.b64", "=pred, [space], u64", (7, 0), sm(80)),
        polls(MbarrierTestWait, "mbarrier.test_wait{.parity}{{sem=.acquire|.relaxed}{scope=.cta|.cluster}}?{space=.shared|.shared::cta}?.b64", "=pred, [space], u32@0..1", (7, 1), sm(80)),
        polls(MbarrierTryWait, "mbarrier.try_wait{{sem=.acquire|.relaxed}{scope=.cta|.cluster}}?{space=.shared|.shared::cta}?.b64", "=pred, [space], u64, u32?", (7, 8), sm(90)),
        polls(MbarrierTryWait, "mbarrier.try_wait{.parity}{{sem=.acquire|.relaxed}{scope=.cta|.cluster}}?{space=.shared|.shared::cta}?.b64", "=pred, [space], u32@0..1, u32?", (7, 8), sm(90)),
    ]),
    section("9.7.13 Parallel Synchronization and Communication", Memory, &[
        signals(Atom, "atom{sem=.relaxed|.acquire|.release|.acq_rel}?{scope=SCOPE}?{space=ACCESSIBLE}?{op=.and|.or|.xor|.exch}{t=.b32|.b64}",
            "=_t, [space], t", (1, 1), sm(11)),
        signals(Atom, "atom{sem=.relaxed|.acquire|.release|.acq_rel}?{scope=SCOPE}?{space=ACCESSIBLE}?{op=.cas}{t=BITS}",
            "=_t, [space], t, t", (1, 1), sm(11)),
        signals(Atom, "atom{sem=.relaxed|.acquire|.release|.acq_rel}?{scope=SCOPE}?{space=ACCESSIBLE}?{ATOMIC}",
            "=_t, [space], t", (1, 1), sm(11)),
        signals(Atom, "atom{sem=.relaxed|.acquire|.release|.acq_rel}?{scope=SCOPE}?{space=ACCESSIBLE}?{op=.add}{.noftz}{t=HALF}",
            "=_t, [space], t", (6, 3), sm(70)),
        signals(Atom, "atom{sem=.relaxed|.acquire|.release|.acq_rel}?{scope=SCOPE}?{space=ACCESSIBLE}?{op=.add}{.noftz}{t=BHALF}",
            "=_t, [space], t", (7, 8), sm(90)),
        signals(Red, "red{sem=.relaxed|.release}?{scope=SCOPE}?{space=ACCESSIBLE}?{{op=.and|.or|.xor}{t=.b32|.b64}|ATOMIC}",
            "[space], t", (1, 2), sm(12)),
        signals(Red, "red{sem=.relaxed|.release}?{scope=SCOPE}?{space=ACCESSIBLE}?{op=.add}{.noftz}{t=HALF}",
            "[space], t", (6, 3), sm(70)),
        signals(Red, "red{sem=.relaxed|.release}?{scope=SCOPE}?{space=ACCESSIBLE}?{op=.add}{.noftz}{t=BHALF}",
            "[space], t", (7, 8), sm(90)),
        // This order of the words occurs in inline assembly of CUDA's headers.
        signals(Atom, "atom{op=.and|.or|.xor|.exch}{ORDERED}{t=.b32|.b64}", "=_t, [generic], t", (6, 0), sm(70)),
        signals(Atom, "atom{op=.cas}{ORDERED}{t=BITS}", "=_t, [generic], t, t", (6, 0), sm(70)),
        signals(Atom, "atom{op=.add}{ORDERED}{t=.u32|.s32|.u64|.f32|.f64}", "=_t, [generic], t", (6, 0), sm(70)),
        signals(Atom, "atom{op=.min|.max}{ORDERED}{t=.u32|.s32|.u64|.s64}", "=_t, [generic], t", (6, 0), sm(70)),
        signals(Red, "red{sem=.relaxed|.release}?{scope=SCOPE}?{space=.global}{op=.add}{hint=HINT}?{vec=.v2|.v4}{t=.f32}",
            "[space], vec*f32, hint?u64", (8, 1), sm(90)),
    ]),
    section("9.7.13 Parallel Synchronization and Communication", Copy, &[
        signals(RedAsync, "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes{{op=.inc|.dec}{t=.u32}|{op=.min|.max}{t=.u32|.s32}|{op=.add}{t=.u32|.s32|.u64}|{op=.and|.or|.xor}{t=.b32}}",
            "[shared::cluster], t, [shared::cluster]", (8, 1), sm(90)),
    ]),
    section("9.7.13 Parallel Synchronization and Communication", Arithmetic, &[
        computes(MbarrierPendingCount, "mbarrier.pending_count.b64", "=u32, u64", (7, 0), sm(80)),
    ]),
    section("9.7.14 Warp-Level Matrix", Memory, &[
        reads(Ldmatrix, "ldmatrix.sync.aligned.m8n8{num=.x1|.x2|.x4}{.trans}?{space=.shared|.shared::cta}?.b16", "=num*b32, [space]", (6, 5), sm(75)),
        signals(Stmatrix, "stmatrix.sync.aligned.m8n8{num=.x1|.x2|.x4}{.trans}?{space=.shared|.shared::cta}?.b16", "[space], num*b32", (7, 8), sm(90)),
    ]),
    section("9.7.14 Warp-Level Matrix", Lanes, &[
        exchanges(Movmatrix, "movmatrix.sync.aligned.m8n8.trans.b16", "=b32, b32", (7, 8), sm(75)),
    ]),
    section("9.7.14 Warp-Level Matrix", Matrix, &[
        exchanges(Mma, "mma.sync.aligned{shape=.m16n8k8}.row.col{d=.f32}{a=.f16}{b=.f16}{c=.f32}", "=4*d, 2*f16x2, 1*f16x2, 4*c", (6, 5), sm(75)),
        exchanges(Mma, "mma.sync.aligned{shape=.m16n8k8}.row.col{d=.f16}{a=.f16}{b=.f16}{c=.f16}", "=2*f16x2, 2*f16x2, 1*f16x2, 2*f16x2", (6, 5), sm(75)),
        exchanges(Mma, "mma.sync.aligned{shape=.m16n8k16}.row.col{d=.f32}{a=.f16}{b=.f16}{c=.f32}", "=4*d, 4*f16x2, 2*f16x2, 4*c", (7, 0), sm(80)),
        exchanges(Mma, "mma.sync.aligned{shape=.m16n8k16}.row.col{d=.f16}{a=.f16}{b=.f16}{c=.f16}", "=2*f16x2, 4*f16x2, 2*f16x2, 2*f16x2", (7, 0), sm(80)),
        exchanges(Mma, "mma.sync.aligned{shape=.m16n8k8}.row.col{d=.f32}{a=.bf16}{b=.bf16}{c=.f32}", "=4*d, 2*b32!, 1*b32!, 4*c", (7, 0), sm(80)),
        exchanges(Mma, "mma.sync.aligned{shape=.m16n8k16}.row.col{d=.f32}{a=.bf16}{b=.bf16}{c=.f32}", "=4*d, 4*b32!, 2*b32!, 4*c", (7, 0), sm(80)),
        exchanges(Mma, "mma.sync.aligned{shape=.m16n8k4}.row.col{d=.f32}{a=.tf32}{b=.tf32}{c=.f32}", "=4*d, 2*b32!, 1*b32!, 4*c", (7, 0), sm(80)),
        exchanges(Mma, "mma.sync.aligned{shape=.m16n8k8}.row.col{d=.f32}{a=.tf32}{b=.tf32}{c=.f32}", "=4*d, 4*b32!, 2*b32!, 4*c", (7, 0), sm(80)),
        exchanges(Mma, "mma.sync.aligned{shape=.m16n8k32}.row.col{d=.f32}{a=.e4m3|.e5m2}{b=.e4m3|.e5m2}{c=.f32}", "=4*d, 4*b32!, 2*b32!, 4*c", (8, 4), sm(89)),
        exchanges(Mma, "mma.sync.aligned{shape=.m16n8k16}.row.col{.satfinite}?{d=.s32}{a=.s8|.u8}{b=.s8|.u8}{c=.s32}", "=4*d, 2*b32, 1*b32, 4*c", (7, 0), sm(80)),
        exchanges(Mma, "mma.sync.aligned{shape=.m16n8k32}.row.col{.satfinite}?{d=.s32}{a=.s8|.u8}{b=.s8|.u8}{c=.s32}", "=4*d, 4*b32, 2*b32, 4*c", (7, 0), sm(80)),
    ]),
    section("9.7.14 Warp-Level Matrix: wmma", Memory, &[
        reads(WmmaLoad, "wmma.load{which=.a|.b}.sync.aligned{layout=.row|.col}{shape=SQUARE}{space=.global|.shared|.shared::cta}?{t=.f16}", "=8*f16x2, [space], u32?", (6, 1), sm(70)),
        reads(WmmaLoad, "wmma.load{which=.c}.sync.aligned{layout=.row|.col}{shape=SQUARE}{space=.global|.shared|.shared::cta}?{t=.f16}", "=4*f16x2, [space], u32?", (6, 1), sm(70)),
        reads(WmmaLoad, "wmma.load{which=.c}.sync.aligned{layout=.row|.col}{shape=SQUARE}{space=.global|.shared|.shared::cta}?{t=.f32}", "=8*f32, [space], u32?", (6, 1), sm(70)),
        reads(WmmaLoad, "wmma.load{which=.c}.sync.aligned{layout=.row|.col}{shape=SQUARE}{space=.global|.shared|.shared::cta}?{t=.s32}", "=8*s32, [space], u32?", (6, 3), sm(72)),
        reads(WmmaLoad, "wmma.load{which=.a|.b}.sync.aligned{layout=.row|.col}{shape=.m16n16k16}{space=.global|.shared|.shared::cta}?{t=.s8|.u8}", "=2*b32, [space], u32?", (6, 3), sm(72)),
        reads(WmmaLoad, "wmma.load{which=.a}.sync.aligned{layout=.row|.col}{shape=.m32n8k16}{space=.global|.shared|.shared::cta}?{t=.s8|.u8}", "=4*b32, [space], u32?", (6, 3), sm(72)),
        reads(WmmaLoad, "wmma.load{which=.b}.sync.aligned{layout=.row|.col}{shape=.m8n32k16}{space=.global|.shared|.shared::cta}?{t=.s8|.u8}", "=4*b32, [space], u32?", (6, 3), sm(72)),
        reads(WmmaLoad, "wmma.load{which=.a}.sync.aligned{layout=.row|.col}{shape=.m8n32k16}{space=.global|.shared|.shared::cta}?{t=.s8|.u8}", "=1*b32, [space], u32?", (6, 3), sm(72)),
        reads(WmmaLoad, "wmma.load{which=.b}.sync.aligned{layout=.row|.col}{shape=.m32n8k16}{space=.global|.shared|.shared::cta}?{t=.s8|.u8}", "=1*b32, [space], u32?", (6, 3), sm(72)),
        reads(WmmaLoad, "wmma.load{which=.a|.b}.sync.aligned{layout=.row|.col}{shape=.m16n16k16}{space=.global|.shared|.shared::cta}?{t=.bf16}", "=4*b32, [space], u32?", (7, 0), sm(80)),
        reads(WmmaLoad, "wmma.load{which=.a}.sync.aligned{layout=.row|.col}{shape=.m32n8k16}{space=.global|.shared|.shared::cta}?{t=.bf16}", "=8*b32, [space], u32?", (7, 0), sm(80)),
        reads(WmmaLoad, "wmma.load{which=.b}.sync.aligned{layout=.row|.col}{shape=.m8n32k16}{space=.global|.shared|.shared::cta}?{t=.bf16}", "=8*b32, [space], u32?", (7, 0), sm(80)),
        reads(WmmaLoad, "wmma.load{which=.a}.sync.aligned{layout=.row|.col}{shape=.m8n32k16}{space=.global|.shared|.shared::cta}?{t=.bf16}", "=2*b32, [space], u32?", (7, 0), sm(80)),
        reads(WmmaLoad, "wmma.load{which=.b}.sync.aligned{layout=.row|.col}{shape=.m32n8k16}{space=.global|.shared|.shared::cta}?{t=.bf16}", "=2*b32, [space], u32?", (7, 0), sm(80)),
        reads(WmmaLoad, "wmma.load{which=.a|.b}.sync.aligned{layout=.row|.col}{shape=.m16n16k8}{space=.global|.shared|.shared::cta}?{t=.tf32}", "=4*b32, [space], u32?", (7, 0), sm(80)),
        reads(WmmaLoad, "wmma.load{which=.c}.sync.aligned{layout=.row|.col}{shape=.m16n16k8}{space=.global|.shared|.shared::cta}?{t=.f32}", "=8*f32, [space], u32?", (7, 0), sm(80)),
        signals(WmmaStore, "wmma.store.d.sync.aligned{layout=.row|.col}{shape=SQUARE}{space=.global|.shared|.shared::cta}?{t=.f16}", "[space], 4*f16x2, u32?", (6, 1), sm(70)),
        signals(WmmaStore, "wmma.store.d.sync.aligned{layout=.row|.col}{shape=SQUARE}{space=.global|.shared|.shared::cta}?{t=.f32}", "[space], 8*f32, u32?", (6, 1), sm(70)),
        signals(WmmaStore, "wmma.store.d.sync.aligned{layout=.row|.col}{shape=SQUARE}{space=.global|.shared|.shared::cta}?{t=.s32}", "[space], 8*s32, u32?", (6, 3), sm(72)),
        signals(WmmaStore, "wmma.store.d.sync.aligned{layout=.row|.col}{shape=.m16n16k8}{space=.global|.shared|.shared::cta}?{t=.f32}", "[space], 8*f32, u32?", (7, 0), sm(80)),
    ]),
    section("9.7.14 Warp-Level Matrix: wmma", Matrix, &[
        exchanges(WmmaMma, "wmma.mma.sync.aligned{al=.row|.col}{bl=.row|.col}{shape=SQUARE}{d=.f32}{c=.f32}", "=8*f32, 8*f16x2, 8*f16x2, 8*f32", (6, 1), sm(70)),
        exchanges(WmmaMma, "wmma.mma.sync.aligned{al=.row|.col}{bl=.row|.col}{shape=SQUARE}{d=.f16}{c=.f16}", "=4*f16x2, 8*f16x2, 8*f16x2, 4*f16x2", (6, 1), sm(70)),
        exchanges(WmmaMma, "wmma.mma.sync.aligned{al=.row|.col}{bl=.row|.col}{shape=SQUARE}{d=.f32}{c=.f16}", "=8*f32, 8*f16x2, 8*f16x2, 4*f16x2", (6, 1), sm(70)),
        exchanges(WmmaMma, "wmma.mma.sync.aligned{al=.row|.col}{bl=.row|.col}{shape=SQUARE}{d=.f16}{c=.f32}", "=4*f16x2, 8*f16x2, 8*f16x2, 8*f32", (6, 1), sm(70)),
        exchanges(WmmaMma, "wmma.mma.sync.aligned{al=.row|.col}{bl=.row|.col}{shape=.m16n16k16}{d=.s32}{{a=.s8}{b=.s8}|{a=.u8}{b=.u8}}{c=.s32}{.satfinite}?", "=8*s32, 2*b32, 2*b32, 8*s32", (6, 3), sm(72)),
        exchanges(WmmaMma, "wmma.mma.sync.aligned{al=.row|.col}{bl=.row|.col}{shape=.m32n8k16}{d=.s32}{{a=.s8}{b=.s8}|{a=.u8}{b=.u8}}{c=.s32}{.satfinite}?", "=8*s32, 4*b32, 1*b32, 8*s32", (6, 3), sm(72)),
        exchanges(WmmaMma, "wmma.mma.sync.aligned{al=.row|.col}{bl=.row|.col}{shape=.m8n32k16}{d=.s32}{{a=.s8}{b=.s8}|{a=.u8}{b=.u8}}{c=.s32}{.satfinite}?", "=8*s32, 1*b32, 4*b32, 8*s32", (6, 3), sm(72)),
        exchanges(WmmaMma, "wmma.mma.sync.aligned{al=.row|.col}{bl=.row|.col}{shape=.m16n16k16}{d=.f32}{a=.bf16}{b=.bf16}{c=.f32}", "=8*f32, 4*b32, 4*b32, 8*f32", (7, 0), sm(80)),
        exchanges(WmmaMma, "wmma.mma.sync.aligned{al=.row|.col}{bl=.row|.col}{shape=.m32n8k16}{d=.f32}{a=.bf16}{b=.bf16}{c=.f32}", "=8*f32, 8*b32, 2*b32, 8*f32", (7, 0), sm(80)),
        exchanges(WmmaMma, "wmma.mma.sync.aligned{al=.row|.col}{bl=.row|.col}{shape=.m8n32k16}{d=.f32}{a=.bf16}{b=.bf16}{c=.f32}", "=8*f32, 2*b32, 8*b32, 8*f32", (7, 0), sm(80)),
        exchanges(WmmaMma, "wmma.mma.sync.aligned{al=.row|.col}{bl=.row|.col}{shape=.m16n16k8}{d=.f32}{a=.tf32}{b=.tf32}{c=.f32}", "=8*f32, 4*b32, 4*b32, 8*f32", (7, 0), sm(80)),
    ]),
    section("9.7.15 Asynchronous Warpgroup-Level Matrix", Matrix, &[
        signals(WgmmaMmaAsync, "wgmma.mma_async.sync.aligned{shape=M64K16}{d=.f32|.f16}{a=.f16}{b=.f16}",
            "=acc, %u64, %u64, scale, #-1|1, #-1|1, #0|1, #0|1; =acc, 4*f16x2, %u64, scale, #-1|1, #-1|1, #0|1", (8, 0), SM_90A),
        signals(WgmmaMmaAsync, "wgmma.mma_async.sync.aligned{shape=M64K16}{d=.f32}{a=.bf16}{b=.bf16}",
            "=acc, %u64, %u64, scale, #-1|1, #-1|1, #0|1, #0|1; =acc, 4*b32!, %u64, scale, #-1|1, #-1|1, #0|1", (8, 0), SM_90A),
        signals(WgmmaMmaAsync, "wgmma.mma_async.sync.aligned{shape=M64K8}{d=.f32}{a=.tf32}{b=.tf32}",
            "=acc, %u64, %u64, scale, #-1|1, #-1|1; =acc, 4*b32!, %u64, scale, #-1|1, #-1|1", (8, 0), SM_90A),
        signals(WgmmaMmaAsync, "wgmma.mma_async.sync.aligned{shape=M64K32}{d=.f32|.f16}{a=.e4m3|.e5m2}{b=.e4m3|.e5m2}",
            "=acc, %u64, %u64, scale, #-1|1, #-1|1; =acc, 4*b32!, %u64, scale, #-1|1, #-1|1", (8, 0), SM_90A),
        signals(WgmmaMmaAsync, "wgmma.mma_async.sync.aligned{shape=M64K32INT}{d=.s32}{{a=.s8}{b=.s8}|{a=.u8}{b=.u8}}{.satfinite}?",
            "=acc, %u64, %u64, scale; =acc, 4*b32, %u64, scale", (8, 0), SM_90A),
        signals(WgmmaMmaAsync, "wgmma.mma_async.sync.aligned{shape=M64K32INT}{d=.s32}{{a=.s8}{b=.u8}|{a=.u8}{b=.s8}}{.satfinite}?",
            "=acc, %u64, %u64, scale; =acc, 4*b32, %u64, scale", (8, 4), SM_90A),
        acts(WgmmaFence, "wgmma.fence.sync.aligned", "", (8, 0), SM_90A),
        acts(WgmmaCommitGroup, "wgmma.commit_group.sync.aligned", "", (8, 0), SM_90A),
        acts(WgmmaWaitGroup, "wgmma.wait_group.sync.aligned", "#0..7", (8, 0), SM_90A),
    ]).of(Group::Warpgroup),
    section("9.7.19 Miscellaneous", Control, &[
        acts(Trap, "trap", "", (1, 0), sm(10)),
        acts(Brkpt, "brkpt", "", (1, 0), sm(11)),
        acts(Nanosleep, "nanosleep.u32", "u32", (6, 3), sm(70)),
    ]),
    section("9.7.19 Miscellaneous", Synchronisation, &[
        signals(Setmaxnreg, "setmaxnreg{direction=.inc|.dec}.sync.aligned.u32", "#24..256/8", (8, 0), SM_90A),
    ]).of(Group::Warpgroup),
];
