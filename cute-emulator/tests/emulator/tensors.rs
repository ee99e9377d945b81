//! Accesses are of the tensors that the PTX names: each that is not is refused under every schedule, and its repaired twin under
//! none.

use super::events::{check_fine, check_flagged};
use super::{Run, module, pointer};
use cute_emulator::{Checks, EmulatorError, Extents, Program};

/// A kernel with a view `x` of shape (4, 62) of a buffer whose rows have 80 numbers, and a tile and two mbarriers in shared memory, with
/// more memory behind them.
fn kernel(body: &str) -> String {
    let start = "
        ld.param.u64 %d0, [x_ptr];
        ld.param.u64 %d1, [x_stride0];
        mov.u32 %r2, smem;
        mov.u32 %r3, 0;
        mov.f32 %f0, 0f3F800000;";
    let comments = "// tensor x: f32 at x_ptr, strides (x_stride0, 1)\n\
                    // shared memory 0..1024, tile: f32 at (8,32):(32,1)\n\
                    // shared memory 1024..1040, full: 2 mbarriers, 1 arrivals a phase\n.extern";
    let ptx = module(
        ".param .u64 x_ptr, .param .u64 x_stride0",
        &format!("{start}\n{body}"),
    );
    ptx.replacen(".extern", comments, 1)
}

/// The buffer that the view is a part of has 6 rows.
fn run<'a>(seed: u64) -> (Run<'a>, [Vec<u8>; 2]) {
    let mut run = Run::threads(1).seed(seed);
    let buffer = run.words(&[1; 6 * 80]);
    (run, [pointer(buffer), pointer(80)])
}

fn launch(ptx: &str, seed: u64) -> Result<(), EmulatorError> {
    let (mut run, args) = run(seed);
    let extents = [Extents {
        tensor: "x".to_owned(),
        extents: vec![4, 62],
    }];
    run.launch.extents = &extents;
    run.go(ptx, &args).map(drop)
}

/// What is wrong, the faulty lines, the lines that repair it, and a part of the message.
const MISUSES: &[(&str, &str, &str, &str)] = &[
    (
        "a column outside",
        "mov.u32 %r3, 70; ld.global.f32 %f1, [%d0+280]; // x[0, %r3]",
        "mov.u32 %r3, 60; ld.global.f32 %f1, [%d0+240]; // x[0, %r3]",
        "x[(0, 70)] is outside of x of shape (4, 62)",
    ),
    (
        "the end of a vector outside",
        "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d0+240]; // x[0, %r3 + 60]",
        "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d0+224]; // x[0, %r3 + 56]",
        "x[(0, 62)] is outside of x of shape (4, 62)",
    ),
    (
        "a row outside",
        "red.global.add.u32 [%d0+1280], 1; // x[4, 0]",
        "red.global.add.u32 [%d0+960], 1; // x[3, 0]",
        "x[(4, 0)] is outside of x of shape (4, 62)",
    ),
    (
        "a negative coordinate",
        "st.global.f32 [%d0+316], %f0; // x[1, s32 %r3 + -1]",
        "st.global.f32 [%d0+320], %f0; // x[1, s32 %r3 + 0]",
        "x[(1, -1)] is outside of x of shape (4, 62)",
    ),
    (
        "the address of another element",
        "st.global.f32 [%d0+648], %f0; // x[2, %r3 + 1]",
        "st.global.f32 [%d0+644], %f0; // x[2, %r3 + 1]",
        "but the PTX names x[(2, 1)], which is at ",
    ),
    (
        "the third of two mbarriers",
        "mbarrier.init.shared::cta.b64 [%r2+1040], 1; // full at %r3 + 1040 in 1024..1040",
        "mbarrier.init.shared::cta.b64 [%r2+1032], 1; // full at %r3 + 1032 in 1024..1040",
        "8 bytes at shared address 0x810 are outside of full, which has 0x800..0x810",
    ),
    (
        "another tensor",
        "st.shared.f32 [%r2+1056], %f0; // tile at 1056 in 0..1024",
        "st.shared.f32 [%r2+1020], %f0; // tile at 1020 in 0..1024",
        "4 bytes at shared address 0x820 are outside of tile, which has 0x400..0x800",
    ),
    (
        "a column outside of a tile",
        "mov.u32 %r3, 40; st.shared.f32 [%r2+160], %f0; // tile[0 < 8, %r3 < 32] at 160 in 0..1024",
        "mov.u32 %r3, 31; st.shared.f32 [%r2+124], %f0; // tile[0 < 8, %r3 < 32] at 124 in 0..1024",
        "tile[(0, 40)] is outside of tile of shape (8, 32)",
    ),
    (
        "no swizzle",
        "mov.u32 %r3, 128; st.shared.f32 [%r2+132], %f0; // tile at 0 + Sw<3,4,3>(%r3 + 4) in 0..1024",
        "mov.u32 %r3, 128; st.shared.f32 [%r2+148], %f0; // tile at 0 + Sw<3,4,3>(%r3 + 4) in 0..1024",
        "accesses shared address 0x484, but the PTX names tile, which is at 0x494",
    ),
    (
        "the second of two addresses",
        "cp.async.ca.shared.global [%r2], [%d0+16], 16; // tile at 0 in 0..1024; x[0, 0]",
        "cp.async.ca.shared.global [%r2], [%d0+16], 16; // tile at 0 in 0..1024; x[0, 4]",
        "but the PTX names x[(0, 0)], which is at ",
    ),
];

