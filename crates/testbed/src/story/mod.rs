//! The main job, end to end: played on real components and a simulated AWS, narrated, and verified by reading real objects.
//! There are two stories: [`Plot::Pools`], a pool on an API server that exists, and [`Plot::Eks`], a whole cluster on EKS. The demo
//! plays either; an end-to-end test plays the first.
//!
//! Every step fails with what was seen instead of what should have been. Steps build on each other.

mod eks;
mod pools;
mod scene;
mod terminal;
mod voice;

pub use eks::manifest_path;
pub use pools::{CLUSTER, POOL, template_arguments};
pub use terminal::exports;
pub use voice::{Narrator, Summary, Voice};

use crate::world::{Restarts, World, WorldOptions};
use anyhow::{Context as _, Result};
use scene::{Scene, Step, patiently};
use std::time::Instant;

/// Which story is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plot {
    /// The life of a pool, on an API server that exists.
    Pools,
    /// The life of a cluster on EKS: network, control plane and two pools from one file, an upgrade, deletion.
    Eks,
}

impl Plot {
    /// What its steps show, in order.
    fn titles(self) -> &'static [&'static str] {
        match self {
            Self::Pools => &pools::TITLES,
            Self::Eks => &eks::TITLES,
        }
    }
}

/// The story, as far as it has been told.
pub struct Story {
    plot: Plot,
    voice: &'static dyn Voice,
    world: Option<World>,
}

impl Story {
    /// Nothing has happened yet. The voice also tells of managers that end by themselves, as long as the world is there.
    pub fn new(plot: Plot, voice: &'static dyn Voice) -> Self {
        Self { plot, voice, world: None }
    }

    /// Plays all steps. After a failure the world is still there, and its logs will stay.
    pub async fn play(&mut self) -> Result<()> {
        let started = Instant::now();
        let played = self.steps().await;
        match &played {
            Ok(()) => self.voice.all_held(self.plot.titles().len(), started.elapsed()),
            Err(_) => {
                if let Some(world) = &self.world {
                    world.rig().keep_folder();
                }
            }
        }
        played
    }

    /// The world it plays in, once it has been created.
    pub fn world(&self) -> Option<&World> {
        self.world.as_ref()
    }

    async fn steps(&mut self) -> Result<()> {
        let (plot, voice) = (self.plot, self.voice);
        let first = Step::first(plot.titles(), voice);
        let restarts = Some(Restarts::told_to(|text| voice.warns(text)));
        let options = WorldOptions { restarts, ..WorldOptions::default() };
        let world = self.voiced("everything to start", World::start(options)).await;
        let world = &*self.world.insert(world.context("step 1")?);
        let scene = Scene { world, voice };
        match plot {
            Plot::Pools => pools::play(&scene, first).await,
            Plot::Eks => eks::play(&scene, first).await,
        }
    }

    async fn voiced<T>(&self, what: &str, waiting: impl Future<Output = T>) -> T {
        patiently(self.voice, what, waiting).await
    }
}
