//! A world that the tests of a module share.

use crate::{RUNTIME, Watch, fail_on, has_worlds_of};
use anyhow::{Context as _, Error, Result};
use foo_testbed::World;
use foo_testbed::world::WorldOptions;
use std::time::Instant;
use tokio::sync::OnceCell;

/// A world for all tests of a module, in parallel. The first one starts it.
pub struct SharedWorld {
    module: &'static str,
    options: fn() -> WorldOptions,
    world: OnceCell<Result<World, String>>,
}

impl SharedWorld {
    /// It has not been started yet. `module`: `module_path!()`.
    pub const fn new(module: &'static str, options: fn() -> WorldOptions) -> Self {
        Self { module, options, world: OnceCell::const_new() }
    }

    /// Runs a test in it.
    ///
    /// # Panics
    /// The test failed; the world's logs stay.
    pub fn run(&'static self, test: impl AsyncFnOnce(&'static World) -> Result<()>) {
        fail_on(has_worlds_of(self.module));
        RUNTIME.block_on(async {
            match self.world.get_or_init(|| self.start()).await {
                Ok(world) => {
                    let watch = Watch(world);
                    let started = Instant::now();
                    let outcome = test(world)
                        .await
                        .and_then(|()| world.check_nothing_undrained())
                        .and_then(|()| world.check_nothing_forbidden());
                    println!("took {:.0} s", started.elapsed().as_secs_f32());
                    if outcome.is_err() {
                        println!("{}", world.shows().await);
                    }
                    fail_on(outcome);
                    drop(watch);
                }
                Err(error) => fail_on(Err(Error::msg(error.clone()))),
            }
        });
    }

    async fn start(&self) -> Result<World, String> {
        let started = World::start((self.options)()).await.context("starting the world");
        started.map_err(|error| format!("{error:#}"))
    }
}
