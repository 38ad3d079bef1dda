//! The main job, end to end: what `make demo ONCE=1` plays, as a test.

use foo_testbed::story::{Story, Summary};

#[test]
fn a_machine_pool_becomes_instances_machines_and_nodes_and_shrinks_without_killing_anything_undrained() {
    foo_e2e::alone(async || Story::new(&Summary).play().await);
}
