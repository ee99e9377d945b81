//! Faults that the emulator reports, in terms of the kernel's tensors: addresses become coordinates.

use cute_algebra::{ComposedLayout, Swizzle, Value};
use cute_emulator::{Element, EmulatorError, Fault, FaultKind};

use crate::device::backend::TensorArgument;
use crate::device::tensor_map::RawView;
use crate::{ElementType, Error};

/// Adds the coordinate to a fault at a tensor: a tensor that the kernel declares in shared memory, or an argument of the launch,
/// given with its name.
pub(super) fn located(error: Error, arguments: &[TensorArgument<'_>]) -> Error {
    let Error::Emulator {
        kernel,
        error: EmulatorError::Fault(mut fault),
    } = error
    else {
        return error;
    };
    for element in &mut fault.elements {
        let known = element.coordinate.take();
        element.coordinate = known.or_else(|| shared(&element.description, element.byte));
    }
    if fault.elements.is_empty() {
        let element = argument(&fault, arguments);
        fault.elements.extend(element);
    }
    Error::Emulator {
        kernel,
        error: EmulatorError::Fault(fault),
    }
}

/// The coordinate of a byte of a tensor in shared memory, whose description is `f32 at (8,32):(32,1)`.
fn shared(description: &str, byte: i64) -> Option<String> {
    let (name, layout) = description.split_once(" at ")?;
    let element = ElementType::from_name(name)?;
    let layout = match layout.parse().ok()? {
        Value::Layout(layout) => ComposedLayout::new(Swizzle::IDENTITY, 0, layout).ok()?,
        Value::Composed(layout) => layout,
        _ => return None,
    };
    let wanted = byte.checked_mul(8)? / i64::from(element.bits());
    let mut index = layout.values().position(|value| value == wanted)? as i64;
    let layout = layout.layout();
    let coordinates = (0..).map_while(|mode| layout.mode(mode)).map(|mode| {
        let size = mode.size();
        let coordinate = index % size;
        index /= size;
        coordinate
    });
    Some(tuple(&coordinates.collect::<Vec<_>>()))
}

/// The element of an argument at a fault in global memory. The argument is the tensor that begins nearest to the address, in the
/// allocation of the fault.
fn argument(fault: &Fault, arguments: &[TensorArgument<'_>]) -> Option<Element> {
    let address = fault.kind.global_address()?;
    let candidates = arguments
        .iter()
        .filter(|TensorArgument { view, .. }| match &fault.kind {
            FaultKind::Global(error) => (error.nearest.iter())
                .any(|near| (near.base..=near.base + near.bytes).contains(&view.address)),
            _ => view.address <= address,
        });
    let TensorArgument { name, view, .. } =
        candidates.min_by_key(|it| it.view.address.abs_diff(address))?;
    let byte = address.wrapping_sub(view.address) as i64;
    Some(Element {
        tensor: name.to_string(),
        description: format!(
            "{} of shape {:?} with strides {:?}",
            view.element.name(),
            view.shape,
            view.strides
        ),
        byte,
        coordinate: Some(global(view, byte)),
    })
}

/// The coordinate of a byte of an argument. Outside of the tensor, the coordinate along the largest stride is out of range.
fn global(view: &RawView<'_>, byte: i64) -> String {
    let bits = 8 * i128::from(byte);
    let mut rest = bits.div_euclid(view.element.bits().into()) as i64;
    let mut modes: Vec<usize> = (0..view.strides.len()).collect();
    modes.sort_by_key(|&mode| std::cmp::Reverse(view.strides[mode]));
    let mut coordinates = vec![0; modes.len()];
    for mode in modes {
        let stride = view.strides[mode] as i64;
        if stride > 0 {
            coordinates[mode] = rest.div_euclid(stride);
            rest = rest.rem_euclid(stride);
        }
    }
    tuple(&coordinates)
}

fn tuple(coordinates: &[i64]) -> String {
    let parts: Vec<String> = coordinates.iter().map(i64::to_string).collect();
    match &parts[..] {
        [only] => only.clone(),
        parts => format!("({})", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_coordinates() {
        for (description, byte, coordinate) in [
            ("f32 at (8,32):(32,1)", 4 * 33, Some("(1, 1)")),
            ("f32 at (8,32):(33,1)", 4 * 32, None),
            ("bf16 at ((2,4),8):((1,16),2)", 2 * 17, Some("(3, 0)")),
            // The swizzle moves the second row's first element.
            (
                "f16 at Sw<3,3,3> o 0 o (8,64):(64,1)",
                2 * (64 + 8),
                Some("(1, 0)"),
            ),
            ("u4 at (8,16):(16,1)", 8 + 3, Some("(1, 6)")),
            ("f32 at nothing", 0, None),
        ] {
            assert_eq!(
                shared(description, byte).as_deref(),
                coordinate,
                "{description}"
            );
        }
        let view = RawView {
            element: ElementType::F32,
            address: 0,
            shape: &[4, 8],
            strides: &[10, 1],
        };
        for (byte, coordinate) in [
            (0, "(0, 0)"),
            (4 * 23, "(2, 3)"),
            (400, "(10, 0)"),
            (-4, "(-1, 9)"),
        ] {
            assert_eq!(global(&view, byte), coordinate);
        }
    }
}
