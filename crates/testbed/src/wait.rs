//! Waiting for something to become true, with an error that says what was seen instead.

use anyhow::{Result, bail};
use std::time::{Duration, Instant};

/// What one look at the world found.
#[derive(Debug)]
pub enum Probe<T = ()> {
    /// It is as wanted.
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

const PAUSE: Duration = Duration::from_millis(100);
/// A look near the end of the time gets at least this long, or a slow machine would never see the last state.
const LOOK: Duration = Duration::from_secs(1);

/// Looks every 100 ms until `probe` is done, and returns what it found.
///
/// An error of the probe is one more way of "not yet" (the object may not exist, the server may be away): it ends
/// the wait only by running out of time, and is then what the error shows.
pub async fn wait_until<T>(
    what: &str,
    timeout: Duration,
    mut probe: impl AsyncFnMut() -> Result<Probe<T>>,
) -> Result<T> {
    let started = Instant::now();
    let mut last = String::from("nothing: the first look did not come back");
    loop {
        let left = timeout.saturating_sub(started.elapsed());
        match tokio::time::timeout(left.max(LOOK), probe()).await {
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
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn reports_what_was_last_seen() {
        let mut looks = 0;
        let error = wait_until::<()>("rain", Duration::from_millis(250), async || {
            looks += 1;
            Ok(Probe::NotYet(format!("sun, look {looks}")))
        })
        .await
        .unwrap_err()
        .to_string();
        assert!(error.contains("rain") && error.contains("sun, look "), "{error}");
    }

    #[tokio::test]
    async fn an_error_is_not_the_end() {
        let mut looks = 0;
        let found = wait_until("a value", Duration::from_secs(5), async || {
            looks += 1;
            if looks < 3 {
                bail!("not there")
            }
            Ok(Probe::Done(looks))
        });
        assert_eq!(found.await.unwrap(), 3);
    }

    #[tokio::test]
    async fn a_look_that_never_ends_is_cut_off() {
        let waiting = wait_until::<()>("never", Duration::from_millis(50), async || {
            std::future::pending::<()>().await;
            Ok(Probe::Done(()))
        });
        assert!(waiting.await.unwrap_err().to_string().contains("did not come back"));
    }
}
