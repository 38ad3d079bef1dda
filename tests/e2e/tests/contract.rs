//! What Cluster API may rely on, on the real Cluster API: one test for each behaviour of the contracts.

mod adoption;
mod capacity;
mod deletion;
mod hooks;
mod machines;
mod node_group;
mod odd;
mod options;
mod order;
mod pause;
mod plans;
mod preflight;
mod size;
mod status;
mod traffic;
pub(crate) mod user_of_aws;

use foo_e2e::SharedWorld;
use foo_testbed::world::WorldOptions;

static WORLD: SharedWorld = SharedWorld::new(module_path!(), WorldOptions::default);
