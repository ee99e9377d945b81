//! Facts about the arguments of a launch, given on the parameters: `#[facts(extent(x, 1) % 8 == 0)] x: Global<bf16, 2>`.

use crate::kernel::emit::facts::{Fact, Facts, Quantity, Term};
use crate::kernel::emit::operation::{Cmp, Op, fold};
use crate::kernel::emit::param::ParamKind;
use crate::kernel::interp::Interpreter;
use crate::kernel::interp::operator::{comparison, operation};
use crate::kernel::syntax::bare::bare;
use crate::kernel::syntax::errors::Errors;
use crate::kernel::syntax::text;
use crate::kernel::value::Value;
use crate::kernel::value::types::is_integer;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprBinary, ExprCall, FnArg, Result, Signature, Token};

/// The definition of a fact, for messages.
const FACT: &str = "a fact compares numbers, as in `extent(x, 1) % 8 == 0`, or is `aligned(x, 16)`";

/// The definition of a number in a fact, for messages.
const NUMBER: &str = "a number in a fact is a constant, an integer parameter, `extent(x, mode)`, `stride(x, mode)`, `list.len()`, or `+`, `-`, `*`, `/`, `%` or `ceil_div` of these";

/// The facts of all parameters of a kernel.
pub(super) fn facts(interpreter: &mut Interpreter<'_>, sig: &Signature) -> Result<Facts> {
    let (mut facts, mut errors) = (Vec::new(), Errors::default());
    for input in &sig.inputs {
        let (FnArg::Typed(syn::PatType { attrs, .. })
        | FnArg::Receiver(syn::Receiver { attrs, .. })) = input;
        for attr in attrs {
            if !attr.path().is_ident("facts") {
                let message = "a parameter of a kernel takes `#[facts(…)]` only";
                errors.push(Error::new_spanned(attr, message));
                continue;
            }
            let given = attr.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated);
            for fact in errors.record(given).into_iter().flatten() {
                let found = errors.record(fact_of(interpreter, &fact));
                facts.extend(found.into_iter().flatten());
            }
        }
    }
    errors.finish(Facts(facts))
}

/// The comparisons of a fact.
fn fact_of(interpreter: &mut Interpreter<'_>, fact: &Expr) -> Result<Vec<Fact>> {
    let fact = bare(fact);
    let text = text::fact(fact.to_token_stream());
    match fact {
        Expr::Binary(binary) => {
            let Some(cmp) = comparison(&binary.op) else {
                return Err(Error::new_spanned(binary.op, FACT));
            };
            let left = term(interpreter, &binary.left)?;
            let right = term(interpreter, &binary.right)?;
            if let (Term::Known(a), Term::Known(b)) = (&left, &right)
                && !cmp.holds(a, b)
            {
                let message = format!("this fact never holds: {a} and {b} are known");
                return Err(Error::new_spanned(fact, message));
            }
            let fact = Fact {
                left,
                cmp,
                right,
                text,
            };
            check_lists(interpreter, &fact, binary)?;
            Ok(vec![fact])
        }
        Expr::Call(call) if is_call(call, "aligned") => aligned(interpreter, call, text),
        Expr::Assign(assign) => Err(Error::new_spanned(
            assign.eq_token,
            "a fact compares by `==`: `=` assigns",
        )),
        other => Err(Error::new_spanned(other, FACT)),
    }
}

/// Refuses a fact with a number of a list's tensors and another number of the launch: it would have to say of which tensor.
fn check_lists(interpreter: &Interpreter<'_>, fact: &Fact, expr: &ExprBinary) -> Result<()> {
    let numbers = [fact.left.quantities(), fact.right.quantities()].concat();
    let of_list = |quantity: &Quantity| match quantity {
        Quantity::Extent(of, _) | Quantity::Stride(of, _) | Quantity::Address(of) => {
            interpreter.b.params[of.param].list.is_some()
        }
        Quantity::Scalar(_) | Quantity::Length(_) => false,
    };
    if numbers.len() > 1 && numbers.iter().any(of_list) {
        let message = "a fact about the tensors of a list has one number of them, and others that are known: \
                       `extent(x, 1) % 8 == 0`";
        return Err(Error::new_spanned(expr, message));
    }
    Ok(())
}

/// `aligned(x, bytes)`: the address and all strides but the last are multiples of this number of bytes.
fn aligned(interpreter: &mut Interpreter<'_>, call: &ExprCall, text: String) -> Result<Vec<Fact>> {
    let (x, bytes) = arguments(interpreter, call)?;
    let (param, rank, width) = tensor(interpreter, x)?;
    let Some(by) = bytes.filter(|bytes| *bytes > 0) else {
        return Err(Error::new(
            call.args[1].span(),
            "expected a number of bytes",
        ));
    };
    let multiple = |term: Term| Fact {
        left: Term::Op(Op::Rem, Box::new(term), Box::new(Term::Known(by))),
        cmp: Cmp::Eq,
        right: Term::Known(0),
        text: text.clone(),
    };
    let stride = |mode| {
        let stride = Box::new(Term::Of(Quantity::Stride(param.into(), mode)));
        Term::Op(Op::Mul, stride, Box::new(Term::Known(width)))
    };
    let strides = (0..rank - 1).map(stride);
    let address = Term::Of(Quantity::Address(param.into()));
    Ok([address].into_iter().chain(strides).map(multiple).collect())
}

