//! `ptx!(T: "mnemonic", operands…)`: one instruction, by its mnemonic.

use crate::kernel::access::element::{Place, place, writes};
use crate::kernel::access::global::unproven;
use crate::kernel::emit::module::module;
use crate::kernel::interp::{Interpreter, near};
use crate::kernel::ir::{Inst, Line, Names, Operand};
use crate::kernel::value::types::instruction_type;
use crate::kernel::value::{Scalar, Value};
use cute_chip::{Chip, Target};
use cute_ptx::ast::{self, Entry, Item, Type};
use cute_ptx::special::{self, SPECIAL};
use cute_ptx::table::choice::Accessible;
use cute_ptx::table::{Effect, Kind, Mnemonic, Opcode, Pair, Space};
use proc_macro2::Span;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, LitStr, Result, Token};

/// The parts of `ptx!(T: "mnemonic", operands…)`.
struct Input {
    result: Option<syn::Type>,
    mnemonic: LitStr,
    operands: Vec<Expr>,
}

/// The operands of the instruction while they are collected.
struct Operands {
    mnemonic: Mnemonic,
    operands: Vec<Operand>,
    /// The registers among the operands, including those in addresses.
    registers: Vec<Scalar>,
    /// The state space of each address, by the index of its operand.
    spaces: Vec<(usize, Accessible, Span)>,
}

