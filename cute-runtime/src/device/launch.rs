//! Launches: the arguments are checked against the kernel's parameters and handed to the device.

use std::fmt::Debug;
use std::sync::Arc;

use cute_chip::threads;

use crate::device::backend::{ArgumentName, KeptTensor, Launch, TensorArgument};
use crate::device::capture;
use crate::device::compiled::Compiled;
use crate::device::fact::{Numbers, Term};
use crate::device::image::Image;
use crate::device::memory::Memory;
use crate::device::order::Used;
use crate::device::parameters::Parameters;
use crate::device::tensor_map::{RawView, check_stored, check_view, tensor_map};
use crate::{
    ArgumentRule, Device, Element, ElementType, Error, Grid, Kernel, LaunchRule, Param, TensorView,
    TensorViewMut,
};

/// Bytes of the largest number that a launch takes.
const MAX_SCALAR: usize = 8;

/// The largest extent that a kernel reads: signed coordinates of 32 bits do not reach further.
const MAX_EXTENT: u32 = 1 << 31;

/// A launch argument of any type. `into` makes one from a `&TensorView`, a `&mut TensorViewMut`, a number, or a slice of such
/// views or of numbers.
#[derive(Clone, Debug)]
pub struct Argument<'a>(Kind<'a>);

#[derive(Clone, Debug)]
enum Kind<'a> {
    Tensor {
        view: RawView<'a>,
        memory: &'a Arc<Memory>,
        writable: bool,
    },
    Scalar {
        ty: ElementType,
        /// As many bytes as the type has, and zeros.
        bytes: [u8; MAX_SCALAR],
    },
    List(Vec<Kind<'a>>),
}

impl<'a> Kind<'a> {
    fn tensor<T: Element, const R: usize>(tensor: &'a TensorView<'_, T, R>) -> Self {
        Kind::Tensor {
            view: tensor.raw(),
            memory: tensor.buffer.memory(),
            writable: false,
        }
    }

    fn tensor_mut<T: Element, const R: usize>(tensor: &'a mut TensorViewMut<'_, T, R>) -> Self {
        Kind::Tensor {
            view: tensor.raw(),
            memory: tensor.buffer.memory(),
            writable: true,
        }
    }

    fn scalar<T: Element>(value: &T) -> Self {
        let mut bytes = [0; MAX_SCALAR];
        bytes[..size_of::<T>()].copy_from_slice(value.as_bytes());
        Kind::Scalar { ty: T::TYPE, bytes }
    }

    /// Calls `f` on each tensor, with its index in a list.
    fn for_each_tensor(&self, f: &mut dyn FnMut(Option<usize>, RawView<'a>, &'a Arc<Memory>)) {
        match self {
            Kind::Tensor { view, memory, .. } => f(None, *view, memory),
            Kind::Scalar { .. } => {}
            Kind::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.for_each_tensor(&mut |_, view, memory| f(Some(index), view, memory));
                }
            }
        }
    }
}

impl<'a, T: Element, const R: usize> From<&'a TensorView<'_, T, R>> for Argument<'a> {
    fn from(tensor: &'a TensorView<'_, T, R>) -> Self {
        Argument(Kind::tensor(tensor))
    }
}

impl<'a, T: Element, const R: usize> From<&'a mut TensorViewMut<'_, T, R>> for Argument<'a> {
    fn from(tensor: &'a mut TensorViewMut<'_, T, R>) -> Self {
        Argument(Kind::tensor_mut(tensor))
    }
}

impl<T: Element> From<T> for Argument<'_> {
    fn from(value: T) -> Self {
        Argument(Kind::scalar(&value))
    }
}

impl<'a, T: Element, const R: usize> From<&'a [TensorView<'_, T, R>]> for Argument<'a> {
    fn from(list: &'a [TensorView<'_, T, R>]) -> Self {
        Argument(Kind::List(list.iter().map(Kind::tensor).collect()))
    }
}

