//! Tiles of host tensors beside plain loops: `cargo bench -p cute-runtime --bench tiles`.
//!
//! Milliseconds, the smallest of a few interleaved runs. The bench fails if a result differs from that of the plain loop.

use cute_runtime::{
    DisjointTiling, HostError, HostTensor, HostTensorMut, HostTileMut, Static, layout, tile,
};
use rayon::iter::ParallelIterator;
use std::hint::black_box;
use std::time::Instant;

const N: usize = 4096;
const RUNS: usize = 7;

layout! {
    MATRIX = (4096,4096):row;
    TRANSPOSED = (4096,4096):col;
}

tile! {
    mut EVEN = MATRIX / <32,32>;
    mut RAGGED = ragged MATRIX / <30,30>;
    mut TURNED = TRANSPOSED / <32,32>;
    mut TURNED_RAGGED = ragged TRANSPOSED / <30,30>;
}

/// The function that is applied to each element.
const WORK: [&str; 2] = ["x = 2x + 1", "x = sin sin sin sin x"];

fn main() -> Result<(), HostError> {
    let source: Vec<f32> = (0..N * N).map(|i| (i % 1000) as f32).collect();
    println!("{:34} {:>9} {:>9}", "", "even", "ragged");
    map::<0>(&source)?;
    map::<1>(&source)?;
    transpose(&source)
}

#[inline(always)]
fn affine(x: f32) -> f32 {
    2.0 * x + 1.0
}

/// A function whose time is dominated by arithmetic, not by memory.
#[inline(always)]
fn heavy(x: f32) -> f32 {
    (0..4).fold(x, |x, _| x.sin())
}

/// Measures `x = f(x)` for all elements.
fn map<const F: usize>(source: &[f32]) -> Result<(), HostError> {
    let f = |x: f32| match F {
        0 => affine(x),
        _ => heavy(x),
    };
    let runs = |tile: &mut HostTileMut<'_, f32, EVEN>| each_run(tile, f);
    let ragged = |tile: &mut HostTileMut<'_, f32, RAGGED>| each_run(tile, f);
    let name = WORK[F];
    let plain = |data: &mut [f32]| {
        for row in 0..N {
            for column in 0..N {
                data[row * N + column] = f(data[row * N + column]);
            }
        }
        Ok(())
    };
    let plain_tiles = |data: &mut [f32]| {
        for (tile_row, tile_column) in (0..N * N / 1024).map(|tile| (tile % 128, tile / 128)) {
            for row in 32 * tile_row..32 * tile_row + 32 {
                for x in &mut data[row * N + 32 * tile_column..][..32] {
                    *x = f(*x);
                }
            }
        }
        Ok(())
    };
    Table::new(name, source, plain)
        .row("plain loop", plain, plain)?
        .row("plain loop over tiles", plain_tiles, plain_tiles)?
        .row(
            "tiles_mut, iter_mut().for_each",
            |data| each::<EVEN>(data, |tile| each_element(tile, f)),
            |data| each::<RAGGED>(data, |tile| each_element(tile, f)),
        )?
        .row(
            "tiles_mut, runs_mut",
            |data| each::<EVEN>(data, runs),
            |data| each::<RAGGED>(data, ragged),
        )?
        .row(
            "par_tiles_mut, runs_mut",
            |data| par::<EVEN>(data, runs),
            |data| par::<RAGGED>(data, ragged),
        )?;
    Ok(())
}

fn each_element<T: DisjointTiling>(tile: &mut HostTileMut<'_, f32, T>, f: impl Fn(f32) -> f32) {
    tile.iter_mut::<2>().for_each(|(_, x)| *x = f(*x));
}

fn each_run<T: DisjointTiling>(tile: &mut HostTileMut<'_, f32, T>, f: impl Fn(f32) -> f32) {
    for (_, run) in tile.runs_mut::<2>() {
        run.iter_mut().for_each(|x| *x = f(*x));
    }
}