impl Interpreter<'_> {
    /// Emits the instruction and returns its result: a register, a tuple of registers, or nothing. Validates the instruction, so that an
    /// error is reported at the mnemonic.
    pub(super) fn ptx(&mut self, mac: &syn::Macro) -> Result<Value> {
        let Input {
            result,
            mnemonic,
            operands,
        } = parse.parse2(mac.tokens.clone())?;
        let known = mnemonic.value().parse::<Mnemonic>();
        let known = known.map_err(|unknown| Error::new(mnemonic.span(), unknown))?;
        self.needs(known.as_str(), known.target(), mnemonic.span())?;
        let mut all = Operands {
            mnemonic: known,
            operands: Vec::new(),
            registers: Vec::new(),
            spaces: Vec::new(),
        };
        // Several results are separate operands, or one vector or pair.
        let places = match &result {
            None => 0,
            Some(syn::Type::Tuple(types)) if !is_joined(known) => types.elems.len(),
            Some(_) => 1,
        };
        all.operands.resize(places, Operand::Sink);
        for expr in &operands {
            let operand = match expr {
                Expr::Array(array) => self.address(&array.elems, expr, &mut all)?,
                _ => {
                    let value = self.eval(expr)?;
                    let value = self.keep(value);
                    self.operand(&value, expr, &mut all)?
                }
            };
            all.operands.push(operand);
        }
        // The destinations are last, so their registers follow those of the operands.
        let value = match &result {
            None => Value::Unit,
            Some(syn::Type::Tuple(types)) => {
                let mut values = Vec::with_capacity(types.elems.len());
                let mut destinations = Vec::with_capacity(types.elems.len());
                for ty in &types.elems {
                    let (value, operand) = self.destination(ty, &mut all.registers)?;
                    values.push(value);
                    destinations.push(operand);
                }
                match joined(known, &destinations) {
                    Some(operand) => all.operands[0] = operand,
                    None => all.operands.splice(..places, destinations).for_each(drop),
                }
                Value::Tuple(values)
            }
            Some(ty) => {
                let (value, operand) = self.destination(ty, &mut all.registers)?;
                all.operands[0] = operand;
                value
            }
        };
        let inst = Inst::new(known, all.operands);
        let chip = self.b.chip;
        let names = self.b.names();
        let printed = names.inst(&inst);
        check_spaces(&printed, &all.spaces)?;
        if let Some(problem) = problem(chip, names, &all.registers, &printed) {
            return Err(Error::new(mnemonic.span(), problem));
        }
        // Operand registers have names that no assignment changes.
        let slots = printed.slots().ok_or_else(|| {
            let message = format!("the operands of `{known}` have no form (a defect)");
            Error::new(mnemonic.span(), message)
        })?;
        let written = slots
            .iter()
            .skip(places)
            .position(|(_, kind)| kind.writes());
        if let Some(index) = written {
            let message = format!(
                "`{known}` writes its operand {}: give the type of the result instead, `ptx!(T: …)`",
                places + index + 1
            );
            return Err(Error::new(mnemonic.span(), message));
        }
        self.b.sites.set_operation(known.as_str(), mnemonic.span());
        if matches!(known.opcode(), Opcode::Exit | Opcode::Ret) {
            self.b.sites.leaves(known.as_str());
        }
        let place = self.b.place();
        let inst = self.b.renamed.accessed(inst, place);
        let inst = self.b.sites.numbered(inst, self.b.threads);
        self.b.push(Line::Inst(inst));
        Ok(value)
    }

    /// Refuses an instruction or a special register that the chip does not have.
    fn needs(&mut self, what: &str, needed: Target, span: Span) -> Result<()> {
        self.b.set_place(span);
        self.b.needs(what, needed);
        self.b.lacks(None).map_or(Ok(()), Err)
    }

    /// A destination register; `_` is none.
    fn destination(
        &mut self,
        ty: &syn::Type,
        registers: &mut Vec<Scalar>,
    ) -> Result<(Value, Operand)> {
        if let syn::Type::Infer(_) = ty {
            return Ok((Value::Unit, Operand::Sink));
        }
        let Some(scalar_type) = self.scalar_type(ty) else {
            let message = "the type of a result is a number type, `bool` or a tuple of these";
            return Err(Error::new(ty.span(), message));
        };
        let register = self.b.register(scalar_type);
        registers.push(register.clone());
        Ok((register.clone().into(), register.operand()))
    }

    /// A number, a truth value, a tuple of these as a vector, or the name of a special register.
    fn operand(&mut self, value: &Value, expr: &Expr, all: &mut Operands) -> Result<Operand> {
        Ok(match value {
            Value::Int(value, _) => Operand::Int(*value),
            Value::Float(value, _) if is_wide(all.mnemonic, all.operands.len()) => {
                Operand::F64(value.to_bits())
            }
            Value::Float(value, _) => Operand::F32((*value as f32).to_bits()),
            Value::Scalar(scalar) => {
                all.registers.push(scalar.clone());
                scalar.operand()
            }
            Value::Tuple(values) => {
                let parts = values.iter().map(|value| self.operand(value, expr, all));
                Operand::Vector(parts.collect::<Result<_>>()?)
            }
            Value::Str(name) if let Some((special, _)) = special::lookup(name) => {
                self.needs(special.name, special.target(), expr.span())?;
                Operand::Symbol(name.clone())
            }
            Value::Str(name) => {
                let hint = near::hint(name, SPECIAL.iter().map(|special| special.name));
                let message = format!("there is no special register `{name}`{hint}");
                return Err(Error::new(expr.span(), message));
            }
            other => {
                let message = format!(
                    "an operand is a number, a truth value, a tuple of these, an element in brackets, `[x[i]]`, or a special register, `\"%laneid\"`, not {}",
                    other.kind()
                );
                return Err(Error::new(expr.span(), message));
            }
        })
    }

    /// `[x[coordinate]]`, the address of an element, or `[barrier]`.
    fn address(
        &mut self,
        inner: &Punctuated<Expr, Token![,]>,
        expr: &Expr,
        all: &mut Operands,
    ) -> Result<Operand> {
        let mut inner = inner.iter();
        let (Some(inner), None) = (inner.next(), inner.next()) else {
            let message = "an address in brackets is that of one element: `[x[i]]`";
            return Err(Error::new(expr.span(), message));
        };
        let found = match inner {
            Expr::Index(index) => {
                let x = self.eval(&index.expr)?;
                let coordinate = self.eval(&index.index)?;
                self.b.set_place(index.index.span());
                let found = place(&mut self.b, &x, &coordinate)?;
                // The instruction may access more than this element.
                if let Value::Global(global) = &x {
                    unproven(&mut self.b, global, |_| None);
                }
                // An instruction that stores, updates or copies writes to its first address.
                if found.is_some() && all.spaces.is_empty() && stores(all.mnemonic) {
                    writes(&mut self.b, &x);
                }
                found
            }
            _ => None,
        };
        let Place { space, address } = match found {
            Some(place) => place,
            None => match self.eval(inner)? {
                Value::Barrier(barrier) => Place {
                    space: Accessible::Shared,
                    address: barrier.operand(&mut self.b)?,
                },
                other => {
                    let message = format!(
                        "an address in brackets is that of an element in shared or global memory, `[x[i]]`, or of a barrier, not of {}",
                        other.kind()
                    );
                    return Err(Error::new(inner.span(), message));
                }
            },
        };
        let ty = match space {
            Accessible::Global => Type::U64,
            _ => Type::U32,
        };
        address.for_each_register(&mut |it| all.registers.push(Scalar::new(it, ty)));
        all.spaces.push((all.operands.len(), space, inner.span()));
        Ok(address)
    }
}

