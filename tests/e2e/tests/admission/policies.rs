//! The policy that keeps templates as they are.

use super::server::{Kind, Server, cluster, is_refusal, on_server, pool, with};
use anyhow::Result;
use kube::api::{DynamicObject, PostParams};
use serde_json::{Value, json};

/// A change of a stored template.
async fn change(
    server: Server,
    kind: Kind,
    mut object: DynamicObject,
    spec: &Value,
    annotated: bool,
    dry_run: bool,
) -> Result<()> {
    object.data = json!({"spec": {"template": {"spec": spec}}});
    if annotated {
        let annotation = ("topology.cluster.x-k8s.io/dry-run".to_owned(), String::new());
        object.metadata.annotations = Some([annotation].into());
    }
    let name = object.metadata.name.clone().unwrap_or_default();
    server.api(kind).replace(&name, &PostParams { dry_run, ..PostParams::default() }, &object).await?;
    Ok(())
}

#[test]
fn templates_of_clusters_and_control_planes_are_immutable_except_in_the_topology_dry_run() {
    on_server(async |server| {
        let control_plane = |secret: &str| json!({"external": {"kubeconfigSecretRef": {"name": secret}}});
        for (number, (kind, from, to)) in [
            (
                Kind::ClusterTemplate,
                cluster(),
                with(cluster(), json!({"network": {"existing": {"subnets": [{"id": "subnet-2"}]}}})),
            ),
            // Of a FooCluster the region never changes; of its template it may be tried.
            (Kind::ClusterTemplate, cluster(), with(cluster(), json!({"region": "us-east-1"}))),
            (Kind::ControlPlaneTemplate, control_plane("one"), control_plane("two")),
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("kept-{number}");
            server.create(kind, &name, json!({"template": {"spec": from}})).await?;
            let stored = server.api(kind).get(&name).await?;
            for (annotated, dry_run) in [(false, false), (false, true), (true, false)] {
                let changed = change(server, kind, stored.clone(), &to, annotated, dry_run).await;
                is_refusal(changed, "is immutable; create a template with another name")?;
            }
            change(server, kind, stored.clone(), &to, true, true).await?;
            // What is not its spec may change: the ClusterClass becomes its owner.
            change(server, kind, stored, &from, true, false).await?;
        }
        Ok(())
    });
}

/// The topology controller patches pools in place, whatever their template is called.
#[test]
fn templates_of_pools_may_change() {
    on_server(async |server| {
        server.create(Kind::MachinePoolTemplate, "open", json!({"template": {"spec": pool()}})).await?;
        let stored = server.api(Kind::MachinePoolTemplate).get("open").await?;
        let larger = with(pool(), json!({"instanceType": "m7i.xlarge"}));
        change(server, Kind::MachinePoolTemplate, stored, &larger, false, false).await
    });
}
