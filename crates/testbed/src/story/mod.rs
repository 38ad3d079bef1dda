//! The main job, end to end, in seven steps: played on real components and a simulated AWS, narrated, and verified by
//! looking at real objects. The demo and an end-to-end test are two ways to watch it.
//!
//! Every step fails with what was seen instead of what should have been. Steps build on each other.

mod steps;
mod voice;

pub use crate::world::manifests::DEMO as CLUSTER;
pub use voice::{Narrator, Summary, Voice};

use crate::world::{Cluster, Pool, PoolView, Restarts, Workload, World, WorldOptions, manifests};
use anyhow::{Context as _, Result};
use std::time::{Duration, Instant};

/// Name of its pool, from the cluster template.
pub const POOL: &str = "demo-workers";

const TITLES: [&str; 7] = [
    "clusterctl init, a Cluster, a MachinePool of 3",
    "three instances, FooMachines, Machines and Nodes",
    "scale 3 to 6; then 6 to 4 while a budget protects the workload",
    "cluster-autoscaler's way: mark a Machine, then replicas - 1",
    "a Machine deleted: drained and replaced; an instance killed behind our back: replaced",
    "the manager killed in the middle of a scale-in and started again",
    "the pool deleted: drained, and nothing left in AWS",
];
/// How often somebody who waits is told so.
const PATIENCE: Duration = Duration::from_secs(5);

/// The story, as far as it has been told.
pub struct Story {
    voice: &'static dyn Voice,
    world: Option<World>,
}

impl Story {
    /// Nothing has happened yet. The voice also tells of managers that end by themselves, as long as the world is there.
    pub fn new(voice: &'static dyn Voice) -> Self {
        Self { voice, world: None }
    }

    /// Plays all steps. After a failure the world is still there, and its logs will stay.
    pub async fn play(&mut self) -> Result<()> {
        let started = Instant::now();
        let played = self.steps().await;
        match &played {
            Ok(()) => self.voice.all_held(TITLES.len(), started.elapsed()),
            Err(_) => {
                if let Some(world) = &self.world {
                    world.rig().keep_folder();
                }
            }
        }
        played
    }

    /// The world it plays in, once it has been made.
    pub fn world(&self) -> Option<&World> {
        self.world.as_ref()
    }

    async fn steps(&mut self) -> Result<()> {
        let first = Step::begins(self.voice, 1);
        let voice = self.voice;
        let restarts = Some(Restarts::told_to(|text| voice.warns(text)));
        let options = WorldOptions { restarts, ..WorldOptions::default() };
        let world = self.voiced("everything to start", World::start(options)).await;
        let world = &*self.world.insert(world.context("step 1")?);
        let scene = Scene { world, voice: self.voice };
        first.ends(scene.a_cluster_and_a_pool().await)?;

        let step = Step::begins(self.voice, 2);
        step.ends(scene.three_of_everything().await)?;
        let step = Step::begins(self.voice, 3);
        step.ends(scene.up_and_down_within_a_budget().await)?;
        let step = Step::begins(self.voice, 4);
        step.ends(scene.the_marked_machine_goes().await)?;
        let step = Step::begins(self.voice, 5);
        step.ends(scene.what_goes_is_replaced().await)?;
        let step = Step::begins(self.voice, 6);
        step.ends(scene.a_crash_in_the_middle().await)?;
        let step = Step::begins(self.voice, 7);
        step.ends(scene.nothing_is_left().await)
    }

    async fn voiced<T>(&self, what: &str, waiting: impl Future<Output = T>) -> T {
        patiently(self.voice, what, waiting).await
    }
}

/// Waits, and says so now and then.
async fn patiently<T>(voice: &dyn Voice, what: &str, waiting: impl Future<Output = T>) -> T {
    let started = Instant::now();
    let mut waiting = Box::pin(waiting);
    loop {
        match tokio::time::timeout(PATIENCE, &mut waiting).await {
            Ok(done) => return done,
            Err(_) => voice.waits(what, started.elapsed()),
        }
    }
}

/// A step that is being played.
struct Step<'v> {
    voice: &'v dyn Voice,
    number: usize,
    title: &'static str,
    since: Instant,
}

impl<'v> Step<'v> {
    fn begins(voice: &'v dyn Voice, number: usize) -> Self {
        let title = number.checked_sub(1).and_then(|index| TITLES.get(index)).copied().unwrap_or_default();
        voice.step_begins(number, title);
        Self { voice, number, title, since: Instant::now() }
    }

    fn ends(self, played: Result<()>) -> Result<()> {
        let Self { voice, number, title, since } = self;
        played.with_context(|| {
            format!("step {number} ({title}), after {:.0} s", since.elapsed().as_secs_f32())
        })?;
        voice.step_held(number, title, since.elapsed());
        Ok(())
    }
}

/// Where the steps take place.
struct Scene<'s> {
    world: &'s World,
    voice: &'s dyn Voice,
}

impl Scene<'_> {
    fn cluster(&self) -> Cluster<'_> {
        self.world.existing_cluster(CLUSTER, CLUSTER)
    }

    fn pool(&self) -> Pool<'_> {
        self.cluster().existing_pool(POOL)
    }

    fn workload(&self) -> Workload<'_> {
        self.pool().workload("web")
    }

    fn says(&self, text: &str) {
        self.voice.says(text);
    }

    async fn waits<T>(&self, what: &str, waiting: impl Future<Output = Result<T>>) -> Result<T> {
        patiently(self.voice, what, waiting).await
    }

    async fn settles_at(&self, replicas: usize) -> Result<PoolView> {
        self.pool().settles_within(replicas, crate::world::AFTER_DRAIN).await
    }

    async fn shows_pools(&self) -> Result<()> {
        let table = self.world.api().kubectl(["get", "foomachinepools", "--namespace", CLUSTER]).await?;
        self.voice.shows("kubectl get foomachinepools", &table);
        Ok(())
    }
}

/// The clusterctl variables of the story's cluster template, for a user who wants to try it afterwards.
pub fn template_arguments() -> Vec<String> {
    let version = format!("--kubernetes-version={}", manifests::VERSION);
    let args = ["generate", "cluster", CLUSTER, "--infrastructure=foo", "--worker-machine-count=3"];
    let target = format!("--target-namespace={CLUSTER}");
    args.into_iter().map(str::to_owned).chain([version, target]).collect()
}
