//! What the tests of a release share.

use anyhow::Result;
use foo_testbed::World;
use foo_testbed::world::kinds::{self, Kind, text};
use std::collections::BTreeMap;

/// Names and resourceVersions of all objects of the provider in a namespace.
pub(crate) async fn versions(world: &World, namespace: &str) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for kind in
        [Kind::FooCluster, Kind::FooControlPlane, Kind::FooMachinePool, Kind::FooMachine, Kind::Machine]
    {
        for object in kinds::list(world.client(), kind, namespace, "").await? {
            let name = format!("{kind:?} {}", text(&object, "/metadata/name"));
            found.insert(name, text(&object, "/metadata/resourceVersion").to_owned());
        }
    }
    Ok(found)
}
