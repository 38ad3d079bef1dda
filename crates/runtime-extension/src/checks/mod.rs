//! The checks of `foo-preflight`, with the settings' credentials, within the time that core waits for a handler.

use crate::clouds::{Clouds, Connected};
use crate::settings::Settings;
use foo_model::names::TAG_CLUSTER;
use foo_model::network::{Kind, Scope};
use foo_preflight::topology::Topology;
use foo_preflight::{Account, Report};
use std::sync::Arc;
use std::time::Duration;

/// How long AWS has to respond, well within the time that core waits for a handler.
pub(crate) const DEADLINE: Duration = Duration::from_secs(5);

/// The connection for a topology, or why there is none.
pub(crate) async fn connection(
    clouds: &Clouds,
    settings: &Settings,
    topology: &Topology,
) -> Result<Arc<Connected>, String> {
    let Some(access) = settings.access(&topology.identity) else {
        return Err(format!("the extension's setting identities does not name {}", topology.identity));
    };
    if !is_region(&topology.region) {
        return Err(format!("{:?} is no AWS region", topology.region));
    }
    clouds.get(access, &topology.region).await.map_err(|error| format!("{error:#}"))
}

/// The region becomes part of host names.
fn is_region(region: &str) -> bool {
    (1..=32).contains(&region.len())
        && region.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Mistakes of a topology by itself, and what AWS reports of it within [`DEADLINE`].
pub(crate) async fn check(clouds: &Clouds, settings: &Settings, topology: &Topology) -> Report {
    let connected = connection(clouds, settings, topology).await;
    let account: Result<&dyn Account, String> = match &connected {
        Ok(aws) => Ok(aws.as_ref()),
        Err(why) => Err(why.clone()),
    };
    foo_preflight::check(account, topology, DEADLINE).await
}

/// The VPC of a Cluster, if AWS returns it: that of its subnets, or of the network that the provider created for it.
pub(crate) async fn vpc_of(aws: &Connected, topology: &Topology) -> Option<String> {
    let Some(network) = &topology.managed else { return foo_preflight::vpc(aws, topology).await };
    if let Some(named) = &network.vpc_id {
        return Some(named.clone());
    }
    let tag = Scope::Tag(TAG_CLUSTER.to_owned(), topology.cluster.clone());
    let parts = aws.cloud.describe_network(Kind::Vpc, &tag).await.ok()?;
    parts.vpcs.into_keys().next().map(|id| id.to_string())
}

#[cfg(test)]
mod tests;
