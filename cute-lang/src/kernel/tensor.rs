//! Tensors: an address, a layout, an element type.

use super::address::{self, Addresses};
use super::barrier;
use super::builder::{Builder, SHARED_ALIGN, address as at_register};
use super::builtins::{Argument, Builtin, Call};
use super::fragment;
use super::param::ParamKind;
use super::value::{Element, Num, Scalar, Value};
use cute_algebra::{
    ComposedLayout, Coord, Layout, LayoutError, Major, Shape, Swizzle, SwizzleMode, Tiler, Tuple,
    zipped_divide,
};
use cute_hopper::{shared, tma};
use cute_ptx::ast::{Operand, Type};
use cute_ptx::table::{Modifier, Opcode};
use syn::Result;

/// The rows of the builtin table that make and slice tensors.
pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        signature: "smem::<T>(layout)",
        apply: smem,
    },
    Builtin {
        signature: "smem_atom::<T>(major, swizzle)",
        apply: smem_atom,
    },
    Builtin {
        signature: "at(layout, coordinate)",
        apply: at,
    },
    Builtin {
        signature: "index(x, coordinate)",
        apply: index,
    },
    Builtin {
        signature: "index_assign(x, coordinate, value)",
        apply: index_assign,
    },
    Builtin {
        signature: "local_tile(x, tile, coordinate)",
        apply: local_tile,
    },
    Builtin {
        signature: "size(x)",
        apply: size,
    },
    Builtin {
        signature: "bytes(x)",
        apply: bytes,
    },
];

/// A tile of shared memory. Its element at c lies at byte `base + Sw(dynamic + bytes · (offset + layout(c)))`, where the
/// swizzle and the offset are the layout's own.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The type of its elements.
    pub element: Element,
    /// Where its memory starts in the kernel's shared memory, in bytes.
    pub base: u32,
    /// Where its elements are, in elements, as far as that is known at expansion.
    pub layout: ComposedLayout,
    /// What run-time coordinates add, in bytes.
    pub dynamic: Num,
}

/// A tensor parameter that is accessed element by element.
#[derive(Clone, Debug)]
pub struct Global {
    /// The type of its elements.
    pub element: Element,
    /// The parameter.
    pub param: usize,
}

impl Tensor {
    /// Calls `f` on every register in the tensor.
    pub fn for_each_scalar_mut(&mut self, f: &mut dyn FnMut(&mut Scalar)) {
        if let Num::Reg(scalar) = &mut self.dynamic {
            f(scalar);
        }
    }

    /// Bytes of an element.
    pub fn width(&self) -> i64 {
        i64::from(self.element.bytes())
    }

    /// Its addresses, to be asked for with [`byte`](Self::byte).
    pub fn addresses(&self) -> Addresses {
        let swizzle = address::in_bytes(self.layout.swizzle(), self.element.bytes());
        Addresses::new(self.base.into(), swizzle, self.dynamic.clone())
    }

    /// The known part of the offset, in bytes, of the element to which the layout gives `index`.
    pub fn byte(&self, index: i64) -> i64 {
        (self.layout.offset() + index) * self.width()
    }

    /// The same memory under another layout.
    pub fn with_layout(&self, b: &Builder, layout: Layout) -> Result<Tensor> {
        let layout = ComposedLayout::new(self.layout.swizzle(), self.layout.offset(), layout)
            .map_err(|error| b.error(error))?;
        Ok(Tensor {
            layout,
            ..self.clone()
        })
    }

    /// The part at a coordinate: `_` keeps a mode, an integer or a register picks from it.
    pub fn slice(&self, b: &mut Builder, coordinate: &Value) -> Result<Tensor> {
        let mut part = Part {
            kept: Vec::new(),
            offset: 0,
            dynamic: self.dynamic.clone(),
        };
        let layout = self.layout.layout();
        part.pick(b, layout, coordinate, self.width())?;
        let kept = match coordinate {
            Value::Wild => layout.clone(),
            _ => Layout::concat(part.kept).map_err(|error| b.error(error))?,
        };
        let layout = ComposedLayout::new(
            self.layout.swizzle(),
            self.layout.offset() + part.offset,
            kept,
        );
        let layout = layout.map_err(|error| b.error(error))?;
        Ok(Tensor {
            layout,
            dynamic: part.dynamic,
            ..self.clone()
        })
    }

