//! Numbers and truth values of a kernel's attributes.

use crate::kernel::builtins::call::outside;
use crate::kernel::interp::Interpreter;
use crate::kernel::value::Value;
use std::ops::RangeInclusive;
use syn::spanned::Spanned;
use syn::{Error, Expr, Result};

pub(super) fn constant(
    interpreter: &mut Interpreter<'_>,
    what: &str,
    expr: &Expr,
    limits: RangeInclusive<u32>,
) -> Result<u32> {
    let value = interpreter.eval(expr)?;
    int(what, &value, limits, expr)
}

pub(super) fn truth(interpreter: &mut Interpreter<'_>, expr: &Expr) -> Result<bool> {
    match interpreter.eval(expr)? {
        Value::Bool(value) => Ok(value),
        other => Err(Error::new(
            expr.span(),
            format!("expected `true` or `false`, found {}", other.kind()),
        )),
    }
}

fn int(what: &str, value: &Value, limits: RangeInclusive<u32>, expr: &Expr) -> Result<u32> {
    match value {
        Value::Int(value, _) => match u32::try_from(*value) {
            Ok(value) if limits.contains(&value) => Ok(value),
            _ => Err(Error::new_spanned(expr, outside(what, value, &limits))),
        },
        other => Err(Error::new_spanned(
            expr,
            format!("{what} is an integer, not {}", other.kind()),
        )),
    }
}

pub(super) fn cluster(interpreter: &mut Interpreter<'_>, expr: &Expr) -> Result<[u32; 3]> {
    let chip = interpreter.b.chip;
    let value = interpreter.eval(expr)?;
    let Value::Tuple(extents) = value else {
        return Err(Error::new(
            expr.span(),
            "a cluster has three extents: `cluster = (2, 1, 1)`",
        ));
    };
    let extents = extents
        .iter()
        .map(|extent| match extent {
            Value::Int(ctas, _) if *ctas != 1 && !chip.has_clusters() => Err(Error::new_spanned(
                expr,
                format!("the kernel is for {chip}, which has no clusters"),
            )),
            extent => int(
                "an extent of `cluster`",
                extent,
                1..=chip.cluster_ctas,
                expr,
            ),
        })
        .collect::<Result<Vec<_>>>()?;
    let Ok(cluster) = <[u32; 3]>::try_from(extents) else {
        return Err(Error::new(
            expr.span(),
            "a cluster has three extents: `cluster = (2, 1, 1)`",
        ));
    };
    let ctas: u32 = cluster.iter().product();
    let most = chip.cluster_ctas;
    if ctas > most {
        return Err(Error::new(
            expr.span(),
            format!("a cluster of {ctas} CTAs: the limit is {most}"),
        ));
    }
    Ok(cluster)
}
