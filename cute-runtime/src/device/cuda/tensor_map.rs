//! Tensor maps in the hardware's encoding.

use std::ptr;

use cute_chip::tma::{MAP_BYTES, TensorMap};
use zerocopy::IntoBytes;

use super::context::Entered;
use super::driver::check;
use super::sys::{
    self, CUtensorMap, CUtensorMapDataType, CUtensorMapFloatOOBfill as Fill,
    CUtensorMapL2promotion as L2, CUtensorMapSwizzle,
};
use crate::{Error, L2Promotion, OobFill};

/// Asks the driver to encode a map that keeps its rules.
pub(super) fn encode(_entered: &Entered, map: &TensorMap) -> Result<[u8; MAP_BYTES], Error> {
    if let Some(rule) = map.problem() {
        return Err(Error::TensorMap { rule });
    }
    let element = map.element.tensor_map().ok_or_else(|| Error::TensorMap {
        rule: format!("no tensor map has elements of `{}`", map.element),
    })?;
    let rank = map.rank();
    let mut encoded = CUtensorMap { opaque: [0; 16] };
    // SAFETY: a map without a problem has `rank` extents, extents of the box and element strides, and `rank - 1` strides, as
    // the driver reads them. `encoded` has the type's own alignment. The global address is not read, only recorded.
    let answer = unsafe {
        sys::cuTensorMapEncodeTiled(
            &raw mut encoded,
            CUtensorMapDataType(element),
            rank as u32,
            ptr::without_provenance_mut(map.address as usize),
            map.extents.as_ptr(),
            map.strides.as_ptr(),
            map.box_extents.as_ptr(),
            map.element_strides.as_ptr(),
            sys::CU_TENSOR_MAP_INTERLEAVE_NONE,
            CUtensorMapSwizzle(map.swizzle.tensor_map()),
            l2(map.l2),
            fill(map.fill),
        )
    };
    check("cuTensorMapEncodeTiled", answer)?;
    let mut bytes = [0; MAP_BYTES];
    bytes.copy_from_slice(encoded.opaque.as_bytes());
    Ok(bytes)
}

fn l2(promotion: L2Promotion) -> L2 {
    match promotion {
        L2Promotion::None => sys::CU_TENSOR_MAP_L2_PROMOTION_NONE,
        L2Promotion::B64 => sys::CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
        L2Promotion::B128 => sys::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        L2Promotion::B256 => sys::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
    }
}

fn fill(fill: OobFill) -> Fill {
    match fill {
        OobFill::Zero => sys::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        OobFill::Nan => sys::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
    }
}
