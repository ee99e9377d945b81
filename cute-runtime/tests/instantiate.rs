//! Instances that are made at run time, against those that are compiled with the program.

use std::sync::Arc;

use cute_runtime::__private::{Text, Values, launch_safe_instance};
use cute_runtime::{
    ArgumentRule, Device, ElementType, Error, Image, Instance, Instantiate, Kernel, LaunchRule,
    Tensor, bf16, layout,
};

layout! { TILE = (4,32):(32,1); }

/// What `kernels` imports.
#[cute_runtime::kernels]
pub mod library {
    /// Sizes of a tile.
    pub struct Config {
        /// Rows of a CTA.
        pub rows: u32,
        /// Whether rows are added to what the result has.
        pub adds: bool,
    }

    /// Numbers and truth values of every type.
    pub struct Numbers {
        /// A field.
        pub single: f32,
        /// A field.
        pub double: f64,
        /// A field.
        pub bytes: u8,
        /// A field.
        pub signed_bytes: i8,
        /// A field.
        pub shorts: u16,
        /// A field.
        pub signed_shorts: i16,
        /// A field.
        pub words: u32,
        /// A field.
        pub signed_words: i32,
        /// A field.
        pub longs: u64,
        /// A field.
        pub signed_longs: i64,
        /// A field.
        pub truth: bool,
    }

    /// Two.
    pub const TWO: u32 = 2;

    /// Twice the value.
    pub fn twice(x: f32) -> f32 {
        assert!(TWO == 2, "two is two");
        x * 2.0
    }
}

#[cute_runtime::kernels]
mod kernels {
    use super::library::{Config, Numbers, twice};

    /// y = 2 · x, by tiles.
    #[kernel(threads = THREADS, cluster = (CTAS, 1, 1))]
    #[instance(fixed: T = f32, THREADS = 64, CTAS = 2)]
    #[instance(given: T = _, THREADS = _, CTAS = _)]
    pub fn double<T: Element, const THREADS: u32, const CTAS: u32>(
        x: Global<T, 1>,
        #[facts(extent(y, 0) == extent(x, 0), extent(x, 0) % CTAS == 0)] y: Global<T, 1>,
        limit: f32,
    ) {
        let at = block_idx().0 * THREADS + thread();
        if at < extent(x, 0) && at < extent(y, 0) {
            assert!(
                x[at] as f32 <= limit,
                "{} is more than {limit}",
                x[at] as f32
            );
            y[at] = twice(x[at] as f32) as T;
        }
    }

    /// Copies a matrix by TMA, whose box is given.
    #[kernel(threads = 32)]
    #[instance(fixed_copy: ROWS = 8)]
    #[instance(given_copy: ROWS = _)]
    pub fn copy<const ROWS: u32>(
        x: TmaLoad<f32, 2>,
        y: TmaStore<f32, 2>,
        _unused: TmaLoad<bf16, 3>,
    ) {
        let tile = smem::<f32>(layout!((ROWS,32):(32,1)));
        let ready = mbarriers(1, 1);
        let origin = (block_idx().0 * ROWS, 0);
        if thread() == 0 {
            expect_tx(ready[0], bytes(tile));
            tma_load(x, origin, tile, ready[0]);
        }
        wait(ready[0], 0);
        fence_proxy_async();
        sync_threads();
        if thread() == 0 {
            tma_store(tile, y, origin);
            tma_commit();
            tma_wait(0);
        }
    }

    /// Adds rows up, with a layout from outside that no other instance names.
    #[kernel(threads = 32)]
    #[instance(rows: CFG = _)]
    pub fn rows<const CFG: Config>(x: Global<f32, 2>, y: Global<f32, 1>) {
        let tile = smem::<f32>(layout!(TILE));
        if thread() < extent(x, 1) && thread() < extent(y, 0) {
            let mut sum = 0.0;
            if CFG.adds {
                sum = y[thread()];
            }
            #[unroll(1)]
            for i in 0..CFG.rows {
                tile[(i % 4, thread())] = 0.0;
                if i < extent(x, 0) {
                    tile[(i % 4, thread())] = x[(i, thread())];
                }
                sum += tile[(i % 4, thread())];
            }
            y[thread()] = sum;
        }
    }

