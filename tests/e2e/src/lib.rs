//! End-to-end tests on real components: how a test gets its world.
//!
//! A world takes 15 s to start and 700 MB, so the tests of one module share one, in parallel. Each works in a Cluster
//! and a namespace with a name of its own:
//!
//! ```no_run
//! # use foo_e2e::SharedWorld;
//! # use foo_testbed::world::WorldOptions;
//! static WORLD: SharedWorld = SharedWorld::new(module_path!(), WorldOptions::default);
//!
//! #[test]
//! fn a_pool_of_two_has_two_machines() {
//!     WORLD.run(async |world| {
//!         let pool = world.cluster("two-machines").await?.pool("workers", 2).await?;
//!         let view = pool.settles_at(2).await?;
//!         assert_eq!(view.machines.len(), 2);
//!         Ok(())
//!     });
//! }
//! ```
//!
//! A test that stops a manager, adds faults to AWS or changes an image disturbs the others: it belongs into a module of
//! its own, or runs on [`Worlds`]. Worlds stay until their process ends, and a process has those of one module of
//! `tests/main.rs`: `cargo xtask test` starts a process for each. After each test nothing may have been lost undrained,
//! and no manager may have asked for what its ClusterRole does not give, by whichever test.

pub mod autoscaler;
pub mod document;
pub mod odd;
mod set;
mod shared;
mod worlds;

pub use set::set;
pub use shared::SharedWorld;
pub use worlds::Worlds;

use anyhow::{Result, ensure};
use foo_testbed::{Printed, Probe, World, wait_until};
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;
use tokio::runtime::Runtime;

/// All tests run on the runtime of their world: its connections and kubelets live there.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(start_runtime);
/// The module of `tests/main.rs` whose worlds this process has.
static MODULE: OnceLock<&str> = OnceLock::new();

#[expect(clippy::expect_used, reason = "no test can run without")]
fn start_runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().expect("a runtime")
}

/// Runs a test that creates its own world, or none.
///
/// # Panics
/// The test failed.
pub fn alone(test: impl AsyncFnOnce() -> Result<()>) {
    RUNTIME.block_on(async { fail_on(test().await) });
}

/// Repeats a change of `spec.topology.version` until Cluster API's webhook accepts it. It refuses a version while an
/// earlier upgrade still waits for `AfterClusterUpgrade`, and before core is connected to the workload cluster: both end a
/// moment after the Cluster shows the topology as reconciled.
///
/// # Errors
/// The time is over; the error is the last refusal.
pub async fn version_is_accepted(timeout: Duration, change: impl AsyncFn() -> Result<()>) -> Result<()> {
    wait_until("core to accept another version", timeout, async || change().await.map(Probe::Done)).await
}

/// Runs `kubectl foo` with these arguments and that input, found by the real kubectl on the PATH; its standard output.
///
/// # Errors
/// It ends with another status than 0.
pub async fn kubectl_foo(world: &World, arguments: &[&str], stdin: &str) -> Result<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    Ok(kubectl_foo_with(world, arguments, &[("PATH", path.as_str())], stdin).await?.stdout)
}

/// The same in an environment that has a `PATH`; both outputs.
///
/// # Errors
/// It ends with another status than 0.
pub async fn kubectl_foo_with(
    world: &World,
    arguments: &[&str],
    env: &[(&str, &str)],
    stdin: &str,
) -> Result<Printed> {
    let plugin = foo_testbed::beside_us("kubectl-foo")?;
    let folder = plugin.parent().unwrap_or(&plugin).display();
    let path = env.iter().find(|(name, _)| *name == "PATH").map_or("", |(_, path)| path);
    let path = format!("{folder}:{path}");
    let env: Vec<(&str, &str)> =
        env.iter().copied().filter(|(name, _)| *name != "PATH").chain([("PATH", path.as_str())]).collect();
    let arguments = ["foo"].iter().chain(arguments);
    world.api().run("kubectl", arguments, &env, stdin).await
}

/// Fails if this process has worlds of another module: the memory of a machine is not enough for those of all modules.
/// `path`: that of a module of the tests, or of one below it.
fn has_worlds_of(path: &'static str) -> Result<()> {
    let module = path.split("::").nth(1).unwrap_or(path);
    let first = *MODULE.get_or_init(|| module);
    ensure!(
        first == module,
        "this process has the worlds of {first} until it ends; for a process each: cargo xtask test e2e/{first} e2e/{module}"
    );
    Ok(())
}

#[expect(clippy::panic, reason = "how a test fails")]
fn fail_on(outcome: Result<()>) {
    if let Err(error) = outcome {
        panic!("{error:#}");
    }
}

/// Keeps the logs of a world in which a test failed, assertions included.
struct Watch(&'static World);

impl Drop for Watch {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.rig().keep_folder();
        }
    }
}
