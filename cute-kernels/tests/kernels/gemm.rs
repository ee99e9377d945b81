//! The product compared with float64, on shapes near every multiple of the tile.

use cute_kernels::lib::TILES;
use cute_kernels::product::table::kernels::COMMON;
use cute_kernels::reference::{self, Matrix, normal};
use cute_kernels::{Error, GemmInput, Plan, Tile, gemm};
use cute_runtime::{
    Buffer, Device, Element, ElementType, EmulatorOptions, Tensor, bf16, e4m3, e5m2, f16,
};
use std::collections::HashSet;
use std::sync::Once;
use zerocopy::IntoBytes;

use crate::covering::{Cover, whole};
use crate::device;

pub(crate) mod streamed;

/// Elements of A and B.
trait Input: Element + Into<f64> {
    /// What stands beside the rows of a matrix. Where there is a NaN, it is one: a result is NaN if it was read.
    const PADDING: Self;
    /// The relative error of a sum after that many instructions, besides that of f32.
    fn error(_instructions: usize) -> f64 {
        0.0
    }
    /// An element near to a normally distributed number.
    fn random(number: f32) -> Self;
}

impl Input for bf16 {
    const PADDING: Self = bf16::NAN;
    fn random(number: f32) -> Self {
        bf16::from_f32(number)
    }
}

impl Input for f16 {
    const PADDING: Self = f16::NAN;
    fn random(number: f32) -> Self {
        f16::from_f32(number * 1.1)
    }
}

/// As tf32, whose bits are the first 19.
impl Input for f32 {
    const PADDING: Self = f32::NAN;
    fn random(number: f32) -> Self {
        f32::from_bits((number * 1.1).to_bits() & !0x1fff)
    }
}

impl Input for e4m3 {
    const PADDING: Self = e4m3::from_bits(0x7f);
    /// Each instruction truncates its 33 summands to 13 bits of fraction of the largest one (MMA-Sim, arXiv 2511.10909). The
    /// errors have random signs, and together are about √33 / 2 < 4 times 2⁻¹³.
    fn error(instructions: usize) -> f64 {
        instructions as f64 * 4.0 / 8192.0
    }
    fn random(number: f32) -> Self {
        e4m3::from_f32(number)
    }
}

/// With a bit less of fraction than `e4m3`, whose products the same instructions sum up.
impl Input for e5m2 {
    const PADDING: Self = e5m2::from_bits(0x7f);
    fn error(instructions: usize) -> f64 {
        e4m3::error(instructions)
    }
    fn random(number: f32) -> Self {
        e5m2::from_f32(number)
    }
}

impl Input for i8 {
    const PADDING: Self = 101;
    fn random(number: f32) -> Self {
        (number * 50.0) as i8
    }
}

impl Input for u8 {
    const PADDING: Self = 101;
    fn random(number: f32) -> Self {
        (number * 50.0 + 128.0) as u8
    }
}

/// Elements of D.
trait Output: Element + Into<f64> + From<i8> + PartialEq + std::fmt::Debug {}

impl<D: Element + Into<f64> + From<i8> + PartialEq + std::fmt::Debug> Output for D {}

/// Elements before and after those of a matrix, in the same buffer.
const BAND: usize = 64;

/// Where the elements of a batch of matrices lie in a buffer.
#[derive(Clone, Copy)]
struct Place {
    offset: usize,
    shape: [usize; 3],
    strides: [usize; 3],
}

impl Place {
    /// Matrices that are contiguous along their columns, or along their rows if `mn`, with `ld` elements from one to the next of the
    /// others, and a row or column between matrices.
    fn new(offset: usize, shape: [usize; 3], mn: bool, ld: usize) -> Self {
        let [_, rows, columns] = shape;
        let (outer, strides) = match mn {
            true => (columns, [1, ld]),
            false => (rows, [ld, 1]),
        };
        Self {
            offset,
            shape,
            strides: [(outer + 1) * ld, strides[0], strides[1]],
        }
    }

    /// Elements of the buffer.
    fn len(&self) -> usize {
        let last = |(extent, stride): (usize, usize)| (extent - 1) * stride;
        self.offset
            + self
                .shape
                .into_iter()
                .zip(self.strides)
                .map(last)
                .sum::<usize>()
            + 1
            + BAND
    }

    fn index(&self, batch: usize, row: usize, column: usize) -> usize {
        let [b, r, c] = self.strides;
        self.offset + batch * b + row * r + column * c
    }

    /// The elements of a buffer, matrix by matrix and row by row.
    fn gather<T: Copy>(&self, buffer: &[T]) -> Vec<T> {
        let [batches, rows, columns] = self.shape;
        if self.strides[2] != 1 {
            return self.indices().map(|at| buffer[at]).collect();
        }
        let starts = (0..batches * rows).map(|i| self.index(i / rows, i % rows, 0));
        let rows = starts.map(|start| &buffer[start..start + columns]);
        rows.collect::<Vec<_>>().concat()
    }

    /// Sets all elements of a buffer, but nothing beside them.
    fn fill<T: Copy>(&self, buffer: &mut [T], value: T) {
        let [batches, rows, columns] = self.shape;
        if self.strides[2] != 1 {
            return self.indices().for_each(|at| buffer[at] = value);
        }
        for i in 0..batches * rows {
            let start = self.index(i / rows, i % rows, 0);
            buffer[start..start + columns].fill(value);
        }
    }

    fn indices(&self) -> impl Iterator<Item = usize> {
        let [batches, rows, columns] = self.shape;
        (0..batches * rows * columns)
            .map(move |i| self.index(i / columns / rows, i / columns % rows, i % columns))
    }

    /// A buffer with random numbers as elements, and padding where there are none.
    fn filled<T: Input>(&self, seed: u64) -> Vec<T> {
        let mut buffer = vec![T::PADDING; self.len()];
        let numbers = normal(seed, self.shape.iter().product());
        for (at, number) in self.indices().zip(numbers) {
            buffer[at] = T::random(number.to_f32());
        }
        buffer
    }
}

