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
    let run = |side| if side == 0 { first() } else { second() };
    let times = interleave_all(2, run)?;
    Ok((times[0], times[1]))
}

/// The same for any number of sides: `run` gets the number of one, from 0.
///
/// ```
/// use cute_kernels::timing::interleave_all;
/// use std::time::Duration;
/// let run = |side| Ok::<_, std::fmt::Error>(Duration::from_micros(3 + side as u64));
/// let times = interleave_all(3, run)?;
/// assert_eq!(times, [3, 4, 5].map(Duration::from_micros));
/// # Ok::<(), std::fmt::Error>(())
/// ```
///
/// # Errors
///
/// The first error of a run.
pub fn interleave_all<E>(
    sides: usize,
    mut run: impl FnMut(usize) -> Result<Duration, E>,
) -> Result<Vec<Duration>, E> {
    let mut times = vec![Vec::new(); sides];
    for round in 0..3 + ROUNDS {
        for (side, times) in times.iter_mut().enumerate() {
            let time = run(side)?;
            if round >= 3 {
                times.push(time);
            }
        }
    }
    Ok(times.into_iter().map(median).collect())
}

/// The time in the middle; zero if there is none.
///
/// ```
/// use cute_kernels::timing::median;
/// use std::time::Duration;
/// assert_eq!(median([9, 2, 4].map(Duration::from_micros).into()), Duration::from_micros(4));
/// ```
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
