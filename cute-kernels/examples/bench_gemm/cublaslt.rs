//! cuBLASLt's matrix product, for comparison, by each of the algorithms that its heuristic ranks highest.

use std::ffi::c_void;
use std::mem::{MaybeUninit, size_of};

use cudarc::cublaslt::result::{self, CublasError};
use cudarc::cublaslt::sys;
use cute_runtime::ElementType;

use crate::shapes::{Placed, Shape};

/// How many algorithms to request of the heuristic.
const CANDIDATES: usize = 8;
/// Scratch memory that cuBLASLt may use, in bytes; NVIDIA recommends 32 MiB on Hopper.
const WORKSPACE: usize = 32 << 20;

/// Whether cuBLASLt is on this machine.
pub(crate) fn is_present() -> bool {
    // SAFETY: the call only loads the library, which runs NVIDIA's own initialisers. They have no requirements.
    unsafe { sys::is_culib_present() }
}

/// cuBLASLt's name of an element type.
pub(crate) fn data_type(element: ElementType) -> Result<sys::cudaDataType_t, String> {
    Ok(match element {
        ElementType::BF16 => sys::cudaDataType_t::CUDA_R_16BF,
        ElementType::F16 => sys::cudaDataType_t::CUDA_R_16F,
        ElementType::F32 => sys::cudaDataType_t::CUDA_R_32F,
        ElementType::E4M3 => sys::cudaDataType_t::CUDA_R_8F_E4M3,
        ElementType::I8 => sys::cudaDataType_t::CUDA_R_8I,
        ElementType::I32 => sys::cudaDataType_t::CUDA_R_32I,
        other => return Err(format!("no product of {other} is compared")),
    })
}

/// D = A·Bᵀ with fixed shapes and types.
pub(crate) struct Product {
    handle: sys::cublasLtHandle_t,
    desc: sys::cublasLtMatmulDesc_t,
    a: sys::cublasLtMatrixLayout_t,
    b: sys::cublasLtMatrixLayout_t,
    d: sys::cublasLtMatrixLayout_t,
    algorithms: Vec<sys::cublasLtMatmulHeuristicResult_t>,
    /// Whether the factors of the product and of the old D are integers of 32 bits, not `f32`.
    integers: bool,
    workspace: u64,
}

impl Product {
    /// Bytes of scratch memory that [`Product::new`] wants.
    pub(crate) const WORKSPACE: usize = WORKSPACE;

    /// Elements of type `t` into elements of type `d`; `workspace` is the device address of [`Product::WORKSPACE`] bytes. If `bias` is the
    /// device address of as many elements of D's type as D has columns, they are added, and GELU, by the hyperbolic tangent, follows.
    ///
    /// # Safety
    ///
    /// As long as the product lives, `workspace` and `bias` are valid in the context that cuBLASLt uses: the thread's current one, or the
    /// primary context of device 0 if none is current.
    pub(crate) unsafe fn new(
        shape: &Shape,
        t: sys::cudaDataType_t,
        d: sys::cudaDataType_t,
        workspace: u64,
        bias: Option<u64>,
    ) -> Result<Product, CublasError> {
        use sys::cublasComputeType_t::{
            CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32I,
        };
        use sys::cudaDataType_t::{CUDA_R_8F_E4M3, CUDA_R_8I, CUDA_R_32F, CUDA_R_32I};
        let (compute, scale) = match t {
            CUDA_R_32F => (CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F),
            CUDA_R_8I => (CUBLAS_COMPUTE_32I, CUDA_R_32I),
            _ => (CUBLAS_COMPUTE_32F, CUDA_R_32F),
        };
        let handle = result::create_handle()?;
        let desc = result::create_matmul_desc(compute, scale)?;
        // cuBLASLt's matrices are column-major, so it computes Dᵀ = B·Aᵀ. B along K is stored transposed, and so is A along M:
        // CUBLAS_OP_T, which is 1.
        let [a_mn, b_mn] = shape.mn;
        let transposed = [u32::from(!b_mn), u32::from(a_mn)];
        use sys::cublasLtMatmulDescAttributes_t::{
            CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB,
        };
        let attributes = [CUBLASLT_MATMUL_DESC_TRANSA, CUBLASLT_MATMUL_DESC_TRANSB];
        for (attribute, value) in attributes.into_iter().zip(&transposed) {
            // SAFETY: the attribute's type is an enumeration of 32 bits, and `value` outlives the call.
            unsafe {
                result::set_matmul_desc_attribute(
                    desc,
                    attribute,
                    (value as *const u32).cast(),
                    size_of_val(value),
                )?;
            }
        }
        if t == CUDA_R_8F_E4M3 {
            // As our kernels do, sums stay in the tensor core.
            let fast = 1i8;
            // SAFETY: the attribute's type is an integer of 8 bits, and `fast` outlives the call.
            unsafe {
                result::set_matmul_desc_attribute(
                    desc,
                    sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_FAST_ACCUM,
                    (&raw const fast).cast(),
                    size_of_val(&fast),
                )?;
            }
        }
        if let Some(bias) = bias {
            use sys::cublasLtEpilogue_t::CUBLASLT_EPILOGUE_GELU_BIAS;
            use sys::cublasLtMatmulDescAttributes_t::{
                CUBLASLT_MATMUL_DESC_BIAS_POINTER, CUBLASLT_MATMUL_DESC_EPILOGUE,
            };
            let epilogue = CUBLASLT_EPILOGUE_GELU_BIAS as u32;
            // SAFETY: the attributes' types are an enumeration of 32 bits and an address, and both values outlive the calls.
            unsafe {
                result::set_matmul_desc_attribute(
                    desc,
                    CUBLASLT_MATMUL_DESC_EPILOGUE,
                    (&raw const epilogue).cast(),
                    size_of_val(&epilogue),
                )?;
                result::set_matmul_desc_attribute(
                    desc,
                    CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                    (&raw const bias).cast(),
                    size_of_val(&bias),
                )?;
            }
        }
        let Shape {
            batches, m, n, k, ..
        } = *shape;
        let b = layout(t, batches, shape.placed(n, k, b_mn))?;
        let a = layout(t, batches, shape.placed(m, k, a_mn))?;
        let d = layout(d, batches, shape.placed(m, n, false))?;
        let preference = result::create_matmul_pref()?;
        let workspace_bytes = WORKSPACE;
        let mut found = [MaybeUninit::uninit(); CANDIDATES];
        let mut count = 0;
        // SAFETY: the handles were created above, and `found` has room for CANDIDATES results.
        unsafe {
            result::set_matmul_pref_attribute(
                preference,
                sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                (&raw const workspace_bytes).cast(),
                size_of::<usize>(),
            )?;
            sys::cublasLtMatmulAlgoGetHeuristic(
                handle,
                desc,
                b,
                a,
                d,
                d,
                preference,
                CANDIDATES as i32,
                found.as_mut_ptr().cast(),
                &mut count,
            )
            .result()?;
            result::destroy_matmul_pref(preference)?;
        }
        let algorithms = found[..count as usize]
            .iter()
            // SAFETY: cuBLASLt has written the first `count` results.
            .map(|result| unsafe { result.assume_init() })
            .collect();
        Ok(Product {
            handle,
            desc,
            a,
            b,
            d,
            algorithms,
            integers: scale == CUDA_R_32I,
            workspace,
        })
    }

