//! A module of kernels to PTX, instance by instance.

use super::builder::Builder;
use super::builtins::Argument;
use super::interp::Interpreter;
use super::interp::function::check_generic;
use super::param::{Param, ParamKind, TmaParam, ascii};
use super::parse::{self, Errors, Instance, Kernel, Source, parameter_name};
use super::tensor::Global;
use super::tma::TmaTensor;
use super::value::{Element, Value, register_type};
use cute_hopper::threads::{MAX_CLUSTER, MAX_CTA, MAX_PARAMETER_BYTES};
use cute_hopper::tma;
use cute_ptx::ast::{self, Directive, Entry, Item, Line, Module, ParamType, Type, Variable};
use cute_ptx::table::Opcode;
use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, FnArg, GenericArgument, Pat, PathArguments, Result, Token};

/// The version of PTX that kernels are written in unless they use more: almost everything for sm_90a is in it.
const PTX_VERSION: (u32, u32) = (8, 0);

/// A kernel with its parameters chosen, as PTX.
pub struct Lowered {
    /// Name of the entry.
    pub name: Ident,
    /// The kernel's doc comment.
    pub docs: Vec<Attribute>,
    /// The keyword, where the kernel is an `unsafe fn`; its launch is one, too.
    pub unsafety: Option<Token![unsafe]>,
    /// The PTX.
    pub module: Module,
    /// Parameters of the entry.
    pub params: Vec<Param>,
    /// Threads of a CTA.
    pub threads: u32,
    /// CTAs of a cluster.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub smem_bytes: u32,
    /// What there is to know about layouts: shared memory and tensor maps.
    pub notes: Vec<String>,
}

/// Lowers all instances of a module, given as its source.
///
/// ```
/// let source = "
///     mod kernels {
///         #[kernel(threads = 32)]
///         pub fn nothing(n: u32) {}
///     }";
/// let instances = cute_lang::kernel::lower::lower(source.parse()?)?;
/// assert!(instances[0].module.to_string().contains(".reqntid 32"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn lower(module: TokenStream) -> Result<Vec<Lowered>> {
    instances(&parse::source(module)?)
}

/// Lowers all instances of a parsed module.
pub fn instances(source: &Source) -> Result<Vec<Lowered>> {
    let mut lowered = Vec::new();
    let mut errors = Errors::default();
    for kernel in &source.kernels {
        for instance in &kernel.instances {
            match lower_instance(source, kernel, instance) {
                Ok(instance) => lowered.push(instance),
                Err(error) => {
                    // What is wrong with the kernel is wrong with all its instances; it is said once.
                    errors.push(error);
                    break;
                }
            }
        }
    }
    errors.finish(lowered)
}

fn lower_instance(source: &Source, kernel: &Kernel, instance: &Instance) -> Result<Lowered> {
    let mut interpreter = Interpreter::new(source, Builder::new(1, [1, 1, 1]));
    for param in &kernel.function.sig.generics.params {
        let Some(name) = parameter_name(param) else {
            return Err(Error::new(
                param.span(),
                "a kernel takes type and const parameters",
            ));
        };
        // `parse` has checked that there is one.
        if let Some((_, expr)) = instance.values.iter().find(|(given, _)| given == name) {
            let argument = Argument {
                value: interpreter.eval(expr)?,
                span: expr.span(),
            };
            let (name, value) = check_generic(param, argument)?;
            interpreter.define(&name, value);
        }
    }
    let threads = constant(&mut interpreter, &kernel.threads, MAX_CTA)?;
    let cluster = match &kernel.cluster {
        Some(expr) => cluster(&mut interpreter, expr)?,
        None => [1, 1, 1],
    };
    interpreter.b.threads = threads;
    interpreter.b.cluster = cluster;
    for input in &kernel.function.sig.inputs {
        declare(&mut interpreter, input)?;
    }
    interpreter.kernel(&kernel.function.sig.ident, &kernel.function.block)?;

    let parts = interpreter.b.finish()?;
    if kernel.unsafety.is_none() {
        check_accesses(&kernel.function.sig.ident, &parts.params)?;
    }
    let params: Vec<_> = parts.params.iter().flat_map(ptx_params).collect();
    check_parameters(&kernel.function.sig.ident, &params)?;
    let entry = Entry {
        name: entry_name(&instance.name)?,
        params,
        directives: directives(threads, cluster, &parts.body),
        body: parts.body,
    };
    let mut items: Vec<Item> = parts.header.iter().cloned().map(Item::Comment).collect();
    if parts.shared_bytes > 0 {
        items.push(Item::Variable(shared_memory()));
    }
    items.push(Item::Blank);
    items.push(Item::Entry(entry));
    let module = module(items);
    // What is emitted is ours to get right: a mistake must not reach the driver.
    if let Some(error) = cute_ptx::validate(&module).first() {
        return Err(Error::new(
            instance.name.span(),
            format!("the generated PTX is not valid (a defect): {error}"),
        ));
    }
    Ok(Lowered {
        name: instance.name.clone(),
        docs: kernel.docs.clone(),
        unsafety: kernel.unsafety,
        module,
        params: parts.params,
        threads,
        cluster,
        smem_bytes: parts.shared_bytes,
        notes: parts.header,
    })
}

