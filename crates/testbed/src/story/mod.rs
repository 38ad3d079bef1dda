//! The main job, end to end: run on real components and a simulated AWS, reported step by step, and verified on real
//! objects. There are two stories: [`Scenario::Pools`], a pool on an API server that exists, and [`Scenario::Eks`], a
//! whole cluster on EKS. The demo runs either; an end-to-end test runs the first.
//!
//! Every step fails with what was seen instead of what should have been. Steps build on each other.

mod eks;
mod pools;
mod reporter;
mod step;
mod terminal;

pub use eks::manifest_path;
pub use pools::{CLUSTER, POOL, bring_secrets, template_arguments};
pub use reporter::{Reporter, Summary, Verbose};
pub use terminal::exports;

use crate::world::{Restarts, World, WorldOptions};
use anyhow::{Context as _, Result};
use std::time::Instant;
use step::{Env, Step, with_progress};

/// Which story is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// The life of a pool, on an API server that exists.
    Pools,
    /// The life of a cluster on EKS: network, control plane and two pools from one file, an upgrade, deletion.
    Eks,
}

impl Scenario {
    /// What its steps show, in order.
    fn titles(self) -> &'static [&'static str] {
        match self {
            Self::Pools => &pools::TITLES,
            Self::Eks => &eks::TITLES,
        }
    }
}

/// A story and its world, once that is up.
pub struct Story {
    scenario: Scenario,
    reporter: &'static dyn Reporter,
    world: Option<World>,
}

impl Story {
    /// Nothing has happened yet. The reporter also gets a warning for each manager that exits by itself.
    pub fn new(scenario: Scenario, reporter: &'static dyn Reporter) -> Self {
        Self { scenario, reporter, world: None }
    }

    /// Runs all steps. After a failure the world is still up, and its logs stay.
    pub async fn run(&mut self) -> Result<()> {
        let started = Instant::now();
        let outcome = self.steps().await;
        match &outcome {
            Ok(()) => self.reporter.all_passed(self.scenario.titles().len(), started.elapsed()),
            Err(_) => {
                if let Some(world) = &self.world {
                    world.rig().keep_folder();
                }
            }
        }
        outcome
    }

    /// The world it runs in, once it has been created.
    pub fn world(&self) -> Option<&World> {
        self.world.as_ref()
    }

    async fn steps(&mut self) -> Result<()> {
        let (scenario, reporter) = (self.scenario, self.reporter);
        let first = Step::first(scenario.titles(), reporter);
        let restarts = Some(Restarts::reported_to(|text| reporter.warning(text)));
        let options = WorldOptions { restarts, ..WorldOptions::default() };
        let world = self.reporting("everything to start", World::start(options)).await;
        let world = &*self.world.insert(world.context("step 1")?);
        let env = Env { world, reporter };
        match scenario {
            Scenario::Pools => pools::run(&env, first).await,
            Scenario::Eks => eks::run(&env, first).await,
        }
    }

    async fn reporting<T>(&self, what: &str, waiting: impl Future<Output = T>) -> T {
        with_progress(self.reporter, what, waiting).await
    }
}
