//! VPCs, subnets, security groups, zones.

use super::tags;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::wire::filters::Filters;
use crate::wire::operation::Caller;
use crate::wire::paging::{Page, Paging};
use crate::wire::params::Params;
use crate::wire::xml::Xml;
use foo_model::network::{SecurityGroup, Subnet, Vpc};
use std::collections::BTreeMap;

const PAGING: Paging = Paging { limit: "MaxResults", default: 1_000, min: 5, max: 1_000 };

pub(super) fn vpcs(
    region: &mut Region,
    params: &Params,
    caller: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let page = Page::of(params, &PAGING)?;
    let ids = params.texts("VpcId");
    region.parts_by_id::<Vpc>(&ids)?;
    let filters = Filters::ec2(params)?.only(&["vpc-id", "cidr", "state", "is-default"])?;
    let entries = region
        .parts_seen::<Vpc>()
        .filter(|vpc| ids.is_empty() || ids.iter().any(|id| id == vpc.id.as_str()))
        .filter(|vpc| {
            let cidr = vpc.cidr.to_string();
            filters.match_with(&vpc.tags, |name| {
                vec![match name {
                    "vpc-id" => vpc.id.as_str(),
                    "cidr" => cidr.as_str(),
                    "state" => vpc_state(vpc),
                    _ => truth(vpc.is_default),
                }]
            })
        })
        .filter(|vpc| page.after.as_deref().is_none_or(|after| vpc.id.as_str() > after));
    let (found, next) = page.take(entries, |vpc| vpc.id.to_string());
    xml.list("vpcSet", "item", found, |xml, vpc| {
        xml.text("vpcId", vpc.id.as_str());
        xml.text("ownerId", caller.account);
        xml.text("state", vpc_state(&vpc));
        xml.value("cidrBlock", vpc.cidr);
        xml.text("instanceTenancy", "default");
        xml.value("isDefault", vpc.is_default);
        tags::write(xml, &vpc.tags);
    });
    xml.optional("nextToken", next);
    Ok(())
}

pub(super) fn subnets(
    region: &mut Region,
    params: &Params,
    caller: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let page = Page::of(params, &PAGING)?;
    let ids = params.texts("SubnetId");
    region.parts_by_id::<Subnet>(&ids)?;
    let filters = Filters::ec2(params)?.only(&[
        "availability-zone",
        "availabilityZone",
        "map-public-ip-on-launch",
        "state",
        "subnet-id",
        "vpc-id",
    ])?;
    let entries = region
        .parts_seen::<Subnet>()
        .filter(|subnet| ids.is_empty() || ids.iter().any(|id| id == subnet.id.as_str()))
        .filter(|subnet| {
            filters.match_with(&subnet.tags, |name| {
                vec![match name {
                    "availability-zone" | "availabilityZone" => subnet.zone.as_str(),
                    "map-public-ip-on-launch" => truth(subnet.public_ip_on_launch),
                    "state" => subnet.state.as_str(),
                    "subnet-id" => subnet.id.as_str(),
                    _ => subnet.vpc.as_str(),
                }]
            })
        })
        .filter(|subnet| page.after.as_deref().is_none_or(|after| subnet.id.as_str() > after));
    let (found, next) = page.take(entries, |subnet| subnet.id.to_string());
    xml.list("subnetSet", "item", found, |xml, subnet| {
        xml.text("subnetId", subnet.id.as_str());
        xml.value(
            "subnetArn",
            format!("arn:aws:ec2:{}:{}:subnet/{}", region.name, caller.account, subnet.id),
        );
        xml.text("state", &subnet.state);
        xml.text("ownerId", caller.account);
        xml.text("vpcId", subnet.vpc.as_str());
        xml.value("cidrBlock", subnet.cidr);
        xml.value("availableIpAddressCount", subnet.free_addresses);
        xml.text("availabilityZone", subnet.zone.as_str());
        xml.optional("availabilityZoneId", region.network.zones.get(&subnet.zone));
        xml.text("defaultForAz", "false");
        xml.value("mapPublicIpOnLaunch", subnet.public_ip_on_launch);
        xml.value("assignIpv6AddressOnCreation", subnet.ipv6_on_creation);
        tags::write(xml, &subnet.tags);
    });
    xml.optional("nextToken", next);
    Ok(())
}

pub(super) fn security_groups(
    region: &mut Region,
    params: &Params,
    caller: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let page = Page::of(params, &PAGING)?;
    let (ids, names) = (params.texts("GroupId"), params.texts("GroupName"));
    region.parts_by_id::<SecurityGroup>(&ids)?;
    let filters = Filters::ec2(params)?.only(&["group-id", "group-name", "vpc-id"])?;
    let entries = region
        .parts_seen::<SecurityGroup>()
        .filter(|group| ids.is_empty() || ids.iter().any(|id| id == group.id.as_str()))
        .filter(|group| names.is_empty() || names.contains(&group.name))
        .filter(|group| {
            filters.match_with(&group.tags, |name| {
                vec![match name {
                    "group-id" => group.id.as_str(),
                    "group-name" => group.name.as_str(),
                    _ => group.vpc.as_str(),
                }]
            })
        })
        .filter(|group| page.after.as_deref().is_none_or(|after| group.id.as_str() > after));
    let (found, next) = page.take(entries, |group| group.id.to_string());
    xml.list("securityGroupInfo", "item", found, |xml, group| {
        xml.text("ownerId", caller.account);
        xml.text("groupId", group.id.as_str());
        xml.text("groupName", &group.name);
        xml.text("groupDescription", &group.description);
        xml.text("vpcId", group.vpc.as_str());
        xml.texts("ipPermissions", "item", [""; 0]);
        xml.texts("ipPermissionsEgress", "item", [""; 0]);
        tags::write(xml, &group.tags);
    });
    xml.optional("nextToken", next);
    Ok(())
}

pub(super) fn zones(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let (names, ids) = (params.texts("ZoneName"), params.texts("ZoneId"));
    let filters =
        Filters::ec2(params)?.only(&["region-name", "state", "zone-id", "zone-name", "zone-type"])?;
    let none = BTreeMap::new();
    let all = &region.network.zones;
    if let Some(unknown) = names.iter().find(|name| !all.contains_key(&name.as_str().into())) {
        return Err(AwsError::invalid_value(format!("Invalid availability zone: [{unknown}]")));
    }
    let found = all
        .iter()
        .filter(|(zone, _)| names.is_empty() || names.iter().any(|name| name == zone.as_str()))
        .filter(|(_, id)| ids.is_empty() || ids.contains(id))
        .filter(|(zone, id)| {
            filters.match_with(&none, |name| {
                vec![match name {
                    "region-name" => region.name.as_str(),
                    "state" => region.zone_state(zone).name(),
                    "zone-id" => id.as_str(),
                    "zone-name" => zone.as_str(),
                    _ => "availability-zone",
                }]
            })
        });
    xml.list("availabilityZoneInfo", "item", found, |xml, (zone, id)| {
        xml.text("zoneName", zone.as_str());
        xml.text("zoneId", id);
        xml.text("zoneState", region.zone_state(zone).name());
        xml.text("regionName", &region.name);
        xml.text("zoneType", "availability-zone");
        xml.text("optInStatus", "opt-in-not-required");
        xml.text("groupName", &region.name);
    });
    Ok(())
}

/// EC2's name of the state of a VPC.
fn vpc_state(vpc: &Vpc) -> &'static str {
    if vpc.available { "available" } else { "pending" }
}

fn truth(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}
