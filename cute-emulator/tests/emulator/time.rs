//! Waits for mbarriers that return false, and schedules.

use super::events::{SCHEDULES, check_fine, check_flagged, threads, with};
use super::{Run, module, pointer, words_under};
use cute_emulator::{EmulatorError, FaultKind, Policy, Schedule};

/// A thread waits for a copy, and reads what it has written.
const COPY: &str = "
    ld.param.u64 %d0, [data];
    mov.u32 %r2, smem;
    mbarrier.init.shared::cta.b64 [%r2+1024], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+1024], 512;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d0], 512, [%r2+1024];
WAIT:
    mbarrier.KIND.parity.shared::cta.b64 %p0, [%r2+1024], 0;
    @!%p0 bra WAIT;
    ld.shared.b32 %r1, [%r2+64];";

fn copy(ptx: &str, seed: u64) -> Result<(), EmulatorError> {
    let mut run = Run::threads(1).seed(seed);
    let data = run.words(&[5; 128]);
    run.go(ptx, &[pointer(data)]).map(drop)
}

#[test]
fn a_wait_is_repeated_until_it_succeeds() {
    for kind in ["try_wait", "test_wait"] {
        let ptx = module(".param .u64 data", &COPY.replace("KIND", kind));
        check_fine(&ptx, copy);
        check_flagged(&with(&ptx, "@!%p0 bra WAIT;", ""), copy, |kind| {
            matches!(kind, FaultKind::CopyInFlight { .. })
        });
    }
}

/// Warp 1 writes, and arrives; warp 0 waits, and reads.
const HANDOVER: &str = "
    mov.u32 %r0, %tid.x;
    mov.u32 %r2, smem;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [%r2], 32;
READY:
    bar.sync 0;
    mad.lo.u32 %r3, %r0, 4, %r2;
    setp.gt.u32 %p1, %r0, 31;
    @%p1 bra WRITE;
WAIT:
    mbarrier.KIND.parity.shared::cta.b64 %p2, [%r2], 0;
    @!%p2 bra WAIT;
    ld.shared.b32 %r4, [%r3+128];
    bra END;
WRITE:
    st.shared.b32 [%r3], %r0;
    mbarrier.arrive.shared::cta.b64 _, [%r2];
END:";

#[test]
fn a_phase_is_complete_to_those_who_know_it() {
    for kind in ["try_wait", "test_wait"] {
        let ptx = module("", &HANDOVER.replace("KIND", kind));
        check_fine(&ptx, threads(64));
        // Whether the write comes before or after the read in the run, no order is between them.
        check_flagged(&with(&ptx, "@!%p2 bra WAIT;", ""), threads(64), |kind| {
            matches!(kind, FaultKind::Race { .. })
        });
    }
    // A named barrier passes on what one warp has waited for; a thread knows of its own arrival.
    let known = "
        mov.u32 %r2, smem;
        setp.ne.u32 %p0, %r0, 0;
        @%p0 bra READY;
        mbarrier.init.shared::cta.b64 [%r2], 1;
        mbarrier.arrive.shared::cta.b64 _, [%r2];
        mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r2], 0;
    READY:
        bar.sync 0;
        mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r2], 0;
        mov.pred %p3, 1;
        @!%p0 mov.pred %p3, %p1;
        and.pred %p3, %p3, %p2;
        selp.u32 %r1, 1, 0, %p3;";
    for seed in SCHEDULES {
        assert_eq!(
            words_under(seed, 64, known).unwrap(),
            [1; 64],
            "seed {seed}"
        );
    }
}

#[test]
fn waits_do_not_block() {
    // The thread arrives after five refusals, alone and while another warp waits for the same mbarrier.
    for kind in ["try_wait", "test_wait"] {
        let body = format!(
            "
            mov.u32 %r1, 0;
            mov.u32 %r2, smem;
            setp.ne.u32 %p0, %r0, 0;
            @%p0 bra READY;
            mbarrier.init.shared::cta.b64 [%r2], 1;
        READY:
            bar.sync 0;
        WAIT:
            mbarrier.{kind}.parity.shared::cta.b64 %p1, [%r2], 0;
            @%p1 bra END;
            add.u32 %r1, %r1, 1;
            setp.eq.u32 %p2, %r1, 5;
            @%p0 bra WAIT;
            @!%p2 bra WAIT;
            mbarrier.arrive.shared::cta.b64 _, [%r2];
            bra WAIT;
        END:"
        );
        for seed in SCHEDULES {
            for threads in [1, 64] {
                let refused = words_under(seed, threads, &body).unwrap();
                assert!(refused[0] >= 5, "seed {seed}: {refused:?}");
            }
        }
        // Nobody arrives.
        let endless = body.replace("mbarrier.arrive.shared::cta.b64 _, [%r2];", "");
        let endless = endless.replace("add.u32 %r1, %r1, 1;", "");
        for seed in SCHEDULES {
            let result = words_under(seed, 64, &endless);
            assert!(
                matches!(result, Err(EmulatorError::Deadlock { .. })),
                "seed {seed}: {result:?}"
            );
        }
    }
}

#[test]
fn errors_tell_the_schedule() {
    for (seed, policy) in (0..).zip(Policy::ALL) {
        assert_eq!(Schedule::from_seed(seed).policy, policy);
        let error = Run::threads(32)
            .seed(seed)
            .go(&module("", "trap;"), &[])
            .unwrap_err();
        let end = format!("\n    under policy {policy:?}, seed {seed}, 8 resident clusters");
        assert!(error.to_string().ends_with(&end), "{error}");
    }
}
