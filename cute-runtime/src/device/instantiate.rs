//! Instances that are made while a program runs: the kernel language without rustc.

use std::any::TypeId;
use std::num::FpCategory;
use std::sync::{Arc, LazyLock};
use std::{io, panic, thread};

use cute_lang::kernel::emit::facts::{Fact as LangFact, Quantity, Term as LangTerm};
use cute_lang::kernel::emit::operation::{Cmp, Op};
use cute_lang::kernel::emit::param::{Param as LangParam, ParamKind, TmaParam};
use cute_lang::kernel::emit::report::{Piece as LangPiece, Report as LangReport};
pub use cute_lang::kernel::instantiate::Text;
use cute_lang::kernel::instantiate::{self as lang, Mistake as LangMistake};
use cute_lang::kernel::lower::Lowered;
use cute_lang::kernel::value::types::element_of;

use crate::device::cache::{Cache, Id};
use crate::device::compiled::Compiled;
use crate::device::image::Image;
use crate::device::launch::{Argument, launch_image};
use crate::{
    Comparison, Device, ElementType, Error, Fact, Grid, Instance, LaunchRule, Mistake, Param,
    Piece, Report, Term, TmaRecipe,
};

/// A kernel that gets some of its types and constants when the program runs.
///
/// In `#[instance(name: Parameter = value, …)]`, a parameter whose value is `_` becomes a field of the type `name`: an
/// [`ElementType`] for a type, an integer, a truth value or a struct of numbers for a constant. `launch` of a value of that type
/// makes the instance, compiles it and launches it. Each instance is made once in a process and stays in its memory.
///
/// A number has the Rust type of its parameter, as in a kernel compiled with the program. For a tensor, the launch checks the
/// element type and the rank, and that the borrow is mutable if the kernel writes the tensor. A safe kernel has a safe `launch`:
/// an instance is refused if an access is not proved to be inside of its tensor.
///
/// ```
/// use cute_runtime::{Device, ElementType, Error, Instantiate, Tensor, kernels};
///
/// #[kernels]
/// mod scale {
///     /// x = by · x, with `EACH` elements for each thread.
///     #[kernel(threads = THREADS)]
///     #[instance(scale_in: T = _, THREADS = _, EACH = _)]
///     pub fn scale<T: Element, const THREADS: u32, const EACH: u32>(x: Global<T, 1>, by: f32) {
///         for i in 0..EACH {
///             let at = (block_idx().0 * EACH + i) * THREADS + thread();
///             if at < extent(x, 0) {
///                 x[at] = (x[at] as f32 * by) as T;
///             }
///         }
///     }
/// }
///
/// fn main() -> Result<(), Error> {
///     let device = Device::emulator();
///     let mut x = Tensor::from_slice(&device, &[1.0f32; 1000], [1000])?;
///     for (threads, each) in [(64, 4), (128, 1), (128, 2)] {
///         let scale = scale::scale_in { T: ElementType::F32, THREADS: threads, EACH: each };
///         assert_eq!(scale.image()?.threads, threads);
///         scale.launch(&device, 1000u32.div_ceil(threads * each), &mut x.view_mut(), 2.0)?;
///     }
///     assert_eq!(x.download()?, [8.0; 1000]);
///
///     let scale = scale::scale_in { T: ElementType::F32, THREADS: 2000, EACH: 1 };
///     let error = scale.launch(&device, 1, &mut x.view_mut(), 2.0).unwrap_err();
///     assert!(error.to_string().ends_with(": `threads` is 2000; it can be 1 to 1024"));
///     Ok(())
/// }
/// ```
///
/// An implementation has no safety contract: a launch runs only PTX lowered from its text, and an instance of an `unsafe fn` has
/// an unsafe `launch`.
pub trait Instantiate: 'static {
    /// Name of the instance.
    const NAME: &'static str;
    /// The module of the kernel, with all modules that it imports.
    #[doc(hidden)]
    const MODULE: Text;

    /// The values that are given at run time.
    #[doc(hidden)]
    fn values(&self) -> Values;

    /// The instance for these values: the PTX, and the data that a launch needs. The first call with these values makes it.
    ///
    /// # Errors
    ///
    /// [`Error::Instance`], if the kernel cannot have these values.
    fn image(&self) -> Result<Arc<Image>, Error> {
        image_of(self)
    }

    /// The instance for these values, as [`Device::prepare`] takes it.
    ///
    /// # Errors
    ///
    /// As for [`image`](Instantiate::image).
    fn instance(&self) -> Result<Instance, Error> {
        image_of(self).map(|image| Instance(Image::clone(&image)))
    }

    /// Compiles the instance for a device, as its first launch does, and returns the report of the compiler. An instance is
    /// compiled once for a device.
    ///
    /// # Errors
    ///
    /// The errors of [`image`](Instantiate::image) and of the compiler.
    fn compile(&self, device: &Device) -> Result<Compiled, Error> {
        device.compile_image(&*image_of(self)?)
    }
}

