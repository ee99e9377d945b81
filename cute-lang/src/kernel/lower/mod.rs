//! A module of kernels to PTX, instance by instance.

mod constant;
mod constants;
mod entry;
mod facts;
mod numbered;
mod open;
mod parameter;

use crate::kernel::builtins::call::Argument;
use crate::kernel::emit::builder::Builder;
use crate::kernel::emit::facts::Fact;
use crate::kernel::emit::inference::Inference;
use crate::kernel::emit::module::module;
use crate::kernel::emit::param::{Param, Unproven};
use crate::kernel::emit::report::Report;
use crate::kernel::interp::Interpreter;
use crate::kernel::interp::generics::check_generic;
use crate::kernel::interp::resolve::check_names;
use crate::kernel::syntax::errors::Errors;
use crate::kernel::syntax::generics::parameter_name;
use crate::kernel::syntax::instance::Instance;
use crate::kernel::syntax::kernel::Kernel;
use crate::kernel::syntax::library::bindings_from;
use crate::kernel::syntax::module::Module as Kernels;
use crate::kernel::syntax::source::{HERE, Source};
use crate::kernel::value::Value;
use constant::{cluster, constant, truth};
pub(crate) use constants::constants;
use cute_ptx::ast::{Entry, Item, Module};
use entry::{check_parameters, directives, entry_name, ptx_params, report_buffer, shared_memory};
use facts::facts;
pub(crate) use numbered::Numbered;
use numbered::number;
pub(crate) use open::{Field, FieldType, Open, opens};
use parameter::{check_are_free, declare};
use proc_macro2::{Ident, TokenStream};
use syn::spanned::Spanned;
use syn::{Attribute, Error, GenericParam, Result, Token};

/// An instance of a kernel, as PTX.
pub struct Lowered {
    /// Name of the entry.
    pub name: Ident,
    /// The kernel's doc comment.
    pub docs: Vec<Attribute>,
    /// The keyword, if the kernel is an `unsafe fn`. Its launch is then unsafe, too.
    pub unsafety: Option<Token![unsafe]>,
    /// The values of the instance's const parameters.
    pub(crate) constants: Vec<(String, Value)>,
    /// The PTX.
    pub module: Module,
    /// Parameters of the entry.
    pub params: Vec<Param>,
    /// The facts that a launch checks.
    pub facts: Vec<Fact>,
    /// Threads of a CTA.
    pub threads: u32,
    /// CTAs of a cluster.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub smem_bytes: u32,
    /// The comments of the header: the contents of shared memory, and the needed tensor maps.
    pub notes: Vec<String>,
    /// The statements that report to the host. If there are any, the entry has one more parameter.
    pub reports: Vec<Report>,
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
    lower_with(module, &[])
}

/// Lowers all instances of a module that imports from other modules of kernels, given with their paths.
///
/// ```
/// let library = "mod kernels { pub fn double(x: u32) -> u32 { x * 2 } }";
/// let source = "
///     mod kernels {
///         use crate::library::double;
///         #[kernel(threads = 32)]
///         pub unsafe fn doubled(x: Global<u32, 1>) { x[thread()] = double(x[thread()]); }
///     }";
/// let libraries = [("crate::library", library.parse()?)];
/// let instances = cute_lang::kernel::lower::lower_with(source.parse()?, &libraries)?;
/// assert!(instances[0].module.to_string().contains("shl.b32"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn lower_with(module: TokenStream, libraries: &[(&str, TokenStream)]) -> Result<Vec<Lowered>> {
    let module = Kernels::parse(module)?;
    let passed = bindings_from(&module, libraries)?;
    instances(&mut Source::new(module, &passed)?)
}

/// Lowers all instances of a parsed module.
pub fn instances(source: &mut Source) -> Result<Vec<Lowered>> {
    let kernels = kernels(source)?.into_iter();
    Ok(kernels.flat_map(LoweredKernel::into_lowered).collect())
}

/// A kernel with its instances, in the order of its syntax.
pub(crate) struct LoweredKernel {
    pub(crate) instances: Vec<Made>,
    /// The parameters of the entry. They are the same for all instances, except for element types.
    pub(crate) params: Vec<Param>,
}

impl LoweredKernel {
    /// The instances that are built.
    pub(crate) fn lowered(&self) -> impl Iterator<Item = &Lowered> {
        self.instances.iter().filter_map(|made| match made {
            Made::Lowered(lowered) => Some(&**lowered),
            Made::Unbuilt(_) => None,
        })
    }

    /// The same, without the kernel.
    pub(crate) fn into_lowered(self) -> impl Iterator<Item = Lowered> {
        self.instances.into_iter().filter_map(|made| match made {
            Made::Lowered(lowered) => Some(*lowered),
            Made::Unbuilt(_) => None,
        })
    }
}

