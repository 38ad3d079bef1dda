//! The diagnostics of our managers, seen as by a scraper: over TLS, with the token of a service account that the
//! release's roles are bound to.

use crate::ApiServer;
use anyhow::{Context as _, Result};
use kube::client::Body;
use kube::{Client, Config};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(15);

/// A token of a user who may see all diagnostics of the manager whose roles have this prefix.
pub(super) async fn reader(api: &ApiServer, prefix: &str) -> Result<String> {
    let name = format!("{prefix}testbed");
    let binding = |role: &str| {
        format!(
            "---\n\
             apiVersion: rbac.authorization.k8s.io/v1\n\
             kind: ClusterRoleBinding\n\
             metadata: {{name: {name}-{role}}}\n\
             roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {prefix}{role}}}\n\
             subjects: [{{kind: ServiceAccount, name: {name}, namespace: default}}]\n"
        )
    };
    let account =
        format!("apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: {name}, namespace: default}}\n");
    let objects = [account, binding("metrics-reader"), binding("debug-reader")].concat();
    api.apply(&objects).await.with_context(|| format!("letting {name} see diagnostics"))?;
    api.service_account_token("default", &name).await
}

/// Status and text of a page. The certificate is self-signed and not verified.
pub(super) async fn request(
    port: u16,
    method: &str,
    token: Option<&str>,
    path: &str,
) -> Result<(u16, String)> {
    let mut config = Config::new(format!("https://127.0.0.1:{port}").parse()?);
    config.accept_invalid_certs = true;
    config.default_retry = false;
    config.auth_info.token = token.map(|token| token.to_owned().into());
    let client = Client::try_from(config)?;
    let asked = async {
        let response =
            client.send(http::Request::builder().method(method).uri(path).body(Body::empty())?).await?;
        let status = response.status().as_u16();
        let text = String::from_utf8(response.into_body().collect_bytes().await?.to_vec())?;
        anyhow::Ok((status, text))
    };
    tokio::time::timeout(TIMEOUT, asked).await.with_context(|| format!("{path}: no response"))?
}
