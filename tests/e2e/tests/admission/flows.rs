//! At which priority the API server handles the managers' requests (API Priority and Fairness).

use super::server::{Server, on_server};
use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::SOON;
use foo_testbed::{Probe, wait_until};
use http::Request;
use kube::client::Body;

/// Names of the FlowSchema and the priority level that the API server classified a request of this user to.
async fn classified(server: Server, user: &str, method: &str, path: &str) -> Result<[String; 2]> {
    let request =
        Request::builder().method(method).uri(path).header("Impersonate-User", user).body(Body::empty())?;
    let response = server.client().send(request).await?;
    let mut names = [String::new(), String::new()];
    for (name, (header, kind)) in names.iter_mut().zip([
        ("X-Kubernetes-PF-FlowSchema-UID", "flowschemas"),
        ("X-Kubernetes-PF-PriorityLevel-UID", "prioritylevelconfigurations"),
    ]) {
        let uid = response.headers().get(header).with_context(|| format!("no {header}"))?.to_str()?;
        let jsonpath = format!("-o=jsonpath={{.items[?(@.metadata.uid==\"{uid}\")].metadata.name}}");
        *name = server.kubectl(&["get", kind, &jsonpath]).await?;
    }
    Ok(names)
}

#[test]
fn the_lease_of_a_manager_is_renewed_before_everything_else_that_it_writes() {
    on_server(async |server| {
        let leases = |namespace: &str| format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases");
        for provider in ["foo", "foo-control-plane", "foo-bootstrap"] {
            let namespace = format!("{provider}-system");
            let manager = format!("system:serviceaccount:{namespace}:{provider}-manager");
            let own = [format!("{provider}-leader-election"), "leader-election".to_owned()];
            let lease = format!("{}/any", leases(&namespace));
            // The API server takes a moment to know a FlowSchema.
            wait_until(&format!("the Lease of {manager} to have its priority"), SOON, async || {
                let found = classified(server, &manager, "GET", &lease).await?;
                Ok(Probe::when(found == own, || format!("{found:?}")))
            })
            .await?;
            for (method, path) in [("PUT", lease.clone()), ("POST", leases(&namespace))] {
                let found = classified(server, &manager, method, &path).await?;
                ensure!(found == own, "{method} {path}: {found:?}");
            }
            let other = format!("system:serviceaccount:{namespace}:default");
            for (user, path) in [
                (&manager, "/api/v1/namespaces/default/secrets/any".to_owned()),
                (&manager, format!("{}/any", leases("kube-system"))),
                (&other, lease),
            ] {
                let found = classified(server, user, "GET", &path).await?;
                ensure!(found[1] != "leader-election", "{user} {path}: {found:?}");
            }
        }
        Ok(())
    });
}
