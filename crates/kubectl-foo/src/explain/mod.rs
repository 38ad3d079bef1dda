//! What objects wait for, and why. Everything printed comes from an object; nothing is guessed.

mod control_plane;
mod lines;
mod node_config;
mod pool;
pub mod read;

pub use control_plane::explain as control_plane;
pub use node_config::explain as node_config;
pub use pool::explain as pool;

pub(crate) use control_plane::{WELL_WHEN_TRUE as CONTROL_PLANE_WELL, operated_by, update_of, versions};
pub(crate) use lines::unwell;
pub(crate) use pool::{WELL_WHEN_TRUE as POOL_WELL, sizes, why as machine_why};

use jiff::Timestamp;
use read::Everything;

/// The explanations of all objects at that moment: control planes first, because everything waits for them.
pub fn everything(all: &Everything, now: Timestamp) -> String {
    let mut texts: Vec<String> = all.control_planes.iter().map(|facts| control_plane(facts, now)).collect();
    texts.extend(all.node_configs.iter().map(|facts| node_config(facts, now)));
    texts.extend(all.pools.iter().map(|facts| pool(facts, now)));
    if texts.is_empty() {
        return "no FooMachinePools, FooControlPlanes or FooNodeConfigs found\n".to_owned();
    }
    texts.join("\n")
}
