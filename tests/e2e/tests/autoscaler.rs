//! Life with cluster-autoscaler: a stand-in sends exactly its writes in its order, on the real Cluster API, and no
//! habit of it costs a Node that it did not mean.
#![expect(clippy::indexing_slicing, reason = "a field that is missing is a failed test")]

mod behavior;
mod from_zero;
mod ids;
mod rights;
mod writes;

use foo_e2e::SharedWorld;
use foo_testbed::world::WorldOptions;

static WORLD: SharedWorld = SharedWorld::new(module_path!(), WorldOptions::default);