/// A product of matrices with padding between their rows, and before and after all of them, so that a wrong stride, or a load or a
/// store outside, is found.
#[derive(Clone, Copy)]
struct Case {
    /// A tile, or that of the plan.
    tile: Option<Tile>,
    /// Matrices of tensors with three modes; 0 for tensors with two.
    batches: usize,
    shape: [usize; 3],
    /// Whether A, B and D are contiguous along M, N and M.
    mn: [bool; 3],
    /// Whether A and B begin at multiples of 16 bytes, and so do their rows.
    is_aligned: bool,
    /// Elements between rows of D.
    pad: usize,
}

impl Case {
    fn new(shape: [usize; 3], pad: usize) -> Self {
        Self {
            tile: None,
            batches: 0,
            shape,
            mn: [false; 3],
            is_aligned: true,
            pad,
        }
    }

    fn tile(self, tile: Tile) -> Self {
        let tile = Some(tile);
        Self { tile, ..self }
    }

    /// Computes it by the tile that the plan chooses, and by others that are possible: all, or those that the cover wants. `epsilon` is
    /// the relative error of D's type.
    fn check_tiles<T, D>(self, device: &Device, epsilon: f64, cover: &mut Cover<Tile>)
    where
        T: Input + GemmInput<D>,
        D: Output,
    {
        Problem::<T, T>::new(self, device).check_tiles::<D>(epsilon, cover);
    }

    /// The same for both types of 16 bits, with D of the same type and of `f32`: four pairs of types.
    fn check_tiles_of_16_bits(self, device: &Device, cover: &mut Cover<Tile>) {
        let product = Problem::<bf16, bf16>::new(self, device);
        product.check_tiles::<bf16>(BF16, cover);
        product.check_tiles::<f32>(F32, cover);
        let product = Problem::<f16, f16>::new(self, device);
        product.check_tiles::<f16>(F16, cover);
        product.check_tiles::<f32>(F32, cover);
    }

    /// Computes it by the tile that is given or chosen.
    fn check<T, D>(self, device: &Device, epsilon: f64)
    where
        T: Input + GemmInput<D>,
        D: Output,
    {
        self.check_mix::<T, T, D>(device, epsilon);
    }

    /// The same for elements of B of another type.
    fn check_mix<A, B, D>(self, device: &Device, epsilon: f64)
    where
        A: Input + GemmInput<D, B>,
        B: Input + GemmInput<D, A>,
        D: Output,
    {
        let product = Problem::<A, B>::new(self, device);
        let plan = product.check::<D>(self.tile, epsilon);
        for (tile, _) in plan.candidates().iter().filter(|_| whole()) {
            product.check::<D>(Some(*tile), epsilon);
        }
    }
}

/// A case with its matrices and the product in float64, to be computed by one tile or by several, into D of one type or of several.
struct Problem<'d, A: Element, B: Element> {
    case: Case,
    device: &'d Device,
    a: (Buffer<A>, Place),
    b: (Buffer<B>, Place),
    /// For each batch.
    expected: Vec<reference::Product>,
}

impl<'d, A: Input, B: Input> Problem<'d, A, B> {
    fn new(case: Case, device: &'d Device) -> Self {
        let ([m, n, k], batches) = (case.shape, case.batches.max(1));
        let inner = |mn, rows, columns| if mn { rows } else { columns };
        let [mn_a, mn_b, _] = case.mn;
        let unit = 16 / size_of::<A>();
        let (offset, lda, ldb) = match (case.is_aligned, inner(mn_a, m, k), inner(mn_b, n, k)) {
            (true, a, b) => (
                BAND,
                a.next_multiple_of(unit) + unit,
                b.next_multiple_of(unit),
            ),
            (false, a, b) => (BAND + 1, (a + 2) | 1, b | 1),
        };
        let a_place = Place::new(offset, [batches, m, k], mn_a, lda);
        let b_place = Place::new(offset, [batches, n, k], mn_b, ldb);
        let (a, b) = (a_place.filled::<A>(1), b_place.filled::<B>(2));
        let (all_a, all_b) = (a_place.gather(&a), b_place.gather(&b));
        let expected = (0..batches).map(|batch| {
            reference::Product::new(
                Matrix::packed(&all_a[batch * m * k..], m, k),
                Matrix::packed(&all_b[batch * n * k..], n, k),
            )
        });
        Self {
            case,
            device,
            a: (device.upload(&a).unwrap(), a_place),
            b: (device.upload(&b).unwrap(), b_place),
            expected: expected.collect(),
        }
    }

    /// The same product, with so many elements between rows of D.
    fn pad(mut self, pad: usize) -> Self {
        self.case.pad = pad;
        self
    }

    /// Computes it by the tile that the plan chooses, and by others that are possible: all, or those that the cover wants.
    fn check_tiles<D: Output>(&self, epsilon: f64, cover: &mut Cover<Tile>)
    where
        A: GemmInput<D, B>,
        B: GemmInput<D, A>,
    {
        let plan = self.check::<D>(None, epsilon);
        let possible: Vec<Tile> = plan.candidates().iter().map(|(tile, _)| *tile).collect();
        for tile in cover.choose(plan.tile(), &possible) {
            self.check::<D>(Some(tile), epsilon);
        }
    }

