//! EKS over the wire (EKS User Guide, EKS API Reference).

mod fuzz;
#[expect(dead_code, reason = "the tests of the core need more of it")]
#[path = "../../../../simulator-core/src/tests/eks/scene.rs"]
mod scene;
mod sim_cloud;
mod tokens;
mod wire;
