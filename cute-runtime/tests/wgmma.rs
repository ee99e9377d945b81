//! Products of wgmma, of every type that it multiplies, compared with a Hopper GPU in every bit.
//!
//! The test runs on the emulator, whose results must have the hashes of those of an H200. With `CUTE_GPU=1` it runs on the first GPU
//! as well, and prints how far the two are apart; then a missing GPU is a failure. With `CUTE_HARDWARE=FOLDER` it writes the results
//! there.

mod devices;

use devices::devices;

use cute_runtime::{Device, Element, Error, Tensor, bf16, e4m3, e5m2, f16, kernels};
use std::fmt::Write;
use std::path::Path;

/// The CTAs of a launch. Each multiplies elements of another kind.
const TILES: usize = 60;
/// Rows of A, and of B, of a CTA.
const ROWS: [usize; 2] = [64, 8];
/// The bytes along K of one wgmma.
const K_BYTES: usize = 32;

#[kernels]
mod products {
    /// d = a · bᵀ + c by one wgmma of each CTA, of 64 rows of a and 8 of b, which have 32 bytes each.
    #[kernel(threads = 128)]
    #[instances((A, B, D) in [
        (f16, f16, f32), (f16, f16, f16), (bf16, bf16, f32), (tf32, tf32, f32),
        (e4m3, e4m3, f32), (e4m3, e5m2, f32), (e5m2, e4m3, f32), (e5m2, e5m2, f32),
        (e4m3, e4m3, f16), (e4m3, e5m2, f16), (e5m2, e4m3, f16), (e5m2, e5m2, f16),
        (i8, i8, i32), (i8, u8, i32), (u8, i8, i32), (u8, u8, i32),
    ])]
    pub fn product<A: Element, B: Element, D: Element>(
        a: TmaLoad<A, 2>,
        b: TmaLoad<B, 2>,
        c: Global<D, 2>,
        d: Global<D, 2>,
    ) {
        let (k, tile) = (256 / bits::<A>(), block_idx().0);
        let sa = smem::<A>(tile_to_shape(smem_atom::<A>(K, SW32), (64, k)));
        let sb = smem::<B>(tile_to_shape(smem_atom::<B>(K, SW32), (8, k)));
        let ready = mbarriers(1, 1);
        if thread() == 0 {
            expect_tx(ready[0], bytes(sa) + bytes(sb));
            tma_load(a, (64 * tile, 0), sa, ready[0]);
            tma_load(b, (8 * tile, 0), sb, ready[0]);
        }
        let acc = fragment::<D>(wgmma_c(8));
        // No element is outside, so that the fill is not used.
        copy_or(local_tile(c, (64, 8), (tile, 0)), acc, convert::<D>(tile));
        wait(ready[0], 0);
        wgmma_fence();
        wgmma(acc, sa, sb, true);
        wgmma_commit();
        wgmma_wait(0);
        copy_inside(acc, local_tile(d, (64, 8), (tile, 0)));
    }
}

/// Types of A, B and D, and the hash of an H200's results.
struct Row {
    types: &'static str,
    formats: [Format; 3],
    hash: u64,
    run: fn(&Device, &Inputs) -> Result<Vec<u32>, Error>,
}

macro_rules! rows {
    ($($a:ident, $b:ident, $d:ident: $hash:literal;)*) => {
        &[$(Row {
            types: concat!(stringify!($a), " · ", stringify!($b), " → ", stringify!($d)),
            formats: [Format::$a, Format::$b, Format::$d],
            hash: $hash,
            run: |device, inputs| {
                let k = K_BYTES / Format::$a.bytes();
                let [rows_of_a, rows_of_b] = ROWS.map(|rows| rows * TILES);
                let a = tensor::<types::$a>(device, &inputs.a, [rows_of_a, k])?;
                let b = tensor::<types::$b>(device, &inputs.b, [rows_of_b, k])?;
                let c = tensor::<types::$d>(device, &inputs.c, [rows_of_a, ROWS[1]])?;
                let mut d = Tensor::<types::$d, 2>::zeros(device, [rows_of_a, ROWS[1]])?;
                products::product::launch::<types::$a, types::$b, types::$d>(
                    device,
                    TILES as u32,
                    &a.view(),
                    &b.view(),
                    &c.view(),
                    &mut d.view_mut(),
                )?;
                Ok(d.download()?.into_iter().map(Bits::bits).collect())
            },
        },)*]
    };
}