    /// Computes it by a tile, or by that which the plan chooses, and returns the plan. `epsilon` is the relative error of D's type.
    fn check<D: Output>(&self, tile: Option<Tile>, epsilon: f64) -> Plan
    where
        A: GemmInput<D, B>,
        B: GemmInput<D, A>,
    {
        let ([m, n, k], batches) = (self.case.shape, self.case.batches.max(1));
        let inner = if self.case.mn[2] { m } else { n };
        let d_place = Place::new(
            BAND,
            [batches, m, n],
            self.case.mn[2],
            inner + self.case.pad,
        );
        // The padding of D changes if it is written.
        let guard = D::from(113);
        let mut buffer = self.device.upload(&vec![guard; d_place.len()]).unwrap();
        let plan = match self.case.batches {
            0 => self.launch::<D, 2>(tile, &mut buffer, d_place),
            _ => self.launch::<D, 3>(tile, &mut buffer, d_place),
        };
        let mut d = buffer.download().unwrap();
        let all_d = d_place.gather(&d);
        for (batch, expected) in self.expected.iter().enumerate() {
            let found = expected.compare(Matrix::packed(&all_d[batch * m * n..], m, n));
            let instructions = (k * size_of::<A>()).div_ceil(32);
            assert!(
                found.is_rounding(epsilon + A::error(instructions), instructions),
                "rows of {:?} {}, of {} by {}, {:?}: {found:?} in {batch} by {plan}",
                d_place.strides,
                D::TYPE,
                A::TYPE,
                B::TYPE,
                self.case.mn,
            );
        }
        d_place.fill(&mut d, guard);
        assert!(
            d.iter().all(|x| *x == guard),
            "{m} x {n} x {k}: written outside of D by {plan}"
        );
        plan
    }

    fn launch<D: Output, const R: usize>(
        &self,
        tile: Option<Tile>,
        d: &mut Buffer<D>,
        d_at: Place,
    ) -> Plan
    where
        A: GemmInput<D, B>,
        B: GemmInput<D, A>,
    {
        // Of two modes, the last two.
        let modes = |of: [usize; 3]| std::array::from_fn::<usize, R, _>(|i| of[i + 3 - R]);
        let ((a, a_at), (b, b_at)) = (&self.a, &self.b);
        let a = a.view(a_at.offset, modes(a_at.shape), modes(a_at.strides));
        let b = b.view(b_at.offset, modes(b_at.shape), modes(b_at.strides));
        let (a, b) = (a.unwrap(), b.unwrap());
        let d = d.view_mut(d_at.offset, modes(d_at.shape), modes(d_at.strides));
        let mut d = d.unwrap();
        let mut plan = Plan::new(self.device, &a, &b, &d).unwrap();
        if let Some(tile) = tile {
            plan = plan.with_tile(tile).unwrap();
        }
        plan.launch(self.device, &a, &b, &mut d).unwrap();
        plan
    }
}

const BF16: f64 = 1.0 / 128.0;
const F16: f64 = 1.0 / 1024.0;
const F32: f64 = f32::EPSILON as f64;

/// Extents just below, at and above the multiples of the tile of 128 × 256 × 64, and numbers of K steps around the 4 stages.
const SHAPES: &[[usize; 3]] = &[
    [1, 1, 1],
    [1, 8, 8],
    [63, 64, 16],
    [64, 63, 64],
    [65, 65, 65],
    [127, 255, 63],
    [128, 256, 64],
    [129, 257, 72],
    [128, 256, 192],
    [128, 256, 256],
    [128, 256, 264],
    [128, 256, 320],
    [200, 300, 100],
    [17, 511, 40],
    [257, 31, 136],
    [300, 520, 72],
    [255, 513, 33],
];

/// The shapes that the emulator computes by all tiles. All shapes by all tiles take too long. These have a single element or row, one row and
/// column more than 64, one step more than four stages and two, one row more than two tiles, and more tiles than there are CTAs.
const BY_ALL_TILES: &[[usize; 3]] = &[
    [1, 1, 1],
    [1, 8, 8],
    [65, 65, 65],
    [128, 256, 264],
    [128, 256, 320],
    [257, 31, 136],
    [300, 520, 72],
];

/// Larger products, which take too long on the emulator.
const LARGE_SHAPES: &[[usize; 3]] = &[
    [1000, 1000, 1000],
    [1023, 1025, 1031],
    [4096, 4096, 64],
    [64, 8192, 4096],
    [8192, 64, 4096],
    [2049, 4095, 777],
    [3000, 5000, 1111],
    [132, 33792, 256],
    [16896, 256, 128],
    [16897, 257, 129],
    [4097, 4097, 4097],
    [128, 256, 16384],
    [1, 4096, 4096],
    [4096, 1, 4096],
    [5, 7, 32768],
    [2176, 2304, 2240],
];

#[test]
pub(crate) fn gemm_agrees_with_float64() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let device = device();
        let large = if device.is_emulator() {
            &[]
        } else {
            LARGE_SHAPES
        };
        let by_tiles = |shape| BY_ALL_TILES.contains(shape) || !device.is_emulator();
        let shapes: Vec<_> = SHAPES.iter().chain(large).collect();
        let cases = shapes.iter().filter(|shape| by_tiles(shape)).count();
        let mut cover = Cover::new(&device, cases);
        for shape in shapes {
            let &[m, n, k] = shape;
            // D is stored by TMA if its rows are whole 16-byte units at multiples of 16 bytes, else element by element.
            let whole = n.next_multiple_of(8);
            let problem = |n, pad| Problem::<bf16, bf16>::new(Case::new([m, n, k], pad), &device);
            let mut product = problem(whole, 8);
            if by_tiles(shape) {
                product.check_tiles::<bf16>(BF16, &mut cover);
            } else {
                product.check::<bf16>(None, BF16);
            }
            product = product.pad(4);
            product.check::<f32>(None, F32);
            if n != whole {
                product = problem(n, 0);
            }
            product = product.pad(3 - n % 2);
            product.check::<bf16>(None, BF16);
            product = product.pad(2 - n % 2);
            product.check::<f32>(None, F32);
        }
        cover.finish();
    });
}

