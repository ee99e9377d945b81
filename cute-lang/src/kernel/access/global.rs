//! Elements of tensors in global memory.

use crate::kernel::emit::builder::{Builder, address_operand};
use crate::kernel::emit::param::ParamKind;
use crate::kernel::value::{Global, Num, Value};
use cute_ptx::ast::{Operand, Type};
use cute_ptx::table::{Modifier, Opcode};
use syn::Result;

/// The address of an element of a tensor parameter: `pointer + bytes · (Σ index · stride)`, where the last stride is 1.
pub(crate) fn global_address(
    b: &mut Builder,
    global: &Global,
    coordinate: &Value,
) -> Result<Operand> {
    let place = b.place();
    let param = &mut b.params[global.param];
    let ParamKind::Global { rank, accessed, .. } = &mut param.kind else {
        let message = format!("`{}` is not accessed element by element", param.name);
        return Err(b.error(message));
    };
    accessed.get_or_insert(place);
    let (rank, param) = (*rank, param.clone());
    let coordinates = match coordinate {
        Value::Tuple(coordinates) => coordinates
            .iter()
            .map(Value::as_num)
            .collect::<Option<Vec<_>>>(),
        single => single.as_num().map(|num| vec![num]),
    };
    let Some(coordinates) = coordinates.filter(|coordinates| coordinates.len() == rank) else {
        return Err(b.error(format!(
            "an element of `{}` has {rank} coordinates, each an integer",
            param.name
        )));
    };
    let mut sum = Num::Const(0);
    for (mode, coordinate) in coordinates.iter().enumerate() {
        let coordinate = match coordinate {
            Num::Reg(scalar) => Num::Reg(b.convert(scalar, Type::U64)?),
            known => known.clone(),
        };
        let term = if mode + 1 < rank {
            let symbol = param.stride_symbol(mode);
            let stride = b.parameter(&symbol, &symbol, Type::U64, |_, _| {});
            b.mul(&coordinate, &stride.into())?
        } else {
            coordinate
        };
        sum = b.add(&sum, &term)?;
    }
    let bytes = b.mul(&sum, &Num::from(global.element.bytes()))?;
    let symbol = param.pointer_symbol();
    let pointer = b.parameter(&symbol, &symbol, Type::U64, |b, pointer| {
        // The parameter is a generic address, and the loads and stores take one of global memory.
        let both = [pointer.operand(), pointer.operand()];
        b.emit(Opcode::CvtaTo, Modifier::Global, both);
    });
    match bytes {
        Num::Const(offset) => match i64::try_from(offset) {
            Ok(offset) => Ok(address_operand(&pointer, offset)),
            Err(_) => Err(b.error(format!("offset {offset} does not fit 64 bits"))),
        },
        Num::Reg(_) => {
            let sum = b.add(&pointer.into(), &bytes)?;
            let register = b.to_register(&sum, Type::U64)?;
            Ok(address_operand(&register, 0))
        }
    }
}
