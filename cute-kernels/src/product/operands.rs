//! How the matrices of a product lie, and which kernels can take them so.
//!
//! Kernels of the GEMM see three modes, and D along N. One matrix is a batch of one, and D along M is computed as Dᵀ = B · Aᵀ. So batches
//! and both majors of D need no further instances. Wgmma reads A along M and B along N only with elements of 16 bits. With 32 bits, it
//! takes A along M only from registers, and never B along N. So one of the two may be M- or N-major; if it is B, the kernel computes Dᵀ.
//! One kernel (`pack.rs`) first copies all other operands that TMA or wgmma cannot take.

use std::any::Any;
use std::fmt;

use cute_runtime::{Constant, Device, Element, Tensor, TensorView, TensorViewMut};

use super::model::Product;
use crate::Error;
use crate::extent::extent;
use crate::pack::{Kept, Pack, pack};
use crate::parts::config::kernels::Config;
use crate::tma::{can_load_by_tma, can_store_by_tma};

/// A batch of one or more matrices: (batch, row, column).
pub(crate) type Matrices<'v, T> = TensorView<'v, T, 3>;

/// The same to write.
pub(crate) type MatricesMut<'v, T> = TensorViewMut<'v, T, 3>;

/// A matrix of at most so many rows is copied if it is contiguous along M or N, although the kernels can read one such matrix: a
/// copy takes two microseconds, and matrices along K have more tiles for few rows.
const COPIED_ROWS: usize = 128;

/// The form of a product. If D is contiguous along M, the kernel computes Dᵀ = B · Aᵀ, and A, B, M and N are those of that
/// product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    /// Batches, M, N and K.
    pub(crate) extents: [u32; 4],
    /// Whether Dᵀ is computed.
    pub(crate) transposed: bool,
    pub(crate) a: Place,
    pub(crate) b: Place,
    /// Elements of A, and of B. A matrix that all batches share counts once.
    pub(crate) elements: [usize; 2],
    /// Whether D is stored by TMA.
    pub(crate) by_tma: bool,
    /// Whether rows of A and B, or their copies, begin at multiples of 128 bytes.
    pub(crate) whole_lines: bool,
    /// Whether they begin at multiples of 32 bytes.
    pub(crate) whole_sectors: bool,
    /// Whether all rows along K, of A and of B or their copies, begin at multiples of 16 bytes and are multiples of 16 bytes long.
    pub(crate) whole_vectors: bool,
}

/// How a kernel gets A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// Whether the matrix is contiguous along M or N, not K.
    pub(crate) mn: bool,
    /// Whether the matrix is first copied to rows along K at multiples of 16 bytes.
    pub(crate) copied: bool,
}

impl Place {
    /// How a kernel gets a matrix of a batch. If it `takes_mn`, it reads a matrix along M or N without a copy.
    ///
    /// # Errors
    ///
    /// If the matrix is contiguous along neither of its last two modes.
    pub(crate) fn new<T: Element>(
        argument: &'static str,
        x: &Matrices<'_, T>,
        takes_mn: bool,
    ) -> Result<Self, Error> {
        let mn = lies_along_rows(x);
        let along = if mn { x.select([0, 2, 1])? } else { *x };
        if !is_contiguous(&along) {
            return Err(strides(argument, x));
        }
        let copied = !((takes_mn || !mn) && can_load_by_tma(&along));
        Ok(Self { mn, copied })
    }

    /// Whether the kernel reads a matrix that is contiguous along M or N.
    pub(crate) fn reads_mn(self) -> bool {
        self.mn && !self.copied
    }

    /// The copy of the matrix, if it is copied, in the kept memory if that is large enough. A matrix that all batches share is copied once.
    pub(crate) fn copy<T: Pack>(
        self,
        device: &Device,
        x: Matrices<'_, T>,
        kept: &mut Kept,
    ) -> Result<Copied<T>, Error> {
        let x = if x.strides()[0] == 0 {
            x.slice(0, 0..1)?
        } else {
            x
        };
        let copy = self.copied.then(|| pack(device, x, self.mn, kept));
        copy.transpose()
    }

    /// The matrix or its copy as the kernel reads it, with its contiguous mode last.
    pub(crate) fn view<'v, T: Element>(
        self,
        x: Matrices<'v, T>,
        copy: &'v Copied<T>,
    ) -> Result<Matrices<'v, T>, cute_runtime::Error> {
        match copy {
            Some(copy) => {
                let [batch, row, column] = copy.strides();
                let batch = if x.strides()[0] == 0 { 0 } else { batch };
                copy.buffer().view(0, x.shape(), [batch, row, column])
            }
            None if self.mn => x.select([0, 2, 1]),
            None => Ok(x),
        }
    }
}

