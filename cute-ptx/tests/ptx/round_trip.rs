//! Printing and parsing: parsing the print of a tree gives the tree, and printing the parse of a printed text gives the
//! text.

use cute_ptx::ast::*;
use cute_ptx::table::{self, Mnemonic};
use cute_ptx::{parse, parse_with_lines};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

const GEMM: &str = include_str!("kernels/gemm.ptx");
const NVCC: &str = include_str!("kernels/nvcc.ptx");

#[test]
fn a_printed_kernel_parses_to_the_same_text() {
    let module = parse(GEMM).unwrap();
    assert_eq!(module.to_string(), GEMM);
    let Some(Item::Entry(entry)) = module.items.last() else {
        panic!("no entry")
    };
    assert_eq!(entry.directives[2].values, [2, 1, 1]);
    assert_eq!(
        entry
            .body
            .iter()
            .filter(|line| matches!(line, Line::Comment(_)))
            .count(),
        1
    );
}

#[test]
fn lines_point_at_the_text() {
    let source = parse_with_lines(GEMM).unwrap();
    let Some(Item::Entry(entry)) = source.module.items.last() else {
        panic!("no entry")
    };
    assert_eq!(entry.body.len(), source.lines[0].len());
    let text: Vec<&str> = GEMM.lines().collect();
    for (line, &number) in entry.body.iter().zip(&source.lines[0]) {
        let at = text[number as usize - 1];
        match line {
            Line::Inst(inst) => assert!(at.contains(inst.mnemonic.as_str()), "{at}: {inst}"),
            Line::Label(name) => assert_eq!(at, format!("{name}:")),
            Line::Blank => assert_eq!(at, ""),
            _ => assert_eq!(format!("{at}\n"), line.to_string()),
        }
    }
}

#[test]
fn an_instruction_has_the_place_before_it() {
    let text = ".version 8.0\n.target sm_90a\n.address_size 64\n.file 1 \"src/k.rs\"\n.visible .entry k()\n{\n    // one\n    \
                .loc 1 3 5\n    bar.sync 0;\n    bar.sync 0;\n    // two\n    .loc 1 4 9\n    ret;\n}\n";
    let module = parse(text).unwrap();
    assert_eq!(module.to_string(), text);
    assert_eq!(cute_ptx::validate(&module), []);
    let Some(Item::Entry(entry)) = module.items.last() else {
        panic!("no entry")
    };
    let places = entry.body.iter().filter_map(|line| match line {
        Line::Inst(inst) => Some(inst.place.unwrap().line),
        _ => None,
    });
    assert_eq!(places.collect::<Vec<_>>(), [3, 3, 4]);
    // What the tree does not keep of other compilers' places.
    let other = text.replace("1 4 9", "1 4 9, function_name $str, inlined_at 1 3 5");
    let other = other.replace("k.rs\"", "k.rs\", 1700000000, 1234");
    assert_eq!(parse(&other).unwrap(), module);
}

#[test]
fn compiler_output_parses() {
    let module = parse(NVCC).unwrap();
    let printed = module.to_string();
    assert_eq!(parse(&printed).unwrap(), module);
    for expected in [
        ".global .align 4 .u32 counter[1];",
        "    .param .u64 scale_param_0,\n",
        ".maxntid 256\n.minnctapersm 2\n{\n",
        "    .reg .f32 unused;\n",
        "    // the global index:\n    // block * size + thread\n",
        // Names that a block declares are renamed; names from outside it are not.
        "    .reg .pred %p$0$<2>;\n    .reg .b32 t$0;\n    setp.gt.f32 %p$0$1, %f3, 0f00000000;\n",
        "    selp.b32 t$0, 16, 8, %p$0$1;\n    @%p$0$1 bra skip$0;\n",
    ] {
        assert!(
            printed.contains(expected),
            "{expected:?} is not in\n{printed}"
        );
    }
    assert!(!printed.contains("nounroll"));
}

