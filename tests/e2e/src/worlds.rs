//! Worlds for tests that disturb others: each test has one to itself while it runs, and they are used one after the
//! other.

use crate::{RUNTIME, Watch, fail_on, has_worlds_of};
use anyhow::{Error, Result};
use foo_testbed::World;
use foo_testbed::world::WorldOptions;
use futures::future::select_all;
use std::time::Instant;
use tokio::sync::{Mutex, MutexGuard, OnceCell};

/// As many worlds as tests shall run at a time.
pub struct Worlds<const N: usize> {
    module: &'static str,
    slots: [Slot; N],
}

struct Slot {
    turn: Mutex<()>,
    world: OnceCell<Result<World, String>>,
}

impl<const N: usize> Worlds<N> {
    /// None has been started yet. `module`: `module_path!()`.
    pub const fn new(module: &'static str) -> Self {
        Self {
            module,
            slots: [const { Slot { turn: Mutex::const_new(()), world: OnceCell::const_new() } }; N],
        }
    }

    /// Runs a test in a world that no other caller uses meanwhile; what earlier ones left is still there. All tests
    /// must ask for the same options.
    ///
    /// # Panics
    /// The test failed; the world's logs stay.
    pub fn run(&'static self, options: WorldOptions, test: impl AsyncFnOnce(&'static World) -> Result<()>) {
        fail_on(has_worlds_of(self.module));
        RUNTIME.block_on(async {
            let (slot, turn) = self.free().await;
            let start = async || World::start(options).await.map_err(|error| format!("{error:#}"));
            let outcome = match slot.world.get_or_init(start).await {
                Ok(world) => {
                    let watch = Watch(world);
                    let started = Instant::now();
                    let outcome = test(world)
                        .await
                        .and_then(|()| world.check_nothing_undrained())
                        .and_then(|()| world.check_nothing_is_always_forbidden());
                    println!("took {:.0} s", started.elapsed().as_secs_f32());
                    if outcome.is_err() {
                        world.rig().keep_folder();
                    }
                    drop(watch);
                    outcome
                }
                Err(error) => Err(Error::msg(error.clone())),
            };
            drop(turn);
            fail_on(outcome);
        });
    }

    /// Whichever world is free first.
    async fn free(&'static self) -> (&'static Slot, MutexGuard<'static, ()>) {
        let turns = self.slots.iter().map(|slot| Box::pin(async move { (slot, slot.turn.lock().await) }));
        select_all(turns).await.0
    }
}