/// Whether the instruction may have several destinations as one operand, a vector or a pair.
fn is_joined(mnemonic: Mnemonic) -> bool {
    joined(mnemonic, &[Operand::Sink, Operand::Sink]).is_some()
}

/// Several destinations as one operand, if the instruction has them so.
fn joined(mnemonic: Mnemonic, destinations: &[Operand]) -> Option<Operand> {
    let firsts = || mnemonic.forms().iter().filter_map(|form| form.first());
    let mut kinds = firsts().map(|slot| &slot.kind);
    let vector = |kind: &Kind| {
        matches!(
            kind,
            Kind::Vector { def: true, .. } | Kind::Pack { def: true, .. }
        )
    };
    if kinds.any(vector) {
        return Some(Operand::Vector(destinations.to_vec()));
    }
    let mut kinds = firsts().map(|slot| &slot.kind);
    let pair = |kind: &Kind| matches!(kind, Kind::Def { pair, .. } if *pair != Pair::Never);
    match destinations {
        [first, second] if kinds.any(pair) => Some(Operand::Pair(
            Box::new(first.clone()),
            Box::new(second.clone()),
        )),
        _ => None,
    }
}

/// Whether the instruction writes to its first address.
fn stores(mnemonic: Mnemonic) -> bool {
    mnemonic.effect() == Effect::Acts && mnemonic.opcode() != Opcode::Ld
}

/// Refuses an address of another state space than the instruction's.
fn check_spaces(inst: &ast::Inst, spaces: &[(usize, Accessible, Span)]) -> Result<()> {
    // Operands of other kinds than the instruction's are reported by `problem`.
    let slots = inst.slots().unwrap_or_default();
    for (index, space, span) in spaces {
        let Some((_, Kind::Address(wanted))) = slots.get(*index) else {
            continue;
        };
        let agrees = match space {
            Accessible::Global => matches!(wanted, Space::Global | Space::Generic),
            _ => matches!(wanted, Space::Shared | Space::SharedCluster),
        };
        if !agrees {
            let wanted = wanted.name();
            return Err(Error::new(
                *span,
                format!(
                    "this address is one of {space} memory, and `{}` takes a {wanted} one",
                    inst.mnemonic
                ),
            ));
        }
    }
    Ok(())
}

fn parse(input: ParseStream<'_>) -> Result<Input> {
    let result = match input.peek(LitStr) {
        true => None,
        false => {
            let ty = input.parse()?;
            input.parse::<Token![:]>()?;
            Some(ty)
        }
    };
    let mnemonic = input.parse()?;
    if input.is_empty() {
        return Ok(Input {
            result,
            mnemonic,
            operands: Vec::new(),
        });
    }
    input.parse::<Token![,]>()?;
    let operands = Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
    Ok(Input {
        result,
        mnemonic,
        operands: operands.into_iter().collect(),
    })
}

/// Whether a constant has 64 bits as operand number `place`.
fn is_wide(mnemonic: Mnemonic, place: usize) -> bool {
    let slots = mnemonic.forms().iter().filter_map(|form| form.get(place));
    slots
        .map(|slot| slot.kind.ty())
        .any(|ty| ty.is_some_and(|ty| ty.bits() == 64))
}

/// The first validation error of a kernel with these registers and this instruction.
fn problem(chip: &Chip, names: &Names, registers: &[Scalar], inst: &ast::Inst) -> Option<String> {
    let mut body: Vec<ast::Line> = Vec::new();
    for scalar in registers {
        let declaration = ast::Line::Register {
            ty: declared(scalar.ty),
            name: names.of(scalar.register).to_owned(),
        };
        if !body.contains(&declaration) {
            body.push(declaration);
        }
    }
    body.push(ast::Line::Inst(inst.clone()));
    let entry = Entry {
        name: "k".into(),
        params: Vec::new(),
        directives: Vec::new(),
        body,
    };
    let module = module(chip, vec![Item::Entry(entry)]);
    cute_ptx::validate(&module)
        .first()
        .map(|error| error.problem.to_string())
}

/// The declared type of a register for validation. It is the register's own type, so that validation is strict. But PTX declares registers
/// of 16-bit floating-point numbers as bits, and 8-bit integers are in 16-bit registers.
fn declared(ty: Type) -> Type {
    match ty {
        Type::F16 | Type::Bf16 => Type::B16,
        ty => instruction_type(ty),
    }
}
