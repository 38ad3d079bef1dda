//! The main job, end to end: what `make demo ONCE=1` plays, as a test, and what its world is good for afterwards.

use anyhow::{Context as _, Result};
use foo_testbed::story::{CLUSTER, Plot, Story, Summary, Voice};
use foo_testbed::world::SOON;
use foo_testbed::{Probe, run, wait_until};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A summary that also remembers the warnings.
struct Witness(Mutex<Vec<String>>);

static WITNESS: Witness = Witness(Mutex::new(Vec::new()));

impl Voice for Witness {
    fn step_begins(&self, number: usize, title: &str) {
        Summary.step_begins(number, title);
    }

    fn says(&self, text: &str) {
        Summary.says(text);
    }

    fn shows(&self, command: &str, output: &str) {
        Summary.shows(command, output);
    }

    fn waits(&self, what: &str, so_far: Duration) {
        Summary.waits(what, so_far);
    }

    fn warns(&self, text: &str) {
        Summary.warns(text);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    fn step_held(&self, number: usize, title: &str, took: Duration) {
        Summary.step_held(number, title, took);
    }

    fn all_held(&self, steps: usize, took: Duration) {
        Summary.all_held(steps, took);
    }
}

/// The manager ends and nobody in this program did it. The world of a demo that stays up continues.
async fn a_manager_that_ends_is_started_again(story: &Story) -> Result<()> {
    let world = story.world().context("no world")?;
    let pid = world.manager().pid().context("no manager")?;
    run(Path::new("kill"), ["-KILL", &pid.to_string()], &[], "").await?;
    let pool = world.existing_cluster(CLUSTER, CLUSTER).pool("afterwards", 1).await?;
    pool.settles_at(1).await?;
    let now = world.manager().pid();
    anyhow::ensure!(now.is_some_and(|now| now != pid), "{now:?}");
    wait_until("the terminal to say so", SOON, async || {
        let warnings = WITNESS.0.lock().unwrap_or_else(PoisonError::into_inner).concat();
        let said = warnings.contains("foo-controller-manager has ended by itself and is started again now");
        Ok(Probe::when(said, || warnings))
    })
    .await
}

#[test]
fn a_machine_pool_becomes_instances_machines_and_nodes_and_shrinks_without_killing_anything_undrained() {
    foo_e2e::alone(async || {
        let mut story = Story::new(Plot::Pools, &WITNESS);
        story.play().await?;
        a_manager_that_ends_is_started_again(&story).await
    });
}
