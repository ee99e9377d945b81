//! Tensor maps in the hardware's encoding.

use std::ptr;

use cudarc::driver::sys::{
    self, CUtensorMap, CUtensorMapDataType as DataType, CUtensorMapFloatOOBfill as Fill,
    CUtensorMapInterleave as Interleave, CUtensorMapL2promotion as L2,
    CUtensorMapSwizzle as Swizzle,
};
use cute_chip::tma::{MAP_BYTES, TensorMap};
use zerocopy::IntoBytes;

use super::context::Entered;
use super::driver::check;
use crate::{ElementType, Error, L2Promotion, OobFill, SwizzleMode};

/// Asks the driver to encode a map that keeps its rules.
pub(super) fn encode(_entered: &Entered, map: &TensorMap) -> Result<[u8; MAP_BYTES], Error> {
    if let Some(rule) = map.problem() {
        return Err(Error::TensorMap { rule });
    }
    let element = data_type(map.element).ok_or_else(|| Error::TensorMap {
        rule: format!("no tensor map has elements of `{}`", map.element),
    })?;
    let rank = map.rank();
    let mut encoded = CUtensorMap { opaque: [0; 16] };
    // SAFETY: a map without a problem has `rank` extents, extents of the box and element strides, and `rank - 1` strides, as
    // the driver reads them. `encoded` has the type's own alignment. The global address is not read, only recorded.
    let answer = unsafe {
        sys::cuTensorMapEncodeTiled(
            &raw mut encoded,
            element,
            rank as u32,
            ptr::without_provenance_mut(map.address as usize),
            map.extents.as_ptr(),
            map.strides.as_ptr(),
            map.box_extents.as_ptr(),
            map.element_strides.as_ptr(),
            Interleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            swizzle(map.swizzle),
            l2(map.l2),
            fill(map.fill),
        )
    };
    check("cuTensorMapEncodeTiled", answer)?;
    let mut bytes = [0; MAP_BYTES];
    bytes.copy_from_slice(encoded.opaque.as_bytes());
    Ok(bytes)
}

/// The driver's names for the values in the table of element types.
const DATA_TYPES: [DataType; 11] = [
    DataType::CU_TENSOR_MAP_DATA_TYPE_UINT8,
    DataType::CU_TENSOR_MAP_DATA_TYPE_UINT16,
    DataType::CU_TENSOR_MAP_DATA_TYPE_UINT32,
    DataType::CU_TENSOR_MAP_DATA_TYPE_INT32,
    DataType::CU_TENSOR_MAP_DATA_TYPE_UINT64,
    DataType::CU_TENSOR_MAP_DATA_TYPE_INT64,
    DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
    DataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
    DataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
];

const fn data_type(element: ElementType) -> Option<DataType> {
    let Some(number) = element.tensor_map() else {
        return None;
    };
    let mut name = 0;
    // It ends within the names, for every element type: the constant below is computed when this is compiled.
    while DATA_TYPES[name] as u32 != number {
        name += 1;
    }
    Some(DATA_TYPES[name])
}

const _: () = {
    let mut element = 0;
    while element < ElementType::ALL.len() {
        data_type(ElementType::ALL[element]);
        element += 1;
    }
};

fn swizzle(mode: SwizzleMode) -> Swizzle {
    match mode {
        SwizzleMode::None => Swizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
        SwizzleMode::B32 => Swizzle::CU_TENSOR_MAP_SWIZZLE_32B,
        SwizzleMode::B64 => Swizzle::CU_TENSOR_MAP_SWIZZLE_64B,
        SwizzleMode::B128 => Swizzle::CU_TENSOR_MAP_SWIZZLE_128B,
    }
}

fn l2(promotion: L2Promotion) -> L2 {
    match promotion {
        L2Promotion::None => L2::CU_TENSOR_MAP_L2_PROMOTION_NONE,
        L2Promotion::B64 => L2::CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
        L2Promotion::B128 => L2::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        L2Promotion::B256 => L2::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
    }
}

fn fill(fill: OobFill) -> Fill {
    match fill {
        OobFill::Zero => Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        OobFill::Nan => Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swizzles_have_the_drivers_values() {
        for mode in SwizzleMode::ALL {
            assert_eq!(swizzle(mode) as u32, mode.tensor_map(), "{mode:?}");
        }
    }
}
