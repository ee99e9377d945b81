//! `ptx!(T: "mnemonic", operands…)`: one instruction, by its mnemonic.

use crate::kernel::emit::module::module;
use crate::kernel::interp::Interpreter;
use crate::kernel::value::types::instruction_type;
use crate::kernel::value::{Scalar, Value};
use cute_ptx::ast::{Entry, Inst, Item, Line, Operand, Type};
use cute_ptx::table::Mnemonic;
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

impl Interpreter<'_> {
    /// Emits the instruction and returns the register of type `T` that it writes, if there is one. The instruction is
    /// validated here, so that an error is reported at the mnemonic.
    pub(super) fn ptx(&mut self, mac: &syn::Macro) -> Result<Value> {
        let Input {
            result,
            mnemonic,
            operands,
        } = parse.parse2(mac.tokens.clone())?;
        let known = mnemonic.value().parse::<Mnemonic>();
        let known = known.map_err(|unknown| Error::new(mnemonic.span(), unknown))?;
        let mut registers = Vec::new();
        let mut sources = Vec::new();
        for (i, expr) in operands.iter().enumerate() {
            let place = i + usize::from(result.is_some());
            let value = self.eval(expr)?;
            sources.push(match self.keep(value) {
                Value::Int(value, _) => Operand::Int(value),
                Value::Float(value) if is_wide(known, place) => Operand::F64(value.to_bits()),
                Value::Float(value) => Operand::F32((value as f32).to_bits()),
                Value::Scalar(scalar) => {
                    let operand = scalar.operand();
                    registers.push(scalar);
                    operand
                }
                other => {
                    let message = format!(
                        "an operand is a number or a truth value, not {}",
                        other.kind()
                    );
                    return Err(Error::new(expr.span(), message));
                }
            });
        }
        let result = match &result {
            None => None,
            Some(ty) => match self.scalar_type(ty) {
                Some(scalar_type) => Some(self.b.register(scalar_type)),
                None => {
                    return Err(Error::new(
                        ty.span(),
                        "the type of the result is a number type or `bool`",
                    ));
                }
            },
        };
        registers.extend(result.clone());
        let operands: Vec<Operand> = result.iter().map(Scalar::operand).chain(sources).collect();
        let inst = Inst::new(known, operands);
        if let Some(problem) = problem(&registers, &inst) {
            return Err(Error::new(mnemonic.span(), problem));
        }
        self.b.push(Line::Inst(inst));
        Ok(result.map_or(Value::Unit, Value::Scalar))
    }
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

/// The first error of validation, for a kernel that consists of these registers and the instruction.
fn problem(registers: &[Scalar], inst: &Inst) -> Option<String> {
    let mut body: Vec<Line> = Vec::new();
    for register in registers {
        let declaration = Line::Register {
            ty: declared(register.ty),
            name: register.name.clone(),
        };
        if !body.contains(&declaration) {
            body.push(declaration);
        }
    }
    body.push(Line::Inst(inst.clone()));
    let entry = Entry {
        name: "k".into(),
        params: Vec::new(),
        directives: Vec::new(),
        body,
    };
    let module = module(vec![Item::Entry(entry)]);
    cute_ptx::validate(&module)
        .first()
        .map(|error| error.problem.to_string())
}

/// The type by which a register is declared for validation. It is the register's own type, so that validation is
/// strict. But PTX declares registers of 16-bit floating-point numbers as bits, and integers of 8 bits have registers
/// of 16.
fn declared(ty: Type) -> Type {
    match ty {
        Type::F16 | Type::Bf16 => Type::B16,
        ty => instruction_type(ty),
    }
}
