//! API servers of simulated EKS clusters: each reports its version to clients with a token that its cluster accepts,
//! and reviews rights by the access policies that EKS has applied.
//!
//! A cluster with the tag [`UNRESPONSIVE`] has an API server that does not respond: nothing at all (`all`), or no
//! review (`reviews`).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foo_controller::client::Workloads;
use foo_controller::metrics::Metrics;
use foo_model::eks::ClusterStatus;
use foo_simulator_core::core::eks::cluster::Cluster;
use foo_simulator_core::core::rules::eks::KubernetesIdentity;
use foo_simulator_core::{DEFAULT_ACCOUNT, DEFAULT_REGION, Simulator};
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use kube::Client;
use kube::client::Body;
use serde_json::json;
use std::convert::Infallible;
use std::time::Duration;

/// How long API servers of EKS accept a token.
const VALID: Duration = Duration::from_mins(15);

/// Connects to the simulated cluster whose endpoint it is; whatever else there is in reality is reached over the
/// network.
pub(super) fn workloads(aws: &Simulator, metrics: &Metrics) -> Workloads {
    let (aws, others) = (aws.clone(), Workloads::over_the_network(metrics.clone()));
    Workloads::by(move |config| {
        let host = config.cluster_url.host().unwrap_or_default();
        let clusters = aws.region(DEFAULT_REGION).clusters();
        let Some(cluster) = clusters.iter().find(|it| host.starts_with(&it.id)) else {
            return others.connect(config);
        };
        let token = serde_json::to_value(&config.auth_info).unwrap()["token"].clone();
        let (aws, id, token) =
            (aws.clone(), cluster.id.clone(), token.as_str().unwrap_or_default().to_owned());
        let service = tower::service_fn(move |request: Request<Body>| {
            let reply = reply(&aws, &id, &token, request.uri().path());
            async move {
                match reply {
                    Some(reply) => Ok::<_, Infallible>(reply),
                    None => std::future::pending().await,
                }
            }
        });
        Ok(Client::new(service, "default"))
    })
}

/// Tag of a cluster whose API server does not respond.
pub(crate) const UNRESPONSIVE: &str = "unresponsive";

/// The response of the API server of the cluster with this id; `None`: none.
fn reply(aws: &Simulator, id: &str, token: &str, path: &str) -> Option<Reply> {
    let clusters = aws.region(DEFAULT_REGION).clusters();
    let cluster = clusters.iter().find(|it| it.id == id)?;
    let reviews = path.ends_with("/selfsubjectaccessreviews");
    let unresponsive = cluster.tags.get(UNRESPONSIVE).map(String::as_str);
    if unresponsive == Some("all") || (reviews && unresponsive == Some("reviews")) {
        return None;
    }
    let Some(identity) = identity(aws, cluster, token) else { return Some(refusal()) };
    Some(if reviews { review(&identity) } else { version(cluster) })
}

fn review(identity: &KubernetesIdentity) -> Reply {
    let admin = |arn: &String| arn.ends_with("/AmazonEKSClusterAdminPolicy");
    let allowed =
        identity.policies.keys().any(admin) || identity.groups.iter().any(|it| it == "system:masters");
    let body = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {},
        "status": { "allowed": allowed },
    });
    Response::new(Full::from(body.to_string()))
}

/// The simulator's own tokens of callers without a key contain the caller, the cluster and the time.
fn identity(aws: &Simulator, cluster: &Cluster, token: &str) -> Option<KubernetesIdentity> {
    let text = token.strip_prefix("k8s-aws-v1.").and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let text = String::from_utf8(text.unwrap_or_default()).unwrap_or_default();
    let words: Vec<&str> = text.split(' ').collect();
    let ["unsigned", "token", "of", caller, "for", name, "at", made] = words.as_slice() else { return None };
    let age = aws.now().0 - made.parse::<i64>().unwrap();
    let principal = format!("arn:aws:iam::{DEFAULT_ACCOUNT}:user/{caller}");
    let region = aws.region(DEFAULT_REGION);
    let entry = region.kubernetes_identity(&cluster.name, &principal, None);
    let valid = i128::from(age) < i128::try_from(VALID.as_millis()).unwrap();
    entry.filter(|_| *name == cluster.name && valid)
}

type Reply = Response<Full<bytes::Bytes>>;

fn version(cluster: &Cluster) -> Reply {
    if matches!(cluster.status, ClusterStatus::Creating | ClusterStatus::Failed) {
        return refusal();
    }
    let version = format!("v{}.2-eks-113cf36", cluster.version);
    let body = json!({
        "major": "1", "minor": "", "gitVersion": version, "gitCommit": "", "gitTreeState": "", "buildDate": "",
        "goVersion": "", "compiler": "", "platform": "",
    });
    Response::new(Full::from(body.to_string()))
}

fn refusal() -> Reply {
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "Unauthorized",
        "reason": "Unauthorized", "code": 401,
    });
    let mut reply = Response::new(Full::from(body.to_string()));
    *reply.status_mut() = StatusCode::UNAUTHORIZED;
    reply
}