#[rustfmt::skip]
const TABLE: &[Row] = rows! {
    f16, f16, f32: 0x2c66_c925_225c_d5d2;
    f16, f16, f16: 0xacce_50ca_2c59_e017;
    bf16, bf16, f32: 0x108b_0f05_5c4c_b2d9;
    tf32, tf32, f32: 0x174e_1340_4608_ca01;
    e4m3, e4m3, f32: 0xee90_ff20_ce5c_3fbe;
    e4m3, e5m2, f32: 0x2f10_d9e8_a0a4_448d;
    e5m2, e4m3, f32: 0x47de_e42e_1630_066b;
    e5m2, e5m2, f32: 0x425f_155e_5946_8527;
    e4m3, e4m3, f16: 0x3159_c7d7_a0f3_13ce;
    e4m3, e5m2, f16: 0x3f92_4355_9385_52b4;
    e5m2, e4m3, f16: 0x9152_eefc_8e43_6643;
    e5m2, e5m2, f16: 0x24f5_a830_66a0_7944;
    i8, i8, i32: 0x382a_43c1_8dc6_3ab0;
    i8, u8, i32: 0xc0b7_387d_15a5_f42e;
    u8, i8, i32: 0xd540_da8e_bafb_4852;
    u8, u8, i32: 0x8012_96e8_5941_c33f;
};

#[test]
fn products_are_those_of_the_hardware() -> Result<(), Error> {
    let mut differences = String::new();
    for row in TABLE {
        let inputs = Inputs::new(row.formats);
        let mut emulated = None;
        for device in devices(1) {
            let found = (row.run)(&device, &inputs)?;
            let on = if device.is_emulator() {
                "emulator"
            } else {
                "GPU"
            };
            if hash(&found) != row.hash {
                writeln!(
                    differences,
                    "{} on the {on}: {:#018x}",
                    row.types,
                    hash(&found)
                )
                .unwrap();
            }
            if let Some(folder) = std::env::var_os("CUTE_HARDWARE") {
                let name = format!("{} {on}", row.types).replace(' ', "_");
                let bytes: Vec<u8> = found.iter().flat_map(|bits| bits.to_le_bytes()).collect();
                std::fs::write(Path::new(&folder).join(name), bytes).unwrap();
            }
            match &emulated {
                None => emulated = Some(found),
                Some(emulated) => println!("{}", row.comparison(emulated, &found)),
            }
        }
    }
    assert!(
        differences.is_empty(),
        "other results than an H200's:\n{differences}"
    );
    Ok(())
}

impl Row {
    /// A row of a table: how many results there are, how many differ, and by how much at most.
    fn comparison(&self, emulated: &[u32], of_gpu: &[u32]) -> String {
        let pairs = emulated.iter().zip(of_gpu);
        let units = pairs.filter(|(a, b)| a != b).map(|(a, b)| {
            let [a, b] = [a, b].map(|bits| self.formats[2].ordered(*bits));
            a.abs_diff(b)
        });
        let units: Vec<u64> = units.collect();
        let greatest = units.iter().max().unwrap_or(&0);
        let (types, results, different) = (self.types, emulated.len(), units.len());
        format!("| {types} | {results} | {different} | {greatest} |")
    }
}

/// Where the fields of a number are.
#[derive(Clone, Copy)]
struct Format {
    bits: u32,
    /// The bits of the exponent; none of integers.
    exponent: u32,
    /// The bits of the fraction, with those that wgmma ignores.
    fraction: u32,
}

#[expect(non_upper_case_globals, reason = "named as the types are")]
impl Format {
    const f32: Format = Format::float(8, 23);
    const tf32: Format = Format::float(8, 23);
    const f16: Format = Format::float(5, 10);
    const bf16: Format = Format::float(8, 7);
    const e4m3: Format = Format::float(4, 3);
    const e5m2: Format = Format::float(5, 2);
    const i32: Format = Format::integer(32);
    const i8: Format = Format::integer(8);
    const u8: Format = Format::integer(8);

    const fn float(exponent: u32, fraction: u32) -> Format {
        let bits = 1 + exponent + fraction;
        Format {
            bits,
            exponent,
            fraction,
        }
    }

    const fn integer(bits: u32) -> Format {
        Format {
            bits,
            exponent: 0,
            fraction: bits,
        }
    }

    const fn bytes(self) -> usize {
        self.bits as usize / 8
    }

    const fn exponents(self) -> u32 {
        1 << self.exponent
    }

    const fn bias(self) -> i32 {
        (self.exponents() / 2) as i32 - 1
    }

    /// The number with random bits but for its exponent. With `few`, its fraction has two bits at most.
    fn number(self, random: u64, exponent: u32, few: bool) -> u32 {
        let fraction = random as u32 & ((1_u64 << self.fraction) - 1) as u32;
        let fraction = match few && self.exponent > 0 {
            true => fraction & 3 << (self.fraction - 2),
            false => fraction,
        };
        match self.exponent {
            0 => fraction,
            _ => {
                let sign = (random >> 63) as u32;
                (sign << self.exponent | exponent.min(self.exponents() - 1)) << self.fraction
                    | fraction
            }
        }
    }

    /// The number of a result among all, in their order.
    fn ordered(self, bits: u32) -> i64 {
        let sign = bits >> (self.bits - 1) & 1;
        let magnitude = i64::from(bits) & ((1 << (self.bits - 1)) - 1);
        match (self.exponent, sign) {
            (0, _) => i64::from(bits as i32),
            (_, 0) => magnitude,
            _ => -magnitude,
        }
    }
}