    /// Adds a list of vectors up.
    #[kernel(threads = 32)]
    #[instance(sums: T = _, MOST = _)]
    pub fn sums<T: Element, const MOST: u32>(
        #[facts(extent(x, 0) >= 32)] x: [Global<T, 1>; MOST],
        #[facts(extent(y, 0) >= 32)] y: Global<T, 1>,
        #[facts(by.len() == x.len())] by: [f32; MOST],
    ) {
        let mut sum = 0.0;
        for i in 0..x.len() {
            sum += convert::<f32>(x[i][thread()]) * by[i];
        }
        y[thread()] = convert::<T>(sum);
    }

    /// Writes what it is given.
    #[kernel(threads = 32)]
    #[instance(told: OF = _)]
    pub fn tell<const OF: Numbers>(
        #[facts(extent(single, 0) == 1)] single: Global<f32, 1>,
        #[facts(extent(double, 0) == 1)] double: Global<f64, 1>,
        #[facts(extent(integers, 0) == 9)] integers: Global<i64, 1>,
    ) {
        if thread() == 0 {
            single[0] = OF.single;
            double[0] = OF.double;
            integers[0] = OF.bytes as i64;
            integers[1] = OF.signed_bytes as i64;
            integers[2] = OF.shorts as i64;
            integers[3] = OF.signed_shorts as i64;
            integers[4] = OF.words as i64;
            integers[5] = OF.signed_words as i64;
            integers[6] = OF.longs as i64;
            integers[7] = OF.signed_longs as i64;
            integers[8] = if OF.truth { 1 } else { 0 };
        }
    }

    /// Writes its index.
    #[kernel(threads = N)]
    #[instance(unchecked: N = _)]
    pub unsafe fn indices<const N: u32>(y: Global<u32, 1>) {
        y[thread()] = thread();
    }

    /// Is wrong for most values.
    #[kernel(threads = 32)]
    #[instance(particular: N = _)]
    pub fn particular<const N: i32>(y: Global<i32, 1>) {
        assert!(N % 4 == 0, "{N} is not a multiple of 4");
        let tile = smem::<i32>(layout!((4,8):(8,1)));
        if N < 0 {
            y[thread()] = 1;
        } else {
            tile[(N / 4, 0)] = 7;
        }
    }
}

/// The same PTX and the same description as an instance that is compiled with the program.
#[track_caller]
fn check_same<K: Kernel>(given: &impl Instantiate) {
    let image = given.image().expect("an instance");
    assert_eq!(image.ptx.replace(image.name, K::NAME), K::PTX.trim_start());
    assert_eq!(image.threads, K::THREADS);
    assert_eq!(image.cluster, K::CLUSTER);
    assert_eq!(image.smem_bytes, K::SMEM_BYTES);
    assert_eq!(image.params, K::PARAMS);
    assert_eq!(image.facts, K::FACTS);
    assert_eq!(image.reports, K::REPORTS);
    assert_eq!(image.is_safe, K::IS_SAFE);
}

#[test]
fn an_instance_is_the_one_of_the_expansion() {
    check_same::<kernels::fixed>(&kernels::given {
        T: ElementType::F32,
        THREADS: 64,
        CTAS: 2,
    });
    check_same::<kernels::fixed_copy>(&kernels::given_copy { ROWS: 8 });
}

