//! Kubeconfigs of workload clusters: whether Cluster API can use one, which API server it names, and what that
//! server responds to its credentials: its version, and whether they have the rights that Cluster API needs.

use crate::client::Workloads;
use crate::expiry;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foo_api::names::SECRET_VALUE_KEY;
use foo_api::shared::ApiEndpoint;
use foo_model::{Blocked, Reason};
use jiff::Timestamp;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use k8s_openapi::api::core::v1::Secret;
use kube::api::PostParams;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig};
use kube::{Api, Client};
use std::time::Duration;

/// Cluster API's own health probe waits five seconds for an API server, too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// A kubeconfig that Cluster API can use.
pub(crate) struct Usable {
    /// The original text.
    pub(crate) text: String,
    /// The API server it names.
    pub(crate) endpoint: ApiEndpoint,
    /// When its certificate or token expires, if the kubeconfig has that.
    pub(crate) expires: Option<Timestamp>,
    config: Kubeconfig,
}

/// Suffix of the names of Secrets in which Cluster API expects kubeconfigs.
pub(crate) const KUBECONFIG_SUFFIX: &str = "-kubeconfig";

/// Name of the Secret that Cluster API reads for a cluster.
pub(crate) fn secret_name(cluster: &str) -> String {
    format!("{cluster}{KUBECONFIG_SUFFIX}")
}

/// Whether this is a kubeconfig, and not the script or cloud-config of a new instance.
pub(crate) fn is_kubeconfig(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    // Parsed only if it may be one.
    let has_parts = ["clusters", "users", "contexts"].iter().all(|part| text.contains(part));
    has_parts
        && Kubeconfig::from_yaml(text)
            .is_ok_and(|config| !config.clusters.is_empty() && !config.auth_infos.is_empty())
}

impl Usable {
    /// The authorities of the API server, base64 of PEM; none if the kubeconfig leaves them to the system.
    pub(crate) fn certificate_authority(&self) -> Option<String> {
        let current = self.config.current_context.as_ref()?;
        let context = self.config.contexts.iter().find(|context| &context.name == current)?;
        let cluster = &context.context.as_ref()?.cluster;
        let cluster = self.config.clusters.iter().find(|named| &named.name == cluster)?;
        cluster.cluster.as_ref()?.certificate_authority_data.clone()
    }

    /// A client of that API server.
    pub(crate) async fn client(&self, workloads: &Workloads) -> Option<Client> {
        let options = KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(self.config.clone(), &options).await.ok()?;
        workloads.connect(config).ok()
    }
}

/// The kubeconfig in a Secret, if Cluster API can use it. No message contains any of its content.
pub(crate) fn read(name: &str, secret: &Secret) -> Result<Usable, Blocked> {
    let invalid = |what: &str| Blocked::new(Reason::KubeconfigInvalid, format!("Secret {name}: {what}"));
    let bytes = secret
        .data
        .as_ref()
        .and_then(|data| data.get(SECRET_VALUE_KEY))
        .ok_or_else(|| invalid("there is no kubeconfig under the key value"))?;
    let text = String::from_utf8(bytes.0.clone()).map_err(|_| invalid("the kubeconfig is not text"))?;
    parse(name, text)
}

/// The kubeconfig of that text in the Secret of that name, if Cluster API can use it.
pub(crate) fn parse(name: &str, text: String) -> Result<Usable, Blocked> {
    let invalid = |what: &str| Blocked::new(Reason::KubeconfigInvalid, format!("Secret {name}: {what}"));
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
            Reason::ExecCredentialsNotSupported,
            format!(
                "Secret {name}: Cluster API does not support kubeconfigs with exec plugins or auth providers; use a \
                 client certificate or a token"
            ),
        ));
    }
    if cluster.insecure_skip_tls_verify == Some(true) {
        return Err(invalid(
            "insecure-skip-tls-verify is set, so any host on the network path could read its credentials; set \
             certificate-authority-data instead",
        ));
    }
    let is_file = |path: &Option<String>| path.is_some();
    let of_user = user.is_some_and(|user| {
        is_file(&user.token_file) || is_file(&user.client_certificate) || is_file(&user.client_key)
    });
    if of_user || is_file(&cluster.certificate_authority) {
        // These files would be the manager's own: a kubeconfig that names the manager's own token would send
        // it anywhere.
        return Err(invalid("the kubeconfig names files; token, certificates and keys must be embedded"));
    }
    let expires = user.and_then(expires);
    Ok(Usable { text, endpoint, expires, config })
}