    /// Number of algorithms that the heuristic found.
    pub(crate) fn algorithms(&self) -> usize {
        self.algorithms.len()
    }

    /// Enqueues D = A·Bᵀ by algorithm `i` on a stream.
    ///
    /// # Safety
    ///
    /// The addresses are those of device matrices of the shapes and types that were given to [`Product::new`], and `stream` is a
    /// `CUstream`, or 0 for the default stream.
    pub(crate) unsafe fn run(
        &self,
        i: usize,
        [a, b, d]: [u64; 3],
        stream: u64,
    ) -> Result<(), CublasError> {
        let one = if self.integers { 1 } else { 1f32.to_bits() };
        let zero = 0u32;
        // SAFETY: the caller promises that the matrices are valid, and `new` has created the handles. The scalars are read
        // before the call returns.
        unsafe {
            result::matmul(
                self.handle,
                self.desc,
                (&raw const one).cast(),
                (&raw const zero).cast(),
                b as *const c_void,
                self.b,
                a as *const c_void,
                self.a,
                d as *const c_void,
                self.d,
                d as *mut c_void,
                self.d,
                &self.algorithms[i].algo,
                self.workspace as *mut c_void,
                WORKSPACE,
                stream as sys::cudaStream_t,
            )
        }
    }
}

impl Drop for Product {
    fn drop(&mut self) {
        // SAFETY: each handle was created in `new` and is destroyed once.
        unsafe {
            let _ = result::destroy_matmul_desc(self.desc);
            for layout in [self.a, self.b, self.d] {
                let _ = result::destroy_matrix_layout(layout);
            }
            let _ = result::destroy_handle(self.handle);
        }
    }
}

/// The layout of a batch of matrices.
fn layout(
    element: sys::cudaDataType_t,
    batches: usize,
    placed: Placed,
) -> Result<sys::cublasLtMatrixLayout_t, CublasError> {
    use sys::cublasLtMatrixLayoutAttribute_t::{
        CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
    };
    let Placed { inner, outer, ld } = placed;
    let layout = result::create_matrix_layout(element, inner as u64, outer as u64, ld as i64)?;
    let (count, stride) = (batches as i32, placed.len() as i64);
    // SAFETY: the attributes are integers of 32 and of 64 bits, and their values outlive the calls.
    unsafe {
        result::set_matrix_layout_attribute(
            layout,
            CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
            (&raw const count).cast(),
            size_of_val(&count),
        )?;
        result::set_matrix_layout_attribute(
            layout,
            CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
            (&raw const stride).cast(),
            size_of_val(&stride),
        )?;
    }
    Ok(layout)
}