/// The result for an instance.
pub(crate) enum Made {
    /// PTX.
    Lowered(Box<Lowered>),
    /// Nothing, since features are off.
    Unbuilt(Unbuilt),
}

/// An instance that is not in this build of the crate.
pub(crate) struct Unbuilt {
    /// The values of the const parameters.
    constants: Vec<(String, Value)>,
    /// The features that would add it.
    pub(crate) missing: Vec<String>,
}

impl Made {
    /// The values of the const parameters.
    pub(crate) fn constants(&self) -> &[(String, Value)] {
        match self {
            Self::Lowered(lowered) => &lowered.constants,
            Self::Unbuilt(unbuilt) => &unbuilt.constants,
        }
    }
}

/// Lowers all kernels of a parsed module, by instances. Kernels with values that have no names get their instances first.
pub(crate) fn kernels(source: &mut Source) -> Result<Vec<LoweredKernel>> {
    let numbered = number(source)?;
    let source = &*source;
    let mut errors = Errors::default();
    let kernels = source.module(HERE).kernels.iter();
    let lowered = kernels.map(|kernel| lower_kernel(source, kernel, &numbered));
    let lowered = lowered.filter_map(|lowered| errors.record(lowered));
    let lowered = lowered.collect();
    let lowered = errors.finish(lowered)?;
    check_names(source)?;
    Ok(lowered)
}

fn lower_kernel(source: &Source, kernel: &Kernel, numbered: &Numbered) -> Result<LoweredKernel> {
    check_are_free(source, kernel)?;
    let mut instances = Vec::new();
    let mut failed: Vec<(&Ident, Error)> = Vec::new();
    for instance in &kernel.instances {
        let missing = source.missing_features(instance);
        let made = match missing.is_empty() {
            true => lower_instance(source, kernel, instance, numbered)
                .map(|lowered| Made::Lowered(Box::new(lowered))),
            false => with_values(source, kernel, instance, numbered, Inference::default())
                .map(|(_, constants)| Made::Unbuilt(Unbuilt { constants, missing })),
        };
        match made {
            Ok(made) => instances.push(made),
            Err(error) => failed.push((&instance.name, error)),
        }
        if failed.len() == MOST_FAILED {
            break;
        }
    }
    first_failure(failed, !instances.is_empty())?;
    let mut kernel_lowered = LoweredKernel {
        instances,
        params: Vec::new(),
    };
    let params = kernel_lowered
        .lowered()
        .next()
        .map(|lowered| lowered.params.clone());
    kernel_lowered.params = match (params, kernel.instances.first()) {
        (Some(params), _) => params,
        // The tensors that a kernel writes are known only when it is lowered.
        (None, Some(instance)) => lower_instance(source, kernel, instance, numbered)?.params,
        (None, None) => Vec::new(),
    };
    Ok(kernel_lowered)
}

/// The most failing instances of a kernel before the others are skipped.
const MOST_FAILED: usize = 3;

/// The errors of the first failed instance: others mostly have the same. The errors name the instances if another one passed.
fn first_failure(failed: Vec<(&Ident, Error)>, others_passed: bool) -> Result<()> {
    let names: Vec<String> = failed.iter().map(|(name, _)| format!("`{name}`")).collect();
    let Some((_, error)) = failed.into_iter().next() else {
        return Ok(());
    };
    let wanted = match &names[..] {
        _ if !others_passed => return Err(error),
        [name] => format!("the instance {name}"),
        names => format!("the instances {}", names.join(", ")),
    };
    let mut errors = Errors::default();
    for error in error {
        errors.push(Error::new(error.span(), format!("{error} (in {wanted})")));
    }
    errors.finish(())
}

/// Lowers an instance with all of its values.
pub(crate) fn lower_instance(
    source: &Source,
    kernel: &Kernel,
    instance: &Instance,
    numbered: &Numbered,
) -> Result<Lowered> {
    lower_from(source, kernel, instance, numbered, Inference::default())
}