#[test]
fn errors_name_the_place() {
    let entry = |body: &str| {
        format!(
            ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{{\n{body}\n}}\n"
        )
    };
    let cases = [
        ("", "1:1: expected .version, found the end of the text"),
        (
            ".version 8\n",
            "1:10: expected a version such as 8.0, found `8`",
        ),
        (
            ".version 8.0 .target sm_90a .address_size 32",
            "1:43: only .address_size 64 is supported",
        ),
        (
            ".version 8.0 .target sm_90a .address_size 64 .alias f, g;",
            "1:46: expected .visible .entry, .func, or a variable in .shared, .global or .const, found `.alias`",
        ),
        (
            ".version 8.0 .target sm_90a .address_size 64\n.global .b32 x[2] = {{4}, {5}};",
            "2:22: nested initial values are not supported",
        ),
        (
            ".version 8.0 .target sm_90a .address_size 64\n/* open",
            "2:1: this comment has no closing `*/`",
        ),
        (
            ".version 8.0 .target sm_90a .address_size 64\n/*/",
            "2:1: this comment has no closing `*/`",
        ),
        (
            &entry("    add.u32 %r1, %r2 4;"),
            "6:22: expected `,` or `;`, found `4`",
        ),
        (
            &entry("    frobnicate %r1;"),
            "6:5: `frobnicate` is not an instruction of the table",
        ),
        (
            &entry("    ld.shared.v3.f32 {%f1, %f2, %f3}, [bar];"),
            "6:5: `.v3` cannot follow `ld.shared`; expected one of .b16, .b32, .b64, .b8, .f32, .f64, .s16, .s32, .s64, .s8, .u16, .u32, …",
        ),
        (
            &entry("    add.u33 %r1, %r2, 4;"),
            "6:5: `.u33` cannot follow `add`; expected one of .bf16, .bf16x2, .cc, .f16, .f16x2, .f32, .f64, .ftz, .rm, .rn, .rp, .rz, …",
        ),
        (
            &entry("    wgmma.wait_group %r1;"),
            "6:5: `wgmma.wait_group` is not complete; expected one of .sync",
        ),
        (
            &entry("    add.u32 %r1, , 4;"),
            "6:18: expected an operand, found `,`",
        ),
        (
            &entry("    mov.u64 %rd1, 0x1FFFFFFFFFFFFFFFF;"),
            "6:19: expected an integer of at most 64 bits, found `0x1FFFFFFFFFFFFFFFF`",
        ),
        (
            &entry("    .reg .b33 %r<4>;"),
            "6:10: expected a type such as .b32, found `.b33`",
        ),
        (
            &entry("    ld.u32 %r1, [%rd1-4];"),
            "6:22: expected `]`, found `-`",
        ),
        (
            &entry("    mov.u32 %r1, 4"),
            "7:1: expected `,` or `;`, found `}`",
        ),
        (
            &entry("    .branchtargets a;"),
            "6:5: expected an instruction, found `.branchtargets`",
        ),
        (
            &entry("    {"),
            "8:1: expected an instruction, a label, a declaration or }, found the end of the text",
        ),
        (&entry(&"{".repeat(100)), "6:65: blocks nest deeper than 64"),
    ];
    for (text, message) in cases {
        assert_eq!(parse(text).unwrap_err().to_string(), message, "in {text}");
    }
}

#[test]
fn text_in_a_comment_stays_in_it() {
    let mut inst = Inst::new("ret".parse().unwrap(), []);
    inst.comment = Some("first\n    trap;".into());
    let body = vec![Line::Comment("two\ntrap;".into()), Line::Inst(inst)];
    let entry = Entry {
        name: "k".into(),
        params: vec![],
        directives: vec![],
        body,
    };
    let module = Module {
        version: (8, 0),
        target: "sm_90a".into(),
        items: vec![Item::Entry(entry)],
    };
    assert!(
        module
            .to_string()
            .lines()
            .all(|line| !line.trim_start().starts_with("trap"))
    );
    parse(&module.to_string()).unwrap();
}

proptest! {
    #[test]
    fn a_tree_survives_its_text(module in module()) {
        let text = module.to_string();
        let parsed = parse(&text);
        prop_assert_eq!(parsed.as_ref(), Ok(&module), "{}", text);
        prop_assert_eq!(parsed.unwrap().to_string(), text);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in ".{0,200}", at in 0..GEMM.len(), len in 0..64usize) {
        let _ = parse(&text);
        let mut damaged = GEMM.to_owned();
        damaged.replace_range(at..(at + len).min(GEMM.len()), &text);
        if let Ok(module) = parse(&damaged) {
            prop_assert_eq!(parse(&module.to_string()).unwrap().to_string(), module.to_string());
        }
    }
}

fn module() -> impl Strategy<Value = Module> {
    let item = prop_oneof![
        Just(Item::Blank),
        words().prop_map(Item::Comment),
        (any::<u32>(), "[^\"\n\r]{0,20}").prop_map(|(number, path)| Item::File { number, path }),
        variable(&["shared", "global", "const"]).prop_map(Item::Variable),
        entry().prop_map(Item::Entry),
        function().prop_map(Item::Function),
    ];
    ((0..20u32, 0..10u32), "sm_[0-9]{2}a?", vec(item, 0..5)).prop_map(|(version, target, items)| {
        Module {
            version,
            target,
            items,
        }
    })
}

fn param() -> impl Strategy<Value = Param> {
    let ty = prop_oneof![
        ty().prop_map(ParamType::Scalar),
        (0..8u32, any::<u32>()).prop_map(|(log, len)| ParamType::Bytes {
            align: 1 << log,
            len
        }),
    ];
    (name(), ty).prop_map(|(name, ty)| Param { name, ty })
}

fn directive() -> impl Strategy<Value = Directive> {
    ("[a-z]{3,8}", vec(any::<u32>(), 0..4)).prop_map(|(name, values)| Directive { name, values })
}

fn function() -> impl Strategy<Value = Function> {
    (
        any::<bool>(),
        name(),
        vec(param(), 0..2),
        vec(param(), 0..4),
        vec(directive(), 0..2),
        option::of(vec(line(), 0..20)),
    )
        .prop_map(
            |(external, name, returns, params, directives, body)| Function {
                external,
                name,
                returns,
                params,
                directives,
                body: body.map(placed),
            },
        )
}