    /// Its tiles of that shape: a tensor of tile and rest.
    fn tiles(&self, b: &mut Builder, tile: &Shape) -> Result<Tensor> {
        for (mode, (layout, tile)) in self
            .layout
            .layout()
            .modes()
            .iter()
            .zip(tile.modes())
            .enumerate()
        {
            if let Tuple::Leaf(tile) = tile {
                check_divides(b, mode, *tile, layout.size())?;
            }
        }
        let divided =
            Tiler::from_shape(tile).and_then(|tiler| zipped_divide(self.layout.layout(), &tiler));
        self.with_layout(b, divided.map_err(|error| b.error(error))?)
    }
}

/// Refuses tiles that do not divide an extent.
pub(super) fn check_divides(b: &Builder, mode: usize, tile: i64, extent: i64) -> Result<()> {
    if tile >= 1 && extent % tile == 0 {
        return Ok(());
    }
    // Extents of shared memory are small; of others the nearest are not searched for ever.
    let extent_searched = extent.min(i64::from(shared::MAX_BYTES));
    let divides = |candidate: &i64| extent % candidate == 0;
    let below = (1..=tile.min(extent_searched))
        .rev()
        .find(divides)
        .unwrap_or(1);
    let above = (tile.max(1)..=extent_searched)
        .find(divides)
        .unwrap_or(extent);
    let nearest = if below == above {
        below.to_string()
    } else {
        format!("{below} and {above}")
    };
    Err(b.error(format!(
        "mode {mode}: tiles of {tile} do not divide an extent of {extent}; nearest: {nearest}"
    )))
}

/// What is left of a layout when some of its modes are picked from.
struct Part {
    kept: Vec<Layout>,
    offset: i64,
    dynamic: Num,
}

impl Part {
    fn pick(
        &mut self,
        b: &mut Builder,
        mode: &Layout,
        coordinate: &Value,
        unit: i64,
    ) -> Result<()> {
        match coordinate {
            Value::Wild => self.kept.push(mode.clone()),
            Value::Int(index, _) => {
                let value = i64::try_from(*index).ok().and_then(|index| mode.at(index));
                match value.map(|value| self.offset.checked_add(value)) {
                    Some(Some(sum)) => self.offset = sum,
                    Some(None) => return Err(b.error("the offset does not fit 64 bits")),
                    None => {
                        return Err(b.error(format!(
                            "coordinate {index} is outside of mode {mode}, whose size is {}",
                            mode.size()
                        )));
                    }
                }
            }
            Value::Tuple(coordinates) => {
                if mode.shape().is_leaf() || mode.rank() != coordinates.len() {
                    let (expected, found) = (mode.rank(), coordinates.len());
                    return Err(b.error(format!(
                        "a coordinate of {found} modes for {mode}, which has {expected}"
                    )));
                }
                for (mode, coordinate) in mode.modes().iter().zip(coordinates) {
                    self.pick(b, mode, coordinate, unit)?;
                }
            }
            other => {
                let Some(Num::Reg(scalar)) = other.as_num() else {
                    return Err(b.error(format!(
                        "a coordinate is an integer, `_` or a tuple of these, not {}",
                        other.kind()
                    )));
                };
                let bytes = address::index(b, mode, &scalar.into(), unit)?;
                // A register that is still the caller's variable is copied by whoever keeps the tensor.
                self.dynamic = b.add(&self.dynamic.clone(), &bytes)?;
            }
        }
        Ok(())
    }
}