#[test]
pub(crate) fn gemm_multiplies_every_type() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let device = device();
        let large: &[[usize; 3]] = if device.is_emulator() {
            &[]
        } else {
            &LARGE_SHAPES[..6]
        };
        let shapes: Vec<_> = [[129, 257, 72], [63, 40, 280]]
            .iter()
            .chain(large)
            .collect();
        // Six pairs of types.
        let mut cover = Cover::new(&device, 6 * shapes.len());
        for &[m, n, k] in shapes {
            let whole = n.next_multiple_of(8);
            let by_tma = Case::new([m, whole, k], 8);
            let by_element = Case::new([m, n, k], 1);
            let product = Problem::<f16, f16>::new(by_tma, &device);
            product.check_tiles::<f16>(F16, &mut cover);
            product.pad(4).check_tiles::<f32>(F32, &mut cover);
            by_element.check::<f16, f32>(&device, F32);
            Case::new([m, whole, k], 4).check_tiles::<f32, f32>(&device, F32, &mut cover);
            by_element.check::<f32, f32>(&device, F32);
            Case::new([m, whole, k], 4).check_tiles::<i8, i32>(&device, 0.0, &mut cover);
            by_element.check::<i8, i32>(&device, 0.0);
            // Last, since all tiles are for floating-point numbers, and some are not for integers.
            let product = Problem::<e4m3, e4m3>::new(by_tma, &device);
            product.check_tiles::<bf16>(BF16, &mut cover);
            product.pad(4).check_tiles::<f32>(F32, &mut cover);
            by_element.check::<e4m3, f32>(&device, F32);
        }
        cover.finish();
    });
}

/// The tiles of products of two types.
const OF_MIXES: [Tile; 4] = [
    Tile::Shared(COMMON[0]),
    Tile::Shared(COMMON[1]),
    Tile::Shared(COMMON[2]),
    Tile::Shared(COMMON[3]),
];

/// By each of their tiles, with D along N and along M, where B takes A's place, and copied first; or by each tile once, and in each of
/// these ways by some of them.
#[test]
pub(crate) fn gemm_multiplies_each_8_bit_float_by_each() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        fn mix<A, B>(device: &Device)
        where
            A: Input + GemmInput<bf16, B> + GemmInput<f32, B>,
            B: Input + GemmInput<bf16, A> + GemmInput<f32, A>,
        {
            let instances = OF_MIXES.map(|it| [(it, bf16::TYPE), (it, f32::TYPE)]);
            let mut cover = Cover::new(device, 3);
            for mn in [[false; 3], [false, false, true], [true, true, false]] {
                let case = Case {
                    mn,
                    ..Case::new([136, 272, 208], 16)
                };
                let product = Problem::<A, B>::new(case, device);
                for (tile, d) in cover.choose_any(&instances.concat()) {
                    match d {
                        ElementType::F32 => product.check::<f32>(Some(tile), F32),
                        _ => product.check::<bf16>(Some(tile), BF16),
                    };
                }
            }
            cover.finish();
            let case = Case {
                is_aligned: false,
                ..Case::new([37, 70, 131], 3)
            };
            let product = Problem::<A, B>::new(case, device);
            product.check::<bf16>(None, BF16);
            product.check::<f32>(None, F32);
        }
        let device = device();
        mix::<e4m3, e5m2>(&device);
        mix::<e5m2, e4m3>(&device);
        mix::<e5m2, e5m2>(&device);
    });
}

/// Also those whose sign is in the highest bit of an operand but not of the other.
#[test]
pub(crate) fn gemm_multiplies_each_8_bit_integer_by_each() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        fn mix<A: Input + GemmInput<i32, B>, B: Input + GemmInput<i32, A>>(device: &Device) {
            let mut cover = Cover::new(device, 3);
            for mn in [[false; 3], [false, false, true], [true, true, false]] {
                let case = Case {
                    mn,
                    ..Case::new([136, 272, 208], 16)
                };
                let product = Problem::<A, B>::new(case, device);
                for tile in cover.choose_any(&OF_MIXES) {
                    product.check::<i32>(Some(tile), 0.0);
                }
            }
            cover.finish();
            let case = Case {
                batches: 3,
                is_aligned: false,
                ..Case::new([37, 70, 131], 3)
            };
            case.check_mix::<A, B, i32>(device, 0.0);
        }
        let device = device();
        mix::<i8, u8>(&device);
        mix::<u8, i8>(&device);
        mix::<u8, u8>(&device);
    });
}

#[test]
fn gemm_does_not_notice_the_schedule() {
    let seeds = [1, 2, 3];
    let mut cover = Cover::new(&Device::emulator(), seeds.len());
    for seed in seeds {
        let device = Device::emulator_with_seed(seed);
        Case::new([130, 392, 328], 8).check_tiles::<bf16, bf16>(&device, BF16, &mut cover);
    }
    cover.finish();
}

/// Long K in parts, whose sums a second kernel adds up: by each tile that divides K so, of few rows and of more, with D that TMA stores
/// and D that it does not.
#[test]
pub(crate) fn gemm_adds_up_parts_of_k() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let device = device();
        for ([m, n, k], pad) in [
            ([1, 136, 2500], 8),
            ([40, 72, 2100], 8),
            ([97, 72, 2100], 3),
            // Rows of sums are no whole vectors of 16 bytes.
            ([33, 71, 2100], 0),
        ] {
            let product = Problem::<bf16, bf16>::new(Case::new([m, n, k], pad), &device);
            let plan = product.check::<bf16>(None, BF16);
            let tiles = plan.candidates().iter().map(|(tile, _)| *tile);
            let in_parts: Vec<Tile> = tiles
                .filter(|tile| matches!(tile, Tile::InParts(..)))
                .collect();
            assert!(!in_parts.is_empty(), "{plan}");
            for tile in in_parts.into_iter().step_by(if whole() { 1 } else { 9 }) {
                product.check::<bf16>(Some(tile), BF16);
            }
        }
        fn last<T: Input + GemmInput<D>, D: Output>(device: &Device, k: usize, epsilon: f64) {
            let product = Problem::<T, T>::new(Case::new([40, 71, k], 3), device);
            let plan = product.check::<D>(None, epsilon);
            let tiles = plan.candidates().iter().map(|(tile, _)| *tile);
            let mut in_parts = tiles.filter(|tile| matches!(tile, Tile::InParts(..)));
            assert!(product.check::<D>(in_parts.next_back(), epsilon).tile() != Tile::Streamed);
        }
        last::<i8, i32>(&device, 4200, 0.0);
        last::<f16, f16>(&device, 2100, F16);
        last::<bf16, f32>(&device, 2100, F32);
    });
}

