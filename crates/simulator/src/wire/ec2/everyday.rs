//! Describe calls of consoles and tools: tags of all resources, regions, offerings; and empty lists of resources that
//! the simulator does not have.

#![expect(clippy::unnecessary_wraps, reason = "the form of an operation")]

use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::filters::Filters;
use crate::wire::operation::Caller;
use crate::wire::paging::{Page, Paging};
use crate::wire::xml::Xml;
use std::collections::BTreeMap;

const PAGING: Paging = Paging { limit: "MaxResults", default: 1_000, min: 5, max: 1_000 };

/// Quotas of the account that old tools read (EC2 API Reference, DescribeAccountAttributes).
const ATTRIBUTES: [(&str, &str); 6] = [
    ("supported-platforms", "VPC"),
    ("default-vpc", "none"),
    ("max-instances", "20"),
    ("max-elastic-ips", "5"),
    ("vpc-max-elastic-ips", "5"),
    ("vpc-max-security-groups-per-interface", "5"),
];

/// Some regions that every account has. The response always contains the region of the request as well.
const REGIONS: [&str; 8] = [
    "ap-northeast-1",
    "ap-southeast-2",
    "eu-central-1",
    "eu-west-1",
    "us-east-1",
    "us-east-2",
    "us-west-1",
    "us-west-2",
];

/// DescribeTags.
pub(super) fn tags(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let page = Page::of(params, &PAGING)?;
    let filters = Filters::ec2(params)?.only(&["key", "resource-id", "resource-type", "value"])?;
    let mut all: Vec<(&str, String, BTreeMap<String, String>)> = Vec::new();
    all.extend(region.instances_seen(None).map(|it| ("instance", it.id.to_string(), it.tags.clone())));
    all.extend(region.templates_seen(None).map(|it| ("launch-template", it.id.to_string(), it.tags.clone())));
    all.extend(region.network_tags_seen());
    all.extend(region.images.values().map(|it| ("image", it.id.to_string(), it.tags.clone())));
    let capacity = &region.capacity;
    let groups = capacity.placement_groups.values();
    all.extend(groups.map(|it| ("placement-group", it.id.clone(), it.tags.clone())));
    let reservations = capacity.reservations.iter();
    all.extend(reservations.map(|(id, it)| ("capacity-reservation", id.clone(), it.tags.clone())));
    all.extend(capacity.snapshots.iter().map(|(id, it)| ("snapshot", id.clone(), it.tags.clone())));
    all.sort_by(|a, b| a.1.cmp(&b.1));
    let none = BTreeMap::new();
    let entries = all
        .iter()
        .flat_map(|(kind, id, tags)| tags.iter().map(move |(key, value)| (*kind, id, key, value)))
        .filter(|(kind, id, key, value)| {
            filters.match_with(&none, |name| {
                vec![match name {
                    "key" => key.as_str(),
                    "resource-id" => id.as_str(),
                    "resource-type" => kind,
                    _ => value.as_str(),
                }]
            })
        })
        .map(|entry| (format!("{}\n{}", entry.1, entry.2), entry))
        .filter(|(place, _)| page.after.as_ref().is_none_or(|after| place > after));
    let (found, next) = page.take(entries, |(place, _)| place.clone());
    xml.list("tagSet", "item", found, |xml, (_, (kind, id, key, value))| {
        xml.text("resourceId", id);
        xml.text("resourceType", kind);
        xml.text("key", key);
        xml.text("value", value);
    });
    xml.optional("nextToken", next);
    Ok(())
}

/// DescribeRegions.
pub(super) fn regions(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let wanted = params.texts("RegionName");
    let mut names: Vec<&str> = REGIONS.into_iter().chain([region.name.as_str()]).collect();
    names.sort_unstable();
    names.dedup();
    if let Some(unknown) = wanted.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(AwsError::invalid_value(format!("Invalid region name: [{unknown}]")));
    }
    names.retain(|name| wanted.is_empty() || wanted.iter().any(|it| it == name));
    xml.list("regionInfo", "item", names, |xml, name| {
        xml.text("regionName", name);
        xml.value("regionEndpoint", format!("ec2.{name}.amazonaws.com"));
        xml.text("optInStatus", "opt-in-not-required");
    });
    Ok(())
}

/// DescribeInstanceTypeOfferings: every type is offered in every zone.
pub(super) fn offerings(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let page = Page::of(params, &PAGING)?;
    let filters = Filters::ec2(params)?.only(&["instance-type", "location"])?;
    let kind = params.text("LocationType").unwrap_or("region");
    let locations: Vec<&str> = match kind {
        "region" => vec![region.name.as_str()],
        "availability-zone" => region.network.zones.keys().map(foo_model::Zone::as_str).collect(),
        "availability-zone-id" => region.network.zones.values().map(String::as_str).collect(),
        other => {
            return Err(AwsError::invalid_value(format!(
                "Value ({other}) for parameter locationType is invalid."
            )));
        }
    };
    let none = BTreeMap::new();
    let entries = region
        .types
        .keys()
        .flat_map(|name| locations.iter().map(move |location| (name.as_str(), *location)))
        .filter(|(name, location)| {
            filters.match_with(&none, |filter| vec![if filter == "location" { *location } else { *name }])
        })
        .map(|entry| (format!("{}\n{}", entry.0, entry.1), entry))
        .filter(|(place, _)| page.after.as_ref().is_none_or(|after| place > after));
    let (found, next) = page.take(entries, |(place, _)| place.clone());
    xml.list("instanceTypeOfferingSet", "item", found, |xml, (_, (name, location))| {
        xml.text("instanceType", name);
        xml.text("locationType", kind);
        xml.text("location", location);
    });
    xml.optional("nextToken", next);
    Ok(())
}

/// DescribeAccountAttributes.
pub(super) fn account_attributes(
    _: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let wanted = params.texts("AttributeName");
    let found =
        ATTRIBUTES.into_iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|it| it == name));
    xml.list("accountAttributeSet", "item", found, |xml, (name, value)| {
        xml.text("attributeName", name);
        xml.list("attributeValueSet", "item", [value], |xml, value| xml.text("attributeValue", value));
    });
    Ok(())
}

/// An empty list of resources that the simulator does not have.
pub(super) fn none(xml: &mut Xml, list: &str) -> AwsResult<()> {
    xml.texts(list, "item", [""; 0]);
    Ok(())
}
