//! cuBLASLt's matrix product, for comparison: each of the algorithms that its heuristic ranks highest.

use std::ffi::c_void;
use std::mem::{MaybeUninit, size_of};
use std::ptr::null_mut;

use cudarc::cublaslt::result::{self, CublasError};
use cudarc::cublaslt::sys;

/// How many of the heuristic's proposals to keep.
const CANDIDATES: usize = 8;
/// Scratch memory that cuBLASLt may use, in bytes; NVIDIA recommends 32 MiB on Hopper.
const WORKSPACE: usize = 32 << 20;

/// D = A·Bᵀ with fixed shapes and types, row-major and packed.
pub(crate) struct Product {
    handle: sys::cublasLtHandle_t,
    desc: sys::cublasLtMatmulDesc_t,
    a: sys::cublasLtMatrixLayout_t,
    b: sys::cublasLtMatrixLayout_t,
    d: sys::cublasLtMatrixLayout_t,
    algorithms: Vec<sys::cublasLtMatmulHeuristicResult_t>,
    workspace: u64,
}

impl Product {
    /// Bytes of scratch memory that [`Product::new`] wants.
    pub(crate) const WORKSPACE: usize = WORKSPACE;

    /// bf16 × bf16 into `d` (bf16 or f32); `workspace` is the device address of [`Product::WORKSPACE`] bytes.
    ///
    /// # Safety
    ///
    /// A CUDA context is current; `workspace` is valid in it while the product lives.
    pub(crate) unsafe fn new(
        (m, n, k): (usize, usize, usize),
        d: sys::cudaDataType_t,
        workspace: u64,
    ) -> Result<Product, CublasError> {
        let bf16 = sys::cudaDataType_t::CUDA_R_16BF;
        let f32 = sys::cudaDataType_t::CUDA_R_32F;
        let handle = result::create_handle()?;
        let desc = result::create_matmul_desc(sys::cublasComputeType_t::CUBLAS_COMPUTE_32F, f32)?;
        // Column-major, the product is Dᵀ = B·Aᵀ, with B stored transposed: CUBLAS_OP_T of cublasOperation_t.
        let transposed = 1u32;
        // SAFETY: the attribute's type is an enumeration of 32 bits, and `transposed` outlives the call.
        unsafe {
            result::set_matmul_desc_attribute(
                desc,
                sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSA,
                (&raw const transposed).cast(),
                size_of_val(&transposed),
            )?;
        }
        let b = result::create_matrix_layout(bf16, k as u64, n as u64, k as i64)?;
        let a = result::create_matrix_layout(bf16, k as u64, m as u64, k as i64)?;
        let d = result::create_matrix_layout(d, n as u64, m as u64, n as i64)?;
        let preference = result::create_matmul_pref()?;
        let workspace_bytes = WORKSPACE;
        let mut found = [MaybeUninit::uninit(); CANDIDATES];
        let mut count = 0;
        // SAFETY: handles were created above; `found` has room for CANDIDATES results.
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
            workspace,
        })
    }

    /// How many algorithms there are to try.
    pub(crate) fn algorithms(&self) -> usize {
        self.algorithms.len()
    }

    /// Enqueues D = A·Bᵀ by algorithm `i` on the default stream.
    ///
    /// # Safety
    ///
    /// The addresses are of device matrices of the shapes and types given to [`Product::new`].
    pub(crate) unsafe fn run(&self, i: usize, a: u64, b: u64, d: u64) -> Result<(), CublasError> {
        let (one, zero) = (1f32, 0f32);
        // SAFETY: the caller vouches for the matrices, `new` for the handles; the scalars are read before the call returns.
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
                null_mut(),
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