/// Along K, M or N, with D along either of its modes.
#[test]
pub(crate) fn gemm_takes_every_major() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let device = device();
        for mn in [1, 2, 3, 4, 6] {
            let mn = [mn & 1 > 0, mn & 2 > 0, mn & 4 > 0];
            let case = Case {
                mn,
                ..Case::new([136, 264, 200], 8)
            };
            // Each way in which matrices lie has instances of its own, for four pairs of types of 16 bits.
            let mut cover = Cover::new(&device, 4);
            case.check_tiles_of_16_bits(&device, &mut cover);
            cover.finish();
            if mn[..2] == [true, false] || mn[..2] == [false, true] {
                case.check_tiles::<f32, f32>(&device, F32, &mut Cover::new(&device, 1));
            }
            // Copied first, or stored by element.
            let case = Case {
                mn,
                ..Case::new([67, 40, 72], 4)
            };
            case.check::<f16, f16>(&device, F16);
            case.check::<f32, f32>(&device, F32);
            case.check::<i8, i32>(&device, 0.0);
        }
    });
}

/// Matrices that begin anywhere, with rows of odd length.
#[test]
pub(crate) fn gemm_takes_any_alignment() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let device = device();
        // Eight pairs of types, stored by element.
        let mut cover = Cover::new(&device, 3 * 8);
        for mn in [[false; 3], [true, true, false], [true, false, true]] {
            let case = Case {
                mn,
                is_aligned: false,
                ..Case::new([37, 70, 131], 3)
            };
            case.check_tiles_of_16_bits(&device, &mut cover);
            case.check_tiles::<f32, f32>(&device, F32, &mut cover);
            case.check_tiles::<i8, i32>(&device, 0.0, &mut cover);
            let product = Problem::<e4m3, e4m3>::new(case, &device);
            product.check_tiles::<bf16>(BF16, &mut cover);
            product.check_tiles::<f32>(F32, &mut cover);
        }
        cover.finish();
    });
}

/// One tile in each matrix, which is an odd number for pairs, and several.
#[test]
fn gemm_multiplies_batches() {
    let device = device();
    let case = |shape| Case {
        batches: 3,
        ..Case::new(shape, 8)
    };
    case([40, 64, 72]).check_tiles::<bf16, bf16>(&device, BF16, &mut Cover::new(&device, 1));
    let product = Problem::<bf16, bf16>::new(case([130, 520, 136]), &device);
    for tile in [TILES[0], TILES[TILES.len() - 1]] {
        product.check::<bf16>(Some(Tile::Shared(tile)), BF16);
    }
    // Stored by element.
    let unaligned = Case {
        mn: [true, false, false],
        pad: 3,
        ..case([64, 264, 64])
    };
    unaligned.check::<bf16, f32>(&device, F32);
    let case = Case {
        batches: 5,
        mn: [false, true, true],
        is_aligned: false,
        ..Case::new([37, 45, 19], 1)
    };
    case.check::<i8, i32>(&device, 0.0);
}

/// The tile of a plan that copies A may be one that only matrices along K have. Then it copies an A that needs no copy, too.
#[test]
fn a_plan_that_copies_takes_what_needs_no_copy() {
    let device = device();
    let (m, n, k) = (136, 40, 24);
    let (a, b) = (normal(11, m * k + 4), normal(12, n * k));
    let a: Vec<f32> = a.into_iter().map(|x| x.to_f32()).collect();
    let b: Vec<f32> = b.into_iter().map(|x| x.to_f32()).collect();
    let (a_buffer, b_buffer) = (device.upload(&a).unwrap(), device.upload(&b).unwrap());
    let mut d = Tensor::<f32, 2>::zeros(&device, [m, n]).unwrap();
    let a_at = |offset| a_buffer.view(offset, [m, k], [1, m]).unwrap();
    let b = b_buffer.view(0, [n, k], [k, 1]).unwrap();
    let plan = Plan::new(&device, &a_at(1), &b, &d.view_mut()).unwrap();
    let plan = plan.with_tile(Tile::Shared(TILES[1])).unwrap();
    let mut all = Vec::new();
    for plan in [
        plan,
        Plan::new(&device, &a_at(4), &b, &d.view_mut()).unwrap(),
    ] {
        plan.launch(&device, &a_at(4), &b, &mut d.view_mut())
            .unwrap();
        all.push(d.download().unwrap());
    }
    assert_eq!(all[0], all[1]);
}

