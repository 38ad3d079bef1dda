//! From the nouns of a network to EC2's XML (EC2 API Reference, "Data types").

pub(super) mod endpoints;
pub(super) mod gateways;
pub(super) mod groups;
pub(super) mod interfaces;
pub(super) mod tables;
pub(super) mod vpcs;

use crate::core::region::Region;

/// The ARN of a thing of EC2.
fn arn(region: &Region, kind: &str, id: &str) -> String {
    format!("arn:aws:ec2:{}:{}:{kind}/{id}", region.name, region.account)
}

/// The id of something that the simulator does not keep, made from the id of what it belongs to: always the same.
fn derived(prefix: &str, of: &str) -> String {
    let digits = of.rsplit('-').next().unwrap_or(of);
    format!("{prefix}-{digits}")
}

pub(super) fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}