#[test]
fn types_and_constants_are_values() -> Result<(), Error> {
    let device = Device::emulator();
    let x = Tensor::from_slice(&device, &[3.0f32; 512], [512])?;
    let z = Tensor::from_slice(&device, &[bf16::ONE; 512], [512])?;
    for threads in [32, 128, 512] {
        for ctas in [1, 2] {
            let (grid, limit) = ((512 / threads).max(ctas), 10.0);
            let mut y = Tensor::<f32, 1>::zeros(&device, [512])?;
            let double = kernels::given {
                T: ElementType::F32,
                THREADS: threads,
                CTAS: ctas,
            };
            double.launch(&device, grid, &x.view(), &mut y.view_mut(), limit)?;
            assert_eq!(y.download()?, [6.0; 512]);
            let mut y = Tensor::<bf16, 1>::zeros(&device, [512])?;
            let double = kernels::given {
                T: ElementType::BF16,
                ..double
            };
            double.launch(&device, grid, &z.view(), &mut y.view_mut(), limit)?;
            assert_eq!(y.download()?, [bf16::from_f32(2.0); 512]);
        }
    }
    Ok(())
}

#[test]
fn boxes_of_tma_and_structs_of_other_modules_are_given() -> Result<(), Error> {
    let device = Device::emulator();
    let values: Vec<f32> = (0..16 * 32).map(|i| i as f32).collect();
    let x = Tensor::from_slice(&device, &values, [16, 32])?;
    let unused = Tensor::<bf16, 3>::zeros(&device, [2, 2, 8])?;
    for rows in [2, 4, 16] {
        let mut y = Tensor::<f32, 2>::zeros(&device, [16, 32])?;
        let copy = kernels::given_copy { ROWS: rows };
        let (x, unused) = (x.view(), unused.view());
        copy.launch(&device, 16 / rows, &x, &mut y.view_mut(), &unused)?;
        assert_eq!(y.download()?, values);
    }

    let mut y = Tensor::from_slice(&device, &[1.0f32; 32], [32])?;
    for (adds, expected) in [(false, 7.0 * 32.0 * 4.0), (true, 2.0 * 7.0 * 32.0 * 4.0)] {
        let config = library::Config { rows: 8, adds };
        kernels::rows { CFG: config }.launch(&device, 1, &x.view(), &mut y.view_mut())?;
        assert_eq!(y.download()?[0], expected);
    }
    Ok(())
}

#[test]
fn numbers_are_given_bit_by_bit() -> Result<(), Error> {
    let device = Device::emulator();
    let mut single = Tensor::<f32, 1>::zeros(&device, [1])?;
    let mut double = Tensor::<f64, 1>::zeros(&device, [1])?;
    let mut integers = Tensor::<i64, 1>::zeros(&device, [9])?;
    let mut tell = |of| {
        let (x, y) = (&mut single.view_mut(), &mut double.view_mut());
        kernels::told { OF: of }.launch(&device, 1, x, y, &mut integers.view_mut())?;
        let bits = (
            single.download()?[0].to_bits(),
            double.download()?[0].to_bits(),
        );
        Ok::<_, Error>((bits, integers.download()?))
    };
    let zero = library::Numbers {
        single: 0.0,
        double: 0.0,
        bytes: 0,
        signed_bytes: 0,
        shorts: 0,
        signed_shorts: 0,
        words: 0,
        signed_words: 0,
        longs: 0,
        signed_longs: 0,
        truth: false,
    };

    let singles = [
        f32::NAN,
        -f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        0.0,
        -0.0,
        f32::MIN,
        f32::MAX,
        f32::MIN_POSITIVE,
        f32::from_bits(1),
        -f32::from_bits(0x7f_ffff),
        1.0e10,
        16_777_217.0,
        0.1,
        -1.0 / 3.0,
    ];
    let doubles = [
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -0.0,
        f64::MIN,
        f64::MAX,
        f64::from_bits(1),
        -f64::from_bits(0xf_ffff_ffff_ffff),
        9_007_199_254_740_993.0,
        0.1,
    ];
    for (&single, &double) in singles.iter().zip(doubles.iter().cycle()) {
        let of = library::Numbers {
            single,
            double,
            ..zero
        };
        let (bits, _) = tell(of)?;
        assert_eq!(
            bits,
            (single.to_bits(), double.to_bits()),
            "{single} {double}"
        );
    }

    let (least, most) = (
        library::Numbers {
            signed_bytes: i8::MIN,
            signed_shorts: i16::MIN,
            signed_words: i32::MIN,
            signed_longs: i64::MIN,
            ..zero
        },
        library::Numbers {
            bytes: u8::MAX,
            signed_bytes: i8::MAX,
            shorts: u16::MAX,
            signed_shorts: i16::MAX,
            words: u32::MAX,
            signed_words: i32::MAX,
            longs: u64::MAX,
            signed_longs: i64::MAX,
            truth: true,
            ..zero
        },
    );
    for of in [least, most] {
        let (_, told) = tell(of)?;
        let expected = [
            of.bytes.into(),
            of.signed_bytes.into(),
            of.shorts.into(),
            of.signed_shorts.into(),
            of.words.into(),
            of.signed_words.into(),
            of.longs as i64,
            of.signed_longs,
            of.truth.into(),
        ];
        assert_eq!(told, expected);
    }
    Ok(())
}

