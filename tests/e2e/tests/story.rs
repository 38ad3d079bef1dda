//! The main job, end to end: what `make demo ONCE=1` runs, as a test, and what its world is good for afterwards.

mod tutorial;

use anyhow::{Context as _, Result};
use foo_testbed::story::{CLUSTER, Reporter, Scenario, Story, Summary};
use foo_testbed::world::SOON;
use foo_testbed::{Probe, run, wait_until};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A summary that also remembers the warnings.
struct RecordingReporter(Mutex<Vec<String>>);

static REPORTER: RecordingReporter = RecordingReporter(Mutex::new(Vec::new()));

impl Reporter for RecordingReporter {
    fn step_started(&self, number: usize, title: &str) {
        Summary.step_started(number, title);
    }

    fn info(&self, text: &str) {
        Summary.info(text);
    }

    fn prints(&self, command: &str, output: &str) {
        Summary.prints(command, output);
    }

    fn waiting_for(&self, what: &str, so_far: Duration) {
        Summary.waiting_for(what, so_far);
    }

    fn warning(&self, text: &str) {
        Summary.warning(text);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    fn step_passed(&self, number: usize, title: &str, took: Duration) {
        Summary.step_passed(number, title, took);
    }

    fn all_passed(&self, steps: usize, took: Duration) {
        Summary.all_passed(steps, took);
    }
}

/// The manager exits by itself. The world of a demo that stays up continues.
async fn a_manager_that_ends_is_started_again(story: &Story) -> Result<()> {
    let world = story.world().context("no world")?;
    let pid = world.manager().pid().context("no manager")?;
    run(Path::new("kill"), ["-KILL", &pid.to_string()], &[], "").await?;
    let pool = world.existing_cluster(CLUSTER, CLUSTER).pool("afterwards", 1).await?;
    pool.settles_at(1).await?;
    let now = world.manager().pid();
    anyhow::ensure!(now.is_some_and(|now| now != pid), "{now:?}");
    wait_until("the terminal to show it", SOON, async || {
        let warnings = REPORTER.0.lock().unwrap_or_else(PoisonError::into_inner).concat();
        let reported =
            warnings.contains("foo-controller-manager has ended by itself and is started again now");
        Ok(Probe::when(reported, || warnings))
    })
    .await
}

#[test]
fn a_machine_pool_becomes_instances_machines_and_nodes_and_shrinks_without_killing_anything_undrained() {
    foo_e2e::alone(async || {
        let mut story = Story::new(Scenario::Pools, &REPORTER);
        story.run().await?;
        a_manager_that_ends_is_started_again(&story).await
    });
}