/// Lowers an instance with the types of its literals as far as they are known.
fn lower_from(
    source: &Source,
    kernel: &Kernel,
    instance: &Instance,
    numbered: &Numbered,
    inference: Inference,
) -> Result<Lowered> {
    let (mut interpreter, constants) = with_values(source, kernel, instance, numbered, inference)?;
    let most = 1..=kernel.chip.cta_threads;
    let threads = constant(&mut interpreter, "`threads`", &kernel.threads, most)?;
    let cluster = match &kernel.cluster {
        Some(expr) => cluster(&mut interpreter, expr)?,
        None => [1, 1, 1],
    };
    let resident = match &kernel.resident {
        Some(expr) => {
            let most = kernel.chip.resident_ctas_of(threads);
            constant(&mut interpreter, "`resident`", expr, 0..=most)?
        }
        None => 0,
    };
    if let Some(expr) = &kernel.checked {
        interpreter.b.checked = truth(&mut interpreter, expr)?;
    }
    interpreter.b.threads = threads;
    interpreter.b.cluster = cluster;
    let name = &kernel.function.sig.ident;
    interpreter.b.sites.set_source(source.location(name.span()));
    for input in &kernel.function.sig.inputs {
        declare(&mut interpreter, input)?;
    }
    interpreter.b.known.facts = facts(&mut interpreter, &kernel.function.sig)?;
    for param in 0..interpreter.b.params.len() {
        interpreter.b.scalar(param);
    }
    let body = interpreter.kernel(name, &kernel.function.block);
    // With other types of its literals, the body may have different errors.
    if let Some(inference) = interpreter.b.inference.again(body.is_err())? {
        return lower_from(source, kernel, instance, numbered, inference);
    }
    body?;
    let mut in_doubt = Errors::default();
    interpreter
        .b
        .inference
        .in_doubt()
        .for_each(|error| in_doubt.push(error));
    in_doubt.finish(())?;

    let facts = interpreter.b.known.facts.0.clone();
    let parts = interpreter.b.finish()?;
    if kernel.unsafety.is_none() {
        check_accesses(name, &parts.params)?;
    }
    let mut params: Vec<_> = parts.params.iter().flat_map(ptx_params).collect();
    let reports = (!parts.reports.is_empty()).then(report_buffer);
    check_parameters(&parts.params, reports.as_ref())?;
    params.extend(reports);
    let entry = Entry {
        name: entry_name(&instance.name)?,
        params,
        directives: directives(threads, cluster, resident, &parts.body),
        body: parts.body,
    };
    let mut items: Vec<Item> = parts.header.iter().cloned().map(Item::Comment).collect();
    items.extend(
        (1..)
            .zip(parts.files)
            .map(|(number, path)| Item::File { number, path }),
    );
    if parts.shared_bytes > 0 {
        items.push(Item::Variable(shared_memory()));
    }
    items.extend(parts.tables.into_iter().map(Item::Variable));
    items.push(Item::Blank);
    items.push(Item::Entry(entry));
    let module = module(kernel.chip, items);
    // Invalid PTX would be an error of this crate, and must not reach the driver.
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
        constants,
        module,
        params: parts.params,
        facts,
        threads,
        cluster,
        smem_bytes: parts.shared_bytes,
        notes: parts.header,
        reports: parts.reports,
    })
}

/// An interpreter with the values of a kernel's generic parameters, and the values of the const parameters.
fn with_values<'s>(
    source: &'s Source,
    kernel: &Kernel,
    instance: &Instance,
    numbered: &Numbered,
    inference: Inference,
) -> Result<(Interpreter<'s>, Vec<(String, Value)>)> {
    let mut interpreter = Interpreter::new(source, Builder::new(1, [1, 1, 1]));
    interpreter.b.inference = inference;
    interpreter.b.chip = kernel.chip;
    let mut constants = Vec::new();
    for param in &kernel.function.sig.generics.params {
        let Some(name) = parameter_name(param) else {
            return Err(Error::new(
                param.span(),
                "a kernel takes type and const parameters only",
            ));
        };
        // `Kernel::list` has checked that every parameter has a value.
        if let Some((_, expr)) = instance.values.iter().find(|(given, _)| given == name) {
            let value = match numbered.value(kernel, name, expr) {
                Some(value) => value.clone(),
                None => interpreter.value_of(expr)?,
            };
            let argument = Argument {
                value,
                span: expr.span(),
            };
            let (name, value) = check_generic(param, argument)?;
            if let GenericParam::Const(_) = param {
                constants.push((name.clone(), value.clone()));
            }
            interpreter.define(&name, value);
        }
    }
    Ok((interpreter, constants))
}

/// Refuses a safe kernel with accesses of global memory without a proof that they are inside of the tensor.
fn check_accesses(kernel: &Ident, params: &[Param]) -> Result<()> {
    let mut errors = Errors::default();
    for param in params {
        for Unproven { place, remedy } in param.unproven() {
            let ways = match remedy {
                Some(remedy) => format!(
                    ": {remedy}, or let the kernel check it when it runs, `#[kernel(…, checked)]`, or make"
                ),
                None => ", since an instruction may access more than an element: make".into(),
            };
            let message = format!(
                "nothing proves that this access is inside of `{}`{ways} `{kernel}` an `unsafe fn`, whose launch relies on \
                 its caller",
                param.name
            );
            errors.push(Error::new(*place, message));
        }
    }
    errors.finish(())
}
