//! A grouped product, or a list of products, beside a loop of cuBLASLt's products, one for each group that is not empty.

use std::collections::BTreeMap;
use std::error::Error;
use std::ops::Range;
use std::time::Duration;

use cute_kernels::reference::{self, Matrix};
use cute_kernels::timing::{interleave, median};
use cute_kernels::{GroupedInput, ListInput, gemm_grouped, gemm_list};
use cute_runtime::{Device, Tensor};

use crate::cublaslt::{Product, data_type};
use crate::random::random;
use crate::row::{Measured, Side};
use crate::shapes::{Groups, Shape};

/// Microseconds of one timed run, at least.
const RUN: f64 = 2000.0;
/// The most groups that are compared with float64.
const COMPARED: usize = 8;

/// Measures one product of normally distributed numbers: ours, and cuBLASLt's, whose products are each by the fastest of the
/// eight algorithms that its heuristic ranks highest.
pub(crate) fn measure<T>(
    device: &Device,
    shape: Shape,
    element: fn(f32) -> T,
) -> Result<Measured, Box<dyn Error>>
where
    T: GroupedInput<T> + ListInput<T> + Into<f64>,
{
    let Shape {
        batches: groups,
        m,
        n,
        k,
        ..
    } = shape;
    let (ends, is_list) = (shape.ends(), shape.groups == Some(Groups::List));
    let host_a = random(m * k, 0, element);
    let host_b = random(groups * n * k, m * k, element);
    let a = Tensor::from_slice(device, &host_a, [m, k])?;
    let b = Tensor::from_slice(device, &host_b, [groups, n, k])?;
    let mut ours = Tensor::<T, 2>::zeros(device, [m, n])?;
    let theirs = Tensor::<T, 2>::zeros(device, [m, n])?;
    let ends_there = Tensor::from_slice(device, &ends, [groups])?;
    let workspace = device.zeros::<u8>(Product::WORKSPACE)?;

    let starts = [0].iter().chain(&ends);
    let rows = starts
        .zip(&ends)
        .map(|(&first, &end)| first as usize..end as usize);
    let rows: Vec<(usize, Range<usize>)> =
        rows.enumerate().filter(|(_, it)| !it.is_empty()).collect();
    let mut list = Vec::new();
    for (_, rows) in rows.iter().filter(|_| is_list) {
        list.push(Tensor::<T, 2>::zeros(device, [rows.len(), n])?);
    }
    let list_a = rows.iter().map(|(_, rows)| a.view().slice(0, rows.clone()));
    let list_a = list_a.collect::<Result<Vec<_>, _>>()?;
    let list_b = rows
        .iter()
        .map(|(group, _)| b.buffer().view(group * n * k, [n, k], [k, 1]));
    let list_b = list_b.collect::<Result<Vec<_>, _>>()?;
    let mut run_ours = |count: u32| {
        device.time(|| -> Result<(), Box<dyn Error>> {
            (0..count).try_for_each(|_| {
                if is_list {
                    let mut d: Vec<_> = list.iter_mut().map(Tensor::view_mut).collect();
                    gemm_list(device, &list_a, &list_b, &mut d)?;
                } else {
                    let (a, b, ends) = (&a.view(), &b.view(), &ends_there.view());
                    gemm_grouped(device, a, b, ends, &mut ours.view_mut())?;
                }
                Ok(())
            })
        })
    };
    let run = |product: &Product, algorithm: usize, (group, rows): &(usize, Range<usize>)| {
        let at = |tensor: u64, elements: usize| tensor + (elements * size_of::<T>()) as u64;
        let a = at(a.view().address(), rows.start * k);
        let b = at(b.view().address(), group * n * k);
        let d = at(theirs.view().address(), rows.start * n);
        // SAFETY: these are the addresses of the rows of a group and of its matrix.
        unsafe { product.run(algorithm, [a, b, d], 0) }
    };
    // By the number of rows, the product and its fastest algorithm.
    let mut products: BTreeMap<usize, (Product, usize)> = BTreeMap::new();
    for group in &rows {
        let m = group.1.len();
        if products.contains_key(&m) {
            continue;
        }
        let shape = Shape {
            batches: 1,
            m,
            groups: None,
            ..shape
        };
        let ty = data_type(T::TYPE)?;
        // SAFETY: as in `single::measure`.
        let product = unsafe { Product::new(&shape, ty, ty, workspace.address(), None) }?;
        let mut fastest = (Duration::MAX, 0);
        for algorithm in 0..product.algorithms() {
            run(&product, algorithm, group)?;
            let times = (0..3).map(|_| {
                device.time(|| -> Result<(), Box<dyn Error>> {
                    (0..5).try_for_each(|_| Ok(run(&product, algorithm, group)?))
                })
            });
            fastest = fastest.min((median(times.collect::<Result<_, _>>()?), algorithm));
        }
        products.insert(m, (product, fastest.1));
    }
    let run_theirs = |count: u32| {
        device.time(|| -> Result<(), Box<dyn Error>> {
            (0..count).try_for_each(|_| {
                rows.iter().try_for_each(|group| {
                    let (product, algorithm) = &products[&group.1.len()];
                    Ok(run(product, *algorithm, group)?)
                })
            })
        })
    };
    run_ours(3)?;
    run_theirs(1)?;
    let once = run_ours(1)?.as_secs_f64() * 1e6;
    let count = (RUN / once) as u32 + 2;
    let (our_time, their_time) = interleave(|| run_ours(count), || run_theirs(count))?;

    let side = |time: Duration, d: &[T]| {
        let compared = rows.iter().step_by(rows.len().div_ceil(COMPARED));
        let errors = compared.map(|(group, rows)| {
            let found = reference::gemm(
                Matrix::packed(&host_a[rows.start * k..], rows.len(), k),
                Matrix::packed(&host_b[group * n * k..], n, k),
                Matrix::packed(&d[rows.start * n..], rows.len(), n),
            );
            found.worst
        });
        Side {
            speed: shape.operations() * f64::from(count) / time.as_secs_f64() / 1e12,
            error: errors.fold(0.0, f64::max),
        }
    };
    let yours = side(their_time, &theirs.download()?);
    let listed = list.iter().map(Tensor::download);
    let d = match is_list {
        true => listed.collect::<Result<Vec<_>, _>>()?.concat(),
        false => ours.download()?,
    };
    let mine = side(our_time, &d);
    let by = if is_list { "list" } else { "groups" };
    Ok(Measured {
        tile: by.to_owned(),
        tiles: Vec::new(),
        ours: mine,
        theirs: Some(yours),
    })
}
