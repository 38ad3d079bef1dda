//! Objects that were stored before a pattern came: the API server validates only what a write changes, so they can
//! still be paused, moved and deleted. On a server of its own, since the CRDs are exchanged.

use anyhow::ensure;
use foo_testbed::world::SOON;
use foo_testbed::{Probe, Rig, RigOptions, wait_until};

const FROM_BEFORE: &str = "
apiVersion: infrastructure.foo.com/v1alpha1
kind: FooCluster
metadata: {name: from-before, namespace: default}
spec: {region: eu-centrall, network: {existing: {subnets: [{id: Subnet}]}}}
";

#[test]
fn an_object_from_before_a_pattern_can_still_be_annotated_and_deleted() {
    foo_e2e::alone(async || {
        let rig = Rig::start(RigOptions { capi: None, ..RigOptions::default() }).await?;
        let file = super::server::root().join("deploy/crd/infrastructure.foo.com_fooclusters.yaml");
        let now = std::fs::read_to_string(file)?;
        let before: Vec<&str> =
            now.lines().filter(|line| !line.trim_start().starts_with("pattern:")).collect();
        ensure!(before.len() < now.lines().count(), "the CRD has no pattern");
        rig.api().apply(&before.join("\n")).await?;
        rig.api().kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]).await?;
        rig.api().apply(FROM_BEFORE).await?;
        rig.api().apply(&now).await?;
        let another = FROM_BEFORE.replace("from-before", "another");
        wait_until("the pattern to be in force", SOON, async || {
            let create = ["create", "--dry-run=server", "-f", "-"];
            let refused = rig.api().run("kubectl", create, &[], &another).await.is_err();
            Ok(Probe::when(refused, || "it is not".to_owned()))
        })
        .await?;
        rig.api().kubectl(["annotate", "foocluster/from-before", "cluster.x-k8s.io/paused="]).await?;
        rig.api().kubectl(["delete", "foocluster/from-before"]).await.map(drop)
    });
}
