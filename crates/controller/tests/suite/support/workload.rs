//! API servers of simulated EKS clusters: each tells its version to whoever has a token that its cluster lets in.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foo_controller::client::Workloads;
use foo_controller::metrics::Metrics;
use foo_simulator::core::eks::cluster::{Cluster, ClusterStatus};
use foo_simulator::{DEFAULT_ACCOUNT, DEFAULT_REGION, Simulator};
use http::{Request, Response, StatusCode};
use http_body_util::Full;
use kube::Client;
use kube::client::Body;
use serde_json::json;
use std::convert::Infallible;
use std::time::Duration;

/// How long API servers of EKS accept a token.
const VALID: Duration = Duration::from_mins(15);

/// Connects to the simulated cluster whose endpoint it is; whatever else there is in reality is reached over the network.
pub(super) fn workloads(aws: &Simulator, metrics: &Metrics) -> Workloads {
    let (aws, others) = (aws.clone(), Workloads::over_the_network(metrics.clone()));
    Workloads::by(move |config| {
        let host = config.cluster_url.host().unwrap_or_default();
        let clusters = aws.region(DEFAULT_REGION).clusters();
        let Some(cluster) = clusters.iter().find(|it| host.starts_with(&it.id)) else {
            return others.connect(config);
        };
        let token = serde_json::to_value(&config.auth_info).unwrap()["token"].clone();
        let lets_in = lets_in(&aws, cluster, token.as_str().unwrap_or_default());
        let answer = if lets_in { version(cluster) } else { refusal() };
        let service = tower::service_fn(move |_: Request<Body>| {
            let answer = answer.clone();
            async move { Ok::<_, Infallible>(answer) }
        });
        Ok(Client::new(service, "default"))
    })
}

/// The simulator's own tokens of callers without a key say whose they are, for which cluster, and of when.
fn lets_in(aws: &Simulator, cluster: &Cluster, token: &str) -> bool {
    let text = token.strip_prefix("k8s-aws-v1.").and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let text = String::from_utf8(text.unwrap_or_default()).unwrap_or_default();
    let words: Vec<&str> = text.split(' ').collect();
    let ["unsigned", "token", "of", caller, "for", name, "at", made] = words.as_slice() else { return false };
    let age = aws.now().0 - made.parse::<i64>().unwrap();
    let principal = format!("arn:aws:iam::{DEFAULT_ACCOUNT}:user/{caller}");
    let region = aws.region(DEFAULT_REGION);
    let entry = region.kubernetes_identity(&cluster.name, &principal, None);
    *name == cluster.name && i128::from(age) < i128::try_from(VALID.as_millis()).unwrap() && entry.is_some()
}

type Answer = Response<Full<bytes::Bytes>>;

fn version(cluster: &Cluster) -> Answer {
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

fn refusal() -> Answer {
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "Unauthorized",
        "reason": "Unauthorized", "code": 401,
    });
    let mut answer = Response::new(Full::from(body.to_string()));
    *answer.status_mut() = StatusCode::UNAUTHORIZED;
    answer
}
