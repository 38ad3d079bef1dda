//! The flavour for one namespace at work, in a world of its own: what is in another namespace does not exist for its
//! manager.

use anyhow::ensure;
use foo_e2e::document::Reader;
use foo_testbed::World;
use foo_testbed::world::kinds::Kind;
use foo_testbed::world::{WorldOptions, manifests};

const NAMESPACE: &str = "team-b";

/// As docs/operations/install.md has it, which `admission/namespaced.rs` follows to the letter, and by force: what is
/// there is clusterctl's.
const INSTALL: &str = "kubectl create namespace team-b
kubectl kustomize deploy/namespaced | sed s/team-a/team-b/ | kubectl apply --server-side --force-conflicts -f -
kubectl delete clusterrole,clusterrolebinding foo-manager --ignore-not-found";

#[test]
fn a_manager_of_one_namespace_creates_its_pools_and_ignores_those_of_others() {
    foo_e2e::alone(async || {
        let mut world = World::start(WorldOptions::default()).await?;
        // What clusterctl installed gives way: the flavour has one manager for everything.
        world.manager().kill();
        world.control_plane_manager().kill();
        world.bootstrap_manager().kill();
        for namespace in ["foo-system", "foo-control-plane-system", "foo-bootstrap-system"] {
            let all = ["delete", "deployments", "--all", "--namespace", namespace];
            world.api().kubectl(all).await?;
        }
        Reader::of(world.rig()).await?.run(INSTALL).await?;
        world.starts_the_one_manager().await?;

        let elsewhere = world.no_cluster("elsewhere").await?;
        let own = world.existing_cluster(NAMESPACE, "own");
        for (namespace, name) in [("elsewhere", "elsewhere"), (NAMESPACE, "own")] {
            world.apply(&manifests::kubeconfig_secret(namespace, name, world.api().kubeconfig())).await?;
            world.apply(&manifests::foo_cluster(namespace, name)).await?;
            world.apply(&manifests::foo_control_plane(namespace, name)).await?;
            world.apply(&manifests::cluster(namespace, name)).await?;
        }
        let foreign = elsewhere.pool("workers", 1).await?;
        own.is_provisioned().await?;
        let pool = own.pool("workers", 1).await?;
        pool.settles_at(1).await?;
        pool.scale(0).await?;
        pool.settles_at(0).await?;

        for kind in [Kind::FooCluster, Kind::FooControlPlane] {
            let object = elsewhere.read(kind).await?.unwrap_or_default();
            ensure!(object.get("status").is_none(), "{kind:?}: {object}");
        }
        let object = foreign.read(Kind::FooMachinePool).await?.unwrap_or_default();
        ensure!(object.pointer("/status/conditions").is_none(), "{object}");
        ensure!(world.aws().leftovers(&foreign.group()).is_empty());
        world.check_nothing_undrained()?;
        world.check_nothing_forbidden()
    });
}