fn smem(b: &mut Builder, call: &Call) -> Result<Value> {
    let element = call.element()?;
    let plain = |layout: std::result::Result<Layout, LayoutError>| {
        let layout = layout.and_then(|layout| ComposedLayout::new(Swizzle::IDENTITY, 0, layout));
        layout.map_err(|error| call.error_at(0, error))
    };
    let layout = match call.args[0].value.to_algebra() {
        Some(cute_algebra::Value::Composed(layout)) => layout,
        Some(cute_algebra::Value::Layout(layout)) => plain(Ok(layout))?,
        Some(cute_algebra::Value::Int(extent)) => plain(Layout::left(extent))?,
        Some(cute_algebra::Value::Tuple(shape)) => plain(Layout::left(shape))?,
        Some(cute_algebra::Value::XorMap(_)) => {
            let message = "a tensor lies in memory by a layout or a swizzle; of another map of bits, `at` gives the coordinate in one";
            return Err(call.error_at(0, message));
        }
        _ => return Err(call.mismatch(0, "a layout or a shape")),
    };
    let shown = layout
        .as_layout()
        .map_or_else(|| layout.to_string(), Layout::to_string);
    if let Some(stride) = layout
        .layout()
        .stride()
        .leaves()
        .find(|stride| stride.value() < 0)
    {
        return Err(call.error_at(
            0,
            format!("stride {stride} of {shown} leads out of the tile: strides are not negative"),
        ));
    }
    let width = element.bytes();
    let period = address::period(address::in_bytes(layout.swizzle(), width));
    let span = layout
        .offset()
        .checked_add(layout.layout().cosize())
        .and_then(|end| end.checked_mul(width.into()));
    // A swizzle permutes whole periods.
    let size =
        span.and_then(|span| u32::try_from(span.checked_add(period - 1)? / period * period).ok());
    let Some(size) = size.filter(|_| layout.offset() >= 0) else {
        return Err(call.error_at(0, format!("{shown} does not fit shared memory")));
    };
    // TMA wants boxes aligned, and a swizzle that starts at its period needs no correction.
    let align = u32::try_from(period)
        .unwrap_or(SHARED_ALIGN)
        .clamp(tma::SHARED_ALIGN, SHARED_ALIGN);
    b.set_place(call.span);
    let base = b.allocate(size, align)?;
    b.header(format!(
        "shared memory {base}..{}: {element} at {shown}",
        base + size
    ));
    Ok(Value::Tensor(Tensor {
        element,
        base,
        layout,
        dynamic: Num::Const(0),
    }))
}

fn smem_atom(_: &mut Builder, call: &Call) -> Result<Value> {
    let element = call.element()?;
    let major = match call.args[0].value {
        Value::Word("K") => Major::K,
        Value::Word("MN") => Major::MN,
        _ => return Err(call.mismatch(0, "K or MN")),
    };
    let mode = SwizzleMode::ALL
        .into_iter()
        .find(|mode| matches!(call.args[1].value, Value::Word(word) if word == mode.name()));
    let Some(mode) = mode else {
        return Err(call.mismatch(1, "SW128, SW64, SW32 or INTER"));
    };
    let atom = cute_algebra::smem_atom(major, mode, element.bits().into());
    Ok(Value::Algebra(
        atom.map_err(|error| call.error_at(0, error))?.into(),
    ))
}

fn at(b: &mut Builder, call: &Call) -> Result<Value> {
    let (layout, swizzle, offset) = match &call.args[0].value {
        Value::Algebra(cute_algebra::Value::Layout(layout)) => {
            (layout.clone(), Swizzle::IDENTITY, 0)
        }
        Value::Algebra(cute_algebra::Value::Composed(layout)) => {
            (layout.layout().clone(), layout.swizzle(), layout.offset())
        }
        Value::Algebra(cute_algebra::Value::XorMap(map)) => {
            b.set_place(call.args[1].span);
            return match call.args[1].value.as_num() {
                Some(coordinate) => Ok(address::mapped(b, map, &coordinate)?.into()),
                None => Err(call.mismatch(1, "an integer")),
            };
        }
        _ => return Err(call.mismatch(0, "a layout")),
    };
    b.set_place(call.args[1].span);
    if !layout.is_integral() {
        let Some(coordinate) = call.args[1].value.as_num() else {
            return Err(call.mismatch(1, "an integer"));
        };
        return address::evaluate(b, &layout, &coordinate);
    }
    let mut part = Part {
        kept: Vec::new(),
        offset,
        dynamic: Num::Const(0),
    };
    part.pick(b, &layout, &call.args[1].value, 1)?;
    if !part.kept.is_empty() {
        return Err(call.mismatch(1, "a coordinate without `_`"));
    }
    let index = b.add(&part.dynamic, &Num::from(part.offset))?;
    Ok(address::swizzled(b, swizzle, &index)?.into())
}

