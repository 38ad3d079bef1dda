//! EC2 networking: what AWS carries out, refuses and does by itself. `scene.rs` has the words of the stories.

mod addresses;
mod endpoints;
mod eventual;
mod foreign;
mod gateways;
mod groups;
mod nat;
mod properties;
mod scene;
mod sim_cloud;
mod subnets;
mod tables;
mod vpcs;