impl<'a, T: Element, const R: usize> From<&'a mut [TensorViewMut<'_, T, R>]> for Argument<'a> {
    fn from(list: &'a mut [TensorViewMut<'_, T, R>]) -> Self {
        Argument(Kind::List(list.iter_mut().map(Kind::tensor_mut).collect()))
    }
}

impl<'a, T: Element> From<&'a [T]> for Argument<'a> {
    fn from(list: &'a [T]) -> Self {
        Argument(Kind::List(list.iter().map(Kind::scalar).collect()))
    }
}

/// Checks a launch and starts it. On a GPU, the call returns before the kernel has finished.
///
/// For an instance of an `unsafe fn`, the typed `launch` of `#[kernels]` is one call of this function, such as
/// `launch::<Self>(device, grid.into(), &[a.into(), m.into()])`. Here `a` is a `&TensorView`, or a `&mut TensorViewMut` if the
/// kernel writes it, and `m` is a number. The typed `launch` of a safe kernel calls [`launch_safe`].
///
/// # Safety
///
/// With this grid and these arguments, every element of a [`Param::Global`] that the kernel reads or writes lies inside the
/// tensor. Accesses by TMA need no promise: the hardware checks the bounds in the tensor map.
pub unsafe fn launch<K: Kernel>(
    device: &Device,
    grid: Grid,
    arguments: &[Argument<'_>],
) -> Result<(), Error> {
    // SAFETY: the caller keeps the contract of `launch_image`, and the implementation of `Kernel` promises a true description.
    unsafe { launch_image(device, &Image::of::<K>(), grid, arguments) }
}

/// Checks a launch of a safe kernel, and starts it. For an unsafe kernel, the call is a compile error.
///
/// Expansions call this function without the keyword `unsafe`, since their path may lead to another function.
pub fn launch_safe<K: Kernel>(
    device: &Device,
    grid: Grid,
    arguments: &[Argument<'_>],
) -> Result<(), Error> {
    const {
        assert!(
            K::IS_SAFE,
            "the kernel is an `unsafe fn`, so that its launch is one, too"
        );
    }
    // SAFETY: the implementation of `Kernel` promises that the kernel stays inside of its tensors.
    unsafe { launch::<K>(device, grid, arguments) }
}

/// Checks a launch and starts it.
///
/// # Safety
///
/// As for [`launch`]. The image satisfies the promises of an implementation of [`Kernel`].
pub(crate) unsafe fn launch_image(
    device: &Device,
    image: &Image,
    grid: Grid,
    arguments: &[Argument<'_>],
) -> Result<(), Error> {
    let refuse = |rule| Error::Launch {
        kernel: image.name,
        rule,
    };
    check_limits(image).map_err(refuse)?;
    check_grid(image, grid).map_err(refuse)?;
    if arguments.len() != image.params.len() {
        return Err(refuse(LaunchRule::Arguments {
            expected: image.params.len(),
            found: arguments.len(),
        }));
    }
    let mut parameters = Parameters::with_room_for(arguments.len());
    for (param, argument) in image.params.iter().zip(arguments) {
        lower(device, image.name, param, &argument.0, &mut parameters)?;
    }
    for fact in image.facts {
        let tensor = fact.tensor().and_then(|param| arguments.get(param));
        let items = match tensor.map(|tensor| &tensor.0) {
            Some(Kind::List(items)) => items.len(),
            _ => 1,
        };
        let launched = (0..items).map(|item| Launched {
            params: image.params,
            arguments,
            item,
        });
        if let Some(numbers) = launched.into_iter().find_map(|it| fact.broken_by(&it)) {
            let fact = fact.text;
            return Err(refuse(LaunchRule::Fact { fact, numbers }));
        }
    }
    let mut tensors = Vec::with_capacity(arguments.len());
    for (param, Argument(argument)) in image.params.iter().zip(arguments) {
        let (parameter, writes) = (param.name(), param.writes());
        argument.for_each_tensor(&mut |item, view, memory| {
            tensors.push(TensorArgument {
                name: ArgumentName { parameter, item },
                view,
                used: memory.used(writes),
            });
        });
    }
    if capture::id(device.backend()).is_some() {
        if !image.reports.is_empty() {
            return Err(refuse(LaunchRule::Captured));
        }
        let mut kept: Vec<Arc<dyn Used>> = Vec::with_capacity(tensors.len());
        for Argument(argument) in arguments {
            argument.for_each_tensor(&mut |_, _, memory| kept.push(Arc::clone(memory) as _));
        }
        let tensors = tensors.iter().zip(kept);
        let tensors = tensors.map(|(tensor, memory)| KeptTensor::new(tensor, memory));
        capture::list(Launch {
            image: image.clone(),
            grid,
            parameters,
            tensors: tensors.collect(),
        });
        return Ok(());
    }
    // SAFETY: every address is of an argument. `lower` has checked that the argument is a tensor of this device with the element
    // type of the parameter, mutably borrowed if the kernel writes it. The kernel's author promises that the kernel accesses
    // global memory only through its parameters, and the caller promises that it stays inside the tensors.
    unsafe { (device.backend()).launch(device.queue(), image, grid, &parameters, &tensors) }
}

/// The error of a launch that chooses a missing instance, or an instance that needs other features of its crate.
pub fn no_instance(
    kernel: &'static str,
    values: &[(&str, &dyn Debug)],
    package: &'static str,
    missing: &'static [&'static str],
) -> Error {
    let values = values.iter().map(|(name, value)| {
        // The variant of a number begins with `_`.
        let value = format!("{value:?}");
        format!("{name} = {}", value.trim_start_matches('_'))
    });
    let values = values.collect::<Vec<_>>().join(", ");
    Error::Launch {
        kernel,
        rule: LaunchRule::Instance {
            values,
            package,
            missing,
        },
    }
}

impl Device {
    /// Compiles a kernel for this device, as the first launch does, and returns the compiler's report. A kernel is compiled only
    /// once.
    pub fn compile<K: Kernel>(&self) -> Result<Compiled, Error> {
        self.compile_image(&Image::of::<K>())
    }

    pub(crate) fn compile_image(&self, image: &Image) -> Result<Compiled, Error> {
        check_limits(image).map_err(|rule| Error::Launch {
            kernel: image.name,
            rule,
        })?;
        self.backend().compile(image)
    }
}

/// Refuses a kernel that exceeds a limit of its chip.
fn check_limits(image: &Image) -> Result<(), LaunchRule> {
    let chip = image.chip();
    if !(1..=chip.cta_threads).contains(&image.threads) {
        return Err(LaunchRule::Threads {
            threads: image.threads,
            limit: chip.cta_threads,
        });
    }
    if image.smem_bytes > chip.cta_shared_bytes {
        return Err(LaunchRule::SharedMemory {
            bytes: image.smem_bytes,
            limit: chip.cta_shared_bytes,
        });
    }
    let cluster = image
        .cluster
        .iter()
        .fold(1u64, |ctas, &extent| ctas.saturating_mul(u64::from(extent)));
    let limit = u64::from(chip.cluster_ctas);
    if !(1..=limit).contains(&cluster) {
        return Err(LaunchRule::ClusterSize { cluster, limit });
    }
    Ok(())
}

fn check_grid(image: &Image, grid: Grid) -> Result<(), LaunchRule> {
    for (i, extent) in <[u32; 3]>::from(grid).into_iter().enumerate() {
        let (axis, limit, cluster) = (['x', 'y', 'z'][i], threads::MAX_GRID[i], image.cluster[i]);
        if !(1..=limit).contains(&extent) {
            return Err(LaunchRule::Grid { grid, axis, limit });
        }
        if !extent.is_multiple_of(cluster) {
            let nearest = u64::from(extent).next_multiple_of(u64::from(cluster));
            return Err(LaunchRule::Cluster {
                grid,
                axis,
                cluster,
                nearest,
            });
        }
    }
    Ok(())
}

/// Checks an argument against its parameter and appends the bytes of the PTX parameters that it becomes.
fn lower(
    device: &Device,
    kernel: &'static str,
    param: &'static Param,
    argument: &Kind<'_>,
    parameters: &mut Parameters,
) -> Result<(), Error> {
    let refuse = |rule| Error::Argument {
        kernel,
        argument: param.name(),
        rule,
    };
    match (param, argument) {
        (Param::Scalar { ty, .. }, Kind::Scalar { ty: found, bytes }) => {
            if ty != found {
                return Err(refuse(ArgumentRule::Element {
                    expected: *ty,
                    found: *found,
                }));
            }
            parameters.push(&bytes[..ty.bits().div_ceil(8) as usize]);
        }
        (
            Param::TmaLoad(recipe) | Param::TmaStore(recipe),
            Kind::Tensor {
                view,
                memory,
                writable,
            },
        ) => {
            check_home(device, &memory.device).map_err(refuse)?;
            let map = device.backend().maps().get(recipe, view, || {
                let map = tensor_map(recipe, view).map_err(refuse)?;
                device.backend().encode(&map)
            })?;
            if matches!(param, Param::TmaStore(_)) {
                check_writable(*writable).map_err(refuse)?;
                check_stored(view).map_err(refuse)?;
            }
            parameters.push(&map);
        }
        (
            Param::Global {
                element,
                rank,
                written,
                extents,
                ..
            },
            Kind::Tensor {
                view,
                memory,
                writable,
            },
        ) => {
            check_home(device, &memory.device).map_err(refuse)?;
            if *written {
                check_writable(*writable).map_err(refuse)?;
            }
            check_view(*element, *rank, view).map_err(refuse)?;
            parameters.push(&view.address.to_le_bytes());
            let outer = view
                .strides
                .split_last()
                .map_or(&[][..], |(_, outer)| outer);
            for &stride in outer {
                parameters.push(&(stride as u64).to_le_bytes());
            }
            if *extents {
                push_extents(view, parameters).map_err(refuse)?;
            }
        }
        (Param::List { each, most }, Kind::List(items)) => {
            if items.len() > *most as usize {
                let (found, most) = (items.len(), *most);
                return Err(refuse(ArgumentRule::List { found, most }));
            }
            lower_list(device, kernel, each, *most as usize, items, parameters)?;
        }
        (param, found) => {
            let expected = match param {
                Param::Scalar { .. } => "a number",
                Param::List { .. } => "a list",
                _ => "a tensor",
            };
            let found = match found {
                Kind::Scalar { .. } => "a number",
                Kind::List(_) => "a list",
                Kind::Tensor { .. } => "a tensor",
            };
            return Err(refuse(ArgumentRule::Kind { expected, found }));
        }
    }
    Ok(())
}

/// Appends arrays with room for `most` items, and how many there are.
fn lower_list(
    device: &Device,
    kernel: &'static str,
    each: &'static Param,
    most: usize,
    items: &[Kind<'_>],
    parameters: &mut Parameters,
) -> Result<(), Error> {
    let sizes = each.sizes();
    let mut arrays: Vec<Vec<u8>> = sizes
        .iter()
        .map(|size| Vec::with_capacity(size * most))
        .collect();
    let mut one = Parameters::with_room_for(sizes.len());
    for (index, item) in items.iter().enumerate() {
        one.clear();
        lower(device, kernel, each, item, &mut one).map_err(|error| match error {
            Error::Argument {
                kernel,
                argument,
                rule,
            } => Error::Argument {
                kernel,
                argument,
                rule: ArgumentRule::Item {
                    index,
                    rule: rule.into(),
                },
            },
            other => other,
        })?;
        for (array, bytes) in arrays.iter_mut().zip(one.iter()) {
            array.extend_from_slice(bytes);
        }
    }
    for (mut array, size) in arrays.into_iter().zip(sizes) {
        array.resize(size * most, 0);
        parameters.push(&array);
    }
    parameters.push(&(items.len() as u32).to_le_bytes());
    Ok(())
}

/// Appends the extents as parameters of 32 bits.
fn push_extents(view: &RawView<'_>, parameters: &mut Parameters) -> Result<(), ArgumentRule> {
    for (mode, &extent) in view.shape.iter().enumerate() {
        match u32::try_from(extent) {
            Ok(short) if short <= MAX_EXTENT => parameters.push(&short.to_le_bytes()),
            _ => {
                return Err(ArgumentRule::ExtentBeyond {
                    mode,
                    extent: extent as u64,
                    limit: MAX_EXTENT.into(),
                });
            }
        }
    }
    Ok(())
}

/// The numbers of a launch, for its facts.
struct Launched<'a> {
    params: &'static [Param],
    arguments: &'a [Argument<'a>],
    /// The item of the lists to which facts about lists apply.
    item: usize,
}

impl Numbers for Launched<'_> {
    fn number(&self, term: Term) -> Option<i128> {
        let of = |param: usize| Some(&self.arguments.get(param)?.0);
        let view = |param| match of(param)? {
            Kind::Tensor { view, .. } => Some(view),
            Kind::List(items) => match items.get(self.item)? {
                Kind::Tensor { view, .. } => Some(view),
                _ => None,
            },
            Kind::Scalar { .. } => None,
        };
        match term {
            Term::Scalar(param) => match of(param)? {
                Kind::Scalar { ty, bytes } => integer(*ty, bytes),
                _ => None,
            },
            Term::Length(param) => match of(param)? {
                Kind::List(items) => Some(items.len() as i128),
                _ => None,
            },
            Term::Extent(param, mode) => Some(*view(param)?.shape.get(mode)? as i128),
            Term::Stride(param, mode) => {
                let strides = view(param)?.strides;
                // The kernel takes 1 for the stride of the last mode. A last mode of one element may have another stride.
                let last = mode + 1 == strides.len();
                Some(if last { 1 } else { *strides.get(mode)? } as i128)
            }
            Term::Address(param) => Some(view(param)?.address.into()),
            _ => None,
        }
    }

    fn name(&self, term: Term) -> Option<String> {
        let of = |param: usize| {
            let param = self.params.get(param)?;
            let is_list = matches!(param, Param::List { .. });
            Some(ArgumentName {
                parameter: param.name(),
                item: is_list.then_some(self.item),
            })
        };
        Some(match term {
            Term::Scalar(param) => of(param)?.to_string(),
            Term::Length(param) => format!("{}.len()", self.params.get(param)?.name()),
            Term::Extent(param, mode) => format!("extent({}, {mode})", of(param)?),
            Term::Stride(param, mode) => format!("stride({}, {mode})", of(param)?),
            Term::Address(param) => format!("address of {}", of(param)?),
            _ => return None,
        })
    }
}

/// An integer argument. Its value is in the first bytes, as many as its type has.
fn integer(ty: ElementType, bytes: &[u8; MAX_SCALAR]) -> Option<i128> {
    let wide = u64::from_le_bytes(*bytes);
    Some(match ty {
        ElementType::U32 => (wide as u32).into(),
        ElementType::I32 => (wide as i32).into(),
        ElementType::U64 => wide.into(),
        ElementType::I64 => (wide as i64).into(),
        _ => return None,
    })
}

fn check_writable(writable: bool) -> Result<(), ArgumentRule> {
    match writable {
        true => Ok(()),
        false => Err(ArgumentRule::ReadOnly),
    }
}

fn check_home(device: &Device, home: &Device) -> Result<(), ArgumentRule> {
    if device == home {
        return Ok(());
    }
    let (expected, mut found) = (device.name().to_string(), home.name().to_string());
    if found == expected {
        found.insert_str(0, "another ");
    }
    Err(ArgumentRule::OtherDevice { expected, found })
}