fn index(b: &mut Builder, call: &Call) -> Result<Value> {
    let coordinate = &call.args[1].value;
    b.set_place(call.args[1].span);
    match &call.args[0].value {
        Value::Tensor(tensor) => {
            let part = tensor.slice(b, coordinate)?;
            if has_wild(coordinate) {
                return Ok(Value::Tensor(part));
            }
            let address = part.addresses().operand(b, part.byte(0))?;
            Ok(load(b, Modifier::Shared, part.element, address).into())
        }
        Value::Global(global) => {
            let address = global_address(b, global, coordinate)?;
            Ok(load(b, Modifier::Global, global.element, address).into())
        }
        Value::Fragment(fragment) => Ok(fragment.get(b, coordinate)?.into()),
        Value::Barriers(barriers) => barrier::pick(b, barriers, coordinate),
        Value::Tuple(elements) => match coordinate {
            Value::Int(index, _) => match usize::try_from(*index)
                .ok()
                .and_then(|index| elements.get(index))
            {
                Some(element) => Ok(element.clone()),
                None => Err(call.error_at(
                    1,
                    format!("index {index} is outside of a tuple of {}", elements.len()),
                )),
            },
            _ => Err(call.mismatch(1, "an integer known at expansion")),
        },
        _ => Err(call.mismatch(0, "a tensor, a fragment, barriers or a tuple")),
    }
}

fn index_assign(b: &mut Builder, call: &Call) -> Result<Value> {
    let [x, coordinate, value] = &call.args[..] else {
        return Ok(Value::Unit);
    };
    let element = match &x.value {
        Value::Tensor(tensor) => tensor.element,
        Value::Global(global) => global.element,
        Value::Fragment(fragment) => fragment.element,
        _ => return Err(call.mismatch(0, "a tensor or a fragment")),
    };
    b.set_place(value.span);
    let value = fragment::scalar(b, element, &value.value)?;
    b.set_place(coordinate.span);
    let (space, address) = match &x.value {
        Value::Tensor(tensor) => {
            let part = tensor.slice(b, &coordinate.value)?;
            if has_wild(&coordinate.value) {
                return Err(call.error_at(
                    1,
                    "`_` keeps a mode, but one element is assigned: use `copy`",
                ));
            }
            (Modifier::Shared, part.addresses().operand(b, part.byte(0))?)
        }
        Value::Fragment(fragment) => {
            fragment.set(b, &coordinate.value, &value)?;
            return Ok(Value::Unit);
        }
        Value::Global(global) => {
            if let ParamKind::Global { written, .. } = &mut b.params[global.param].kind {
                *written = true;
            }
            (
                Modifier::Global,
                global_address(b, global, &coordinate.value)?,
            )
        }
        _ => return Ok(Value::Unit),
    };
    b.emit(
        Opcode::St,
        (space, memory_type(element)),
        [address, value.operand()],
    );
    Ok(Value::Unit)
}

/// The type by which one element is loaded and stored.
fn memory_type(element: Element) -> Type {
    match Type::of(element) {
        ty @ (Type::F16 | Type::Bf16) => ty.untyped(),
        ty => ty,
    }
}

fn load(b: &mut Builder, space: Modifier, element: Element, address: Operand) -> Scalar {
    b.compute(
        Type::of(element),
        Opcode::Ld,
        (space, memory_type(element)),
        [address],
    )
}

/// The address of an element of a tensor parameter: `pointer + bytes · (Σ index · stride)`, the last stride being 1.
fn global_address(b: &mut Builder, global: &Global, coordinate: &Value) -> Result<Operand> {
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
        // Pointers of parameters are generic; global memory is accessed as such.
        let both = [pointer.operand(), pointer.operand()];
        b.emit(Opcode::CvtaTo, Modifier::Global, both);
    });
    match bytes {
        Num::Const(offset) => match i64::try_from(offset) {
            Ok(offset) => Ok(at_register(&pointer, offset)),
            Err(_) => Err(b.error(format!("offset {offset} does not fit 64 bits"))),
        },
        Num::Reg(_) => {
            let sum = b.add(&pointer.into(), &bytes)?;
            let register = b.to_register(&sum, Type::U64)?;
            Ok(at_register(&register, 0))
        }
    }
}

