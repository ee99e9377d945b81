//! The entry of a kernel in PTX.

use crate::kernel::emit::builder::SHARED_ALIGN;
use crate::kernel::emit::param::{List, Param};
use crate::kernel::emit::report::PARAMETER;
use cute_chip::threads::MAX_PARAMETER_BYTES_8_1;
use cute_chip::tma;
use cute_ptx::ast;
use cute_ptx::ast::{Directive, Line, ParamType, Type, Variable};
use cute_ptx::table::Opcode;
use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::{Error, Result};

/// The name of the entry for the driver.
pub(super) fn entry_name(instance: &Ident) -> Result<String> {
    let name = instance.unraw().to_string();
    if name.is_ascii() && name != "WARP_SZ" {
        return Ok(name);
    }
    let message = format!(
        "`{name}` cannot be the name of an entry in PTX: use another, of ASCII letters, digits and `_`"
    );
    Err(Error::new(instance.span(), message))
}

/// The PTX parameters of a parameter. A list has arrays, followed by its number of items.
pub(super) fn ptx_params(param: &Param) -> Vec<ast::Param> {
    let Some(List { most, .. }) = param.list else {
        return param.ptx();
    };
    let parts = param.ptx().into_iter().map(|ast::Param { name, ty }| {
        let (align, bytes) = ty.layout();
        let len = bytes.saturating_mul(most);
        let ty = ParamType::Bytes { align, len };
        ast::Param { name, ty }
    });
    let length = ast::Param {
        name: param.length_symbol(),
        ty: ParamType::Scalar(Type::U32),
    };
    parts.chain([length]).collect()
}

/// The PTX parameter for the report buffer.
pub(super) fn report_buffer() -> ast::Param {
    ast::Param {
        name: PARAMETER.into(),
        ty: ParamType::Scalar(Type::U64),
    }
}

/// Refuses more bytes of parameters than PTX allows, at the first parameter that exceeds the limit. The report buffer, if there is one, is
/// last.
pub(super) fn check_parameters(params: &[Param], reports: Option<&ast::Param>) -> Result<()> {
    let mut end = 0;
    for (index, param) in params.iter().enumerate() {
        let behind = reports.filter(|_| index + 1 == params.len());
        let parts = ptx_params(param).into_iter().chain(behind.cloned());
        end = parts.fold(end, |end, part| part.end(end));
        if end > MAX_PARAMETER_BYTES_8_1.into() {
            return Err(Error::new(
                param.span,
                format!(
                    "the parameters up to this one take {end} bytes, but a kernel has {MAX_PARAMETER_BYTES_8_1}; a tensor map takes {}",
                    tma::MAP_BYTES
                ),
            ));
        }
    }
    Ok(())
}

pub(super) fn shared_memory() -> Variable {
    Variable {
        init: Vec::new(),
        external: true,
        space: "shared".into(),
        align: SHARED_ALIGN,
        ty: Type::B8,
        name: "smem".into(),
        len: None,
    }
}

pub(super) fn directives(
    threads: u32,
    cluster: [u32; 3],
    resident: u32,
    body: &[Line],
) -> Vec<Directive> {
    let mut directives = vec![Directive {
        name: "reqntid".into(),
        values: vec![threads, 1, 1],
    }];
    let resizes = |line: &Line| matches!(line, Line::Inst(inst) if inst.mnemonic.opcode() == Opcode::Setmaxnreg);
    // Without `.minnctapersm`, ptxas drops setmaxnreg from a kernel of few registers (C7508).
    let resident = resident.max(body.iter().any(resizes).into());
    if resident > 0 {
        directives.push(Directive {
            name: "minnctapersm".into(),
            values: vec![resident],
        });
    }
    if cluster != [1, 1, 1] {
        directives.push(Directive {
            name: "explicitcluster".into(),
            values: Vec::new(),
        });
        directives.push(Directive {
            name: "reqnctapercluster".into(),
            values: cluster.into(),
        });
    }
    directives
}