/// A plan keeps the memory of its copies, for matrices of any type.
#[test]
fn a_plan_copies_again() {
    let device = device();
    let numbers = |seed| normal(seed, 24 * 33);
    let (b, mut d) = (
        numbers(9),
        Tensor::<f32, 2>::zeros(&device, [24, 24]).unwrap(),
    );
    let bt = Tensor::from_slice(&device, &b, [24, 33]).unwrap();
    // All types have instances with this tile.
    let plan = Plan::new(&device, &bt.view(), &bt.view(), &d.view_mut()).unwrap();
    let plan = plan.with_tile(Tile::Shared(TILES[0])).unwrap();
    for seed in 1..4 {
        let a = numbers(seed);
        let at = Tensor::from_slice(&device, &a, [24, 33]).unwrap();
        plan.launch(&device, &at.view(), &bt.view(), &mut d.view_mut())
            .unwrap();
        let found = d.download().unwrap();
        let found = reference::gemm(
            Matrix::packed(&a, 24, 33),
            Matrix::packed(&b, 24, 33),
            Matrix::packed(&found, 24, 24),
        );
        assert!(found.is_rounding(F32, 3), "{found:?} by {plan}");
    }
    let (a, mut d) = (
        vec![1i8; 24 * 33],
        Tensor::<i32, 2>::zeros(&device, [24, 24]).unwrap(),
    );
    let at = Tensor::from_slice(&device, &a, [24, 33]).unwrap();
    plan.launch(&device, &at.view(), &at.view(), &mut d.view_mut())
        .unwrap();
    assert_eq!(d.download().unwrap(), [33; 24 * 24]);
}

/// All matrices of A with one of B.
#[test]
fn a_batch_may_share_a_matrix() {
    let device = device();
    let (a, b) = (normal(1, 3 * 24 * 16), normal(2, 40 * 16));
    let at = Tensor::from_slice(&device, &a, [3, 24, 16]).unwrap();
    let bt = device.upload(&b).unwrap();
    let mut d = Tensor::<bf16, 3>::zeros(&device, [3, 24, 40]).unwrap();
    let shared = bt.view(0, [3, 40, 16], [0, 16, 1]).unwrap();
    gemm(&device, &at.view(), &shared, &mut d.view_mut()).unwrap();
    let found = reference::gemm(
        Matrix::packed(&a, 3 * 24, 16),
        Matrix::packed(&b, 40, 16),
        Matrix::packed(&d.download().unwrap(), 3 * 24, 40),
    );
    assert!(found.is_rounding(BF16, 1), "{found:?}");
}

#[test]
fn a_plan_takes_what_it_was_made_for() {
    let device = Device::emulator();
    let matrix = |rows, cols| Tensor::<bf16, 2>::zeros(&device, [rows, cols]).unwrap();
    let (a, b, mut d) = (matrix(16, 16), matrix(24, 16), matrix(16, 24));
    let plan = Plan::new(&device, &a.view(), &b.view(), &d.view_mut()).unwrap();
    let text = plan.to_string();
    assert!(text.starts_with("16 x 24 x 16: tiles of "), "{text}");
    assert_eq!(text.lines().count(), 1 + plan.candidates().len(), "{text}");

    let (other, mut larger) = (matrix(32, 16), matrix(32, 24));
    let error = plan.launch(&device, &other.view(), &b.view(), &mut larger.view_mut());
    let error = error.unwrap_err();
    assert!(matches!(error, Error::GemmPlan { .. }), "{error}");

    // D without alignment has other tiles.
    let mut d = device.zeros::<bf16>(16 * 25).unwrap();
    let mut d = d.view_mut(0, [16, 24], [25, 1]).unwrap();
    let tile = Tile::Shared(TILES[0]);
    let square = plan.with_tile(tile).unwrap();
    let error = square.launch(&device, &a.view(), &b.view(), &mut d);
    assert!(matches!(error, Err(Error::GemmTile { .. })), "{error:?}");
    let plan = Plan::new(&device, &a.view(), &b.view(), &d).unwrap();
    let error = plan.with_tile(tile).unwrap_err();
    assert!(matches!(error, Error::GemmTile { .. }), "{error}");
}

/// On a GPU, 10,000 launches give the same bits: by each tile for matrices that lie in each way, and for each type by the tile that the plan
/// chooses; with `CUTE_NIGHTLY=1`, by each instance. The order of the emulator's accesses is that of its schedule, which does not change
/// from launch to launch.
#[test]
fn repeated_launches_are_equal_in_every_bit() {
    let device = device();
    if device.is_emulator() {
        return;
    }
    let mut seen = HashSet::new();
    repeat::<bf16, bf16>(&device, &mut seen);
    repeat::<bf16, f32>(&device, &mut seen);
    repeat::<f16, f16>(&device, &mut seen);
    repeat::<f16, f32>(&device, &mut seen);
    repeat::<f32, f32>(&device, &mut seen);
    repeat::<e4m3, bf16>(&device, &mut seen);
    repeat::<e4m3, f32>(&device, &mut seen);
    repeat::<e5m2, bf16>(&device, &mut seen);
    repeat::<e5m2, f32>(&device, &mut seen);
    repeat::<i8, i32>(&device, &mut seen);
    repeat::<u8, i32>(&device, &mut seen);
}

/// A tile, how A and B lie, M and K, and the bytes of an element: one instance of each is launched again and again.
type Repeated = (String, [bool; 2], [usize; 2], usize);

/// Launches a product by each tile that is possible, and products of few rows by the tile for these.
fn repeat<T: Input + GemmInput<D>, D: Element>(device: &Device, seen: &mut HashSet<Repeated>) {
    for mn in [[false, false], [true, false], [true, true], [false, true]] {
        // Matrices of elements of 8 bits are copied to rows along K.
        if mn == [false; 2] || size_of::<T>() > 1 {
            repeat_by::<T, D>(device, [136, 264, 1328], mn, |_| true, seen);
        }
    }
    for shape in [[5, 264, 328], [13, 264, 328], [5, 264, 331], [13, 264, 331]] {
        repeat_by::<T, D>(
            device,
            shape,
            [false; 2],
            |tile| tile == Tile::Streamed,
            seen,
        );
    }
}