fn each<T: DisjointTiling>(
    data: &mut [f32],
    f: impl Fn(&mut HostTileMut<'_, f32, T>),
) -> Result<(), HostError> {
    let mut matrix = HostTensorMut::new(data, T::TILING.whole())?;
    matrix.tiles_mut::<T>()?.for_each(|mut tile| f(&mut tile));
    Ok(())
}

fn par<T: DisjointTiling>(
    data: &mut [f32],
    f: impl Fn(&mut HostTileMut<'_, f32, T>) + Sync,
) -> Result<(), HostError> {
    let mut matrix = HostTensorMut::new(data, T::TILING.whole())?;
    matrix
        .par_tiles_mut::<T>()?
        .for_each(|mut tile| f(&mut tile));
    Ok(())
}

/// Measures the transpose.
fn transpose(source: &[f32]) -> Result<(), HostError> {
    let from = HostTensor::new(source, Static::<MATRIX>::new())?;
    let plain = |data: &mut [f32]| {
        for column in 0..N {
            for row in 0..N {
                data[column * N + row] = source[row * N + column];
            }
        }
        Ok(())
    };
    let plain_tiles = |data: &mut [f32]| {
        for (tile_row, tile_column) in (0..N * N / 1024).map(|tile| (tile % 128, tile / 128)) {
            for column in 32 * tile_column..32 * tile_column + 32 {
                for row in 32 * tile_row..32 * tile_row + 32 {
                    data[column * N + row] = source[row * N + column];
                }
            }
        }
        Ok(())
    };
    fn fill<T: DisjointTiling>(
        tile: &mut HostTileMut<'_, f32, T>,
        from: HostTensor<'_, f32, Static<MATRIX>>,
    ) {
        tile.iter_mut::<2>().for_each(|(at, x)| *x = from[at]);
    }
    Table::new("transpose", source, plain)
        .row("plain loop", plain, plain)?
        .row("plain loop over tiles", plain_tiles, plain_tiles)?
        .row(
            "tiles_mut, iter_mut().for_each",
            |data| each::<TURNED>(data, |tile| fill(tile, from)),
            |data| each::<TURNED_RAGGED>(data, |tile| fill(tile, from)),
        )?
        .row(
            "par_tiles_mut, iter_mut().for_each",
            |data| par::<TURNED>(data, |tile| fill(tile, from)),
            |data| par::<TURNED_RAGGED>(data, |tile| fill(tile, from)),
        )?;
    Ok(())
}

/// Prints a row of times for each way, and compares its result with that of the plain loop.
struct Table<'a> {
    source: &'a [f32],
    expected: Vec<f32>,
}

impl<'a> Table<'a> {
    fn new(
        name: &str,
        source: &'a [f32],
        plain: impl Fn(&mut [f32]) -> Result<(), HostError>,
    ) -> Self {
        println!("{name}");
        let mut expected = source.to_vec();
        assert!(plain(&mut expected).is_ok());
        Self { source, expected }
    }

    fn row(
        self,
        name: &str,
        even: impl Fn(&mut [f32]) -> Result<(), HostError>,
        ragged: impl Fn(&mut [f32]) -> Result<(), HostError>,
    ) -> Result<Self, HostError> {
        let mut least = [f64::INFINITY; 2];
        for _ in 0..RUNS {
            least[0] = least[0].min(self.time(&even)?);
            least[1] = least[1].min(self.time(&ragged)?);
        }
        println!("  {name:32} {:9.2} {:9.2}", least[0], least[1]);
        Ok(self)
    }

    fn time(&self, work: &impl Fn(&mut [f32]) -> Result<(), HostError>) -> Result<f64, HostError> {
        let mut data = self.source.to_vec();
        let start = Instant::now();
        work(black_box(&mut data))?;
        let time = start.elapsed().as_secs_f64() * 1e3;
        assert!(data == self.expected);
        Ok(time)
    }
}
