//! Checks the operands of an instruction against the forms of its row.

use super::names::Names;
use super::{Mismatch, Problem};
use crate::ast::{Inst, Operand, Type};
use crate::special;
use crate::table::{Fit, Form, Kind, Pair, Range, Space, present};

/// The problems of the operands. None if a form of the row fits; otherwise the problems with the form that has the fewest.
pub(super) fn check(inst: &Inst, forms: &[Form], names: &Names<'_>) -> Vec<Problem> {
    let given = inst.operands.len();
    let candidates = forms.iter().filter(|form| present(form, given).is_some());
    let nearest = candidates
        .map(|form| misfits(inst, form, names))
        .min_by_key(Vec::len);
    nearest.unwrap_or_else(|| {
        let takes = forms.iter().map(|form| (least(form), form.len())).collect();
        vec![Problem::OperandCount {
            found: given,
            takes,
        }]
    })
}

/// The least number of operands that a form takes.
fn least(form: &Form) -> usize {
    form.iter().filter(|slot| !slot.optional).count()
}

fn misfits(inst: &Inst, form: &Form, names: &Names<'_>) -> Vec<Problem> {
    let check = |(i, (operand, kind)): (usize, (&Operand, &Kind))| match (kind, operand) {
        (Kind::Label, Operand::Name(name)) if !names.label(name) => {
            Some(Problem::MissingLabel(name.clone()))
        }
        _ => fit(operand, kind, names)
            .err()
            .map(|mismatch| Problem::Operand {
                number: i + 1,
                operand: operand.to_string(),
                expected: kind.clone(),
                mismatch,
            }),
    };
    present(form, inst.operands.len())
        .into_iter()
        .flatten()
        .zip(&inst.operands)
        .map(|(kind, operand)| (operand, kind))
        .enumerate()
        .filter_map(check)
        .collect()
}

