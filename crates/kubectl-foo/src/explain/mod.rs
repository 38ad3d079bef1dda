//! What objects wait for, and why. Everything printed comes from an object; nothing is guessed.

mod control_plane;
mod lines;
mod node_config;
mod pool;

pub use control_plane::explain as control_plane;
pub use node_config::explain as node_config;
pub use pool::explain as pool;
