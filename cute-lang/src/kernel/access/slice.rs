//! Parts of tensors in shared memory.

use crate::kernel::access::check::check_shared;
use crate::kernel::access::coordinate::no_coordinate;
use crate::kernel::access::crd2idx::crd2idx;
use crate::kernel::emit::builder::Builder;
use crate::kernel::value::element::{AS_BYTES, width};
use crate::kernel::value::{Num, Tensor, Value};
use cute_algebra::{ComposedLayout, Layout};
use cute_chip::PartialByte;
use syn::Result;

impl Tensor {
    /// The same memory under another layout.
    pub fn with_layout(&self, b: &Builder, layout: Layout) -> Result<Tensor> {
        let layout = ComposedLayout::new(self.layout.swizzle(), self.layout.offset(), layout)
            .map_err(|error| b.error(error))?;
        Ok(Tensor {
            layout,
            ..self.clone()
        })
    }

    /// The part at a coordinate. `_` keeps a mode, and an integer, known or in a register, selects one element of it.
    pub fn slice(&self, b: &mut Builder, coordinate: &Value) -> Result<Tensor> {
        let mut selected = Selection {
            of: b
                .notes
                .shared_name(self.base)
                .map(|name| format!("`{name}`")),
            kept: Vec::new(),
            offset: 0,
            dynamic: self.dynamic.clone(),
        };
        let layout = self.layout.layout();
        check_shared(b, self.base, layout.shape(), coordinate)?;
        selected.pick(b, layout, coordinate, self.width())?;
        let kept = match coordinate {
            Value::Wild => layout.clone(),
            _ => Layout::concat(selected.kept).map_err(|error| b.error(error))?,
        };
        let layout = ComposedLayout::new(
            self.layout.swizzle(),
            self.layout.offset() + selected.offset,
            kept,
        );
        let layout = layout.map_err(|error| b.error(error))?;
        Ok(Tensor {
            layout,
            dynamic: selected.dynamic,
            ..self.clone()
        })
    }
}

/// The part of a layout that a coordinate selects.
pub(crate) struct Selection {
    /// What has the layout, for messages, such as "`x`".
    pub of: Option<String>,
    /// The modes kept by `_`.
    pub kept: Vec<Layout>,
    /// The offset of the known integers, in elements.
    pub offset: i64,
    /// The offset of the integers in registers, in the unit given to [`pick`](Self::pick).
    pub dynamic: Num,
}

impl Selection {
    /// Selects in a mode. The run-time offset counts `unit` for each element; elements without one have known coordinates only.
    pub(crate) fn pick(
        &mut self,
        b: &mut Builder,
        mode: &Layout,
        coordinate: &Value,
        unit: std::result::Result<i64, PartialByte>,
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
                            "coordinate {index} is outside of mode {mode}{}, whose size is {}",
                            self.of
                                .as_ref()
                                .map_or(String::new(), |of| format!(" of {of}")),
                            mode.size()
                        )));
                    }
                }
            }
            Value::Tuple(coordinates) => {
                if mode.shape().is_leaf() || mode.rank() != coordinates.len() {
                    let (expected, found) = (mode.rank(), coordinates.len());
                    return Err(b.error(format!(
                        "this coordinate has {found} modes, but {mode} has {expected}"
                    )));
                }
                for (mode, coordinate) in mode.modes().iter().zip(coordinates) {
                    self.pick(b, mode, coordinate, unit)?;
                }
            }
            other => {
                let Some(Num::Reg(scalar)) = other.as_num() else {
                    return Err(b.error(no_coordinate(other)));
                };
                let unit = unit.map_err(|error| b.error(run_time(error)))?;
                let offset = crd2idx(b, mode, &scalar.into(), unit)?;
                // The register may be a `let mut` variable. Code that keeps the tensor copies it.
                self.dynamic = b.add(&self.dynamic.clone(), &offset)?;
            }
        }
        Ok(())
    }
}