/// Launches the instance for the values of an open one.
///
/// # Safety
///
/// The contract of `launch` of a [`Kernel`](crate::Kernel), if the kernel is an `unsafe fn`; nothing otherwise.
pub unsafe fn launch_instance<K: Instantiate>(
    kernel: &K,
    device: &Device,
    grid: Grid,
    arguments: &[Argument<'_>],
) -> Result<(), Error> {
    // SAFETY: the image comes from the lowering. Unless the kernel is an `unsafe fn`, the lowering refuses accesses that are not
    // proved to be inside of their tensor. For an `unsafe fn`, the caller promises that they are.
    unsafe { launch_image(device, &*image_of(kernel)?, grid, arguments) }
}

/// Launches the instance for the values of an open one, whose kernel is no `unsafe fn`.
///
/// Expansions call this function without the keyword `unsafe`, since their path to it may resolve to another function.
pub fn launch_safe_instance<K: Instantiate>(
    kernel: &K,
    device: &Device,
    grid: Grid,
    arguments: &[Argument<'_>],
) -> Result<(), Error> {
    let image = image_of(kernel)?;
    if !image.is_safe {
        return Err(Error::Launch {
            kernel: image.name,
            rule: LaunchRule::Unsafe,
        });
    }
    // SAFETY: the kernel is no `unsafe fn`, and the image comes from the lowering, which refuses accesses of such a kernel that
    // are not proved to be inside of their tensor.
    unsafe { launch_image(device, &image, grid, arguments) }
}

/// The instance for the values of an open one. This does not call `Instantiate::image`, which an implementation can replace.
fn image_of<K: Instantiate + ?Sized>(kernel: &K) -> Result<Arc<Image>, Error> {
    static IMAGES: LazyLock<Cache<Image>> = LazyLock::new(Cache::new);
    let values = kernel.values();
    let id = Id {
        ty: TypeId::of::<K>(),
        values: Some(values.text()),
    };
    IMAGES.get(&id, || make(id.clone(), K::NAME, K::MODULE, &values))
}

/// Names and values, as expressions of the kernel language.
pub struct Values(Vec<(&'static str, String)>);

impl Values {
    /// The values with their names.
    pub fn of(values: &[(&'static str, &dyn Constant)]) -> Self {
        let values = values.iter().map(|(name, value)| (*name, value.text()));
        Values(values.collect())
    }

    fn text(&self) -> String {
        let values = self
            .0
            .iter()
            .map(|(name, value)| format!("{name} = {value}"));
        values.collect::<Vec<_>>().join(", ")
    }
}

/// A value that a kernel can get at run time.
pub trait Constant {
    /// The value as an expression of the kernel language.
    fn text(&self) -> String;
}

macro_rules! constants {
    ($($ty:ident)*) => { $(
        impl Constant for $ty {
            fn text(&self) -> String {
                format!("{self:?}")
            }
        }
    )* };
}

constants! { u8 i8 u16 i16 u32 i32 u64 i64 usize bool }

macro_rules! floats {
    ($($ty:ident)*) => { $(
        impl Constant for $ty {
            fn text(&self) -> String {
                let (ty, sign) = (stringify!($ty), if self.is_sign_negative() { "-" } else { "" });
                match self.classify() {
                    FpCategory::Nan => format!("{sign}{ty}::NAN"),
                    FpCategory::Infinite => format!("{sign}{ty}::INFINITY"),
                    // `Debug` writes as many digits as the number needs in its type.
                    _ => format!("{self:?}{ty}"),
                }
            }
        }
    )* };
}

floats! { f32 f64 }

impl Constant for ElementType {
    fn text(&self) -> String {
        self.name().to_owned()
    }
}

/// A struct: its name, and its fields with their names.
pub struct Struct<'a>(pub &'static str, pub &'a [(&'static str, &'a dyn Constant)]);

impl Constant for Struct<'_> {
    fn text(&self) -> String {
        let fields = self
            .1
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.text()));
        let fields: Vec<String> = fields.collect();
        format!("{} {{ {} }}", self.0, fields.join(", "))
    }
}

/// Bytes of the stack on which instances are made: as much as the compiler gives to macros.
const STACK_BYTES: usize = 8 << 20;

/// Makes an instance. It has a thread of its own, because the places of tokens stay in the memory of the thread that reads them.
fn make(id: Id, name: &'static str, module: Text, values: &Values) -> Result<Image, Error> {
    let refuse = |mistakes| Error::Instance {
        kernel: name,
        values: values.text(),
        mistakes,
    };
    let lowered = || match lang::instantiate(module, name, &values.0) {
        Ok(lowered) => Ok(image(id, name, lowered)),
        Err(mistakes) => Err(mistakes.into_iter().map(mistake).collect()),
    };
    let made = thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, lowered).map_err(no_thread)?;
        thread
            .join()
            .unwrap_or_else(|panicked| panic::resume_unwind(panicked))
    });
    made.map_err(refuse)
}

