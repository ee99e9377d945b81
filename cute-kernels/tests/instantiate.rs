//! Tiles that are not compiled ahead, and tiles that are remembered.

use cute_kernels::lib::{Config, SINGLE};
use cute_kernels::product::space::space;
use cute_kernels::reference::{self, Matrix, normal};
use cute_kernels::{
    Device, Element, Error, GemmInput, Plan, Tensor, Tile, bf16, e4m3, e5m2, f16, gemm, remember,
    tuned,
};

/// M, N and K, of which no tile divides any.
const SHAPE: [usize; 3] = [200, 328, 200];

struct Product {
    device: Device,
    host: [Vec<bf16>; 2],
    a: Tensor<bf16, 2>,
    b: Tensor<bf16, 2>,
}

impl Product {
    fn new() -> Result<Self, Error> {
        let [m, n, k] = SHAPE;
        let device = Device::emulator();
        let host = [normal(1, m * k), normal(2, n * k)];
        Ok(Self {
            a: Tensor::from_slice(&device, &host[0], [m, k])?,
            b: Tensor::from_slice(&device, &host[1], [n, k])?,
            host,
            device,
        })
    }

    fn plan(&self) -> Result<Plan, Error> {
        let d = &mut self.result()?;
        Plan::new(&self.device, &self.a.view(), &self.b.view(), &d.view_mut())
    }

    fn result(&self) -> Result<Tensor<bf16, 2>, Error> {
        Ok(Tensor::zeros(&self.device, [SHAPE[0], SHAPE[1]])?)
    }

    /// Holds D against float64.
    fn check(&self, d: &Tensor<bf16, 2>, what: &str) -> Result<(), Error> {
        let [m, n, k] = SHAPE;
        let d = d.download()?;
        let found = reference::gemm(
            Matrix::packed(&self.host[0], m, k),
            Matrix::packed(&self.host[1], n, k),
            Matrix::packed(&d, m, n),
        );
        assert!(
            found.is_rounding(1.0 / 128.0, k.div_ceil(16)),
            "{what}: {found:?}"
        );
        Ok(())
    }
}

/// Every 97th tile; at night, each.
fn part_of_the_space() -> impl Iterator<Item = Config> {
    let nightly = std::env::var_os("CUTE_NIGHTLY").is_some_and(|value| value == "1");
    space().into_iter().step_by(if nightly { 1 } else { 97 })
}

#[test]
fn any_tile_of_the_space_computes_the_product() -> Result<(), Error> {
    let product = Product::new()?;
    let plan = product.plan()?;
    let compiled = |tile| plan.candidates().iter().any(|(it, _)| *it == tile);
    let (mut ran, mut made) = (0, 0);
    for config in part_of_the_space() {
        let tile = Tile::Shared(config);
        made += usize::from(!compiled(tile));
        ran += 1;
        let mut d = product.result()?;
        let plan = product.plan()?.with_tile(tile)?;
        let (a, b) = (product.a.view(), product.b.view());
        plan.launch(&product.device, &a, &b, &mut d.view_mut())?;
        product.check(&d, &tile.to_string())?;
    }
    println!("{ran} tiles, of which {made} are not compiled ahead");
    assert!(made > ran / 2);
    Ok(())
}

/// What `Plan::autotune` may compile can be compiled, for the other types too. A plan needs some kernels of its types.
#[cfg(feature = "all")]
#[test]
fn any_tile_of_the_space_is_made_for_other_types() -> Result<(), Error> {
    made_for::<f16, f16>()?;
    made_for::<e4m3, bf16>()?;
    made_for::<e5m2, f32>()?;
    made_for::<i8, i32>()?;
    made_for::<u8, i32>()
}

fn made_for<T: GemmInput<D>, D: Element>() -> Result<(), Error> {
    let [m, n, k] = [256, 512, 256];
    let device = Device::emulator();
    let a = Tensor::<T, 2>::zeros(&device, [m, k])?;
    let b = Tensor::<T, 2>::zeros(&device, [n, k])?;
    let mut d = Tensor::<D, 2>::zeros(&device, [m, n])?;
    let plan = Plan::new(&device, &a.view(), &b.view(), &d.view_mut())?;
    let (mut made, mut refused) = (0, 0);
    for config in part_of_the_space() {
        match plan.clone().with_tile(Tile::Shared(config)) {
            Ok(_) => made += 1,
            // Wgmma of integers has fewer widths.
            Err(Error::GemmTile { .. }) => refused += 1,
            Err(error) => return Err(error),
        }
    }
    println!("{} to {}: {made} made, {refused} refused", T::TYPE, D::TYPE);
    assert!(made > refused, "{made} made, {refused} refused");
    Ok(())
}

#[test]
fn sizes_that_do_not_fit_together_are_refused() -> Result<(), Error> {
    let product = Product::new()?;
    let stages = Config {
        stages: 1,
        ..SINGLE
    };
    let error = product.plan()?.with_tile(Tile::Shared(stages)).unwrap_err();
    let text = "`stages` is 1: a stage is released after the next one is multiplied, so there are 2 or more";
    assert!(error.to_string().contains(text), "{error}");
    // A by element, where TMA stores D.
    let by_element = Config {
        by_element: true,
        ..SINGLE
    };
    let error = product.plan()?.with_tile(Tile::Shared(by_element));
    assert!(matches!(error, Err(Error::GemmTile { .. })), "{error:?}");
    Ok(())
}

/// A tile that is remembered is the tile of the products that follow, also if it is made for them.
#[test]
fn remembered_tiles_are_used() -> Result<(), Error> {
    let product = Product::new()?;
    let plan = product.plan()?;
    let compiled = |tile| plan.candidates().iter().any(|(it, _)| *it == tile);
    let mut others = space().into_iter().map(Tile::Shared);
    let tile = others.find(|it| !compiled(*it)).expect("most are not");
    let choice = plan.with_tile(tile)?.choice(&product.device);
    remember(&choice);
    assert!(tuned().contains(&choice));
    let mut d = product.result()?;
    let before = product.device.take_counts();
    assert!(before.is_some());
    let (a, b) = (product.a.view(), product.b.view());
    gemm(&product.device, &a, &b, &mut d.view_mut())?;
    product.check(&d, "a remembered tile")?;
    // A choice for another product changes nothing.
    let mut other = choice.clone();
    other.product.push_str(", otherwise");
    remember(&other);
    gemm(&product.device, &a, &b, &mut d.view_mut())
}
