//! Products beside cuBLASLt's: the measured types, and the function for each.

use std::error::Error;

use cute_runtime::{Device, ElementType, bf16, e4m3, f16};

use crate::row::Row;
use crate::shapes::{Shape, Types};
use crate::{grouped, single};

/// Measures one product.
pub(crate) fn compare(
    device: &Device,
    class: &str,
    shape: Shape,
    types: Types,
    every_tile: bool,
    followed: bool,
) -> Result<Row, Box<dyn Error>> {
    use ElementType::{BF16, E4M3, F16, F32, I8, I32};
    let measure = match types {
        (BF16, BF16) if followed => {
            single::measure_followed(device, shape, every_tile, bf16::from_f32)
        }
        (F16, F16) if followed => {
            single::measure_followed(device, shape, every_tile, f16::from_f32)
        }
        (BF16, BF16) if shape.groups.is_some() => grouped::measure(device, shape, bf16::from_f32),
        (F16, F16) if shape.groups.is_some() => grouped::measure(device, shape, f16::from_f32),
        (BF16, BF16) => single::measure::<bf16, bf16>(device, shape, every_tile, bf16::from_f32),
        (BF16, F32) => single::measure::<bf16, f32>(device, shape, every_tile, bf16::from_f32),
        (F16, F16) => single::measure::<f16, f16>(device, shape, every_tile, f16::from_f32),
        (F16, F32) => single::measure::<f16, f32>(device, shape, every_tile, f16::from_f32),
        (F32, F32) => single::measure::<f32, f32>(device, shape, every_tile, |x| x),
        (E4M3, BF16) => single::measure::<e4m3, bf16>(device, shape, every_tile, e4m3::from_f32),
        (E4M3, F32) => single::measure::<e4m3, f32>(device, shape, every_tile, e4m3::from_f32),
        (I8, I32) => single::measure::<i8, i32>(device, shape, every_tile, |x| (x * 50.0) as i8),
        (input, output) => Err(format!("there is no product of {input} into {output}").into()),
    };
    Ok(Row {
        class: class.to_owned(),
        shape,
        types,
        measured: measure?,
    })
}
