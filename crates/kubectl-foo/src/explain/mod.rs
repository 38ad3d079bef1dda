//! What objects wait for, and why, in words. Everything printed comes from an object; nothing is guessed.

mod control_plane;
mod node_config;
mod pool;
mod said;

pub use control_plane::explain as control_plane;
pub use node_config::explain as node_config;
pub use pool::explain as pool;