fn fit(operand: &Operand, kind: &Kind, names: &Names<'_>) -> Result<(), Mismatch> {
    match (kind, operand) {
        (
            Kind::Def {
                sink: true,
                pair: Pair::Never | Pair::Maybe,
                ..
            },
            Operand::Sink,
        ) => Ok(()),
        (
            Kind::Def {
                ty,
                fit,
                pair: Pair::Never | Pair::Maybe,
                ..
            },
            Operand::Name(name),
        ) => register(name, *ty, *fit, names),
        (
            Kind::Def {
                ty,
                fit,
                sink,
                pair: Pair::Maybe | Pair::Always,
            },
            Operand::Pair(first, second),
        ) => {
            match first.as_ref() {
                Operand::Sink if *sink => {}
                Operand::Name(name) => register(name, *ty, *fit, names)?,
                _ => return Err(Mismatch::Kind),
            }
            match second.as_ref() {
                Operand::Sink => Ok(()),
                Operand::Name(name) => register(name, Type::Pred, Fit::Agree, names),
                _ => Err(Mismatch::Kind),
            }
        }
        (Kind::Use { ty, range, .. }, Operand::Int(_) | Operand::F32(_) | Operand::F64(_)) => {
            constant(operand, *ty, range.as_ref())
        }
        (Kind::Use { ty, fit, .. }, Operand::Name(name)) => register(name, *ty, *fit, names),
        (Kind::Register(ty), Operand::Name(name)) => register(name, *ty, Fit::Agree, names),
        (Kind::Value(ty), Operand::Int(_) | Operand::F32(_) | Operand::F64(_)) => {
            constant(operand, *ty, None)
        }
        (Kind::Value(ty), Operand::Name(name)) => value(name, *ty, names),
        (Kind::Predicate | Kind::Scale, Operand::Name(name)) => {
            register(name, Type::Pred, Fit::Agree, names)
        }
        (Kind::Predicate, Operand::Not(name)) => register(name, Type::Pred, Fit::Agree, names),
        (Kind::Predicate | Kind::Scale, Operand::Int(0 | 1)) => Ok(()),
        (Kind::Int(range), Operand::Int(value)) => match range.contains(*value) {
            true => Ok(()),
            false => Err(Mismatch::Constant),
        },
        (Kind::Vector { len, ty, fit, def }, Operand::Vector(elements)) => {
            if elements.len() != *len {
                return Err(Mismatch::Length(elements.len()));
            }
            elements.iter().try_for_each(|element| match element {
                Operand::Name(name) => register(name, *ty, *fit, names),
                Operand::Sink if *def => Ok(()),
                Operand::Int(_) | Operand::F32(_) | Operand::F64(_) if !def => {
                    constant(element, *ty, None)
                }
                _ => Err(Mismatch::Kind),
            })
        }
        (Kind::Pack { bits, def }, Operand::Vector(elements)) => {
            let ty = match (bits, elements.len()) {
                (64, 2) => Type::B32,
                (64, 4) | (32, 2) => Type::B16,
                (32, 4) => Type::B8,
                (_, other) => return Err(Mismatch::Length(other)),
            };
            elements.iter().try_for_each(|element| match element {
                Operand::Name(name) => register(name, ty, Fit::Agree, names),
                Operand::Sink if *def => Ok(()),
                Operand::Int(_) | Operand::F32(_) if !def => constant(element, ty, None),
                _ => Err(Mismatch::Kind),
            })
        }
        (Kind::Address(space), Operand::Address { base, .. }) => address(base, *space, names),
        (Kind::Tensor { dims }, Operand::Tensor { map, coords }) => {
            // A tensor map is in parameters, constant or global memory. The register holds its generic address.
            match map.as_ref() {
                Operand::Name(name) => register(name, Type::B64, Fit::Agree, names)?,
                _ => return Err(Mismatch::Kind),
            }
            if coords.len() != *dims {
                return Err(Mismatch::Length(coords.len()));
            }
            coords.iter().try_for_each(|coord| match coord {
                Operand::Name(name) => register(name, Type::S32, Fit::Agree, names),
                Operand::Int(_) => constant(coord, Type::S32, None),
                _ => Err(Mismatch::Kind),
            })
        }
        (Kind::Targets, Operand::Name(name)) if names.targets(name) => Ok(()),
        (Kind::Function, Operand::Name(name)) if names.function(name) => Ok(()),
        (Kind::Prototype, Operand::Name(name)) if names.prototype(name) => Ok(()),
        (Kind::Targets | Kind::Function | Kind::Prototype, Operand::Name(_)) => {
            Err(Mismatch::Undeclared)
        }
        (Kind::Parameters, Operand::List(params)) => params.iter().try_for_each(|param| {
            let space = match param {
                Operand::Name(name) => names.variable(name).ok_or(Mismatch::Undeclared)?,
                _ => return Err(Mismatch::Kind),
            };
            match space {
                "param" => Ok(()),
                other => Err(Mismatch::Space(other.to_owned())),
            }
        }),
        // `misfits` has checked that the label exists.
        (Kind::Label, Operand::Name(_)) | (Kind::Sink, Operand::Sink) => Ok(()),
        _ => Err(Mismatch::Kind),
    }
}

fn register(name: &str, ty: Type, fit: Fit, names: &Names<'_>) -> Result<(), Mismatch> {
    match names.register(name) {
        Some(found) if agrees(found, ty, fit) => Ok(()),
        Some(found) => Err(Mismatch::Type(found)),
        None if names.variable(name).is_some() || special::lookup(name).is_some() => {
            Err(Mismatch::Kind)
        }
        None => Err(Mismatch::Undeclared),
    }
}

