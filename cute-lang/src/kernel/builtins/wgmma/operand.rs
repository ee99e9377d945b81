//! The operands of wgmma, and the rows of the table for their multiplication.

use super::descriptor::Descriptors;
use crate::kernel::builtins::call::Call;
use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Element, Fragment, Scalar, Tensor, Value};
use cute_algebra::{
    Layout, LayoutError, Major, MmaAtom, MmaOperand, WgmmaOperand, composition, wgmma_operand,
};
use cute_chip::wgmma;
use syn::Result;

pub(super) const M: i64 = wgmma::M as i64;

/// The operation of the table of MMA operations with this N and these types of D, A and B. `stored` says where A is: `SS`
/// in shared memory, `RS` in registers.
pub(super) fn atom(
    n: i64,
    types: [Element; 3],
    stored: &str,
) -> std::result::Result<MmaAtom, LayoutError> {
    let [_, a, _] = types;
    let (k, types) = (wgmma::k(a), types.map(|ty| ty.ptx().to_uppercase()));
    // Where operands can only be along K, the names say so.
    let form = match a.wgmma() {
        Some(input) if input.mn_major => stored.to_owned(),
        _ => format!("{stored}_TN"),
    };
    format!("SM90_{M}x{n}x{k}_{}_{form}", types.concat()).parse()
}

/// The layout of an accumulator from (thread, value) to coordinates. It does not depend on the types of A and B.
pub(super) fn layout_c(n: i64) -> std::result::Result<Layout, LayoutError> {
    let atom = atom(n, [Element::F32, Element::F16, Element::F16], "SS")?;
    composition(&Layout::identity([M, n])?, atom.layout(MmaOperand::C))
}

/// The layout of `steps` operands A in registers, one after another along K, from (thread, value) to coordinates.
pub(super) fn layout_a(element: Element, steps: i64) -> std::result::Result<Layout, LayoutError> {
    let accumulators = element.wgmma().map_or(&[][..], |input| input.accumulators);
    let accumulator = accumulators.first().copied().unwrap_or(Element::F32);
    let n = i64::from(*wgmma::N.start());
    let atom = atom(n, [accumulator, element, element], "RS")?;
    let [_, _, k] = atom.shape_mnk();
    let one = atom.layout(MmaOperand::A);
    let side = |mode| {
        one.mode(mode)
            .expect("the layout of an operand is one from threads and values")
    };
    let mut values = side(1).modes();
    values.push(Layout::new(steps, M * k)?);
    let repeated = Layout::concat([side(0), Layout::concat(values)?])?;
    composition(&Layout::identity([M, k * steps])?, &repeated)
}

/// An operand A: in shared memory, or in registers.
pub(super) enum A<'a> {
    Shared(Shared<'a>),
    Registers {
        fragment: &'a Fragment,
        /// The registers of each instruction along K.
        steps: Vec<Vec<Scalar>>,
        /// The rows of the tile in the order of the instructions.
        order: Vec<i64>,
    },
}

/// An operand in shared memory.
pub(super) struct Shared<'a> {
    pub(super) tensor: &'a Tensor,
    pub(super) form: WgmmaOperand,
}

impl<'a> A<'a> {
    /// Argument `index` as an operand A.
    pub(super) fn new(call: &'a Call, index: usize) -> Result<Self> {
        match &call.args[index].value {
            Value::Tensor(_) => Shared::new(call, index).map(A::Shared),
            Value::Fragment(fragment) => {
                let (steps, order) = steps(call, index, fragment)?;
                Ok(A::Registers {
                    fragment,
                    steps,
                    order,
                })
            }
            _ => Err(call.mismatch(index, "a tensor in shared memory or a fragment")),
        }
    }

    pub(super) fn element(&self) -> Element {
        match self {
            A::Shared(shared) => shared.tensor.element,
            A::Registers { fragment, .. } => fragment.element,
        }
    }

    /// The numbers of rows and columns.
    pub(super) fn extents(&self) -> [i64; 2] {
        match self {
            A::Shared(shared) => shared.extents(),
            A::Registers { fragment, .. } => extents(fragment),
        }
    }

    /// The rows of the tile in the order of the instructions.
    pub(super) fn order(&self) -> Vec<i64> {
        match self {
            A::Shared(_) => (0..M).collect(),
            A::Registers { order, .. } => order.clone(),
        }
    }

