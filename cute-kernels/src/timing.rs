//! Times of two sides that are compared.

use std::time::Duration;

/// Timed runs of each side.
pub const ROUNDS: usize = 15;

/// The median times of two sides that run in turns, so that a drift of the GPU's clock affects both alike: of [`ROUNDS`] runs each,
/// after 3 that do not count.
///
/// ```
/// use cute_kernels::timing::interleave;
/// use std::time::Duration;
/// let run = |time| move || Ok::<_, std::fmt::Error>(Duration::from_micros(time));
/// assert_eq!(interleave(run(3), run(4))?, (Duration::from_micros(3), Duration::from_micros(4)));
/// # Ok::<(), std::fmt::Error>(())
/// ```
///
/// # Errors
///
/// The first error of a run.
pub fn interleave<E>(
    mut first: impl FnMut() -> Result<Duration, E>,
    mut second: impl FnMut() -> Result<Duration, E>,
) -> Result<(Duration, Duration), E> {
    for _ in 0..3 {
        first()?;
        second()?;
    }
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        times.0.push(first()?);
        times.1.push(second()?);
    }
    Ok((median(times.0), median(times.1)))
}

/// The time in the middle; zero if there is none.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
