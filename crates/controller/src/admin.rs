//! HTTP endpoints for people and machines: /livez, /readyz, /metrics, /debug/pools.

use crate::debug::DebugPools;
use crate::liveness::Liveness;
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use axum::Router;
use axum::extract::{ConnectInfo, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// Health: alive as long as it answers and nothing is wrong that only a restart puts right; ready when nothing is missing.
pub fn health(readiness: Readiness, liveness: Liveness) -> Router {
    Router::new()
        .route("/livez", get(alive))
        .route("/healthz", get(alive))
        .with_state(liveness)
        .merge(Router::new().route("/readyz", get(ready)).with_state(readiness))
}

async fn alive(State(liveness): State<Liveness>) -> Response {
    let wrong = liveness.wrong();
    if wrong.is_empty() {
        return "ok".into_response();
    }
    tracing::error!(?wrong, "not alive any more; Kubernetes restarts the container");
    (StatusCode::INTERNAL_SERVER_ERROR, format!("{}\n", wrong.join("; "))).into_response()
}

async fn ready(State(readiness): State<Readiness>) -> Response {
    let missing = readiness.missing();
    if missing.is_empty() {
        return "ok".into_response();
    }
    (StatusCode::SERVICE_UNAVAILABLE, format!("waiting for {}\n", missing.join(", "))).into_response()
}

/// Diagnostics: metrics for whoever can connect, the last plan of each pool only for the machine itself (which is where
/// `kubectl port-forward` comes from). There is no authentication.
pub fn diagnostics(metrics: Metrics, pools: DebugPools) -> Router {
    Router::new()
        .route("/metrics", get(exposition).with_state(metrics))
        .route("/debug/pools", get(plans).with_state(pools))
}

async fn exposition(State(metrics): State<Metrics>) -> Response {
    match metrics.exposition() {
        Ok(text) => {
            ([(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text)
                .into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

#[derive(Deserialize)]
struct Which {
    namespace: Option<String>,
    name: Option<String>,
}

async fn plans(
    State(pools): State<DebugPools>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Query(which): Query<Which>,
) -> Response {
    if !peer.ip().is_loopback() {
        return (StatusCode::FORBIDDEN, "only from the machine itself; use kubectl port-forward\n")
            .into_response();
    }
    axum::Json(pools.to_json(which.namespace.as_deref(), which.name.as_deref())).into_response()
}

/// Serves a router until the process ends. An address that is taken is an error at once.
pub async fn serve(address: SocketAddr, router: Router) -> std::io::Result<tokio::task::JoinHandle<()>> {
    let listener = TcpListener::bind(address).await?;
    Ok(tokio::spawn(async move {
        if let Err(error) =
            axum::serve(listener, router.into_make_service_with_connect_info::<SocketAddr>()).await
        {
            tracing::error!(%address, %error, "an admin endpoint ended");
        }
    }))
}
