//! The two requests to the API server: who the user of a token is, and what that user may do.
//!
//! Responses repeat the token. So they are not decoded by kube, which logs what it cannot decode, and errors
//! contain only a status code.

use axum::http::{Request, header};
use kube::Client;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;

/// The user of a token: the response of one review and the question of the other.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct User {
    #[serde(rename(serialize = "user"), default)]
    username: String,
    #[serde(default)]
    uid: String,
    #[serde(default)]
    groups: Vec<String>,
    #[serde(default)]
    extra: Map<String, Value>,
}

/// The API server gave no response, or one that cannot be decoded. The text is for the log.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unanswered {
    #[error("the API server refused a {review}: {code} {reason}")]
    Refused { review: &'static str, code: u16, reason: String },
    #[error("a {0} got no response")]
    NoAnswer(&'static str),
    #[error("reviews took too long")]
    TooLate,
    #[error("the response to a {0} cannot be understood")]
    NotUnderstood(&'static str),
}

#[derive(Deserialize)]
struct Reviewed<S> {
    status: S,
}

#[derive(Deserialize)]
struct Token {
    #[serde(default)]
    authenticated: bool,
    user: Option<User>,
}

#[derive(Deserialize)]
struct Right {
    #[serde(default)]
    allowed: bool,
    #[serde(default)]
    denied: bool,
}

/// The user of the token; none if the API server does not accept it.
pub(super) async fn user_of(client: &Client, token: &str) -> Result<Option<User>, Unanswered> {
    let review: Token =
        ask(client, "TokenReview", "/apis/authentication.k8s.io/v1/tokenreviews", json!({"token": token}))
            .await?;
    Ok(review.user.filter(|user| review.authenticated && !user.username.is_empty()))
}

/// Whether the user may do that with this path.
pub(super) async fn may(client: &Client, user: &User, verb: &str, path: &str) -> Result<bool, Unanswered> {
    const REVIEW: &str = "SubjectAccessReview";
    let mut spec = serde_json::to_value(user).map_err(|_never| Unanswered::NotUnderstood(REVIEW))?;
    if let Some(spec) = spec.as_object_mut() {
        spec.insert("nonResourceAttributes".to_owned(), json!({"path": path, "verb": verb}));
    }
    let right: Right =
        ask(client, REVIEW, "/apis/authorization.k8s.io/v1/subjectaccessreviews", spec).await?;
    Ok(right.allowed && !right.denied)
}

async fn ask<S: DeserializeOwned>(
    client: &Client,
    review: &'static str,
    path: &str,
    spec: Value,
) -> Result<S, Unanswered> {
    let (group, _) = path.trim_start_matches("/apis/").rsplit_once('/').unwrap_or_default();
    let body = json!({"apiVersion": group, "kind": review, "spec": spec}).to_string();
    let request = Request::post(path)
        .header(header::CONTENT_TYPE, "application/json")
        .body(body.into_bytes())
        .map_err(|_never| Unanswered::NoAnswer(review))?;
    let response = client.request_text(request).await.map_err(|error| match error {
        kube::Error::Api(status) => Unanswered::Refused {
            review,
            code: status.code,
            reason: status.reason.chars().take(40).collect(),
        },
        _ => Unanswered::NoAnswer(review),
    })?;
    let reviewed: Reviewed<S> =
        serde_json::from_str(&response).map_err(|_echo| Unanswered::NotUnderstood(review))?;
    Ok(reviewed.status)
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("username", &self.username).finish_non_exhaustive()
    }
}