fn term(interpreter: &mut Interpreter<'_>, expr: &Expr) -> Result<Term> {
    let expr = bare(expr);
    match expr {
        Expr::Binary(binary)
            if let Some(op @ (Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Rem)) =
                operation(&binary.op) =>
        {
            let left = term(interpreter, &binary.left)?;
            let right = term(interpreter, &binary.right)?;
            match (left, right) {
                (Term::Known(a), Term::Known(b)) => fold(op, a, b)
                    .map(Term::Known)
                    .map_err(|why| Error::new_spanned(expr, format!("this number {why}"))),
                (_, Term::Known(0)) if matches!(op, Op::Div | Op::Rem) => {
                    Err(Error::new_spanned(&binary.right, "division by zero"))
                }
                (left, right) => Ok(Term::Op(op, Box::new(left), Box::new(right))),
            }
        }
        Expr::Call(call) if is_call(call, "extent") || is_call(call, "stride") => {
            let (x, mode) = arguments(interpreter, call)?;
            let (param, rank, _) = tensor(interpreter, x)?;
            let mode = mode.and_then(|mode| usize::try_from(mode).ok());
            let Some(mode) = mode.filter(|mode| *mode < rank) else {
                let message = format!("expected a mode, from 0 to {}", rank - 1);
                return Err(Error::new(call.args[1].span(), message));
            };
            Ok(Term::Of(match is_call(call, "extent") {
                true => Quantity::Extent(param.into(), mode),
                false => Quantity::Stride(param.into(), mode),
            }))
        }
        Expr::Call(call) if is_call(call, "ceil_div") && call.args.len() == 2 => {
            let (a, b) = (
                term(interpreter, &call.args[0])?,
                term(interpreter, &call.args[1])?,
            );
            match (a, b) {
                (Term::Known(_), Term::Known(_)) => known(interpreter, expr),
                (_, Term::Known(..=0)) => {
                    let message = "`ceil_div` divides by a number of at least 1";
                    Err(Error::new_spanned(&call.args[1], message))
                }
                (a, b) => Ok(Term::Ceiling(Box::new(a), Box::new(b))),
            }
        }
        Expr::MethodCall(call) if call.method == "len" && call.args.is_empty() => {
            match interpreter.eval(&call.receiver)? {
                Value::List(list) => Ok(Term::Of(Quantity::Length(list))),
                other => {
                    let name = text::shorten(call.receiver.to_token_stream());
                    let instead = match other {
                        Value::Global(_) | Value::TmaTensor(_) => {
                            format!(": the extent of mode 0 is `extent({name}, 0)`")
                        }
                        _ => String::new(),
                    };
                    let message = format!(
                        "`len()` is of a parameter that is a list, not of {}{instead}",
                        other.kind()
                    );
                    Err(Error::new_spanned(expr, message))
                }
            }
        }
        Expr::Path(path) if let Some(param) = scalar(interpreter, path) => {
            Ok(Term::Of(Quantity::Scalar(param)))
        }
        _ => known(interpreter, expr),
    }
}

/// A number known at expansion.
fn known(interpreter: &mut Interpreter<'_>, expr: &Expr) -> Result<Term> {
    match interpreter.eval(expr)? {
        Value::Int(value, _) => Ok(Term::Known(value)),
        _ => Err(Error::new_spanned(expr, NUMBER)),
    }
}

/// The index of the integer parameter with this name.
fn scalar(interpreter: &Interpreter<'_>, path: &syn::ExprPath) -> Option<usize> {
    let name = path.path.get_ident()?.to_string();
    let is_integer = |kind: &ParamKind| matches!(kind, ParamKind::Scalar(ty) if is_integer(*ty));
    let mut params = interpreter.b.params.iter();
    params.position(|param| param.name == name && param.list.is_none() && is_integer(&param.kind))
}

/// The two arguments of `extent`, `stride` or `aligned`; the second is known at expansion.
fn arguments<'e>(
    interpreter: &mut Interpreter<'_>,
    call: &'e ExprCall,
) -> Result<(&'e Expr, Option<i128>)> {
    let arguments: Vec<&Expr> = call.args.iter().collect();
    let [x, number] = arguments[..] else {
        let name = call.func.to_token_stream();
        let message = format!("`{name}` takes a tensor and a number");
        return Err(Error::new_spanned(call, message));
    };
    match interpreter.eval(number)? {
        Value::Int(number, _) => Ok((x, Some(number))),
        _ => Ok((x, None)),
    }
}

/// The index of a tensor parameter, its rank, and the bytes of an element.
fn tensor(interpreter: &Interpreter<'_>, x: &Expr) -> Result<(usize, usize, i128)> {
    let name = match x {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    };
    let mut params = interpreter.b.params.iter().enumerate();
    let param = params.find(|(_, param)| Some(&param.name) == name.as_ref());
    match param.map(|(index, param)| (index, &param.kind)) {
        Some((index, ParamKind::Global { element, rank, .. })) => {
            let width = element.bytes_of(1);
            let width = width.map_err(|error| Error::new_spanned(x, error))?;
            Ok((index, *rank, width))
        }
        _ => Err(Error::new_spanned(
            x,
            "expected a parameter of type `Global`",
        )),
    }
}

fn is_call(call: &ExprCall, name: &str) -> bool {
    matches!(&*call.func, Expr::Path(path) if path.path.is_ident(name))
}