    /// The operand of the instructions for argument `index`.
    pub(super) fn source(
        &'a self,
        b: &mut Builder,
        call: &Call,
        index: usize,
    ) -> Result<Source<'a>> {
        match self {
            A::Shared(shared) => shared.source(b, call, index),
            A::Registers { steps, .. } => Ok(Source::Registers(steps)),
        }
    }

    /// How many registers it takes in one instruction.
    pub(super) fn registers(&self) -> u32 {
        match self {
            A::Shared(_) => 0,
            A::Registers { steps, .. } => steps.first().map_or(0, |step| step.len() as u32),
        }
    }

    /// How the names of operations say where it is.
    pub(super) fn stored(&self) -> &'static str {
        match self {
            A::Shared(_) => "SS",
            A::Registers { .. } => "RS",
        }
    }
}

impl<'a> Shared<'a> {
    /// Argument `index` as an operand in shared memory.
    pub(super) fn new(call: &'a Call, index: usize) -> Result<Self> {
        let Value::Tensor(tensor) = &call.args[index].value else {
            return Err(call.mismatch(index, "a tensor in shared memory"));
        };
        let form = wgmma_operand(tensor.element.bits(), &tensor.layout)
            .map_err(|error| call.error_at(index, error))?;
        Ok(Self { tensor, form })
    }

    pub(super) fn extents(&self) -> [i64; 2] {
        let layout = self.tensor.layout.layout();
        [0, 1].map(|mode| layout.mode(mode).map_or(1, |mode| mode.size()))
    }

    /// Whether it is contiguous along M or N, as an operand of the instruction.
    pub(super) fn transposed(&self) -> Operand {
        Operand::Int((self.form.major == Major::MN).into())
    }

    /// The operand of the instructions for argument `index`.
    pub(super) fn source(
        &'a self,
        b: &mut Builder,
        call: &Call,
        index: usize,
    ) -> Result<Source<'a>> {
        let descriptors = Descriptors::new(b, call, index, self.tensor, &self.form)?;
        Ok(Source::Shared(self, descriptors))
    }
}

/// An operand of the instructions of a product.
pub(super) enum Source<'a> {
    Shared(&'a Shared<'a>, Descriptors),
    Registers(&'a [Vec<Scalar>]),
}

impl Source<'_> {
    /// The operand of the instruction of this number along K.
    pub(super) fn at(&self, b: &mut Builder, step: usize) -> Result<Operand> {
        match self {
            Source::Shared(shared, descriptors) => {
                let byte = b.whole(shared.tensor.byte(shared.form.steps[step]))?;
                descriptors.at(b, byte)
            }
            Source::Registers(steps) => {
                let registers = steps[step].iter().map(Scalar::operand);
                Ok(Operand::Vector(registers.collect()))
            }
        }
    }
}

/// The registers of a fragment as operand A, for each instruction along K, and the order of its rows.
fn steps(call: &Call, index: usize, fragment: &Fragment) -> Result<(Vec<Vec<Scalar>>, Vec<i64>)> {
    let element = fragment.element;
    let [m, k] = extents(fragment);
    if element.wgmma().is_none() || m != M && fragment.tile.is_some() {
        // The caller refuses these, as it does for operands in shared memory.
        return Ok((Vec::new(), Vec::new()));
    }
    let refuse = |why: &str| {
        let message = format!("an operand A in registers is held as `wgmma_a::<{element}>(k)`");
        call.error_at(index, format!("{message}: here {why}"))
    };
    let step = i64::from(wgmma::k(element));
    if fragment.tile.is_some() && k % step != 0 {
        let message = format!("K is a multiple of {step} for `{element}`, not {k}");
        return Err(call.error_at(index, message));
    }
    let expected = layout_a(element, (k / step).max(1));
    let expected = expected.map_err(|error| call.error_at(index, error))?;
    let order = fragment.row_order(&expected, M);
    let order = order.map_err(|why| refuse(&why))?;
    let values = fragment.values.len() / (k / step) as usize;
    let starts = (0..fragment.values.len()).step_by(values);
    let steps = starts.map(|start| fragment.whole_registers(start..start + values));
    let steps: Option<Vec<_>> = steps.collect();
    match steps {
        Some(steps) => Ok((steps, order)),
        None => Err(refuse("its values do not fill registers in their order")),
    }
}

/// The extents of a fragment of two modes; 0 for others.
pub(super) fn extents(fragment: &Fragment) -> [i64; 2] {
    let extents: Vec<i64> = fragment.shape.leaves().copied().collect();
    match extents[..] {
        [m, k] => [m, k],
        _ => [0, 0],
    }
}