fn no_thread(error: io::Error) -> Vec<Mistake> {
    vec![Mistake {
        file: String::new(),
        line: 0,
        column: 0,
        message: format!("the system starts no thread: {error}"),
    }]
}

fn mistake(mistake: LangMistake) -> Mistake {
    let (file, line, column) = match mistake.place {
        Some(place) => (place.file, place.line, place.column),
        None => (String::new(), 0, 0),
    };
    Mistake {
        file,
        line,
        column,
        message: mistake.message,
    }
}

// ---- what the lowering gives, as values that live as long as the process

fn image(id: Id, name: &'static str, lowered: Lowered) -> Image {
    Image {
        id,
        name,
        ptx: lowered.module.to_string().leak(),
        threads: lowered.threads,
        cluster: lowered.cluster,
        smem_bytes: lowered.smem_bytes,
        params: list(&lowered.params, param),
        facts: list(&lowered.facts, fact),
        reports: list(&lowered.reports, report),
        is_safe: lowered.unsafety.is_none(),
    }
}

fn list<A, B>(values: &[A], f: fn(&A) -> B) -> &'static [B] {
    values.iter().map(f).collect::<Vec<B>>().leak()
}

fn text(text: &str) -> &'static str {
    text.to_owned().leak()
}

fn param(param: &LangParam) -> Param {
    let each = each(param);
    match &param.list {
        Some(list) => Param::List {
            each: Box::leak(Box::new(each)),
            most: list.most,
        },
        None => each,
    }
}

/// The parameter, or each item of a list.
fn each(param: &LangParam) -> Param {
    let name = text(&param.name);
    match &param.kind {
        ParamKind::TmaLoad(tma) => Param::TmaLoad(recipe(name, tma)),
        ParamKind::TmaStore(tma) => Param::TmaStore(recipe(name, tma)),
        ParamKind::Global {
            element,
            rank,
            written,
            extents,
            ..
        } => Param::Global {
            name,
            element: element.host(),
            rank: *rank,
            written: *written,
            extents: *extents,
        },
        ParamKind::Scalar(ty) => Param::Scalar {
            name,
            ty: element_of(*ty).expect("the type of a number parameter is that of an element"),
        },
    }
}

fn recipe(name: &'static str, tma: &TmaParam) -> TmaRecipe {
    let recipe = tma.recipe();
    TmaRecipe {
        name,
        element: tma.element.host(),
        box_shape: recipe.box_shape.leak(),
        swizzle: recipe.swizzle,
        l2: TmaParam::L2,
        fill: TmaParam::FILL,
    }
}

fn fact(fact: &LangFact) -> Fact {
    Fact {
        text: text(&fact.text),
        left: term(&fact.left),
        comparison: match fact.cmp {
            Cmp::Eq => Comparison::Eq,
            Cmp::Ne => Comparison::Ne,
            Cmp::Lt => Comparison::Lt,
            Cmp::Le => Comparison::Le,
            Cmp::Gt => Comparison::Gt,
            Cmp::Ge => Comparison::Ge,
        },
        right: term(&fact.right),
    }
}

fn term(of: &LangTerm) -> Term {
    let leaked = |of: &LangTerm| -> &'static Term { Box::leak(Box::new(term(of))) };
    match of {
        LangTerm::Known(number) => Term::Number(*number),
        LangTerm::Of(Quantity::Scalar(param)) => Term::Scalar(*param),
        LangTerm::Of(Quantity::Extent(of, mode)) => Term::Extent(of.param, *mode),
        LangTerm::Of(Quantity::Stride(of, mode)) => Term::Stride(of.param, *mode),
        LangTerm::Of(Quantity::Address(of)) => Term::Address(of.param),
        LangTerm::Of(Quantity::Length(param)) => Term::Length(*param),
        LangTerm::Ceiling(a, b) => Term::Ceiling(leaked(a), leaked(b)),
        LangTerm::Op(op, a, b) => {
            let (a, b) = (leaked(a), leaked(b));
            match op {
                Op::Add => Term::Sum(a, b),
                Op::Sub => Term::Difference(a, b),
                Op::Mul => Term::Product(a, b),
                Op::Div => Term::Quotient(a, b),
                Op::Rem => Term::Remainder(a, b),
                // A wrong term would be a wrong check of the launch.
                other => {
                    unreachable!("a fact has no {other:?}: `lower` takes `+`, `-`, `*`, `/`, `%`")
                }
            }
        }
    }
}

fn report(report: &LangReport) -> Report {
    let (file, line) = match &report.place {
        Some(place) => (text(&place.file), place.line),
        None => ("", 0),
    };
    Report {
        file,
        line,
        fails: report.fails,
        pieces: list(&report.pieces, piece),
    }
}

fn piece(piece: &LangPiece) -> Piece {
    match piece {
        LangPiece::Text(of) => Piece::Text(text(of)),
        LangPiece::Bool => Piece::Bool,
        LangPiece::Number(element) => Piece::Number(element.host()),
    }
}
