//! The steps of an operation add up to its result.

use super::{Explanation, Step, steps};
use crate::coalesce::coalesced;
use crate::layout::Layout;
use crate::notation::{Definition, eval_str, explain};
use crate::operations::{all, apply, find};
use crate::overhang::Overhang;
use crate::rule::Rule;
use crate::stride::ScaledBasis;
use crate::value::Value;

type Result<T> = core::result::Result<T, Box<dyn std::error::Error>>;

/// The steps of an operation on numbers, and its result unless it is refused.
fn explained(operation: &str, operands: &[Value]) -> (Vec<Step>, Option<Value>) {
    let row = find(operation).expect("the operation is in the table");
    let result = apply(row, operands, false).ok();
    (steps(operation, operands, Overhang::Strict), result)
}

fn lines(steps: &[Step]) -> Vec<String> {
    steps.iter().map(ToString::to_string).collect()
}

/// Layouts of up to three modes.
fn layouts() -> Vec<Layout> {
    let modes = [
        (1, 5),
        (2, 1),
        (2, 2),
        (3, 0),
        (3, 2),
        (4, 6),
        (2, 12),
        (3, -2),
    ];
    let mut all = Vec::new();
    for a in modes {
        for b in modes {
            for c in modes {
                let shape = [a.0, b.0, c.0];
                all.extend(Layout::new(shape, [a.1, b.1, c.1]));
            }
            all.extend(Layout::new([a.0, b.0], [a.1, b.1]));
        }
        all.extend(Layout::new(a.0, a.1));
    }
    all
}

/// The images of a composition are the modes of its result, and so are the gaps of a complement.
#[test]
fn rules_add_up_to_the_result() -> Result<()> {
    for (operation, operands, rules) in [
        (
            "composition",
            ["(6,2):(8,2)", "(4,3):(3,1)"],
            vec![
                "A coalesces to (6,2):(8,2), linear on both sides of the boundary 6",
                "B reaches 11, inside of the size 12 of A",
                "4:3 is cut where it crosses a boundary, into 2:3 and 2:6",
                "3:1 need not be cut",
                "modulo 6, B reaches 1*3 + 2*1 = 5 < 6, so no sum carries over it",
                "A(3) = 24, so 2:3 becomes 2:24",
                "A(6) = 2, so 2:6 becomes 2:2",
                "A(1) = 8, so 3:1 becomes 3:8",
            ],
        ),
        (
            "complement",
            ["(2,2):(1,6)", "24"],
            vec![
                "the modes in ascending order of strides: 2:1 and 2:6",
                "below stride 1 is no gap",
                "stride 6 is a multiple of 2*1 = 2, which leaves the gap 3:2",
                "blocks of 2*6 = 12 fill 24 as 2:12",
            ],
        ),
        // Refused by a carry: no rule about it holds, and nothing has an image.
        (
            "composition",
            ["(5,3):(1,10)", "6:2"],
            vec![
                "A coalesces to (5,3):(1,10), linear on both sides of the boundary 5",
                "B reaches 10, inside of the size 15 of A",
                "6:2 is cut where it crosses a boundary, into 3:2 and 2:6",
                "sums of these steps carry, so all 6 values are compared",
            ],
        ),
    ] {
        let operands = operands.map(eval_str);
        let operands = operands
            .into_iter()
            .collect::<core::result::Result<Vec<_>, _>>()?;
        assert_eq!(lines(&explained(operation, &operands).0), rules);
    }
    Ok(())
}

/// The operations inside of a division have its numbers.
#[test]
fn a_division_is_a_complement_and_a_composition() -> Result<()> {
    let operands = [eval_str("24:3")?, eval_str("(2,2):(1,6)")?];
    let (steps, result) = explained("logical_divide", &operands);
    assert_eq!(
        lines(&steps),
        [
            "complement((2,2):(1,6), 24) = (3,2):(2,12)",
            "composition(24:3, ((2,2),(3,2)):((1,6),(2,12))) = ((2,2),(3,2)):((3,18),(6,36))",
            "tile and rest are arranged as ((tile, rest), …)",
        ]
    );
    let result = result.ok_or("refused")?;
    assert_eq!(result.to_string(), "((2,2),(3,2)):((3,18),(6,36))");
    Ok(())
}

/// Every operation of the table says something about its example, and what it says in the end has the result.
#[test]
fn every_operation_has_steps() -> Result<()> {
    for row in all() {
        let definition: Definition = row.example.parse()?;
        let (steps, value) = explain(&definition.facts, &definition.expr, &|_| None);
        value?;
        let last = steps.last().ok_or(row.name)?;
        assert!(!last.steps.is_empty(), "{}", row.name);
        let parts = |step: &Step| matches!(step, Step::Operation(inner) if inner.steps.is_empty());
        assert!(!last.steps.iter().any(parts), "{}", row.name);
    }
    Ok(())
}