/// A or B of one of several products, and how the kernel gets it: a matrix along K, copied first if TMA cannot load it so.
pub(crate) struct Operand<'v, T: Element, const R: usize> {
    matrix: TensorView<'v, T, R>,
    place: Place,
}

/// The copy of an operand, if it is copied.
pub(crate) type Copied<T> = Option<Box<Tensor<T, 3>>>;

impl<'v, T: Pack, const R: usize> Operand<'v, T, R> {
    /// # Errors
    ///
    /// If the matrix is contiguous along neither of its last two modes.
    pub(crate) fn new(argument: &'static str, matrix: TensorView<'v, T, R>) -> Result<Self, Error> {
        let place = Place::new(argument, &matrix.prepend::<3>()?, false)?;
        Ok(Self { matrix, place })
    }

    /// The copy of the matrix, if it is copied.
    pub(crate) fn copy(&self, device: &Device) -> Result<Copied<T>, Error> {
        let all = self.matrix.prepend::<3>()?;
        self.place.copy(device, all, &mut None)
    }

    /// The matrix or its copy, with rows along K.
    pub(crate) fn view<'c>(&self, copied: &'c Copied<T>) -> Result<TensorView<'c, T, R>, Error>
    where
        'v: 'c,
    {
        let Some(copy) = copied else {
            return Ok(self.matrix);
        };
        let mut strides = [0; R];
        strides.copy_from_slice(&copy.strides()[3 - R..]);
        if R == 3 && self.matrix.strides()[0] == 0 {
            strides[0] = 0;
        }
        Ok(copy.buffer().view(0, self.matrix.shape(), strides)?)
    }
}

impl Form {
    /// The form of D = A · Bᵀ. If D is stored by TMA, the kernel reads up to `most_mn` of A and B along M or N. If it reads one,
    /// this one has more than [`COPIED_ROWS`] rows, and is the larger one if both are along M or N.
    ///
    /// # Errors
    ///
    /// If the shapes do not fit together, an extent is larger than 2³¹ − 1, or a matrix is contiguous along neither of its modes.
    pub(crate) fn new<A: Element, B: Element, D: Element, const R: usize>(
        a: &TensorView<'_, A, R>,
        b: &TensorView<'_, B, R>,
        d: &TensorViewMut<'_, D, R>,
        most_mn: usize,
    ) -> Result<Self, Error> {
        let [.., k] = extents(a, b, d)?;
        Self::of(a, b, d, k, most_mn)
    }

    /// The same for matrices whose shapes have been checked.
    fn of<A: Element, B: Element, D: Element, const R: usize>(
        a: &TensorView<'_, A, R>,
        b: &TensorView<'_, B, R>,
        d: &TensorViewMut<'_, D, R>,
        k: usize,
        most_mn: usize,
    ) -> Result<Self, Error> {
        let (a_all, b_all) = (a.prepend::<3>()?, b.prepend::<3>()?);
        let mut d_all = d.as_view().prepend::<3>()?;
        let transposed = lies_along_rows(&d_all);
        if transposed {
            d_all = d_all.select([0, 2, 1])?;
        }
        if !is_contiguous(&d_all) {
            return Err(strides("d", &d_all));
        }
        let [batches, m, n] = d_all.shape();
        let by_tma = can_store_by_tma(&d_all);
        let takes_mn = by_tma && most_mn > 0;
        let mut a = Place::new("a", &a_all, takes_mn)?;
        let mut b = Place::new("b", &b_all, takes_mn)?;
        if most_mn == 1 {
            a.copied |= a.mn && a_all.shape()[1] <= COPIED_ROWS;
            b.copied |= b.mn && b_all.shape()[1] <= COPIED_ROWS;
            if a.reads_mn() && b.reads_mn() {
                let smaller = if len(&a_all) <= len(&b_all) {
                    &mut a
                } else {
                    &mut b
                };
                smaller.copied = true;
            }
        }
        let begin_at = |unit| {
            (a.copied || begins_at(&a_all, a.mn, unit))
                && (b.copied || begins_at(&b_all, b.mn, unit))
        };
        let (whole_lines, whole_sectors) = (begin_at(128), begin_at(32));
        let whole_vectors = (a.mn || has_whole_vectors(&a_all))
            && (b.mn || has_whole_vectors(&b_all))
            && is_whole::<A>(k);
        let mut elements = [len(&a_all), len(&b_all)];
        if transposed {
            (a, b) = (b, a);
            elements.reverse();
        }
        Ok(Self {
            extents: [extent(batches)?, extent(m)?, extent(n)?, extent(k)?],
            transposed,
            a,
            b,
            elements,
            by_tma,
            whole_lines,
            whole_sectors,
            whole_vectors,
        })
    }