/// If there are both, the earlier expiry: which of them the API server checks is not known here.
fn expires(user: &AuthInfo) -> Option<Timestamp> {
    let certificate =
        user.client_certificate_data.as_deref().and_then(|data| STANDARD.decode(data.trim()).ok());
    let certificate = certificate.and_then(|pem| String::from_utf8(pem).ok());
    let certificate = certificate.and_then(|pem| expiry::of_certificate(&pem));
    // The type that keeps it out of logs is from a crate of its own; serialized, it is text.
    let written = serde_json::to_value(user).ok();
    let token = written.as_ref().and_then(|user| expiry::of_token(user.get("token")?.as_str()?));
    certificate.into_iter().chain(token).min()
}

/// The endpoint in the URL of a server: of an https URL with a host.
pub(crate) fn endpoint(server: &str) -> Option<ApiEndpoint> {
    let url: http::Uri = server.parse().ok()?;
    let host = url.host().filter(|host| !host.is_empty())?;
    (url.scheme_str() == Some("https")).then_some(())?;
    Some(ApiEndpoint { host: host.to_owned(), port: i32::from(url.port_u16().unwrap_or(443)) })
}

/// Whether a Secret contains exactly this kubeconfig.
pub(crate) fn contains(secret: &Secret, text: &str) -> bool {
    let there = secret.data.as_ref().and_then(|data| data.get(SECRET_VALUE_KEY));
    there.is_some_and(|bytes| bytes.0 == text.as_bytes())
}

/// A right in all namespaces.
struct Right {
    verb: &'static str,
    resource: &'static str,
    subresource: Option<&'static str>,
}

/// What Cluster API begins with (the Nodes of its Machines) and what a drain needs: to cordon, and to evict.
const NEEDED: [Right; 3] = [
    Right { verb: "list", resource: "nodes", subresource: None },
    Right { verb: "patch", resource: "nodes", subresource: None },
    Right { verb: "create", resource: "pods", subresource: Some("eviction") },
];

impl Right {
    fn review(&self) -> SelfSubjectAccessReview {
        let attributes = ResourceAttributes {
            verb: Some(self.verb.to_owned()),
            version: Some("v1".to_owned()),
            resource: Some(self.resource.to_owned()),
            subresource: self.subresource.map(str::to_owned),
            ..ResourceAttributes::default()
        };
        let spec = SelfSubjectAccessReviewSpec {
            resource_attributes: Some(attributes),
            ..SelfSubjectAccessReviewSpec::default()
        };
        SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() }
    }

    /// As RBAC writes it.
    fn text(&self) -> String {
        let of = self.subresource.map(|of| format!("/{of}")).unwrap_or_default();
        format!("{} {}{of}", self.verb, self.resource)
    }
}

/// Why a kubeconfig does not work. The message does not change while the cause does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    /// The API server does not respond, or not as one does.
    Unreachable(String),
    /// The API server responds that it does not accept the credentials, or that they lack a permission.
    Refused(String),
}

/// Uses the credentials of a kubeconfig as Cluster API will: the version that the API server reports, if they also have
/// the rights that Cluster API needs.
pub(crate) async fn try_out(usable: &Usable, workloads: &Workloads) -> Result<String, Problem> {
    let ApiEndpoint { host, port } = &usable.endpoint;
    let tried = async {
        let unusable =
            || Problem::Unreachable("the kubeconfig's certificates and keys cannot be used".to_owned());
        let client = usable.client(workloads).await.ok_or_else(unusable)?;
        let version = client.apiserver_version().await.map_err(|error| {
            tracing::debug!(%error, host, port, "could not read the version of the API server");
            let what = format!("the API server at {host}:{port} did not respond with its version");
            problem(&what, &error)
        })?;
        let reviews: Api<SelfSubjectAccessReview> = Api::all(client);
        for right in &NEEDED {
            let review = reviews.create(&PostParams::default(), &right.review()).await.map_err(|error| {
                tracing::debug!(%error, host, port, "could not review a right in the cluster");
                let what = format!(
                    "the API server at {host}:{port} did not review the rights of the kubeconfig's user"
                );
                problem(&what, &error)
            })?;
            if !review.status.is_some_and(|status| status.allowed) {
                let right = right.text();
                let server = format!("the API server at {host}:{port}");
                return Err(Problem::Refused(format!(
                    "{server} does not allow the kubeconfig's user to {right}"
                )));
            }
        }
        Ok(version.git_version)
    };
    let late = || format!("the API server at {host}:{port} did not respond within {} s", PATIENCE.as_secs());
    let tried = tokio::time::timeout(PATIENCE, tried).await;
    tried.unwrap_or_else(|_elapsed| Err(Problem::Unreachable(late())))
}