/// The message of a run-time coordinate in a tensor whose elements are parts of bytes.
fn run_time(PartialByte { element, .. }: PartialByte) -> String {
    let width = width(element);
    format!(
        "an offset that is known only when the kernel runs is in whole bytes, and {width}: {AS_BYTES}"
    )
}

/// Whether a coordinate has a `_` or a range.
pub(crate) fn names_several(coordinate: &Value) -> bool {
    match coordinate {
        Value::Wild | Value::Range(..) => true,
        Value::Tuple(elements) => elements.iter().any(names_several),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::access::simulate::{SHARED, Thread, name, take};
    use crate::kernel::emit::builder::SHARED_ALIGN;
    use crate::kernel::emit::shared::Purpose;
    use crate::kernel::ir::Operand;
    use crate::kernel::value::Element;
    use crate::kernel::value::NumberType;
    use cute_algebra::{Coord, Swizzle, SwizzleMode, Tuple, tile_to_shape};
    use cute_ptx::ast::Type;
    use std::collections::BTreeMap;

    /// Compares the address of every element of `tensor[coordinate]` with the result of the algebra, and returns the number of
    /// instructions. In the coordinate, -1 is `_`, and `None` is a run-time integer that takes every value.
    fn check(
        layout: &ComposedLayout,
        element: Element,
        coordinate: &[Option<i64>],
        known_bits: bool,
    ) -> usize {
        let mut b = Builder::new(128, [1, 1, 1]);
        let base = b
            .allocate(64 * 1024, SHARED_ALIGN, Purpose::Tensor)
            .unwrap()
            + SHARED_ALIGN;
        let tensor = Tensor {
            element,
            base,
            layout: layout.clone(),
            dynamic: Num::Const(0),
            peer: None,
        };
        let modes = layout.layout().modes();
        let (mut values, mut inputs) = (Vec::new(), Vec::new());
        for (mode, index) in modes.iter().zip(coordinate) {
            values.push(match index {
                Some(-1) => Value::Wild,
                Some(index) => Value::Int((*index).into(), NumberType::Any),
                None => {
                    let register = b.register(Type::U32);
                    if known_bits {
                        b.known
                            .limit_bits(&register, (mode.size() as u64).next_power_of_two() - 1);
                    }
                    inputs.push((name(&mut b, &register), mode.size() as u64));
                    register.into()
                }
            });
        }
        let part = tensor.slice(&mut b, &Value::Tuple(values)).unwrap();
        let mut addresses = part.addresses().unwrap();
        let kept: Vec<i64> = part.layout.layout().values().collect();
        let operands: Vec<Operand> = kept
            .iter()
            .map(|index| {
                addresses
                    .operand(&mut b, part.byte(*index).unwrap())
                    .unwrap()
            })
            .collect();
        let lines = take(&mut b, 0);
        let names = b.names();
        let operands: Vec<_> = operands.iter().map(|it| names.operand(it)).collect();
        let total: u64 = inputs.iter().map(|(_, size)| size).product();
        for mut run_time in 0..total {
            let mut registers = BTreeMap::new();
            let mut point = Vec::new();
            let mut names = inputs.iter();
            for index in coordinate {
                point.push(match index {
                    None => {
                        let (name, size) = names.next().unwrap();
                        registers.insert(name.clone(), run_time % size);
                        let value = run_time % size;
                        run_time /= size;
                        value as i64
                    }
                    Some(index) => *index,
                });
            }
            let mut thread = Thread::new(registers);
            thread.run(&lines);
            let free: i64 = modes
                .iter()
                .zip(&point)
                .filter(|(_, index)| **index == -1)
                .map(|(mode, _)| mode.size())
                .product();
            for (position, operand) in (0..free).zip(&operands) {
                let mut rest = position;
                let full: Coord = modes
                    .iter()
                    .zip(&point)
                    .map(|(mode, &index)| {
                        let digit = rest % mode.size();
                        rest = if index == -1 {
                            rest / mode.size()
                        } else {
                            rest
                        };
                        Tuple::Leaf(Some(if index == -1 { digit } else { index }))
                    })
                    .collect();
                let expected = SHARED as i64
                    + i64::from(base)
                    + layout.crd2idx(&full).unwrap() * i64::from(element.bits() / 8);
                assert_eq!(
                    thread.address(operand) as i64,
                    expected,
                    "{layout} of {element} at {full}"
                );
            }
        }
        lines.len()
    }

    fn tiled(mode: SwizzleMode, element: Element, shape: [i64; 2]) -> ComposedLayout {
        let span = mode.span() / i64::from(element.bits() / 8);
        let atom = Layout::new([8, span], [span, 1]).unwrap();
        let layout = tile_to_shape(&atom, &shape.into(), None).unwrap();
        ComposedLayout::new(Swizzle::from_mode(mode, element.bits()).unwrap(), 0, layout).unwrap()
    }

    #[test]
    fn addresses_are_the_algebras() {
        for element in [Element::U8, Element::BF16, Element::U32, Element::F64] {
            for mode in SwizzleMode::ALL {
                let layout = tiled(mode, element, [32, 256 / i64::from(element.bits() / 8)]);
                for known_bits in [false, true] {
                    check(&layout, element, &[Some(-1), Some(-1)], known_bits);
                    check(&layout, element, &[None, Some(-1)], known_bits);
                    check(&layout, element, &[Some(-1), None], known_bits);
                    check(&layout, element, &[None, Some(3)], known_bits);
                    check(&layout, element, &[None, None], known_bits);
                }
            }
        }
    }

    #[test]
    fn addresses_of_other_layouts() {
        let plain = |layout| ComposedLayout::new(Swizzle::IDENTITY, 5, layout).unwrap();
        check(
            &plain(Layout::new([12, 10], [11, 1]).unwrap()),
            Element::F32,
            &[None, Some(-1)],
            false,
        );
        let nested = |text: &str| plain(text.parse().unwrap());
        check(
            &nested("((3,4),5):((7,2),40)"),
            Element::U16,
            &[None, None],
            true,
        );
        // Layouts whose cheapest form adds or subtracts a jump where a mode ends.
        for (text, instructions) in [
            ("((7,12),8):((1,8),100)", 5),
            ("((30,10),2):((16,1),600)", 5),
            ("((5,4,7),3):((1,6,31),300)", 8),
            ("((30,4,5),(3,5)):((16,1,4),(700,500))", 0),
        ] {
            for known_bits in [false, true] {
                let count = check(&nested(text), Element::F32, &[None, Some(-1)], known_bits);
                assert!(
                    instructions == 0 || count == instructions,
                    "{text}: {count}"
                );
                check(&nested(text), Element::U8, &[None, None], known_bits);
            }
        }
        // A swizzle with a period above the alignment of shared memory, and one with a negative shift.
        for swizzle in [
            Swizzle::new(5, 0, 5).unwrap(),
            Swizzle::new(3, 2, -4).unwrap(),
        ] {
            let layout =
                ComposedLayout::new(swizzle, 0, Layout::new([32, 32], [32, 1]).unwrap()).unwrap();
            check(&layout, Element::U32, &[None, Some(-1)], true);
            check(&layout, Element::U32, &[Some(-1), None], false);
        }
    }

    #[test]
    fn a_swizzle_is_applied_once() {
        let layout = tiled(SwizzleMode::B128, Element::BF16, [64, 64]);
        // For one row: one instruction for its offset, three for the swizzle, one for the sum with the base, and one `xor` for each of 7
        // further chunks of 16 bytes.
        assert_eq!(
            check(&layout, Element::BF16, &[None, Some(-1)], true),
            1 + 3 + 1 + 7
        );
        // The offset of a stage is a multiple of the period, so the swizzle takes no instruction.
        let stages = tile_to_shape(
            &Layout::new([8, 64], [64, 1]).unwrap(),
            &[64, 64, 4].into(),
            None,
        )
        .unwrap();
        let ring = ComposedLayout::new(layout.swizzle(), 0, stages).unwrap();
        assert_eq!(
            check(&ring, Element::BF16, &[Some(-1), Some(-1), None], false),
            2
        );
    }
}