/// The name of the entry, by which the driver finds it.
fn entry_name(instance: &Ident) -> Result<String> {
    let name = instance.unraw().to_string();
    if name.is_ascii() && name != "WARP_SZ" {
        return Ok(name);
    }
    let message = format!("PTX has no entry called `{name}`: use ASCII letters, digits and `_`");
    Err(Error::new(instance.span(), message))
}

/// Refuses a safe kernel that accesses global memory by coordinates: nothing proves that they are inside of the tensor.
fn check_accesses(kernel: &Ident, params: &[Param]) -> Result<()> {
    let mut errors = Errors::default();
    for param in params {
        if let ParamKind::Global {
            accessed: Some(span),
            ..
        } = param.kind
        {
            errors.push(Error::new(
                span,
                format!(
                    "nothing proves that this coordinate is inside of `{}`: make `{kernel}` an `unsafe fn`, whose launch then \
                     relies on its caller",
                    param.name
                ),
            ));
        }
    }
    errors.finish(())
}

fn constant(interpreter: &mut Interpreter<'_>, expr: &Expr, limit: u32) -> Result<u32> {
    let value = interpreter.eval(expr)?;
    int(&value, limit, expr.span())
}

fn int(value: &Value, limit: u32, span: Span) -> Result<u32> {
    match value {
        Value::Int(value, _) => match u32::try_from(*value) {
            Ok(value) if (1..=limit).contains(&value) => Ok(value),
            _ => Err(Error::new(span, format!("{value} is not in 1..={limit}"))),
        },
        other => Err(Error::new(
            span,
            format!("expected an integer, found {}", other.kind()),
        )),
    }
}

fn cluster(interpreter: &mut Interpreter<'_>, expr: &Expr) -> Result<[u32; 3]> {
    let value = interpreter.eval(expr)?;
    let Value::Tuple(extents) = value else {
        return Err(Error::new(
            expr.span(),
            "a cluster has three extents: `cluster = (2, 1, 1)`",
        ));
    };
    let extents = extents
        .iter()
        .map(|extent| int(extent, MAX_CLUSTER, expr.span()))
        .collect::<Result<Vec<_>>>()?;
    let Ok(cluster) = <[u32; 3]>::try_from(extents) else {
        return Err(Error::new(
            expr.span(),
            "a cluster has three extents: `cluster = (2, 1, 1)`",
        ));
    };
    let ctas: u32 = cluster.iter().product();
    if ctas > MAX_CLUSTER {
        return Err(Error::new(
            expr.span(),
            format!("a cluster of {ctas} CTAs: the limit is {MAX_CLUSTER}"),
        ));
    }
    Ok(cluster)
}

// ---- parameters

fn declare(interpreter: &mut Interpreter<'_>, input: &FnArg) -> Result<()> {
    let FnArg::Typed(input) = input else {
        return Err(Error::new_spanned(input, "a kernel has no receiver"));
    };
    let Pat::Ident(pat) = &*input.pat else {
        return Err(Error::new_spanned(
            &input.pat,
            "a parameter of a kernel is a name",
        ));
    };
    if pat.mutability.is_some() || pat.by_ref.is_some() {
        return Err(Error::new_spanned(
            pat,
            "a parameter of a kernel does not change: copy it into a `let mut`",
        ));
    }
    if pat.ident == "device" || pat.ident == "grid" {
        return Err(Error::new(
            pat.ident.span(),
            format!("`{}` is an argument of `launch` already", pat.ident),
        ));
    }
    let (name, index) = (pat.ident.to_string(), interpreter.b.params.len());
    let mut param = Param {
        name: name.clone(),
        symbol: ascii(&name),
        span: pat.ident.span(),
        kind: kind(interpreter, &input.ty)?,
    };
    param.make_unique(&interpreter.b.params);
    let value = match &param.kind {
        ParamKind::TmaLoad(_) | ParamKind::TmaStore(_) => {
            Value::TmaTensor(TmaTensor { param: index })
        }
        ParamKind::Global { element, .. } => Value::Global(Global {
            element: *element,
            param: index,
        }),
        ParamKind::Scalar(ty) => Value::Scalar(interpreter.b.parameter(
            &param.symbol,
            &name,
            *ty,
            |_, _| {},
        )),
    };
    interpreter.b.params.push(param);
    interpreter.define(&name, value);
    Ok(())
}