/// Launches a product by each of these tiles that is possible and new into 100 matrices, 100 times, and compares them all with the first.
fn repeat_by<T: Input + GemmInput<D>, D: Element>(
    device: &Device,
    [m, n, k]: [usize; 3],
    mn: [bool; 2],
    of: impl Fn(Tile) -> bool,
    seen: &mut HashSet<Repeated>,
) {
    let numbers = |seed, len| -> Vec<T> {
        let numbers = normal(seed, len).into_iter();
        numbers.map(|number| T::random(number.to_f32())).collect()
    };
    let matrix = |seed, rows, mn| {
        let shape = if mn { [k, rows] } else { [rows, k] };
        Tensor::from_slice(device, &numbers(seed, rows * k), shape).unwrap()
    };
    let (a, b) = (matrix(5, m, mn[0]), matrix(6, n, mn[1]));
    let modes = mn.map(|mn| if mn { [1, 0] } else { [0, 1] });
    let a = a.view().select(modes[0]).unwrap();
    let b = b.view().select(modes[1]).unwrap();
    let mut all = device.zeros::<D>(100 * m * n).unwrap();
    let d = all.view_mut(0, [m, n], [n, 1]).unwrap();
    let plan = Plan::new(device, &a, &b, &d).unwrap();
    let mut candidates: Vec<Tile> = plan.candidates().iter().map(|(tile, _)| *tile).collect();
    candidates.retain(|tile| {
        let is_new = seen.insert((format!("{tile:?}"), mn, [m, k], size_of::<T>()));
        of(*tile) && (is_new || *tile == plan.tile() || whole())
    });
    for tile in candidates {
        let plan = plan.clone().with_tile(tile).unwrap();
        let mut first: Option<Vec<u8>> = None;
        for _ in 0..100 {
            for i in 0..100 {
                let mut d = all.view_mut(i * m * n, [m, n], [n, 1]).unwrap();
                plan.launch(device, &a, &b, &mut d).unwrap();
            }
            let found = all.download().unwrap();
            for found in found.as_bytes().chunks(size_of::<D>() * m * n) {
                let first = first.get_or_insert_with(|| found.to_vec());
                assert!(first == found, "{} to {} by {plan}", T::TYPE, D::TYPE);
            }
        }
    }
}

/// A launch in a graph gives what it gives outside, also if A and B are copied first.
#[test]
fn a_plan_is_captured() {
    let device = device();
    for [m, n, k] in [[16, 136, 200], [33, 40, 67]] {
        let (a, b) = (normal(7, m * k), normal(8, n * k));
        let at = Tensor::from_slice(&device, &a, [m, k]).unwrap();
        let bt = Tensor::from_slice(&device, &b, [n, k]).unwrap();
        let mut d = Tensor::<f32, 2>::zeros(&device, [m, n]).unwrap();
        let plan = Plan::new(&device, &at.view(), &bt.view(), &d.view_mut()).unwrap();
        // Allocates what the plan keeps.
        plan.launch(&device, &at.view(), &bt.view(), &mut d.view_mut())
            .unwrap();
        let expected = d.download().unwrap();
        let mut again = Tensor::<f32, 2>::zeros(&device, [m, n]).unwrap();
        let graph = device
            .capture(|| plan.launch(&device, &at.view(), &bt.view(), &mut again.view_mut()))
            .unwrap();
        assert_eq!(again.download().unwrap(), vec![0.0; m * n]);
        drop((at, bt, plan));
        for _ in 0..2 {
            graph.launch().unwrap();
            assert_eq!(again.download().unwrap(), expected);
        }
    }
}

/// On a GPU, all tiles are measured.
#[test]
fn a_choice_is_kept() {
    let device = device();
    let matrix = |rows, cols| Tensor::<bf16, 2>::zeros(&device, [rows, cols]).unwrap();
    let (a, b, mut d) = (matrix(16, 512), matrix(264, 512), matrix(16, 264));
    let tuned = Plan::autotune(&device, &a.view(), &b.view(), &mut d.view_mut()).unwrap();
    let choice = tuned.choice(&device);
    #[cfg(feature = "serde")]
    let choice = {
        let text = serde_json::to_string(&choice).unwrap();
        serde_json::from_str::<cute_kernels::Choice>(&text).unwrap()
    };
    let plan = Plan::new(&device, &a.view(), &b.view(), &d.view_mut()).unwrap();
    let chosen = plan.clone().with_choice(&device, &choice).unwrap();
    assert_eq!(chosen.tile(), tuned.tile());

    let mut along_m = choice.clone();
    along_m.product = choice.product.replace("A and B along K", "A and B along M");
    let mut elsewhere = choice;
    elsewhere.device = "another".into();
    for other in [along_m, elsewhere] {
        let error = plan.clone().with_choice(&device, &other).unwrap_err();
        assert!(matches!(error, Error::GemmChoice { .. }), "{error}");
    }
    // D that TMA cannot store has no such tile.
    let mut d = device.zeros::<bf16>(16 * 265).unwrap();
    let d = d.view_mut(0, [16, 264], [265, 1]).unwrap();
    let plan = Plan::new(&device, &a.view(), &b.view(), &d).unwrap();
    let mut square = plan.choice(&device);
    square.tile = Tile::Shared(TILES[0]);
    let error = plan.with_choice(&device, &square).unwrap_err();
    assert!(matches!(error, Error::GemmTile { .. }), "{error}");
}

/// The emulator models the rounding of the tensor core, so that its results and a GPU's are equal in every bit.
#[test]
fn gemm_is_the_same_on_every_device_bit_for_bit() {
    let other = match device() {
        gpu if !gpu.is_emulator() => gpu,
        _ => Device::emulator_with_seed(7),
    };
    let [m, n, k] = [130, 260, 328];
    let (a, b) = (normal(3, m * k), normal(4, n * k));
    let bits = |device: &Device| -> Vec<u32> {
        let a = Tensor::from_slice(device, &a, [m, k]).unwrap();
        let b = Tensor::from_slice(device, &b, [n, k]).unwrap();
        let mut d = Tensor::<f32, 2>::zeros(device, [m, n]).unwrap();
        gemm(device, &a.view(), &b.view(), &mut d.view_mut()).unwrap();
        d.download()
            .unwrap()
            .into_iter()
            .map(f32::to_bits)
            .collect()
    };
    let (expected, found) = (bits(&Device::emulator()), bits(&other));
    let differing = expected.iter().zip(&found).filter(|(a, b)| a != b).count();
    assert_eq!(differing, 0, "of {} elements", expected.len());
}

