//! Waiting for something to become true, with an error that shows what was seen instead; and the proof that nothing
//! happens.
//!
//! Deadlines are written for the machine that they were chosen on. On one that is slower, or busy, everything takes
//! longer: how much is measured by what starting a world took, and all deadlines grow with it. No other code of the
//! testbed or of the tests on it lets real time pass to see the effect.

use anyhow::{Result, bail};
use std::fmt::Debug;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// What one read of the world found.
#[derive(Debug)]
pub enum Probe<T = ()> {
    /// The condition is met.
    Done(T),
    /// Not yet, and this is how it is now (shown if the time runs out).
    NotYet(String),
}

impl Probe<()> {
    /// Done if the condition holds, else not yet, with what was seen.
    pub fn when(condition: bool, seen: impl FnOnce() -> String) -> Self {
        if condition { Self::Done(()) } else { Self::NotYet(seen()) }
    }
}

/// Between two reads of a wait that has just begun.
const PAUSE: Duration = Duration::from_millis(100);
/// Between two reads of a wait that has lasted long: reads of many tests at a time keep an API server busy.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// The same where a read is expensive: one at a pool is five requests.
pub(crate) const POLL: Duration = Duration::from_millis(250);
/// How many chances to act are watched in a proof that nothing happens.
const CHANCES: u32 = 2;
/// How much more time than written anything is given at most: what takes longer stands still.
const SLOWEST_PERCENT: u32 = 400;
/// How much time things take here, compared with the machine that deadlines were written for.
static MEASURED_PERCENT: AtomicU32 = AtomicU32::new(100);
/// A read near the end of the time gets at least this long, or a slow machine would never see the last state.
const LONGEST_PROBE: Duration = Duration::from_secs(1);

/// Takes note of how long something took that takes `typically` so long where deadlines were written.
pub(crate) fn measured(took: Duration, typically: Duration) {
    let percent = took.as_millis().saturating_mul(100).checked_div(typically.as_millis()).unwrap_or_default();
    let percent = u32::try_from(percent).unwrap_or(u32::MAX).min(SLOWEST_PERCENT);
    MEASURED_PERCENT.fetch_max(percent, Ordering::Relaxed);
}

/// A time that something may take, on this machine.
pub fn on_this_machine(time: Duration) -> Duration {
    time * MEASURED_PERCENT.load(Ordering::Relaxed) / 100
}

/// How long [`nothing_happens`] watches those who could act once in every `period`.
pub fn watched_for(period: Duration) -> Duration {
    period * CHANCES
}

/// The proof that nothing happens: watches until each component that could act has had the chance to, and fails
/// as soon as a read is not [`Probe::Done`]. The period is how often they read, or how long they try before they act.
pub async fn nothing_happens(
    what: &str,
    period: Duration,
    mut probe: impl AsyncFnMut() -> Result<Probe>,
) -> Result<()> {
    let end = Instant::now() + watched_for(period);
    loop {
        // What began before the end was watched: the last read comes after it.
        let last = Instant::now() >= end;
        if let Probe::NotYet(seen) = probe().await? {
            bail!("{what}: {seen}");
        }
        if last {
            return Ok(());
        }
        tokio::time::sleep(POLL).await;
    }
}

/// Waits until what is read has not changed for a whole period, and returns it.
pub async fn until_quiet<T: PartialEq + Debug>(
    what: &str,
    period: Duration,
    timeout: Duration,
    mut probe: impl AsyncFnMut() -> Result<T>,
) -> Result<T> {
    let mut last = probe().await?;
    let mut since = Instant::now();
    wait_until(what, timeout, async || {
        tokio::time::sleep(POLL).await;
        let now = probe().await?;
        if now != last {
            last = now;
            since = Instant::now();
        }
        Ok(Probe::when(since.elapsed() >= period, || format!("{last:#?}")))
    })
    .await?;
    Ok(last)
}

