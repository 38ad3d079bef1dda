//! What the pages on upgrading and ClusterClasses share: a reader who has the release that a world was installed from.

use anyhow::Result;
use foo_e2e::document::Reader;
use foo_testbed::World;
use foo_testbed::world::kinds::{self, Kind, text};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A reader with the `clusterctl.yaml` of docs/operations/install.md.
pub(crate) async fn reader(world: &World) -> Result<Reader<'_>> {
    let reader = Reader::of(world.rig()).await?;
    let release = world.rig().folder().join("release");
    let mut config = "providers:\n".to_owned();
    for (kind, label, file) in [
        ("InfrastructureProvider", "infrastructure-foo", "infrastructure-components.yaml"),
        ("ControlPlaneProvider", "control-plane-foo", "control-plane-components.yaml"),
    ] {
        let url = release.join(label).join(foo_testbed::world::RELEASE).join(file);
        writeln!(config, "- name: foo\n  type: {kind}\n  url: {}", url.display())?;
    }
    std::fs::write(reader.folder().join("clusterctl.yaml"), config)?;
    Ok(reader)
}

/// Names and resourceVersions of everything of ours in a namespace.
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