fn problem(what: &str, error: &kube::Error) -> Problem {
    let message = format!("{what}: {}", cause(error));
    match error {
        kube::Error::Api(status) if matches!(status.code, 401 | 403) => Problem::Refused(message),
        _ => Problem::Unreachable(message),
    }
}

/// Why a request failed, as a text that stays the same while the cause stays the same.
fn cause(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) if status.code == 401 => {
            "it does not accept the credentials in the kubeconfig (401)".to_owned()
        }
        kube::Error::Api(status) if status.code == 403 => {
            "the user of the kubeconfig lacks the right to ask for it (403)".to_owned()
        }
        kube::Error::Api(status) => format!("it responded with status {}", status.code),
        error => root_cause(error),
    }
}

/// The root cause of an error: connection refused, a certificate, a name that cannot be resolved.
fn root_cause(error: &dyn std::error::Error) -> String {
    const LONGEST: usize = 200;
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    let text = last.to_string();
    // rustls includes the time of the check, which differs each time.
    let lasting = text.split(": verification time").next().unwrap_or_default();
    lasting.chars().take(LONGEST).collect()
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

    fn reason(text: &str) -> &'static str {
        read_text(text).err().map(|blocked| blocked.reason.as_str()).unwrap_or_default()
    }

    #[test]
    fn the_endpoint_comes_from_the_current_context() {
        assert_eq!(
            read_text(GOOD).ok().unwrap().endpoint,
            ApiEndpoint { host: "10.0.0.1".into(), port: 6443 }
        );
    }

    #[test]
    fn a_kubeconfig_is_distinguished_from_user_data() {
        assert!(is_kubeconfig(GOOD.as_bytes()));
        for other in ["", "#!/bin/sh\necho users contexts clusters\n", "#cloud-config\nusers: [a]\n", "\u{1}"]
        {
            assert!(!is_kubeconfig(other.as_bytes()), "{other}");
        }
        assert!(!is_kubeconfig(b"\xff\xfe"));
        // It may write one on the instance.
        let writes = format!("#cloud-config\nwrite_files:\n- content: |\n{}", GOOD.replace('\n', "\n    "));
        assert!(!is_kubeconfig(writes.as_bytes()), "{writes}");
    }

    #[test]
    fn the_earlier_expiry_of_certificate_and_token_counts() {
        assert_eq!(read_text(GOOD).ok().unwrap().expires, None);
        let jwt = GOOD.replace("token: t", "token: e30.eyJleHAiOjE4MDAwMDAwMDB9.c2ln");
        let expires = read_text(&jwt).ok().unwrap().expires;
        assert_eq!(expires.map(Timestamp::as_second), Some(1_800_000_000));
    }

    #[test]
    fn the_cause_of_a_failure_is_named_and_stays_the_same() {
        let code = |code| {
            cause(&kube::Error::Api(Box::new(kube::core::Status { code, ..kube::core::Status::default() })))
        };
        assert!(code(401).contains("does not accept the credentials"));
        assert!(code(403).contains("lacks the right"));
        let tls = std::io::Error::other(
            "invalid peer certificate: certificate expired: verification time 1700000000 (UNIX), but ...",
        );
        assert_eq!(root_cause(&tls), "invalid peer certificate: certificate expired");
    }

    #[test]
    fn kubeconfigs_that_cluster_api_cannot_use_are_refused_with_a_reason() {
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
        assert_eq!(read("boot", &Secret::default()).err().unwrap().reason, Reason::KubeconfigInvalid);
    }
}
