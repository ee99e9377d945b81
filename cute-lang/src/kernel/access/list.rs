//! Items of lists of parameters.

use crate::kernel::access::check::check;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::facts::Quantity;
use crate::kernel::emit::operation::Cmp;
use crate::kernel::emit::param::{ParamKind, Unproven};
use crate::kernel::value::{Global, Num, TmaTensor, Value};
use cute_ptx::ast::Type;
use syn::Result;

/// The item of a list at an index.
pub(crate) fn pick(b: &mut Builder, list: usize, index: &Value) -> Result<Value> {
    let index = match index.as_num() {
        Some(Num::Reg(index)) if index.ty.bits() == 32 => {
            let index = b.convert(&index, Type::U32)?;
            Num::Reg(b.snapshot(&index))
        }
        Some(Num::Const(known)) => Num::Const(known),
        _ => {
            return Err(b.error(format!(
                "the index of a list of parameters is a `u32`, not {}",
                index.kind()
            )));
        }
    };
    require(b, list, &index)?;
    let param = b.params[list].clone();
    Ok(match param.kind {
        ParamKind::Scalar(ty) => b.pick_number(&param.symbol, ty, &index)?.into(),
        ParamKind::TmaLoad(_) | ParamKind::TmaStore(_) => {
            Value::TmaTensor(TmaTensor(b.pick(list, &index)?))
        }
        ParamKind::Global { element, rank, .. } => {
            Value::Global(Global::whole(element, b.pick(list, &index)?, rank))
        }
    })
}

impl Builder {
    /// A representative of the items of a list, where only the type matters, and the maximal number of items.
    pub fn item_of(&mut self, list: usize) -> (Value, i128) {
        let param = &self.params[list];
        let most = param.list.as_ref().map_or(1, |list| list.most.into());
        let item = match param.kind {
            ParamKind::Scalar(ty) => self.register(ty).into(),
            ParamKind::TmaLoad(_) | ParamKind::TmaStore(_) => {
                Value::TmaTensor(TmaTensor(list.into()))
            }
            ParamKind::Global { element, rank, .. } => {
                Value::Global(Global::whole(element, list.into(), rank))
            }
        };
        (item, most)
    }
}

/// Requires that an index is below the length of a list. If there is no proof, a checked kernel checks it at run time, and another kernel
/// must be an `unsafe fn`.
fn require(b: &mut Builder, list: usize, index: &Num) -> Result<()> {
    let name = b.params[list].name.clone();
    let most = b.params[list].list.as_ref().map_or(0, |list| list.most);
    if let Num::Const(known) = index
        && !(0..most.into()).contains(known)
    {
        return Err(b.error(format!(
            "index {known} is outside of `{name}`, which has at most {most} parameters"
        )));
    }
    if b.known.is_below(index, Quantity::Length(list)) {
        return Ok(());
    }
    let noted = b.params[list].list.as_ref().map(|list| &list.unproven);
    if !b.checked && matches!(noted, Some(Some(_))) {
        return Ok(());
    }
    if !b.checked {
        let remedy = match index {
            Num::Const(known) => {
                format!(
                    "state the fact `{name}.len() > {known}`, or put the access under it as a condition"
                )
            }
            Num::Reg(_) => {
                let (what, length) = ("the index", format!("{name}.len()"));
                let put =
                    || format!("put it under a condition by which {what} is below `{length}`");
                b.changing(what, index, &length).unwrap_or_else(put)
            }
        };
        let unproven = Unproven {
            place: b.place(),
            remedy: Some(remedy),
        };
        if let Some(list) = &mut b.params[list].list {
            list.unproven.get_or_insert(unproven);
        }
        return Ok(());
    }
    let length = b.length(list);
    let holds = b.compare_and(Cmp::Gt, &length, index, None)?;
    check(b, &holds, &name, |_| {
        Ok([index.clone().into(), length.clone().into()])
    })?;
    b.known.assume_below(index, &length);
    Ok(())
}