#[test]
fn an_unsafe_kernel_has_an_unsafe_launch() -> Result<(), Error> {
    let device = Device::emulator();
    let mut y = Tensor::<u32, 1>::zeros(&device, [96])?;
    // SAFETY: the 96 threads write the 96 elements.
    unsafe { kernels::unchecked { N: 96 }.launch(&device, 1, &mut y.view_mut())? };
    assert_eq!(y.download()?, (0..96).collect::<Vec<u32>>());
    Ok(())
}

/// An implementation by hand, which may say anything, and which is a `Kernel` as well.
impl Instantiate for kernels::fixed {
    const NAME: &'static str = "any";
    const MODULE: Text = Text {
        text: "\"m\" \"m\" [] { mod m {
            #[kernel(threads = 32)]
            #[instance(any: N = _)]
            unsafe fn any<const N: u32>(y: Global<u32, 1>) { y[thread() + N] = N; }
        } }",
        places: &[],
    };

    fn values(&self) -> Values {
        Values::of(&[("N", &5u32)])
    }

    fn image(&self) -> Result<Arc<Image>, Error> {
        let given = kernels::given_copy { ROWS: 8 }.image()?;
        let mut image = Image::clone(&given);
        (image.ptx, image.is_safe) = ("", true);
        Ok(Arc::new(image))
    }
}

#[test]
fn an_implementation_by_hand_makes_no_unsafe_kernel_safe() -> Result<(), Error> {
    let device = Device::emulator();
    let x = Tensor::<f32, 2>::zeros(&device, [8, 32])?;
    let mut y = Tensor::<u32, 1>::zeros(&device, [32])?;
    let view = &mut y.view_mut();
    let error = launch_safe_instance(&kernels::fixed, &device, 1.into(), &[view.into()]);
    let refused = matches!(
        &error,
        Err(Error::Launch {
            kernel: "any",
            rule: LaunchRule::Unsafe,
        })
    );
    assert!(refused, "{error:?}");

    // The instance that `image` replaces is not compiled in place of the real one.
    assert_eq!(kernels::fixed.image()?.ptx, "");
    kernels::fixed.compile(&device)?;
    let mut z = Tensor::<f32, 2>::zeros(&device, [8, 32])?;
    let unused = Tensor::<bf16, 3>::zeros(&device, [2, 2, 8])?;
    let copy = kernels::given_copy { ROWS: 8 };
    copy.launch(&device, 1, &x.view(), &mut z.view_mut(), &unused.view())
}

#[test]
fn an_instance_is_made_once() {
    let image = |threads| {
        let given = kernels::given {
            T: ElementType::F32,
            THREADS: threads,
            CTAS: 1,
        };
        given.image().expect("an instance")
    };
    assert!(Arc::ptr_eq(&image(96), &image(96)));
    assert!(!Arc::ptr_eq(&image(96), &image(160)));
}

/// A value that no instance can have: the text of the error, without the file before the line.
#[track_caller]
fn check_refused(given: &impl Instantiate, expected: &str) {
    let error = given.image().expect_err("no instance").to_string();
    assert_eq!(error.replace(file!(), "FILE"), expected);
    assert_eq!(
        given.image().expect_err("the same").to_string(),
        error.replace("FILE", file!())
    );
}

