//! Diagnostics, served as Cluster API's own providers do: `/metrics` and the pages of `/debug` over TLS, for users
//! whose token the API server accepts and who may `get` the path ([`access`]). With `--insecure-diagnostics`
//! only `/metrics`, over plain HTTP and for any client that can connect.

mod access;
mod certificate;
mod review;
#[cfg(test)]
mod tests;

pub use access::Access;
pub use certificate::{Certificate, Files};

use crate::debug::{Debug, Page};
use crate::metrics::Metrics;
use crate::telemetry::LogLevel;
use axum::Router;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;
use std::time::Duration;
use strum::IntoEnumIterator;

/// All pages, for users that `access` allows. To be served over TLS only: requests carry tokens.
pub fn guarded(metrics: Metrics, debug: &Debug, log_level: LogLevel, access: Access) -> Router {
    let groups = metrics.unmanaged_groups();
    let unmanaged = move |Query(which): Query<Which>| async move {
        axum::Json(groups.to_json(which.namespace.as_deref(), which.name.as_deref()))
    };
    let open = open(metrics).route("/debug/unmanaged-groups", get(unmanaged));
    let pages = Page::iter().fold(open, |pages, page| {
        let shown = debug.clone();
        let show = move |Query(which): Query<Which>| async move {
            axum::Json(shown.to_json(page, which.namespace.as_deref(), which.name.as_deref()))
        };
        pages.route(page.path(), get(show))
    });
    let level = get(shown_level).put(changed_level).delete(reset_level).with_state(log_level);
    pages.route("/debug/log-level", level).route_layer(from_fn_with_state(access, access::guard))
}

/// Metrics, for any client that can connect. They contain no names of objects.
pub fn open(metrics: Metrics) -> Router {
    Router::new().route("/metrics", get(exposition).with_state(metrics))
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

/// A level, and for how many seconds.
#[derive(Deserialize)]
struct Level {
    filter: String,
    seconds: Option<u64>,
}

async fn shown_level(State(level): State<LogLevel>) -> Response {
    axum::Json(level.shown()).into_response()
}

async fn changed_level(State(level): State<LogLevel>, Query(new): Query<Level>) -> Response {
    match level.change(&new.filter, new.seconds.map(Duration::from_secs)) {
        Ok(changed) => axum::Json(changed).into_response(),
        Err(invalid) => (StatusCode::BAD_REQUEST, format!("{invalid}\n")).into_response(),
    }
}

async fn reset_level(State(level): State<LogLevel>) -> Response {
    axum::Json(level.reset()).into_response()
}
