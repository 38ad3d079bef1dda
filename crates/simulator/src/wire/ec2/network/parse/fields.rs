//! Single parameters of networking requests, with EC2's refusals of malformed values.

use crate::core::error::{AwsError, AwsResult};
use crate::request::params::Params;
use crate::wire::ec2::tags;
use foo_model::network::Tags;
use ipnet::{Ipv4Net, Ipv6Net};
use std::collections::BTreeSet;
use std::str::FromStr;

/// Parameters of every request. Presigned requests also have those of their signature.
const COMMON: [&str; 3] = ["Action", "Version", "DryRun"];

/// Refuses other parameters than these: AWS does not have them, or the simulator does not support them.
pub(in crate::wire::ec2) fn only(params: &Params, names: &[&str]) -> AwsResult<()> {
    let known = |name: &str| names.contains(&name) || COMMON.contains(&name) || name.starts_with("X-Amz-");
    match params.nodes().find(|(name, _)| !known(name)) {
        Some((name, _)) => {
            Err(AwsError::new("UnknownParameter", format!("The parameter {name} is not recognized")))
        }
        None => Ok(()),
    }
}

/// Refuses a parameter with another value than the only supported one.
pub(in crate::wire::ec2) fn fixed(params: &Params, name: &str, value: &str) -> AwsResult<()> {
    match params.text(name) {
        Some(given) if !given.eq_ignore_ascii_case(value) => Err(unsupported(name, given)),
        _ => Ok(()),
    }
}

/// The refusal of something that AWS supports and the simulator does not.
pub(in crate::wire::ec2) fn unsupported(name: &str, given: &str) -> AwsError {
    let text = format!("The value {given} of the parameter {name} is not simulated.");
    AwsError::new("UnsupportedOperation", text)
}

/// The refusal of an invalid value of a parameter.
pub(super) fn wrong(name: &str, given: &str, why: &str) -> AwsError {
    AwsError::invalid_value(format!("Value ({given}) for parameter {} is invalid. {why}", lower(name)))
}

/// The name of a parameter in EC2's messages: with a small first letter.
fn lower(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(chars).collect()
}

/// A required id.
pub(super) fn id<T: for<'a> From<&'a str>>(params: &Params, name: &str) -> AwsResult<T> {
    params.required(name).map(T::from)
}

/// An optional list of ids.
pub(in crate::wire::ec2::network) fn ids<T: for<'a> From<&'a str> + Ord>(
    params: &Params,
    name: &str,
) -> BTreeSet<T> {
    params.texts(name).iter().map(|id| T::from(id.as_str())).collect()
}

/// A required IPv4 range. AWS clears the host bits (EC2 API Reference, CreateVpc).
pub(super) fn v4(params: &Params, name: &str) -> AwsResult<Ipv4Net> {
    range(name, params.required(name)?).map(|range: Ipv4Net| range.trunc())
}

/// An optional IPv6 range.
pub(super) fn v6(params: &Params, name: &str) -> AwsResult<Option<Ipv6Net>> {
    let text = params.text(name).filter(|text| !text.is_empty());
    text.map(|text| range(name, text).map(|range: Ipv6Net| range.trunc())).transpose()
}

/// Parses an address range.
pub(super) fn range<T: FromStr>(name: &str, text: &str) -> AwsResult<T> {
    text.parse().map_err(|_| wrong(name, text, "This is not a valid CIDR block."))
}

/// `TagSpecification.1`: the tags of the new resource, which has this type.
pub(super) fn tags_of(params: &Params, resource_type: &str) -> AwsResult<Tags> {
    tags_in(params, "TagSpecification", resource_type)
}

/// The same in a parameter of this name.
pub(in crate::wire::ec2) fn tags_in(params: &Params, name: &str, resource_type: &str) -> AwsResult<Tags> {
    let mut all = Tags::new();
    for spec in params.list(name) {
        let given = spec.required("ResourceType")?;
        if given != resource_type {
            let text = format!("'{given}' is not a valid taggable resource type for this operation.");
            return Err(AwsError::invalid_value(text));
        }
        all.extend(tags::parse(spec)?);
    }
    Ok(all)
}

/// `Name.Value`: an attribute in requests that change attributes.
pub(super) fn attribute(params: &Params, name: &str) -> AwsResult<Option<bool>> {
    params.node(name).map_or(Ok(None), |node| node.flag("Value"))
}