#[test]
fn mistakes_name_the_place_in_the_kernel() {
    let given = |threads, ctas| kernels::given {
        T: ElementType::F32,
        THREADS: threads,
        CTAS: ctas,
    };
    let at = |text: &str, part: &str| {
        let lines = include_str!("instantiate.rs").lines();
        let (line, column) = lines
            .zip(1..)
            .find_map(|(line, number)| {
                Some((
                    number,
                    line.find(text)? + line[line.find(text)?..].find(part)? + 1,
                ))
            })
            .expect("the text");
        format!("FILE:{line}:{column}")
    };
    check_refused(
        &given(2000, 1),
        &format!(
            "kernel given with T = f32, THREADS = 2000, CTAS = 1: {}: `threads` is 2000; it can be 1 to 1024",
            at("#[kernel(threads = THREADS", "THREADS")
        ),
    );
    let narrow = kernels::given {
        T: ElementType::U4,
        THREADS: 32,
        CTAS: 1,
    };
    let mistake = "a parameter of a kernel has elements of whole bytes, and elements of `u4` have 4 bits: a tensor of `u8` has the same memory";
    check_refused(
        &narrow,
        &format!(
            "kernel given with T = u4, THREADS = 32, CTAS = 1: {}: {mistake}",
            at("x: Global<T, 1>,", "T, 1")
        ),
    );
    check_refused(
        &kernels::particular { N: 6 },
        &format!(
            "kernel particular with N = 6: {}: assertion failed: 6 is not a multiple of 4",
            at("assert!(N % 4 == 0", "N % 4")
        ),
    );
    check_refused(
        &kernels::particular { N: 16 },
        &format!(
            "kernel particular with N = 16: {}: coordinate 4 is outside of mode 4:8 of `tile`, whose size is 4",
            at("tile[(N / 4, 0)]", "(N / 4")
        ),
    );
    // A safe kernel stays safe.
    check_refused(
        &kernels::particular { N: -4 },
        &format!(
            "kernel particular with N = -4: {}: nothing proves that this access is inside of `y`: put it under a condition by \
             which its coordinate in mode 0 is below `extent(y, 0)`, or state the fact `extent(y, 0) >= 32`, by which a launch with a \
             smaller tensor is refused, or let the kernel check it when it runs, `#[kernel(…, checked)]`, or make `particular` an \
             `unsafe fn`, whose launch relies on its caller",
            at("y[thread()] = 1", "thread()")
        ),
    );
}

#[test]
fn arguments_and_facts_are_checked() -> Result<(), Error> {
    let device = Device::emulator();
    let x = Tensor::from_slice(&device, &[3.0f32; 512], [512])?;
    let mut y = Tensor::<f32, 1>::zeros(&device, [512])?;
    let double = kernels::given {
        T: ElementType::F32,
        THREADS: 128,
        CTAS: 3,
    };
    let rule = |error| match error {
        Error::Argument { argument, rule, .. } => (argument, rule),
        error => panic!("{error}"),
    };

    // The fact has the value that is given.
    let error = double.launch(&device, 6, &x.view(), &mut y.view_mut(), 9.0);
    match error.expect_err("512 is no multiple of 3") {
        Error::Launch {
            kernel: "given",
            rule: LaunchRule::Fact { fact, numbers },
        } => {
            assert_eq!(fact, "extent(x, 0) % CTAS == 0");
            assert_eq!(numbers[0].to_string(), "extent(x, 0) = 512");
        }
        error => panic!("{error}"),
    }
    let double = kernels::given { CTAS: 1, ..double };
    let error = double.launch(&device, 4, &x.view(), &y.view(), 9.0);
    assert_eq!(
        rule(error.expect_err("read-only")),
        ("y", ArgumentRule::ReadOnly)
    );
    let error = double.launch(&device, 4, 1.0f32, &mut y.view_mut(), 9.0);
    let kind = ArgumentRule::Kind {
        expected: "a tensor",
        found: "a number",
    };
    assert_eq!(rule(error.expect_err("a number")), ("x", kind));
    let matrix = Tensor::<f32, 2>::zeros(&device, [16, 32])?;
    let error = double.launch(&device, 4, &matrix.view(), &mut y.view_mut(), 9.0);
    let rank = ArgumentRule::Rank {
        expected: 1,
        found: 2,
    };
    assert_eq!(rule(error.expect_err("a matrix")), ("x", rank));
    let integers = Tensor::<i32, 1>::zeros(&device, [512])?;
    let error = double.launch(&device, 4, &integers.view(), &mut y.view_mut(), 9.0);
    let element = ArgumentRule::Element {
        expected: ElementType::F32,
        found: ElementType::I32,
    };
    assert_eq!(rule(error.expect_err("integers")), ("x", element));

    // A failed assertion names the line of the kernel.
    let error = double.launch(&device, 4, &x.view(), &mut y.view_mut(), 2.0);
    match error.expect_err("3 is more than 2") {
        Error::Assertion(failure) => {
            assert!(failure.file.ends_with("tests/instantiate.rs") && failure.line > 40);
            assert_eq!(failure.message, "3 is more than 2");
        }
        error => panic!("{error}"),
    }
    Ok(())
}

