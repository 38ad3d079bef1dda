//! Kubeconfigs of workload clusters: whether Cluster API can use one, which API server it names, and what that one says.

use crate::client;
use crate::metrics::{KubeClient, Metrics};
use foo_api::names::SECRET_VALUE_KEY;
use foo_api::shared::ApiEndpoint;
use foo_planner::desired::Blocked;
use k8s_openapi::api::core::v1::Secret;
use kube::Client;
use kube::config::{KubeConfigOptions, Kubeconfig};
use std::time::Duration;

/// Cluster API's own health probe gives an API server five seconds, too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// A kubeconfig that Cluster API can use.
pub(crate) struct Usable {
    /// As it was written.
    pub(crate) text: String,
    /// The API server it names.
    pub(crate) endpoint: ApiEndpoint,
    config: Kubeconfig,
}

/// How the names of Secrets end in which Cluster API looks for kubeconfigs.
pub(crate) const KUBECONFIG_SUFFIX: &str = "-kubeconfig";

/// Name of the Secret that Cluster API reads for a cluster.
pub(crate) fn secret_name(cluster: &str) -> String {
    format!("{cluster}{KUBECONFIG_SUFFIX}")
}

/// Whether this is a kubeconfig, and not the script or cloud-config of a new instance.
pub(crate) fn looks_like_one(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    // Parsed only where there is a reason to.
    let has_parts = ["clusters", "users", "contexts"].iter().all(|part| text.contains(part));
    has_parts
        && Kubeconfig::from_yaml(text)
            .is_ok_and(|config| !config.clusters.is_empty() && !config.auth_infos.is_empty())
}

impl Usable {
    /// A client of that API server.
    pub(crate) async fn client(&self, metrics: &Metrics) -> Option<Client> {
        let mut config =
            kube::Config::from_custom_kubeconfig(self.config.clone(), &KubeConfigOptions::default())
                .await
                .ok()?;
        // A proxy of the manager's environment is one to AWS.
        config.proxy_url = None;
        client::client(config, KubeClient::Workload, metrics.clone()).ok()
    }
}

/// The kubeconfig in a Secret, if it is one that Cluster API can use. No message shows anything of its content.
pub(crate) fn read(name: &str, secret: &Secret) -> Result<Usable, Blocked> {
    let invalid = |what: &str| Blocked::new("KubeconfigInvalid", format!("Secret {name}: {what}"));
    let bytes = secret
        .data
        .as_ref()
        .and_then(|data| data.get(SECRET_VALUE_KEY))
        .ok_or_else(|| invalid("there is no kubeconfig under the key value"))?;
    let text = String::from_utf8(bytes.0.clone()).map_err(|_| invalid("the kubeconfig is not text"))?;
    let config = Kubeconfig::from_yaml(&text).map_err(|_| invalid("the kubeconfig cannot be read as one"))?;
    let context = config.current_context.as_ref();
    let context = context
        .and_then(|current| config.contexts.iter().find(|context| &context.name == current))
        .and_then(|context| context.context.as_ref())
        .ok_or_else(|| invalid("the kubeconfig has no current context"))?;
    let cluster = config.clusters.iter().find(|cluster| cluster.name == context.cluster);
    let (cluster, server) = cluster
        .and_then(|cluster| cluster.cluster.as_ref())
        .and_then(|cluster| Some((cluster, cluster.server.as_deref()?)))
        .ok_or_else(|| invalid("the kubeconfig's current context names no server"))?;
    let endpoint =
        endpoint(server).ok_or_else(|| invalid("the kubeconfig's server is not an https URL with a host"))?;
    let user =
        context.user.as_ref().and_then(|user| config.auth_infos.iter().find(|info| &info.name == user));
    let user = user.and_then(|user| user.auth_info.as_ref());
    if user.is_some_and(|user| user.exec.is_some() || user.auth_provider.is_some()) {
        return Err(Blocked::new(
            "ExecCredentialsNotSupported",
            format!(
                "Secret {name}: Cluster API refuses kubeconfigs with exec plugins or auth providers; use a client \
                 certificate or a token"
            ),
        ));
    }
    if cluster.insecure_skip_tls_verify == Some(true) {
        return Err(invalid(
            "insecure-skip-tls-verify is set, so anybody on the way could read its credentials; give \
             certificate-authority-data instead",
        ));
    }
    let is_file = |path: &Option<String>| path.is_some();
    let of_user = user.is_some_and(|user| {
        is_file(&user.token_file) || is_file(&user.client_certificate) || is_file(&user.client_key)
    });
    if of_user || is_file(&cluster.certificate_authority) {
        // They would be files of ours: a kubeconfig that names the manager's own token would have it sent anywhere.
        return Err(invalid("the kubeconfig names files; token, certificates and keys have to stand in it"));
    }
    Ok(Usable { text, endpoint, config })
}