/// Probes every 100 ms, from its third second on less often, until `probe` is done, and returns what it found. The timeout
/// grows with how slow this machine is.
///
/// An error of the probe is one more way of "not yet" (the object may not exist, the server may be away): it ends
/// the wait only by running out of time, and is then what the error shows.
pub async fn wait_until<T>(
    what: &str,
    timeout: Duration,
    mut probe: impl AsyncFnMut() -> Result<Probe<T>>,
) -> Result<T> {
    let timeout = on_this_machine(timeout);
    let started = Instant::now();
    let mut last = String::from("nothing: the first probe did not come back");
    loop {
        let left = timeout.saturating_sub(started.elapsed());
        match tokio::time::timeout(left.max(LONGEST_PROBE), probe()).await {
            Ok(Ok(Probe::Done(found))) => {
                tracing::debug!(what, elapsed = ?started.elapsed(), "seen");
                return Ok(found);
            }
            Ok(Ok(Probe::NotYet(seen))) => last = seen,
            Ok(Err(error)) => last = format!("error: {error:#}"),
            Err(_) => {}
        }
        if started.elapsed() >= timeout {
            bail!("waited {} s for: {what}. Last seen: {last}", timeout.as_secs_f32());
        }
        tokio::time::sleep(pause(started.elapsed())).await;
    }
}

/// Until the next read of a wait that has lasted this long: a twentieth of it, within bounds.
fn pause(lasted: Duration) -> Duration {
    (lasted / 20).clamp(PAUSE, LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_wait_reads_less_often() {
        let pauses = [0, 2, 4, 60].map(|seconds| pause(Duration::from_secs(seconds)).as_millis());
        assert_eq!(pauses, [100, 100, 200, 1000]);
    }

    #[tokio::test]
    async fn reports_what_was_last_seen() {
        let mut probes = 0;
        let error = wait_until::<()>("rain", Duration::from_millis(250), async || {
            probes += 1;
            Ok(Probe::NotYet(format!("sun, probe {probes}")))
        })
        .await
        .unwrap_err()
        .to_string();
        assert!(error.contains("rain") && error.contains("sun, probe "), "{error}");
    }

    #[tokio::test]
    async fn an_error_is_not_the_end() {
        let mut probes = 0;
        let found = wait_until("a value", Duration::from_secs(5), async || {
            probes += 1;
            if probes < 3 {
                bail!("not there")
            }
            Ok(Probe::Done(probes))
        });
        assert_eq!(found.await.unwrap(), 3);
    }

    #[tokio::test]
    async fn events_within_two_periods_are_seen() {
        let period = Duration::from_millis(150);
        let after = async |time: Duration| {
            let began = Instant::now();
            let probe = async || Ok(Probe::when(began.elapsed() < time, || "rain".to_owned()));
            nothing_happens("the sun shines", period, probe).await.map_err(|error| error.to_string())
        };
        assert_eq!(after(period).await, Err("the sun shines: rain".to_owned()));
        assert_eq!(after(Duration::MAX).await, Ok(()));
    }

    #[tokio::test]
    async fn quiet_is_what_has_not_changed_for_a_period() {
        let (period, mut probes) = (Duration::from_millis(250), 0);
        let began = Instant::now();
        let found = until_quiet("counting", period, Duration::from_secs(10), async || {
            probes += 1;
            Ok(probes.min(4))
        });
        assert_eq!(found.await.unwrap(), 4);
        assert!(began.elapsed() >= period, "{:?}", began.elapsed());
        let never = until_quiet("counting", period, Duration::from_millis(500), async || {
            probes += 1;
            Ok(probes)
        });
        assert!(never.await.unwrap_err().to_string().contains("counting"));
    }

    #[tokio::test]
    async fn a_probe_that_never_ends_is_cancelled() {
        let waiting = wait_until::<()>("never", Duration::from_millis(50), async || {
            std::future::pending::<()>().await;
            Ok(Probe::Done(()))
        });
        assert!(waiting.await.unwrap_err().to_string().contains("did not come back"));
    }
}