fn entry() -> impl Strategy<Value = Entry> {
    (
        name(),
        vec(param(), 0..4),
        vec(directive(), 0..3),
        vec(line(), 0..20),
    )
        .prop_map(|(name, params, directives, body)| Entry {
            name,
            params,
            directives,
            body: placed(body),
        })
}

/// The body, where each instruction without a place has that of the instruction before, as the text says.
fn placed(mut body: Vec<Line>) -> Vec<Line> {
    let mut last = None;
    for line in &mut body {
        if let Line::Inst(inst) = line {
            inst.place = inst.place.or(last);
            last = inst.place;
        }
    }
    body
}

fn line() -> impl Strategy<Value = Line> {
    let guard =
        (any::<bool>(), register()).prop_map(|(negated, predicate)| Guard { negated, predicate });
    let inst = (
        option::of(guard),
        mnemonic(),
        vec(operand(), 0..6),
        option::of((0..3u32, 0..3u32, any::<u32>())),
        option::of(words()),
    )
        .prop_map(|(guard, mnemonic, operands, place, comment)| {
            Line::Inst(Inst {
                guard,
                place: place.map(|(file, line, column)| Place { file, line, column }),
                comment,
                ..Inst::new(mnemonic, operands)
            })
        });
    prop_oneof![
        1 => Just(Line::Blank),
        1 => words().prop_map(Line::Comment),
        1 => (ty(), register(), any::<u32>()).prop_map(|(ty, prefix, count)| Line::Registers { ty, prefix, count }),
        1 => (ty(), register()).prop_map(|(ty, name)| Line::Register { ty, name }),
        1 => variable(&["shared", "local"]).prop_map(Line::Variable),
        1 => name().prop_map(Line::Label),
        1 => param().prop_map(Line::Param),
        1 => (name(), vec(param(), 0..2), vec(param(), 0..3))
            .prop_map(|(name, returns, params)| Line::Prototype(Prototype { name, returns, params })),
        1 => (name(), vec(name(), 1..4)).prop_map(|(name, labels)| Line::Targets { name, labels }),
        8 => inst,
    ]
}

fn variable(spaces: &'static [&'static str]) -> impl Strategy<Value = Variable> {
    (
        any::<bool>(),
        proptest::sample::select(spaces),
        any::<u32>(),
        ty(),
        name(),
        option::of(any::<u64>()),
        vec(initial(), 0..3),
    )
        .prop_map(|(external, space, align, ty, name, len, init)| Variable {
            // Without a length in the text, the values tell it.
            len: len.or((!init.is_empty()).then_some(init.len() as u64)),
            init,
            external,
            space: space.into(),
            align,
            ty,
            name,
        })
}

fn initial() -> impl Strategy<Value = Operand> {
    prop_oneof![
        2 => simple(),
        1 => (name(), any::<i64>()).prop_map(|(name, offset)| Operand::Address {
            base: Box::new(Operand::Name(name)),
            offset,
        }),
    ]
}

fn operand() -> impl Strategy<Value = Operand> {
    let boxed = || simple().prop_map(Box::new);
    prop_oneof![
        6 => simple(),
        1 => register().prop_map(Operand::Not),
        1 => vec(simple(), 0..130).prop_map(Operand::Vector),
        1 => vec(simple(), 0..4).prop_map(Operand::List),
        2 => (boxed(), any::<i64>()).prop_map(|(base, offset)| Operand::Address { base, offset }),
        1 => (boxed(), vec(simple(), 0..6)).prop_map(|(map, coords)| Operand::Tensor { map, coords }),
        1 => (boxed(), boxed()).prop_map(|(first, second)| Operand::Pair(first, second)),
    ]
}

fn simple() -> impl Strategy<Value = Operand> {
    prop_oneof![
        4 => prop_oneof![name(), register()].prop_map(Operand::Name),
        1 => any::<u64>().prop_map(|value| Operand::Int(value.into())),
        1 => any::<i64>().prop_map(|value| Operand::Int(value.into())),
        1 => any::<u32>().prop_map(Operand::F32),
        1 => any::<u64>().prop_map(Operand::F64),
        1 => Just(Operand::Sink),
    ]
}

fn mnemonic() -> impl Strategy<Value = Mnemonic> {
    let samples = table::rows().flat_map(|(_, row)| table::samples(row));
    let samples = samples.map(|text| text.parse().unwrap());
    proptest::sample::select(samples.collect::<Vec<_>>())
}

fn register() -> impl Strategy<Value = String> {
    "%[a-z]{1,3}[0-9]{0,2}(\\.[xyz])?"
}

fn name() -> impl Strategy<Value = String> {
    "[$]?[a-zA-Z][a-zA-Z0-9_$]{0,12}"
}

/// The text of a comment: any characters but line breaks, without white space at its end.
fn words() -> impl Strategy<Value = String> {
    "[^\n\r]{0,40}".prop_map(|text| text.trim_end().to_owned())
}

fn ty() -> impl Strategy<Value = Type> {
    proptest::sample::select(Type::ALL)
}