fn kind(interpreter: &mut Interpreter<'_>, ty: &syn::Type) -> Result<ParamKind> {
    const EXPECTED: &str =
        "expected `TmaLoad<T, R>`, `TmaStore<T, R>`, `Global<T, R>` or a number type";
    let syn::Type::Path(path) = ty else {
        return Err(Error::new_spanned(ty, EXPECTED));
    };
    let Some(segment) = path.path.segments.last() else {
        return Err(Error::new_spanned(ty, EXPECTED));
    };
    let PathArguments::AngleBracketed(generics) = &segment.arguments else {
        return match register_type(&segment.ident.to_string()) {
            Some(ty) if ty != Type::Pred && ty.bits() >= 32 => Ok(ParamKind::Scalar(ty)),
            Some(_) => Err(Error::new_spanned(
                ty,
                "a number parameter has 32 or 64 bits",
            )),
            None => Err(Error::new_spanned(ty, EXPECTED)),
        };
    };
    let [GenericArgument::Type(element), GenericArgument::Const(rank)] =
        &generics.args.iter().collect::<Vec<_>>()[..]
    else {
        return Err(Error::new_spanned(
            ty,
            format!("{EXPECTED}: an element type and a rank"),
        ));
    };
    let syn::Type::Path(element_path) = element else {
        return Err(Error::new_spanned(element, "expected an element type"));
    };
    let expr = syn::ExprPath {
        attrs: Vec::new(),
        qself: None,
        path: element_path.path.clone(),
    };
    let Value::Element(element) = interpreter.eval(&Expr::Path(expr))? else {
        return Err(Error::new_spanned(element, "expected an element type"));
    };
    let rank = constant(interpreter, rank, 5)? as usize;
    let tma = |element: Element| TmaParam {
        element,
        rank,
        recipe: None,
    };
    match segment.ident.to_string().as_str() {
        "TmaLoad" => Ok(ParamKind::TmaLoad(tma(element))),
        "TmaStore" => Ok(ParamKind::TmaStore(tma(element))),
        "Global" => Ok(ParamKind::Global {
            element,
            rank,
            written: false,
            accessed: None,
        }),
        _ => Err(Error::new_spanned(segment, EXPECTED)),
    }
}

/// A module of the least version in which everything it uses exists.
pub(super) fn module(items: Vec<Item>) -> Module {
    let module = Module {
        version: PTX_VERSION,
        target: cute_hopper::TARGET.into(),
        items,
    };
    Module {
        version: module.required_version().max(PTX_VERSION),
        ..module
    }
}

/// The PTX parameters that a parameter becomes.
fn ptx_params(param: &Param) -> Vec<ast::Param> {
    let ty = match &param.kind {
        ParamKind::TmaLoad(_) | ParamKind::TmaStore(_) => ParamType::Bytes {
            align: tma::MAP_ALIGN,
            len: tma::MAP_BYTES as u32,
        },
        ParamKind::Global { .. } => ParamType::Scalar(Type::U64),
        ParamKind::Scalar(ty) => ParamType::Scalar(*ty),
    };
    let symbols = param.symbols().into_iter();
    symbols
        .map(|name| ast::Param {
            name,
            ty: ty.clone(),
        })
        .collect()
}

/// Refuses more parameters than PTX has room for.
fn check_parameters(kernel: &Ident, params: &[ast::Param]) -> Result<()> {
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
            "the parameters take {bytes} bytes, and a kernel has {MAX_PARAMETER_BYTES}: a tensor map is {}",
            tma::MAP_BYTES
        ),
    ))
}

fn shared_memory() -> Variable {
    Variable {
        external: true,
        space: "shared".into(),
        align: super::builder::SHARED_ALIGN,
        ty: Type::B8,
        name: "smem".into(),
        len: None,
    }
}

fn directives(threads: u32, cluster: [u32; 3], body: &[Line]) -> Vec<Directive> {
    let mut directives = vec![Directive {
        name: "reqntid".into(),
        values: vec![threads, 1, 1],
    }];
    let resizes = |line: &Line| matches!(line, Line::Inst(inst) if inst.mnemonic.opcode() == Opcode::Setmaxnreg);
    if body.iter().any(resizes) {
        // Without a number of CTAs to a multiprocessor, ptxas drops setmaxnreg from a kernel of few registers (C7508).
        directives.push(Directive {
            name: "minnctapersm".into(),
            values: vec![1],
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