/// A register, special register or variable: the operand of a `mov`.
fn value(name: &str, ty: Type, names: &Names<'_>) -> Result<(), Mismatch> {
    if let Some((special, _)) = special::lookup(name) {
        return match agrees(special.ty, ty, Fit::Agree) {
            true => Ok(()),
            false => Err(Mismatch::Type(special.ty)),
        };
    }
    if names.register(name).is_none() && names.function(name) {
        return match ty.bits() == 64 && matches!(class(ty), Class::Bits | Class::Int) {
            true => Ok(()),
            false => Err(Mismatch::Kind),
        };
    }
    if let Some(space) = names.variable(name) {
        // Shared and local addresses fit in 32 bits.
        let least = if matches!(space, "shared" | "local") {
            32
        } else {
            64
        };
        let holds_address = matches!(class(ty), Class::Bits | Class::Int) && ty.bits() >= least;
        return if holds_address {
            Ok(())
        } else {
            Err(Mismatch::Space(space.to_owned()))
        };
    }
    register(name, ty, Fit::Agree, names)
}

fn address(base: &Operand, space: Space, names: &Names<'_>) -> Result<(), Mismatch> {
    let name = match base {
        Operand::Int(_) => return Ok(()),
        Operand::Name(name) => name,
        _ => return Err(Mismatch::Kind),
    };
    if let Some(found) = names.variable(name) {
        let same = match space {
            Space::Shared | Space::SharedCluster => found == "shared",
            // Without a space in the instruction, the assembler uses the variable's space, except for parameters.
            Space::Generic => found != "param",
            space => found == space.name(),
        };
        return if same {
            Ok(())
        } else {
            Err(Mismatch::Space(found.to_owned()))
        };
    }
    let ty = names.register(name).ok_or(Mismatch::Undeclared)?;
    let narrow = matches!(space, Space::Shared | Space::SharedCluster);
    let wide_enough = ty.bits() == 64 || (narrow && ty.bits() == 32);
    match wide_enough && matches!(class(ty), Class::Bits | Class::Int) {
        true => Ok(()),
        false => Err(Mismatch::AddressType(ty)),
    }
}

fn constant(operand: &Operand, ty: Type, range: Option<&Range>) -> Result<(), Mismatch> {
    let fits = match (operand, class(ty)) {
        (Operand::Int(value), Class::Bits | Class::Int) => {
            let bits = ty.bits();
            let least = -(1_i128 << (bits.min(64) - 1));
            (least..1_i128 << bits.min(64)).contains(value)
                && range.is_none_or(|range| range.contains(*value))
        }
        (Operand::Int(0 | 1), Class::Pred) => true,
        (Operand::F32(_), Class::Bits) => ty.bits() == 32,
        (Operand::F64(_), Class::Bits) => ty.bits() == 64,
        // The assembler converts a floating-point constant to the type of the instruction.
        (Operand::F32(_) | Operand::F64(_), Class::Float) => matches!(ty, Type::F32 | Type::F64),
        _ => false,
    };
    if fits {
        Ok(())
    } else {
        Err(Mismatch::Constant)
    }
}

/// The class of a type. Types agree by class and width.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Pred,
    Bits,
    Int,
    Float,
}

fn class(ty: Type) -> Class {
    match ty {
        Type::Pred => Class::Pred,
        Type::B8 | Type::B16 | Type::B32 | Type::B64 | Type::B128 => Class::Bits,
        Type::U8
        | Type::U16
        | Type::U32
        | Type::U64
        | Type::S8
        | Type::S16
        | Type::S32
        | Type::S64 => Class::Int,
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 | Type::F32 | Type::F64 => Class::Float,
    }
}

/// Whether a register of one type can be an operand of another (PTX ISA 9.0, §9.2 and §9.4).
fn agrees(register: Type, operand: Type, fit: Fit) -> bool {
    let (a, b) = (class(register), class(operand));
    if register == operand || fit == Fit::Exact {
        return register == operand;
    }
    if register.bits() == operand.bits() {
        return match (a, b) {
            (Class::Pred, _) | (_, Class::Pred) => false,
            (Class::Bits, _) | (_, Class::Bits) | (Class::Int, Class::Int) => true,
            _ => false,
        };
    }
    fit == Fit::Wider
        && register.bits() > operand.bits()
        && matches!(a, Class::Bits | Class::Int)
        && matches!(b, Class::Bits | Class::Int)
}