fn endpoint(server: &str) -> Option<ApiEndpoint> {
    let url: http::Uri = server.parse().ok()?;
    let host = url.host().filter(|host| !host.is_empty())?;
    (url.scheme_str() == Some("https")).then_some(())?;
    Some(ApiEndpoint { host: host.to_owned(), port: i32::from(url.port_u16().unwrap_or(443)) })
}

/// Whether a Secret holds this very kubeconfig.
pub(crate) fn says(secret: &Secret, text: &str) -> bool {
    let there = secret.data.as_ref().and_then(|data| data.get(SECRET_VALUE_KEY));
    there.is_some_and(|bytes| bytes.0 == text.as_bytes())
}

/// Asks the API server for its version. The message of a failure does not change while its cause does not.
pub(crate) async fn version(usable: &Usable, metrics: &Metrics) -> Result<String, String> {
    let ApiEndpoint { host, port } = &usable.endpoint;
    let asked = async {
        usable
            .client(metrics)
            .await?
            .apiserver_version()
            .await
            .inspect_err(|error| tracing::debug!(%error, host, port, "no version"))
            .ok()
    };
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Some(version)) => Ok(version.git_version),
        Ok(None) => Err(format!("the API server at {host}:{port} did not answer with its version")),
        Err(_elapsed) => {
            Err(format!("the API server at {host}:{port} did not answer within {} s", PATIENCE.as_secs()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::ByteString;
    use std::collections::BTreeMap;

    const GOOD: &str = r"
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://10.0.0.1:6443'}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
";

    fn read_text(text: &str) -> Result<Usable, Blocked> {
        let data = BTreeMap::from([(SECRET_VALUE_KEY.to_owned(), ByteString(text.as_bytes().to_vec()))]);
        read("boot", &Secret { data: Some(data), ..Secret::default() })
    }

    fn reason(text: &str) -> String {
        read_text(text).err().map(|blocked| blocked.reason).unwrap_or_default()
    }

    #[test]
    fn the_endpoint_comes_from_the_current_context() {
        assert_eq!(
            read_text(GOOD).ok().unwrap().endpoint,
            ApiEndpoint { host: "10.0.0.1".into(), port: 6443 }
        );
    }

    #[test]
    fn a_kubeconfig_is_told_from_user_data() {
        assert!(looks_like_one(GOOD.as_bytes()));
        for other in ["", "#!/bin/sh\necho users contexts clusters\n", "#cloud-config\nusers: [a]\n", "\u{1}"]
        {
            assert!(!looks_like_one(other.as_bytes()), "{other}");
        }
        assert!(!looks_like_one(b"\xff\xfe"));
        // It may write one on the instance.
        let writes = format!("#cloud-config\nwrite_files:\n- content: |\n{}", GOOD.replace('\n', "\n    "));
        assert!(!looks_like_one(writes.as_bytes()), "{writes}");
    }

    #[test]
    fn what_cluster_api_cannot_use_is_refused_in_words() {
        assert_eq!(reason("this is: [not a kubeconfig"), "KubeconfigInvalid");
        assert_eq!(reason(&GOOD.replace("https://10.0.0.1:6443", "10.0.0.1")), "KubeconfigInvalid");
        assert_eq!(reason(&GOOD.replace("current-context: x", "current-context: y")), "KubeconfigInvalid");
        let exec =
            GOOD.replace("{token: t}", "{exec: {apiVersion: client.authentication.k8s.io/v1, command: aws}}");
        assert_eq!(reason(&exec), "ExecCredentialsNotSupported");
        for (inline, file) in [
            ("{token: t}", "{tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token}"),
            ("{token: t}", "{client-certificate: /tls.crt, client-key-data: eA==}"),
            ("{token: t}", "{client-certificate-data: eA==, client-key: /tls.key}"),
            ("{server: ", "{certificate-authority: /ca.crt, server: "),
            ("{server: ", "{insecure-skip-tls-verify: true, server: "),
        ] {
            assert_eq!(reason(&GOOD.replace(inline, file)), "KubeconfigInvalid", "{file}");
        }
        assert_eq!(read("boot", &Secret::default()).err().unwrap().reason, "KubeconfigInvalid");
    }
}
