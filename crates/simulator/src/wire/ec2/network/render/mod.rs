//! EC2's XML for parts of networks (EC2 API Reference, "Data types").

pub(super) mod endpoints;
pub(super) mod gateways;
pub(super) mod groups;
pub(super) mod interfaces;
pub(super) mod tables;
pub(super) mod vpcs;

use crate::core::region::Region;

/// The ARN of an EC2 resource.
fn arn(region: &Region, kind: &str, id: &str) -> String {
    format!("arn:aws:ec2:{}:{}:{kind}/{id}", region.name, region.account)
}

/// The id of something that the simulator does not store, derived from the id of its owner.
fn derived(prefix: &str, of: &str) -> String {
    let digits = of.rsplit('-').next().unwrap_or(of);
    format!("{prefix}-{digits}")
}

pub(super) fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}