/// The Rust types of elements, under the names of these.
mod types {
    pub(super) use cute_runtime::{bf16, e4m3, e5m2, f16};
    #[expect(non_camel_case_types, reason = "named as in PTX")]
    pub(super) type tf32 = f32;
    pub(super) use core::primitive::{f32, i8, i32, u8};
}

/// A number as its bits.
trait Bits: Element {
    fn of(bits: u32) -> Self;
    fn bits(self) -> u32;
}

macro_rules! bits {
    ($($ty:ident: $bits:ty, $of:expr, $to:expr;)*) => {
        $(impl Bits for $ty {
            fn of(bits: u32) -> Self {
                $of(bits as $bits)
            }

            fn bits(self) -> u32 {
                u32::from($to(self))
            }
        })*
    };
}

bits! {
    f32: u32, f32::from_bits, f32::to_bits;
    f16: u16, f16::from_bits, f16::to_bits;
    bf16: u16, bf16::from_bits, bf16::to_bits;
    e4m3: u8, e4m3::from_bits, e4m3::to_bits;
    e5m2: u8, e5m2::from_bits, e5m2::to_bits;
    i32: u32, |bits| bits as i32, |number| number as u32;
    i8: u8, |bits| bits as i8, |number| number as u8;
    u8: u8, |bits| bits, |number| number;
}

fn tensor<T: Bits>(
    device: &Device,
    bits: &[u32],
    shape: [usize; 2],
) -> Result<Tensor<T, 2>, Error> {
    let numbers: Vec<T> = bits.iter().map(|bits| T::of(*bits)).collect();
    Tensor::from_slice(device, &numbers, shape)
}

/// The bits of all elements.
struct Inputs {
    a: Vec<u32>,
    b: Vec<u32>,
    c: Vec<u32>,
}

impl Inputs {
    /// Tiles of exponents that are close together or far apart, anywhere in the range of the type; of fractions with few bits, whose
    /// sums cancel; where every other product takes back the one before; and with infinities, NaNs and the greatest numbers.
    fn new([a_format, b_format, c_format]: [Format; 3]) -> Inputs {
        let mut random = Random(1);
        let mut inputs = Inputs {
            a: Vec::new(),
            b: Vec::new(),
            c: Vec::new(),
        };
        let k = K_BYTES / a_format.bytes();
        for tile in 0..TILES {
            let spread = [1, 3, 8, 24, u32::MAX][tile % 5];
            let (few, paired, special) = (tile % 4 == 1, tile % 7 == 3, tile % 6 == 5);
            let least = [a_format, b_format].map(|format| {
                let all = format.exponents() - 1;
                random.below(all - spread.min(all) + 1)
            });
            let mut element = |format: Format, least: u32| {
                let all = format.exponents() - 1;
                let exponent = match random.below(32) {
                    0 | 1 => 0,
                    2 if special => all,
                    _ => least + random.below(spread.min(all)),
                };
                // All bits of the exponent are set in special numbers alone.
                let exponent = match special {
                    true => exponent,
                    false => exponent.min(all.saturating_sub(1)),
                };
                format.number(random.next(), exponent, few)
            };
            for _ in 0..ROWS[0] * k {
                let number = element(a_format, least[0]);
                inputs.a.push(number);
            }
            for _ in 0..ROWS[1] * k {
                let number = element(b_format, least[1]);
                inputs.b.push(number);
            }
            if paired {
                take_back(a_format, &mut inputs.a, ROWS[0] * k, true);
                take_back(b_format, &mut inputs.b, ROWS[1] * k, false);
            }
            let middle = least[0] as i32 - a_format.bias() + least[1] as i32 - b_format.bias();
            for _ in 0..ROWS[0] * ROWS[1] {
                let all = c_format.exponents() as i32 - 1;
                let near =
                    middle + c_format.bias() + random.below(2 * spread.min(6) + 4) as i32 - 2;
                let exponent = match random.below(8) {
                    0 => 0,
                    1 => random.below(all as u32 + 1) as i32,
                    2 if special => all,
                    _ => near,
                };
                let most = if special { all } else { (all - 1).max(0) };
                let number = c_format.number(random.next(), exponent.clamp(0, most) as u32, few);
                inputs.c.push(if random.below(4) == 0 { 0 } else { number });
            }
        }
        inputs
    }
}

/// Makes every other of the last numbers the one before, with the other sign if `negated`.
fn take_back(format: Format, numbers: &mut [u32], last: usize, negated: bool) {
    let start = numbers.len() - last;
    for pair in numbers[start..].as_chunks_mut::<2>().0 {
        let sign = u32::from(negated) << (format.bits - 1);
        pair[1] = match format.exponent {
            0 if negated => pair[0].wrapping_neg() & 0xff,
            0 => pair[0],
            _ => pair[0] ^ sign,
        };
    }
}

/// The generator splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = self.0;
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, or 0 if that is 0.
    fn below(&mut self, n: u32) -> u32 {
        (self.next() % u64::from(n.max(1))) as u32
    }
}

/// A hash of numbers (FNV-1a).
fn hash(numbers: &[u32]) -> u64 {
    let bytes = numbers.iter().flat_map(|number| number.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
