//! Parameters that TMA or threads store, as a constant says.

use super::judge;
use cute_lang::kernel::lower::lower;

/// The PTX of the instances of a kernel that stores a tile to `d`, a parameter of this type, or the errors.
fn kernel(ty: &str) -> Result<Vec<String>, String> {
    let module = format!(
        "mod kernels {{
            struct Way {{ tma: bool }}
            const FAST: Way = Way {{ tma: true }};
            const ANY: Way = Way {{ tma: false }};
            #[kernel(threads = 32)]
            #[instances(WAY in [FAST, ANY])]
            fn run<const WAY: Way>(d: {ty}) {{
                let tile = smem::<f32>(layout!((8,32):(32,1)));
                for i in 0..8 {{ tile[(i, thread())] = 1.0; }}
                fence_proxy_async();
                sync_threads();
                put(tile, d);
            }}
            fn put<T: Element, const R: u32, const TMA: bool>(from: Tensor, to: Store<T, R, TMA>) {{
                if TMA {{ by_tma(from, to) }} else {{ by_threads(from, to) }}
            }}
            fn by_tma(from: Tensor, to: Store<f32, 2, true>) {{
                if thread() == 0 {{ tma_store(from, to, (0, 0)); tma_commit(); tma_wait_read(0); }}
            }}
            fn by_threads(from: Tensor, to: Global<f32, 2>) {{
                let row = block_idx().0;
                if row < extent(to, 0) && thread() < extent(to, 1) {{ to[(row, thread())] = from[(0, thread())]; }}
            }}
        }}"
    );
    match lower(module.parse().expect("tokens")) {
        Ok(lowered) => {
            judge(&lowered);
            Ok(lowered.iter().map(|it| it.module.to_string()).collect())
        }
        Err(errors) => {
            let errors: Vec<String> = errors.into_iter().map(|error| error.to_string()).collect();
            Err(errors.join("\n"))
        }
    }
}

#[test]
fn an_instance_stores_as_its_constant_says() {
    let texts = kernel("Store<f32, 2, { WAY.tma }>").expect("two instances");
    let [fast, any] = &texts[..] else {
        panic!("{} instances", texts.len());
    };
    assert!(fast.contains("cp.async.bulk.tensor.2d.global") && !fast.contains("st.global"));
    assert!(any.contains("st.global") && !any.contains("cp.async.bulk"));
}

#[test]
fn a_constant_that_is_no_truth_value_is_refused() {
    for (ty, expected) in [
        (
            "Store<f32, 2>",
            "`Store` takes an element type and the number of modes, and whether TMA stores it: `Store<f32, 2, true>`",
        ),
        (
            "Store<f32, 2, 1>",
            "expected `true` or `false`, found the integer 1",
        ),
        (
            "TmaStore<f32, 2, true>",
            "`TmaStore` takes an element type and the number of modes: `TmaStore<f32, 2>`",
        ),
    ] {
        let error = kernel(ty).expect_err(ty);
        assert!(error.contains(expected), "{ty}: {error}");
    }
}

/// A `Store` whose constant is true is no `Global`, and one whose constant is false is no `Store<…, true>`.
#[test]
fn a_store_of_the_other_kind_is_another_type() {
    for (constant, function, expected) in [
        ("true", "by_threads", "expected `Global<f32, 2>`, found"),
        ("false", "by_tma", "expected `Store<f32, 2, true>`, found"),
    ] {
        let module = format!(
            "mod kernels {{
                #[kernel(threads = 32)]
                fn run(d: Store<f32, 2, {constant}>) {{ {function}(d) }}
                fn by_tma(to: Store<f32, 2, true>) {{}}
                fn by_threads(to: Global<f32, 2>) {{}}
            }}"
        );
        let errors = lower(module.parse().expect("tokens"))
            .err()
            .expect(function);
        let errors: Vec<String> = errors.into_iter().map(|it| it.to_string()).collect();
        assert!(errors[0].starts_with(expected), "{errors:?}");
    }
}
