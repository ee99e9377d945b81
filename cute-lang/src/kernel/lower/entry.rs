//! The entry of a kernel in PTX.

use crate::kernel::emit::builder::SHARED_ALIGN;
use crate::kernel::emit::param::Param;
use crate::kernel::emit::param::ParamKind;
use crate::kernel::emit::report::PARAMETER;
use cute_hopper::threads::MAX_PARAMETER_BYTES;
use cute_hopper::tma;
use cute_ptx::ast;
use cute_ptx::ast::{Directive, Line, ParamType, Type, Variable};
use cute_ptx::table::Opcode;
use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::{Error, Result};

/// The name of the entry, by which the driver finds it.
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

/// The PTX parameters for a parameter.
pub(super) fn ptx_params(param: &Param) -> Vec<ast::Param> {
    let scalar = |name, ty| ast::Param {
        name,
        ty: ParamType::Scalar(ty),
    };
    match param.kind {
        ParamKind::TmaLoad(_) | ParamKind::TmaStore(_) => vec![ast::Param {
            name: param.symbol.clone(),
            ty: ParamType::Bytes {
                align: tma::MAP_ALIGN,
                len: tma::MAP_BYTES as u32,
            },
        }],
        ParamKind::Global { rank, extents, .. } => {
            let mut params = vec![scalar(param.pointer_symbol(), Type::U64)];
            params.extend((0..rank - 1).map(|mode| scalar(param.stride_symbol(mode), Type::U64)));
            let modes = 0..if extents { rank } else { 0 };
            params.extend(modes.map(|mode| scalar(param.extent_symbol(mode), Type::U32)));
            params
        }
        ParamKind::Scalar(ty) => vec![scalar(param.symbol.clone(), ty)],
    }
}

/// The PTX parameter of a kernel that reports.
pub(super) fn report_buffer() -> ast::Param {
    ast::Param {
        name: PARAMETER.into(),
        ty: ParamType::Scalar(Type::U64),
    }
}

/// Refuses more bytes of parameters than PTX allows.
pub(super) fn check_parameters(kernel: &Ident, params: &[ast::Param]) -> Result<()> {
    let bytes = params.iter().fold(0u64, |end, param| {
        let (align, len) = match param.ty {
            ParamType::Bytes { align, len } => (align.into(), len.into()),
            ParamType::Scalar(ty) => (u64::from(ty.bits() / 8), u64::from(ty.bits() / 8)),
        };
        end.next_multiple_of(align) + len
    });
    if bytes <= MAX_PARAMETER_BYTES.into() {
        return Ok(());
    }
    Err(Error::new(
        kernel.span(),
        format!(
            "the parameters take {bytes} bytes, but a kernel has {MAX_PARAMETER_BYTES}; a tensor map takes {}",
            tma::MAP_BYTES
        ),
    ))
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
