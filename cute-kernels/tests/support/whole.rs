//! Which run it is: that of each commit, in which a covering set of long and repetitive cases runs, or one in which all of them run.

/// Whether all cases run: `CUTE_NIGHTLY=1`, as `.ci/nightly` sets it.
pub(crate) fn whole() -> bool {
    std::env::var_os("CUTE_NIGHTLY").is_some_and(|value| value == "1")
}
