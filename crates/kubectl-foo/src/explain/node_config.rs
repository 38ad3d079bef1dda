//! What a FooNodeConfig waits for, and how large its user data is.

use super::lines::{heading, others, remedies, verdict, warnings};
use super::read::NodeConfigFacts;
use crate::text::{line, section};
use foo_api::FooNodeConfig;
use foo_api::conditions::find;
use foo_api::node_config::Family;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{Resource as _, ResourceExt as _};

/// Conditions that are well when they are True.
const WELL_WHEN_TRUE: [&str; 1] = ["DataSecretAvailable"];

/// The explanation of one FooNodeConfig at that moment. Ends with a new line.
pub fn explain(facts: &NodeConfigFacts, now: Timestamp) -> String {
    let config = &facts.node_config;
    let all = conditions(config);
    let mut text = heading(config, config.spec.family.map(|it| format!("family {}", family(it))));
    line(&mut text, &user_data(config));
    let seen = find(all, "Ready").and_then(|ready| ready.observed_generation);
    line(&mut text, &verdict(config.meta(), all, seen, now));
    section(&mut text, "Also", &others(all, &WELL_WHEN_TRUE, now));
    section(&mut text, "What to do", &remedies(all, &WELL_WHEN_TRUE));
    section(&mut text, "Warnings of the last hour", &warnings(&facts.events, now));
    text
}

fn conditions(config: &FooNodeConfig) -> &[Condition] {
    config.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default()
}

fn family(family: Family) -> &'static str {
    match family {
        Family::AL2023 => "AL2023",
        Family::Bottlerocket => "Bottlerocket",
        Family::CloudInit => "CloudInit",
    }
}

/// Where the user data is, and for which pool.
fn user_data(config: &FooNodeConfig) -> String {
    let pools = config.owner_references().iter().filter(|owner| owner.kind == "MachinePool");
    let pools: Vec<&str> = pools.map(|owner| owner.name.as_str()).collect();
    let of = if pools.is_empty() { String::new() } else { format!(" of MachinePool {}", pools.join(", ")) };
    let Some(status) = &config.status else { return "the manager has not reported on it yet".to_owned() };
    match (&status.data_secret_name, status.user_data_bytes) {
        (Some(secret), Some(bytes)) => format!("user data{of}: {bytes} bytes in Secret {secret}"),
        (Some(secret), None) => format!("user data{of}: in Secret {secret}"),
        (None, _) => format!("user data{of}: not written yet"),
    }
}
