//! Networks: requests on the wire, and how responses are read.

mod changes;
mod reads;
mod services;
mod simulator;

use crate::canned::{Canned, Form, ec2_response};
use foo_cloud::Networks;
use foo_model::network::{Kind, Parts, Scope};
use std::collections::BTreeMap;

/// The fields of a request that are not the protocol's own.
fn fields(form: &Form) -> Vec<String> {
    let own = |key: &str| !matches!(key, "Action" | "Version");
    form.iter().filter(|(key, _)| own(key)).map(|(key, value)| format!("{key}={value}")).collect()
}

fn tagged() -> Scope {
    Scope::TagKey("infrastructure.foo.com/network".into())
}

fn ids(ids: &[&str]) -> Scope {
    Scope::Ids(ids.iter().map(|id| (*id).to_owned()).collect())
}

/// The response to one read, and its request.
async fn describe_one(kind: Kind, scope: &Scope, set: &'static str, item: &str) -> (Parts, Form) {
    let body = format!("<{set}><item>{item}</item></{set}>");
    let server = Canned::start(move |form, _| ec2_response(&form["Action"], &body)).await;
    let parts = server.cloud().await.describe_network(kind, scope).await.unwrap();
    assert_eq!(server.asked().len(), 1);
    (parts, server.asked().remove(0))
}

/// The only part of its kind.
fn only<K: Ord, P>(parts: BTreeMap<K, P>) -> P {
    let mut parts: Vec<P> = parts.into_values().collect();
    assert_eq!(parts.len(), 1);
    parts.remove(0)
}