    /// The form of A · Bᵀ, of which D has half of the columns. The shapes have been checked.
    ///
    /// # Errors
    ///
    /// If an extent is larger than 2³¹ − 1, or a matrix is contiguous along neither of its modes.
    pub(crate) fn of_halves<T: Element, D: Element, const R: usize>(
        a: &TensorView<'_, T, R>,
        b: &TensorView<'_, T, R>,
        d: &TensorViewMut<'_, D, R>,
    ) -> Result<Self, Error> {
        let half = Self::of(a, b, d, a.shape()[R - 1], 0)?;
        let [batches, m, _, k] = half.extents;
        Ok(Self {
            extents: [batches, m, extent(b.shape()[R - 2])?, k],
            ..half
        })
    }

    /// Whether the kernel reads A along M, and B along N.
    pub(crate) fn reads_mn(&self) -> [bool; 2] {
        [self.a.reads_mn(), self.b.reads_mn()]
    }

    /// The numbers of the product on which its time depends.
    ///
    /// # Errors
    ///
    /// If the driver does not say how many clusters run at the same time.
    pub(crate) fn product<T: Element, D>(&self, device: &Device) -> Result<Product, Error> {
        Ok(Product {
            whole_lines: self.whole_lines,
            whole_sectors: self.whole_sectors,
            whole_vectors: self.whole_vectors,
            ..Product::new::<T, D>(device, self.extents)?
        })
    }

    /// The fastest instance of those that are `built`, and the CTAs of its launch.
    ///
    /// # Errors
    ///
    /// If the product has more tiles than a kernel can count.
    pub(crate) fn instance<T: Element, D, C: Constant<Value = Config>>(
        &self,
        device: &Device,
        built: &[C],
    ) -> Result<(C, u32), Error> {
        self.product::<T, D>(device)?.instance(built, !self.by_tma)
    }

    /// Elements of A and B to copy first, and the number of copies.
    pub(crate) fn copies(&self) -> (usize, usize) {
        let copied = [self.a.copied, self.b.copied].into_iter();
        let each = copied.zip(self.elements).filter(|(copied, _)| *copied);
        each.fold((0, 0), |(elements, copies), (_, more)| {
            (elements + more, copies + 1)
        })
    }

    /// D, or a matrix with the modes of D, in the computed product: contiguous along N.
    ///
    /// # Errors
    ///
    /// If the matrix is contiguous along another mode than D.
    pub(crate) fn like_d<'v, T: Element, const R: usize>(
        &self,
        function: &'static str,
        argument: &'static str,
        x: &TensorView<'v, T, R>,
    ) -> Result<Matrices<'v, T>, Error> {
        let (all, along) = (x.prepend::<3>()?, if self.transposed { "M" } else { "N" });
        let turned = if self.transposed {
            all.select([0, 2, 1])?
        } else {
            all
        };
        match is_contiguous(&turned) {
            true => Ok(turned),
            false => Err(major(function, argument, along, &all)),
        }
    }

    /// Calls `launch` with A and B of the computed product, as a kernel takes them: with the contiguous mode last, and copied to
    /// kept memory where the form says so.
    pub(crate) fn launch<A: Pack, B: Pack, E>(
        &self,
        device: &Device,
        (a, b): (Matrices<'_, A>, Matrices<'_, B>),
        kept: &mut [Kept; 2],
        launch: impl FnOnce(&Matrices<'_, A>, &Matrices<'_, B>) -> Result<(), E>,
    ) -> Result<(), Error>
    where
        Error: From<E>,
    {
        let a_copy = self.a.copy(device, a, &mut kept[0])?;
        let b_copy = self.b.copy(device, b, &mut kept[1])?;
        launch(&self.a.view(a, &a_copy)?, &self.b.view(b, &b_copy)?)?;
        *kept = [keep(a_copy), keep(b_copy)];
        Ok(())
    }

    /// The same for A and B of one type, with D of the computed product.
    pub(crate) fn launch_of_one_type<T: Pack, D: Element, const R: usize>(
        &self,
        device: &Device,
        a: &TensorView<'_, T, R>,
        b: &TensorView<'_, T, R>,
        d: &mut TensorViewMut<'_, D, R>,
        launch: impl FnOnce(
            &Matrices<'_, T>,
            &Matrices<'_, T>,
            &mut MatricesMut<'_, D>,
        ) -> Result<(), cute_runtime::Error>,
    ) -> Result<(), Error> {
        let (a, b) = (a.prepend()?, b.prepend()?);
        let d = d.as_view_mut().prepend()?;
        let (operands, mut d) = match self.transposed {
            true => ((b, a), d.select([0, 2, 1])?),
            false => ((a, b), d),
        };
        self.launch(device, operands, &mut Default::default(), |a, b| {
            launch(a, b, &mut d)
        })
    }

    /// How D is stored, as text.
    pub(crate) fn store(&self) -> &'static str {
        if self.by_tma { "TMA" } else { "elements" }
    }
}