#[test]
fn accesses_are_of_the_tensors_that_the_ptx_names() {
    let wait = "cp.async.wait_all;";
    for (name, faulty, repaired, message) in MISUSES {
        println!("{name}");
        check_fine(&kernel(&format!("{repaired}\n{wait}")), launch);
        let faulty = kernel(&format!("{faulty}\n{wait}"));
        check_flagged(&faulty, launch, |kind| kind.to_string().contains(message));
        // What is not said of a launch, and what is not to be checked.
        let (mut run, args) = run(0);
        run.launch.checks = Checks {
            tensors: false,
            ..Checks::default()
        };
        run.go(&faulty, &args).unwrap();
    }
}

#[test]
fn a_copy_of_no_bytes_may_be_outside() {
    let copy = |bytes| {
        kernel(&format!(
            "mov.u32 %r4, {bytes};\n\
             cp.async.ca.shared.global [%r2], [%d0+256], 16, %r4; // tile at 0 in 0..1024; x[0, 64]\n\
             cp.async.wait_all;"
        ))
    };
    check_fine(&copy(0), launch);
    check_flagged(&copy(16), launch, |kind| {
        kind.to_string().starts_with("x[(0, 64)] is outside of x")
    });
}

#[test]
fn other_comments_claim_nothing() {
    for comment in ["what it is for; and more", "x", "tile at", "tile at 0 in 0"] {
        check_fine(
            &kernel(&format!("st.global.f32 [%d0+4], %f0; // {comment}")),
            launch,
        );
    }
}

/// What begins like a claim and is none, or names what is not there, is refused with its line.
#[test]
fn claims_that_cannot_be_read_are_refused() {
    let like = "begins like a claim about an address, such as `x[%i, %j + 4]`";
    for (comment, message) in [
        ("x[%r3", like),
        ("x[0, 0] or so", like),
        ("x[]", like),
        ("_; x[%r3", like),
        ("tile at 0 + Sw<60,4,3>(0) in 0..4", like),
        ("tile at 0 + Sw<3>(0) in 0..4", like),
        ("tile[0] at 0 in 0..4", like),
        ("x[%r99, 0]", "the claim `x[%r99, 0]`: "),
        (
            "x[0]",
            "the comment that describes this tensor has other modes",
        ),
        (
            "y[0, 0]",
            "the claim `y[0, 0]`: no comment describes this tensor",
        ),
        (
            "item %r3 of y",
            "no comment describes this parameter of a list",
        ),
        (
            "x[0, 0]; x[0, 0]",
            "the comment claims 2 addresses, and the instruction has 1",
        ),
    ] {
        let text = kernel(&format!("st.global.f32 [%d0+4], %f0; // {comment}"));
        let error = Program::load(&text)
            .map(|_| ())
            .expect_err(comment)
            .to_string();
        let line = text
            .lines()
            .position(|line| line.ends_with(comment))
            .expect("a line")
            + 1;
        assert!(error.contains(message), "{comment}: {error}");
        assert!(
            error.contains(&format!("line {line}")),
            "{comment}: {error}"
        );
    }
}