/// The last operation inside of these is the result.
#[test]
fn the_last_step_is_the_result() -> Result<()> {
    for text in [
        "with_shape((4,8):(8,1), (8,4))",
        "local_tile((8,12):(12,1), <4,3>, (1,_))",
        "local_tile(Sw<1,0,4> o (8,12):(16,1), <4,3>, (1,2))",
        "local_partition((8,12):(12,1), (2,4):(4,1), 5)",
        "tile_to_shape((2,2):(2,1), (4,6,2))",
        "tile_to_shape((2,2):(2,1), (4,6), (1,0))",
        "smem_tile_to_shape(K, SW128, 16, (128,128))",
        "recast((8,4):(1,8), 8, 16)",
        "recast((8,4):(1,8), 32, 16)",
        "max_common_vector((4,8):(8,1), (4,8):(16,1))",
        "complement(Sw<1,0,4> o (4,4):(1,16), 64)",
        "left_inverse(Sw<3,0,3> o (8,8):(8,1))",
    ] {
        let definition: Definition = text.parse()?;
        let (steps, _) = explain(&definition.facts, &definition.expr, &|_| None);
        let last = steps.last().ok_or(text)?;
        match last.steps.last() {
            Some(Step::Operation(inner)) if text.contains("Sw<1,0,4> o (8,12)") => {
                assert!(inner.operation == "slice" && last.result.is_some());
            }
            Some(Step::Operation(inner)) => assert_eq!(inner.result, last.result, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    Ok(())
}

#[test]
fn coalescing_is_its_joins() {
    for a in layouts() {
        let (steps, result) = explained("coalesce", &[(&a).into()]);
        let mut modes: Vec<Layout> = Vec::new();
        for step in steps {
            let Step::Rule(rule) = step else { continue };
            let (left, changed) = match rule {
                Rule::Joined {
                    left,
                    right,
                    joined,
                } => {
                    assert_eq!(left.size() * right.size(), joined.size());
                    (left, vec![joined])
                }
                Rule::Apart { left, right, .. } => (left.clone(), vec![left, right]),
                Rule::Alone { mode } => (mode.clone(), vec![mode]),
                _ => continue,
            };
            let before = modes.pop();
            assert_eq!(before.unwrap_or_else(|| left.clone()), left, "{a}");
            modes.extend(changed);
        }
        let flat: Vec<_> = modes.iter().flat_map(Layout::flat_modes).collect();
        let result = result.map(|value| value.to_string());
        assert_eq!(Some(coalesced(flat).to_string()), result, "{a}");
    }
}

/// The modes named by the rules of an inverse, coalesced, are the inverse.
#[test]
fn inverses_are_their_modes() {
    let (mut found, mut digits) = (0, 0);
    for a in layouts() {
        for side in ["right_inverse", "left_inverse"] {
            let (steps, result) = explained(side, &[(&a).into()]);
            let mut modes: Vec<(i64, ScaledBasis)> = Vec::new();
            let mut is_searched = false;
            for step in &steps {
                match step {
                    Step::Rule(Rule::Contiguous { mode, weight }) => {
                        modes.push((mode.0, (*weight).into()));
                    }
                    Step::Rule(Rule::Found {
                        coordinate, extent, ..
                    }) => {
                        found += 1;
                        modes.push((*extent, (*coordinate).into()));
                    }
                    Step::Rule(Rule::Below { stride }) => modes.push((*stride, 0.into())),
                    Step::Rule(Rule::Digit { mode, next, weight }) => {
                        digits += 1;
                        let extent = next.map_or(mode.0, |next| next / mode.1);
                        modes.push((extent, (*weight).into()));
                    }
                    Step::Rule(Rule::Searched | Rule::Constant | Rule::Direct { .. }) => {
                        is_searched = true;
                    }
                    _ => {}
                }
            }
            if !is_searched {
                let result = result.map(|value| value.to_string());
                assert_eq!(Some(coalesced(modes).to_string()), result, "{side}({a})");
            }
        }
    }
    assert!(found > 4 && digits > 300, "{found} {digits}");
}

/// A product is A beside the composition of its free places with B; and whether it is refused agrees.
#[test]
fn products_are_compositions_of_free_places() -> Result<()> {
    let (mut made, mut widened) = (0, 0);
    for a in layouts() {
        for b in ["4:1", "(2,3):(3,1)", "(2,2):(2,8)", "(2,2):(2,1)", "3:4"] {
            let b: Layout = b.parse()?;
            let (steps, result) = explained("logical_product", &[(&a).into(), (&b).into()]);
            let copies = steps.iter().find_map(|step| match step {
                Step::Operation(Explanation { result, .. }) => result.clone(),
                Step::Rule(_) => None,
            });
            let is_widened = |step: &Step| matches!(step, Step::Rule(Rule::Widened { .. }));
            widened += i32::from(steps.iter().any(is_widened));
            let expected = match copies {
                Some(copies) => Some(Layout::concat([a.clone(), copies.parse()?])?.to_string()),
                None => None,
            };
            made += i32::from(expected.is_some());
            let result = result.map(|value| value.to_string());
            assert_eq!(expected, result, "{a} by {b}");
        }
    }
    assert!(made > 500 && widened > 0, "{made} {widened}");
    Ok(())
}