#[test]
fn what_the_compiler_reports_is_of_the_instance() -> Result<(), Error> {
    let device = Device::emulator();
    let copies = [64, 8].map(|rows| kernels::given_copy { ROWS: rows });
    let [long, short] = copies;
    let compiled = long.compile(&device)?;
    assert!(compiled.shared_bytes >= 64 * 32 * 4);
    let list = [
        short.instance()?,
        long.instance()?,
        Instance::of::<kernels::fixed_copy>(),
    ];
    assert_eq!(
        device.prepare(&list)?,
        [
            short.compile(&device)?,
            compiled,
            device.compile::<kernels::fixed_copy>()?
        ]
    );
    Ok(())
}

#[test]
fn lists_are_as_long_as_a_value_says() -> Result<(), Error> {
    let device = Device::emulator();
    let x = [1.0, 2.0, 3.0].map(|x| Tensor::from_slice(&device, &[x; 32], [32]));
    let x: Vec<Tensor<f32, 1>> = x.into_iter().collect::<Result<_, _>>()?;
    let x: Vec<_> = x.iter().map(Tensor::view).collect();
    let mut y = Tensor::<f32, 1>::zeros(&device, [32])?;
    let by = [1.0f32, 10.0, 100.0];
    let sums = |most| kernels::sums {
        T: ElementType::F32,
        MOST: most,
    };
    sums(3).launch(&device, 1, &x[..], &mut y.view_mut(), &by[..])?;
    assert_eq!(y.download()?, [321.0; 32]);
    let error = sums(2).launch(&device, 1, &x[..], &mut y.view_mut(), &by[..]);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("the list has 3 items, and the kernel takes at most 2"),
        "{error}"
    );
    Ok(())
}

#[cute_runtime::kernels]
mod tuple_structs {
    /// A struct whose fields have numbers.
    pub struct Sizes(pub u32, pub f32);

    #[kernel(threads = 32)]
    #[instance(filled: SIZES = _)]
    pub fn fill<const SIZES: Sizes>(#[facts(extent(y, 0) >= 32)] y: Global<f32, 1>) {
        y[thread()] = SIZES.0 as f32 + SIZES.1;
    }
}

#[test]
fn a_tuple_struct_is_given_at_run_time() {
    let device = Device::emulator();
    let mut y = Tensor::<f32, 1>::zeros(&device, [32]).unwrap();
    let kernel = tuple_structs::filled {
        SIZES: tuple_structs::Sizes(3, 0.25),
    };
    kernel.launch(&device, 1, &mut y.view_mut()).unwrap();
    assert_eq!(y.download().unwrap()[0], 3.25);
}
