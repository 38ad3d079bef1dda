//! The flavour for one namespace, installed as in docs/operations/install.md: what its manager may do there, and what
//! it may not anywhere else. On a server of its own, because the usual installation gives the same ServiceAccount more.

use anyhow::{Result, ensure};
use foo_e2e::document::Reader;
use foo_testbed::{Rig, RigOptions};
use serde_json::json;

const MANAGER: &str = "system:serviceaccount:foo-system:foo-manager";

#[test]
fn a_manager_of_one_namespace_reads_no_secret_of_another() {
    foo_e2e::alone(async || {
        let rig = Rig::start(RigOptions { capi: None, ..RigOptions::default() }).await?;
        rig.api().kubectl(["create", "namespace", "other"]).await?;
        Reader::of(&rig).await?.follow("docs/operations/install.md", "One namespace only").await?;
        let may = async |verb: &str,
                         group: &str,
                         resource: &str,
                         name: &str,
                         namespace: &str|
               -> Result<bool> {
            let asked = json!({
                "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                "spec": {
                    "user": MANAGER,
                    "resourceAttributes": {
                        "verb": verb, "group": group, "resource": resource, "name": name, "namespace": namespace,
                    },
                },
            });
            let args = ["create", "-f", "-", "--output=jsonpath={.status.allowed}"];
            Ok(rig.api().run("kubectl", args, &[], &asked.to_string()).await?.stdout == "true")
        };
        let own = "infrastructure.foo.com";
        for (verb, group, what) in [
            ("get", "", "secrets"),
            ("create", "", "secrets"),
            ("delete", "cluster.x-k8s.io", "machines"),
            ("patch", "cluster.x-k8s.io", "machinepools"),
            ("create", own, "foomachines"),
            ("patch", own, "fooclusters"),
        ] {
            ensure!(may(verb, group, what, "", "team-b").await?, "{verb} {what} in its namespace");
            for elsewhere in ["other", "default", ""] {
                ensure!(!may(verb, group, what, "", elsewhere).await?, "{verb} {what} in {elsewhere:?}");
            }
        }
        for (verb, group, what) in [
            ("list", own, "fooclusters"),
            ("watch", "", "namespaces"),
            ("patch", own, "fooclusteridentities"),
        ] {
            ensure!(may(verb, group, what, "", "").await?, "{verb} {what} everywhere");
        }
        for (lease, its) in [("controller-leader-election-foo", true), ("another", false)] {
            let may = may("update", "coordination.k8s.io", "leases", lease, "foo-system").await?;
            ensure!(may == its, "Lease {lease}");
        }
        let flags = "-o=jsonpath={.spec.template.spec.containers[0].args}";
        let flags =
            rig.api().kubectl(["get", "deployment/foo-controller-manager", "-n=foo-system", flags]).await?;
        ensure!(flags.contains("--namespace=team-b"), "{flags}");
        Ok(())
    });
}
