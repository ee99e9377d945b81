//! Types of literals, where there is no Rust to compare with.

use cute_lang::kernel::lower::lower;

fn lowered(functions: &str, body: &str) -> Result<String, String> {
    let module = format!(
        "mod kernels {{ {functions} #[kernel(threads = 1)] #[instance(k4: N = 4)]
         pub unsafe fn k<const N: u32>(out: Global<u32, 1>, x: u64) {{ {body} }} }}"
    );
    match lower(module.parse().expect("tokens")) {
        Ok(instances) => Ok(instances[0].module.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn an_integer_that_is_only_a_coordinate_is_u32() {
    let of = |used: &str| {
        let body = format!("let mut i = 1; i += 7; if i > 5 {{ {used} }}");
        lowered("", &body).expect("a kernel")
    };
    assert!(of("out[i] = 1;").contains("setp.gt.u32"));
    assert!(of("out[0] = i as u32;").contains("setp.gt.s32"));
}

#[test]
fn const_parameters_and_numbers_of_layouts_go_with_all_types() {
    let body = "let a = x + N; let b = (x as i32) * N; let c = x * size(layout!((2,4)));
                out[0] = a as u32 + b as u32 + c as u32 + N;";
    lowered("", body).expect("a kernel");
}

/// Each shift is an error as long as its variable is taken for one of 32 bits, and hides from what follows that the next is not.
#[test]
fn types_that_follow_from_one_another() {
    let chain = |count: usize| {
        let mut body = "let c0 = x;".to_owned();
        for i in 0..count {
            let next = i + 1;
            body +=
                &format!("let mut a{i} = 1; let c{next} = {{ a{i} <<= 40; wide(a{i} + c{i}) }};");
        }
        body += &format!("out[0] = c{count} as u32;");
        lowered("fn wide(x: u64) -> u64 { x }", &body)
    };
    assert_eq!(chain(10).err(), None);
    let expected = "the types of literals follow from one another in more than 16 steps, and that of this one is `u64`: write some of \
                    them, as suffixes";
    assert_eq!(chain(30).err().as_deref(), Some(expected));
}
