//! The ClusterRole that we release for it: enough for all it does in the management cluster (the other tests work with
//! it), and no more.

use super::WORLD;
use foo_e2e::autoscaler::{Autoscaler, ROLE};
use foo_testbed::{Probe, wait_until};
use kube::Api;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, PostParams};
use serde_json::{Value, json};

const CAPI: &str = "cluster.x-k8s.io";
const GROUP: &str = "infrastructure.foo.com";

#[test]
fn the_released_role_is_what_it_needs_and_no_more() {
    WORLD.run(async |world| {
        let cluster = world.no_cluster("ca-rights").await?;
        let autoscaler = Autoscaler::of(world, &cluster).await?;
        let review = GroupVersionKind::gvk("authorization.k8s.io", "v1", "SubjectAccessReview");
        let resource = ApiResource::from_gvk(&review);
        let reviews: Api<DynamicObject> = Api::all_with(world.client(), &resource);
        let may = async |group: &str, what: &str, verb: &str| -> anyhow::Result<bool> {
            let (resource_name, subresource) = what.split_once('/').unwrap_or((what, ""));
            let mut question = DynamicObject::new("", &resource);
            question.metadata.name = None;
            question.data = json!({"spec": {
                "user": autoscaler.user(),
                "resourceAttributes": {
                    "namespace": "ca-rights", "group": group, "resource": resource_name,
                    "subresource": subresource, "verb": verb,
                },
            }});
            let response = reviews.create(&PostParams::default(), &question).await?;
            Ok(response.data.pointer("/status/allowed") == Some(&Value::Bool(true)))
        };
        // Its binding is known to the authorizer a moment after it was created.
        wait_until(&format!("{ROLE} to be bound"), foo_testbed::world::SOON, async || {
            Ok(Probe::when(may(CAPI, "machinepools/scale", "patch").await?, || "not yet".to_owned()))
        })
        .await?;
        for (group, what, verbs) in [
            (CAPI, "machinepools", &["get", "list", "watch"][..]),
            (CAPI, "machinedeployments", &["get", "list", "watch"]),
            (CAPI, "machinesets", &["get", "list", "watch"]),
            (CAPI, "machines", &["get", "list", "watch", "update"]),
            (CAPI, "machinepools/scale", &["get", "patch"]),
            (GROUP, "foomachinepools", &["get", "list", "watch"]),
        ] {
            for verb in verbs {
                assert!(may(group, what, verb).await?, "it may not {verb} {what}");
            }
        }
        for (group, what, verbs) in [
            (CAPI, "machinepools", &["update", "patch", "delete"][..]),
            (CAPI, "machines", &["delete", "create"]),
            (GROUP, "foomachinepools", &["update", "patch", "delete"]),
            (GROUP, "foomachines", &["update", "patch", "delete"]),
            ("", "secrets", &["get", "list"]),
        ] {
            for verb in verbs {
                assert!(!may(group, what, verb).await?, "it may {verb} {what}");
            }
        }
        Ok(())
    });
}
