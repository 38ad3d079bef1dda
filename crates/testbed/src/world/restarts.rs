//! What a kubelet does for a manager that exited by itself: starts it again, at once the first time, then with
//! back-off.
//!
//! A manager that a test killed or terminated is not started: its Deployment counts as scaled to zero.

use super::Manager;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How often it is polled.
const POLL: Duration = Duration::from_millis(200);
/// kubelet's `MaxContainerBackOff` and the step it begins with.
const LONGEST: Duration = Duration::from_mins(5);
const FIRST: Duration = Duration::from_secs(10);
/// After this time of running the back-off is reset: twice the longest back-off, as kubelet has it.
const FORGIVEN: Duration = Duration::from_mins(10);

/// Managers that exit by themselves are started again, and this is reported.
#[derive(Clone)]
pub struct Restarts(Arc<dyn Fn(&str) + Send + Sync>);

impl Restarts {
    /// Each restart is reported in a sentence.
    pub fn reported_to(listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(listener))
    }
}

impl fmt::Debug for Restarts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Restarts")
    }
}

/// Keeps managers running until it is dropped.
#[derive(Debug, Default)]
pub(super) struct Restarter {
    /// Aborted when dropped.
    _tasks: JoinSet<()>,
}

impl Restarter {
    pub(super) fn of(managers: [&Arc<Manager>; 3], restarts: &Restarts) -> Self {
        let mut tasks = JoinSet::new();
        for manager in managers {
            tasks.spawn(keep(Arc::clone(manager), restarts.clone()));
        }
        Self { _tasks: tasks }
    }
}

async fn keep(manager: Arc<Manager>, Restarts(report): Restarts) {
    let mut back_off = BackOff::default();
    let mut since = Instant::now();
    loop {
        tokio::time::sleep(POLL).await;
        if !manager.has_ended_by_itself() {
            continue;
        }
        let wait = back_off.after(since.elapsed());
        report(&restart_message(manager.name(), wait, &manager.last_line()));
        tokio::time::sleep(wait).await;
        if let Err(error) = manager.revive().await {
            report(&format!("{} cannot be started: {error:#}", manager.name()));
        }
        since = Instant::now();
    }
}

fn restart_message(name: &str, wait: Duration, last_line: &str) -> String {
    let when = match wait.as_secs() {
        0 => "now".to_owned(),
        seconds => format!("in {seconds} s"),
    };
    format!(
        "{name} has ended by itself and is started again {when}, as a kubelet would. Its last line: {last_line}"
    )
}

/// How long to wait before the next start.
#[derive(Debug, Default)]
struct BackOff {
    next: Duration,
}

impl BackOff {
    fn after(&mut self, ran: Duration) -> Duration {
        if ran >= FORGIVEN {
            self.next = Duration::ZERO;
        }
        let wait = self.next;
        self.next = (wait * 2).clamp(FIRST, LONGEST);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_start_is_immediate_the_next_back_off_and_a_long_run_resets_that() {
        let mut back_off = BackOff::default();
        let mut after = |seconds| back_off.after(Duration::from_secs(seconds)).as_secs();
        assert_eq!([after(1), after(1), after(1), after(599)], [0, 10, 20, 40]);
        assert_eq!([after(1), after(1), after(1), after(1)], [80, 160, 300, 300]);
        assert_eq!([after(600), after(1)], [0, 10]);
    }
}