#[test]
fn gemm_refuses_before_it_launches() {
    let device = Device::emulator();
    let matrix = |rows, cols| Tensor::<bf16, 2>::zeros(&device, [rows, cols]).unwrap();
    let (a, b, mut d) = (matrix(16, 16), matrix(24, 8), matrix(16, 24));
    let error = gemm(&device, &a.view(), &b.view(), &mut d.view_mut()).unwrap_err();
    assert!(matches!(error, Error::Shapes { .. }), "{error}");

    // Elements that are nowhere contiguous.
    let all = matrix(64, 64);
    let apart = all.buffer().view(0, [16, 16], [64, 2]).unwrap();
    let b = matrix(24, 16);
    let error = gemm(&device, &apart, &b.view(), &mut d.view_mut()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a has strides [64, 2] along rows and columns: one of them must be 1, unless its extent is 1"
    );
    // With D along M, the kernel's A is B.
    let mut along_m = matrix(24, 16);
    let mut along_m = along_m.view_mut().select([1, 0]).unwrap();
    let error = gemm(&device, &apart, &b.view(), &mut along_m).unwrap_err();
    assert!(
        matches!(error, Error::GemmStrides { argument: "a", .. }),
        "{error}"
    );

    // One element, as a row of 2³¹.
    let one = matrix(1, 1);
    let row = one.buffer().view(0, [1, 1 << 31], [1, 0]).unwrap();
    let mut d = matrix(1, 1);
    let error = gemm(&device, &row, &row, &mut d.view_mut()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an extent is 2147483648: at most 2147483647 is possible"
    );

    // The stride of one row may be any number.
    let far = one.buffer().view(0, [1, 1], [usize::MAX, 1]).unwrap();
    gemm(&device, &far, &far, &mut d.view_mut()).unwrap();
}

/// Launches outside of a graph do not change the copies that its launches read, in whatever order they run.
#[test]
fn a_graph_has_copies_of_its_own() {
    let device = device();
    let [m, n, k] = [33, 40, 67];
    let tensor = |seed, rows| Tensor::from_slice(&device, &normal(seed, rows * k), [rows, k]);
    let (a, other, b) = (
        tensor(7, m).unwrap(),
        tensor(8, m).unwrap(),
        tensor(9, n).unwrap(),
    );
    let zeros = || Tensor::<f32, 2>::zeros(&device, [m, n]).unwrap();
    let (mut d, mut captured, mut after) = (zeros(), zeros(), zeros());
    let plan = Plan::new(&device, &a.view(), &b.view(), &d.view_mut()).unwrap();
    assert!(plan.to_string().contains("A is copied"), "{plan}");
    let launch = |a: &Tensor<bf16, 2>, d: &mut Tensor<f32, 2>| {
        plan.launch(&device, &a.view(), &b.view(), &mut d.view_mut())
    };
    // Nothing was launched before the capture.
    let graph = device.capture(|| launch(&a, &mut captured)).unwrap();
    launch(&other, &mut after).unwrap();
    launch(&a, &mut d).unwrap();
    let expected = d.download().unwrap();
    let others = after.download().unwrap();
    graph.launch().unwrap();
    assert_eq!(captured.download().unwrap(), expected);

    // Two captures at once: each has its own, and launches of one share it.
    let mut second = zeros();
    let both = device.capture(|| {
        launch(&a, &mut captured)?;
        launch(&other, &mut second)
    });
    let both = both.unwrap();
    for _ in 0..2 {
        graph.launch().unwrap();
        both.launch().unwrap();
        assert_eq!(captured.download().unwrap(), expected);
        assert_eq!(second.download().unwrap(), others);
    }
}

/// A matrix that all batches share is copied once.
#[test]
fn a_shared_matrix_is_copied_once() {
    let device = device();
    let [batches, m, n, k] = [3, 17, 24, 37];
    let a = Tensor::from_slice(&device, &normal(3, batches * m * k), [batches, m, k]).unwrap();
    let b = Tensor::from_slice(&device, &normal(4, n * k), [n, k]).unwrap();
    let shared = b.buffer().view(0, [batches, n, k], [0, k, 1]).unwrap();
    let mut d = Tensor::<f32, 3>::zeros(&device, [batches, m, n]).unwrap();
    gemm(&device, &a.view(), &shared, &mut d.view_mut()).unwrap();
    let found = d.download().unwrap();
    for batch in 0..batches {
        let one = a.buffer().view(batch * m * k, [m, k], [k, 1]).unwrap();
        let mut d = Tensor::<f32, 2>::zeros(&device, [m, n]).unwrap();
        gemm(&device, &one, &b.view(), &mut d.view_mut()).unwrap();
        assert_eq!(d.download().unwrap(), found[batch * m * n..][..m * n]);
    }
}

/// A product of 1024³ is far from where the emulator takes a launch for an endless loop.
#[test]
fn a_product_of_1024_ends_in_time() -> Result<(), Error> {
    if !whole() {
        return Ok(());
    }
    let default = EmulatorOptions::default();
    let device = Device::emulator_with(EmulatorOptions {
        cluster_limit: default.cluster_limit / 4,
        idle_limit: default.idle_limit / 4,
        ..default
    });
    let a = Tensor::<bf16, 2>::zeros(&device, [1024, 1024])?;
    let mut d = Tensor::<f32, 2>::zeros(&device, [1024, 1024])?;
    gemm(&device, &a.view(), &a.view(), &mut d.view_mut())?;
    assert_eq!(d.download()?, [0.0; 1024 * 1024]);
    Ok(())
}
