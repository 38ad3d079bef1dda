//! Answers the TokenReviews of all clusters' API servers (Kubernetes, "Webhook Token Authentication"), each under a path with the
//! cluster's name. The simulator decides; here it is put into Kubernetes' words.

use super::rights;
use super::shared::Shared;
use anyhow::{Context as _, Result};
use foo_simulator::{ClusterUser, StsHosts};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Largest TokenReview, in bytes: a token has at most 4 KiB.
const LIMIT: usize = 64 * 1024;

/// A listener on loopback.
pub(super) async fn listen() -> Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("listening for token reviews")
}

/// What kube-apiserver reads to find the webhook of a cluster. Over http: it does not leave this machine.
pub(super) fn kubeconfig(port: u16, cluster: &str) -> String {
    format!(
        "apiVersion: v1\n\
         kind: Config\n\
         clusters: [{{name: reviewer, cluster: {{server: \"http://127.0.0.1:{port}/{cluster}\"}}}}]\n\
         users: [{{name: apiserver, user: {{}}}}]\n\
         contexts: [{{name: reviewer, context: {{cluster: reviewer, user: apiserver}}}}]\n\
         current-context: reviewer\n"
    )
}

/// Answers until the task is aborted; open connections end with it.
pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    connections.spawn(connection(stream, Arc::clone(&shared)));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(answer(&shared, request).await) }
    });
    let served = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    if let Err(error) = served.await {
        tracing::debug!(%error, "connection of a reviewing API server ended");
    }
}

async fn answer(shared: &Shared, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let cluster = head.uri.path().trim_start_matches('/').to_owned();
    let body = Limited::new(body, LIMIT).collect().await.map(http_body_util::Collected::to_bytes);
    let review: Option<Value> = body.ok().and_then(|body| serde_json::from_slice(&body).ok());
    let token = review.as_ref().and_then(|review| review.pointer("/spec/token")).and_then(Value::as_str);
    let Some(token) = token else {
        let text = "expected a request body to be a TokenReview";
        return response(StatusCode::BAD_REQUEST, text.to_owned());
    };
    response(StatusCode::OK, status_of(shared, &cluster, token).to_string())
}

fn response(status: StatusCode, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert("content-type", http::HeaderValue::from_static("application/json"));
    response
}

/// The TokenReview with its answer.
fn status_of(shared: &Shared, cluster: &str, token: &str) -> Value {
    let hosts = StsHosts { simulator: Some(&shared.simulator_host) };
    let region = shared.region.name();
    let status = match shared.simulator.review_token(region, cluster, token, &hosts, shared.now()) {
        Ok(user) => json!({ "authenticated": true, "user": user_info(user) }),
        Err(refusal) => {
            tracing::debug!(cluster, %refusal, "token refused");
            shared.refuse_token(cluster, refusal.to_string());
            json!({ "authenticated": false, "error": refusal.to_string() })
        }
    };
    json!({ "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "status": status })
}

/// UserInfo, with a group more than EKS gives: the one to which the access policies of the entry are bound.
fn user_info(user: ClusterUser) -> Value {
    let mut groups = user.groups;
    groups.push(rights::group_of(&user.principal));
    let extra: BTreeMap<String, [String; 1]> =
        user.extra.into_iter().map(|(name, text)| (name, [text])).collect();
    json!({ "username": user.username, "uid": user.uid, "groups": groups, "extra": extra })
}