#[test]
fn notes_that_cannot_be_read_are_refused() {
    for note in [
        "tensor x: f32 at x_ptr",
        "list k: k_len of up to four, each with 4 bytes of k",
        "shared memory 0..many, tile: f32",
    ] {
        let text = kernel("").replacen(".extern", &format!("// {note}\n.extern"), 1);
        let error = Program::load(&text)
            .map(|_| ())
            .expect_err(note)
            .to_string();
        let line = text
            .lines()
            .position(|line| line.ends_with(note))
            .expect("a line")
            + 1;
        assert!(
            error.contains("begins like a note of the kernel"),
            "{note}: {error}"
        );
        assert!(error.contains(&format!("line {line}")), "{note}: {error}");
    }
}

/// A kernel with a list of two numbers, of up to four, at `k`, behind which lies another parameter, and a list of two views of 8 numbers
/// each.
fn lists(body: &str) -> String {
    let comments = "// list k: k_len of up to 4, each with 4 bytes of k\n\
                    // list x: x_len of up to 2, each with 8 bytes of x_ptr\n\
                    // tensor x: f32 at x_ptr, strides (1)\n.extern";
    let start = "
        mov.b64 %d0, k;
        mov.b64 %d1, x_ptr;
        ld.param.u64 %d2, [%d1]; // item 0 of x_ptr
        ld.param.u64 %d3, [%d1+8]; // item 1 of x_ptr
        mov.u32 %r2, 1;
        mov.u32 %r3, 2;";
    let params = ".param .align 4 .b8 k[16], .param .u32 k_len, .param .align 8 .b8 x_ptr[16], .param .u32 x_len";
    let ptx = module(params, &format!("{start}\n{body}"));
    ptx.replacen(".extern", comments, 1)
}

#[test]
fn items_of_lists_are_those_that_the_ptx_names() {
    for (what, wrong, right, message) in [
        (
            "an item behind the last that the launch gives",
            "ld.param.u32 %r4, [%d0+8]; // item %r3 of k",
            "ld.param.u32 %r4, [%d0+4]; // item %r2 of k",
            "k[2] is outside of k of shape 2",
        ),
        (
            "another item",
            "ld.param.u32 %r4, [%d0]; // item %r2 of k",
            "ld.param.u32 %r4, [%d0+4]; // item %r2 of k",
            "but the PTX names k[1], which is at ",
        ),
        (
            "an element of another tensor",
            "ld.global.f32 %f1, [%d2+4]; // x[%r2][1]",
            "ld.global.f32 %f1, [%d3+4]; // x[%r2][1]",
            "but the PTX names x[1][1], which is at ",
        ),
        (
            "an element of no tensor",
            "ld.global.f32 %f1, [%d3+4]; // x[%r3][1]",
            "ld.global.f32 %f1, [%d3+4]; // x[%r2][1]",
            "x[2] is outside of x of shape 2",
        ),
        (
            "an element outside of the second tensor",
            "ld.global.f32 %f1, [%d3+32]; // x[%r2][8]",
            "ld.global.f32 %f1, [%d3+28]; // x[%r2][7]",
            "x[1][8] is outside of x[1] of shape 8",
        ),
    ] {
        let launch = |line: &str, seed: u64| {
            let mut run = Run::threads(1).seed(seed);
            let buffer = run.words(&[1; 32]);
            let extents = [0, 1].map(|item| Extents {
                tensor: format!("x[{item}]"),
                extents: vec![8],
            });
            run.launch.extents = &extents;
            let k = [7u32, 8, 0, 0].map(u32::to_le_bytes).concat();
            let x = [pointer(buffer), pointer(buffer + 64)].concat();
            let length = 2u32.to_le_bytes().to_vec();
            run.go(&lists(line), &[k, length.clone(), x, length])
                .map(drop)
        };
        for seed in 0..3 {
            assert!(
                launch(right, seed).is_ok(),
                "{what}: {:?}",
                launch(right, seed)
            );
            let error = launch(wrong, seed).expect_err(what).to_string();
            assert!(error.contains(message), "{what}: {error}");
        }
    }
}

/// A length that no launch gives is not one of so many items.
#[test]
fn a_length_is_not_trusted() {
    let mut run = Run::threads(1);
    let all = u32::MAX.to_le_bytes().to_vec();
    let ptx = lists("ld.param.u32 %r4, [%d0+8]; // item %r3 of k");
    let result = run.go(&ptx, &[vec![0; 16], all.clone(), vec![0; 16], all]);
    assert!(result.is_ok(), "{result:?}");
}