impl fmt::Display for Form {
    /// The extents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [batches, m, n, k] = self.extents;
        if batches > 1 {
            write!(f, "{batches} x ")?;
        }
        let what = if self.transposed { ", transposed" } else { "" };
        write!(f, "{m} x {n} x {k}{what}")
    }
}

/// Batches, M, N and K.
///
/// # Errors
///
/// If the shapes do not fit together.
pub(crate) fn extents<A: Element, B: Element, D: Element, const R: usize>(
    a: &TensorView<'_, A, R>,
    b: &TensorView<'_, B, R>,
    d: &TensorViewMut<'_, D, R>,
) -> Result<[usize; 4], Error> {
    let misfit = || {
        let needs = "a of shape (M, K), b of (N, K) and d of (M, N), or all three with a mode of batches before";
        let found = [("a", &a.shape()[..]), ("b", &b.shape()), ("d", &d.shape())];
        Error::shapes("a product", needs, &found)
    };
    if !(2..=3).contains(&R) {
        return Err(misfit());
    }
    let [batches, m, k] = a.prepend::<3>()?.shape();
    let b_shape @ [_, n, _] = b.prepend::<3>()?.shape();
    let d_shape = d.as_view().prepend::<3>()?.shape();
    match (b_shape, d_shape) == ([batches, n, k], [batches, m, n]) {
        true => Ok([batches, m, n, k]),
        false => Err(misfit()),
    }
}

/// Elements of a copy of a matrix. A matrix that all batches share is copied once.
fn len<T: Element>(x: &Matrices<'_, T>) -> usize {
    let [batches, rows, columns] = x.shape();
    let batches = if x.strides()[0] == 0 { 1 } else { batches };
    batches * rows * columns
}

fn keep<T: Element>(copy: Copied<T>) -> Kept {
    copy.map(|copy| copy as Box<dyn Any + Send>)
}

/// The error of a matrix that is contiguous along neither of its modes.
pub(crate) fn strides<T: Element>(argument: &'static str, x: &Matrices<'_, T>) -> Error {
    let [_, row, column] = x.strides();
    Error::GemmStrides {
        argument,
        strides: [row, column],
    }
}

/// The error of a matrix that must be contiguous along another mode.
pub(crate) fn major<T: Element>(
    function: &'static str,
    argument: &'static str,
    along: &'static str,
    x: &Matrices<'_, T>,
) -> Error {
    let [_, row, column] = x.strides();
    Error::GemmMajor {
        function,
        argument,
        along,
        strides: [row, column],
    }
}

/// Whether the last mode is contiguous.
pub(crate) fn is_contiguous<T: Element>(x: &Matrices<'_, T>) -> bool {
    x.shape()[2] <= 1 || x.strides()[2] == 1
}

/// Whether the rows are not contiguous, but the columns are.
pub(crate) fn lies_along_rows<T: Element>(x: &Matrices<'_, T>) -> bool {
    !is_contiguous(x) && (x.shape()[1] <= 1 || x.strides()[1] == 1)
}

/// Whether rows begin at multiples of 16 bytes. The strides of modes of one element count, too.
pub(crate) fn has_whole_vectors<T: Element>(x: &Matrices<'_, T>) -> bool {
    let [batch, row, _] = x.strides();
    x.address().is_multiple_of(16) && is_whole::<T>(batch) && is_whole::<T>(row)
}

/// Whether so many elements are multiples of 16 bytes.
pub(crate) fn is_whole<T>(elements: usize) -> bool {
    elements.is_multiple_of(16 / size_of::<T>())
}

/// Whether each row, or each column if `mn`, begins at a multiple of so many bytes.
fn begins_at<T: Element>(x: &Matrices<'_, T>, mn: bool, unit: u64) -> bool {
    let mode = if mn { 2 } else { 1 };
    // The stride of a mode of one element may be any number.
    let stride = if x.shape()[mode] > 1 {
        x.strides()[mode]
    } else {
        0
    };
    let bytes = (stride * size_of::<T>()) as u64;
    [x.address(), bytes].iter().all(|n| n.is_multiple_of(unit))
}