fn local_tile(b: &mut Builder, call: &Call) -> Result<Value> {
    let shape = match call.args[1].value.to_algebra() {
        Some(cute_algebra::Value::Int(extent)) => Tuple::Leaf(extent),
        Some(cute_algebra::Value::Tuple(shape)) => shape,
        _ => return Err(call.mismatch(1, "a shape")),
    };
    let Argument {
        value: coordinate,
        span,
    } = &call.args[2];
    b.set_place(call.args[1].span);
    match &call.args[0].value {
        Value::Tensor(tensor) => {
            let tiles = tensor.tiles(b, &shape)?;
            b.set_place(*span);
            let whole = Value::Tuple(vec![Value::Wild; shape.rank()]);
            let tile = tiles.slice(b, &Value::Tuple(vec![whole, coordinate.clone()]))?;
            Ok(Value::Tensor(tile))
        }
        Value::Fragment(fragment) => {
            fragment.check_tile(b, &shape)?;
            b.set_place(*span);
            let coordinate = coordinate.to_coord();
            let Some(coordinate) = coordinate.and_then(|coord: Coord| coord.to_int_tuple()) else {
                return Err(call.mismatch(2, "a coordinate known at expansion"));
            };
            fragment.tile(b, &shape, &coordinate).map(Value::Fragment)
        }
        _ => Err(call.mismatch(0, "a tensor or a fragment")),
    }
}

fn size(_: &mut Builder, call: &Call) -> Result<Value> {
    let size = match &call.args[0].value {
        Value::Tensor(tensor) => tensor.layout.layout().size().into(),
        Value::Fragment(fragment) => fragment.values.len() as i128,
        Value::Algebra(cute_algebra::Value::Layout(layout)) => layout.size().into(),
        Value::Algebra(cute_algebra::Value::Composed(layout)) => layout.layout().size().into(),
        _ => return Err(call.mismatch(0, "a tensor, a fragment or a layout")),
    };
    Ok(Value::Int(size, None))
}

fn bytes(_: &mut Builder, call: &Call) -> Result<Value> {
    let bytes = match &call.args[0].value {
        Value::Tensor(tensor) => {
            i128::from(tensor.layout.layout().size()) * i128::from(tensor.width())
        }
        Value::Fragment(fragment) => {
            fragment.values.len() as i128 * i128::from(fragment.element.bytes())
        }
        _ => return Err(call.mismatch(0, "a tensor or a fragment")),
    };
    Ok(Value::Int(bytes, None))
}

/// The operations of the algebra that change what a layout's coordinates are, not where they lead: on a tensor they
/// give the same memory under another layout.
const DOMAIN_OPERATIONS: &[&str] = &[
    "coalesce",
    "composition",
    "flat_divide",
    "flatten",
    "get",
    "group",
    "logical_divide",
    "select",
    "take",
    "tiled_divide",
    "unflatten",
    "with_shape",
    "zipped_divide",
];

/// An operation of the algebra whose first argument is a tensor.
pub(super) fn operation(
    b: &mut Builder,
    call: &Call,
    apply: impl FnOnce(&mut Builder, Layout) -> Result<Value>,
) -> Result<Value> {
    let Value::Tensor(tensor) = &call.args[0].value else {
        return Err(call.mismatch(0, "a tensor"));
    };
    if !DOMAIN_OPERATIONS.contains(&call.name) {
        let list = DOMAIN_OPERATIONS.join(", ");
        return Err(call.error_at(
            0,
            format!(
                "`{}` does not keep the elements of a tensor in place; these do: {list}",
                call.name
            ),
        ));
    }
    match apply(b, tensor.layout.layout().clone())? {
        Value::Algebra(cute_algebra::Value::Layout(layout)) => {
            tensor.with_layout(b, layout).map(Value::Tensor)
        }
        other => Ok(other),
    }
}

fn has_wild(coordinate: &Value) -> bool {
    match coordinate {
        Value::Wild => true,
        Value::Tuple(elements) => elements.iter().any(has_wild),
        _ => false,
    }
}
