//! Instances.

use super::tags;
use crate::core::ec2::instances::{Ec2Instance, Market, state_code};
use crate::core::error::{AwsError, AwsResult};
use crate::core::lookup::View;
use crate::core::region::Region;
use crate::core::time::iso_millis;
use crate::request::params::Params;
use crate::wire::filters::Filters;
use crate::wire::operation::Caller;
use crate::wire::paging::{Page, Paging};
use crate::wire::xml::Xml;
use foo_cloud::InstanceState;
use foo_model::{InstanceId, SecurityGroupId};
use std::borrow::Cow;

const PAGING: Paging = Paging { limit: "MaxResults", default: 1_000, min: 5, max: 1_000 };

const FILTERS: [&str; 23] = [
    "architecture",
    "availability-zone",
    "dns-name",
    "iam-instance-profile.arn",
    "image-id",
    "instance-id",
    "instance-lifecycle",
    "instance-state-code",
    "instance-state-name",
    "instance-type",
    "instance.group-id",
    "instance.group-name",
    "ip-address",
    "key-name",
    "launch-time",
    "network-interface.addresses.private-ip-address",
    "owner-id",
    "private-dns-name",
    "private-ip-address",
    "reservation-id",
    "subnet-id",
    "tenancy",
    "vpc-id",
];

pub(super) fn describe(
    region: &mut Region,
    params: &Params,
    caller: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let page = Page::of(params, &PAGING)?;
    let ids: Vec<InstanceId> = params.texts("InstanceId").into_iter().map(InstanceId::from).collect();
    if !ids.is_empty() && params.text("MaxResults").is_some() {
        return Err(AwsError::new(
            "InvalidParameterCombination",
            "The parameter instancesSet cannot be used with the parameter maxResults",
        ));
    }
    let filters = Filters::ec2(params)?.only(&FILTERS)?;
    let fits = |instance: &Cow<'_, Ec2Instance>| fits(region, &filters, caller, instance);
    let (found, next) = if ids.is_empty() {
        let after = page.after.as_deref().map(InstanceId::from);
        page.take(region.instances_seen(after.as_ref()).filter(fits), |instance| instance.id.to_string())
    } else {
        (region.instances_by_id(&ids, View::Lagging)?.into_iter().filter(fits).collect(), None)
    };
    // One reservation per instance: the simulated Auto Scaling launches them one by one.
    xml.list("reservationSet", "item", found, |xml, instance| {
        xml.text("reservationId", &instance.reservation);
        xml.text("ownerId", caller.account);
        xml.texts("groupSet", "item", [""; 0]);
        xml.within("instancesSet", |xml| xml.within("item", |xml| write_instance(xml, region, &instance)));
    });
    xml.optional("nextToken", next);
    Ok(())
}

/// Whether the filters of DescribeInstances select an instance.
fn fits(region: &Region, filters: &Filters, caller: &Caller<'_>, instance: &Ec2Instance) -> bool {
    let (code, state) = state_code(instance.state);
    let (code, launched) = (code.to_string(), iso_millis(instance.launched));
    let addresses = instance.addresses.as_ref();
    let private = addresses.map(|it| it.private.to_string());
    let public = addresses.and_then(|it| it.public.as_ref());
    let public_address = public.map(|(address, _)| address.to_string());
    let profile = instance.instance_profile.as_ref().map(|it| profile_arn(region, it));
    filters.match_with(&instance.tags, |name| match name {
        "architecture" => vec![instance.architecture.as_str()],
        "availability-zone" => vec![instance.zone.as_str()],
        "dns-name" => public.iter().map(|(_, name)| name.as_str()).collect(),
        "iam-instance-profile.arn" => profile.iter().map(String::as_str).collect(),
        "instance-state-code" => vec![code.as_str()],
        "instance.group-id" => instance.security_groups.iter().map(SecurityGroupId::as_str).collect(),
        "instance.group-name" => {
            let groups = instance.security_groups.iter();
            let known = groups.filter_map(|id| region.network.security_groups.get(id));
            known.map(|group| group.name.as_str()).collect()
        }
        "ip-address" => public_address.iter().map(String::as_str).collect(),
        "key-name" => instance.key_name.iter().map(String::as_str).collect(),
        "launch-time" => vec![launched.as_str()],
        "network-interface.addresses.private-ip-address" | "private-ip-address" => {
            private.iter().map(String::as_str).collect()
        }
        "owner-id" => vec![caller.account],
        "tenancy" => vec!["default"],
        "image-id" => vec![instance.image.as_str()],
        "instance-id" => vec![instance.id.as_str()],
        "instance-lifecycle" if instance.market == Market::Spot => vec!["spot"],
        "instance-state-name" => vec![state],
        "instance-type" => vec![instance.instance_type.as_str()],
        "private-dns-name" => instance.addresses.iter().map(|it| it.private_dns.as_str()).collect(),
        "reservation-id" => vec![&instance.reservation],
        "subnet-id" => vec![instance.subnet.as_str()],
        "vpc-id" => vec![&instance.vpc],
        _ => Vec::new(),
    })
}

pub(super) fn terminate(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let ids: Vec<InstanceId> = params.texts("InstanceId").into_iter().map(InstanceId::from).collect();
    if ids.is_empty() {
        return Err(AwsError::missing("InstanceId"));
    }
    region.instances_by_id(&ids, View::Present)?;
    let mut changes = Vec::new();
    for id in ids {
        let state = |region: &Region| region.instance(&id).map_or(InstanceState::Terminated, |it| it.state);
        let before = state(region);
        let reason =
            ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown");
        region.terminate_in_ec2(&id, reason);
        let after = state(region);
        changes.push((id, before, after));
    }
    xml.list("instancesSet", "item", changes, |xml, (id, before, after)| {
        xml.text("instanceId", id.as_str());
        xml.within("currentState", |xml| write_state(xml, after));
        xml.within("previousState", |xml| write_state(xml, before));
    });
    Ok(())
}

/// The ARN of an instance profile, from its name or ARN.
fn profile_arn(region: &Region, profile: &str) -> String {
    if profile.starts_with("arn:") {
        return profile.to_owned();
    }
    format!("arn:aws:iam::{}:instance-profile/{profile}", region.account)
}

fn write_state(xml: &mut Xml, state: InstanceState) {
    let (code, name) = state_code(state);
    xml.value("code", code);
    xml.text("name", name);
}

fn write_instance(xml: &mut Xml, region: &Region, instance: &Ec2Instance) {
    xml.text("instanceId", instance.id.as_str());
    xml.text("imageId", instance.image.as_str());
    xml.within("instanceState", |xml| write_state(xml, instance.state));
    let addresses = instance.addresses.as_ref();
    xml.text("privateDnsName", addresses.map_or("", |it| it.private_dns.as_str()));
    let public = addresses.and_then(|it| it.public.as_ref());
    xml.text("dnsName", public.map_or("", |(_, name)| name.as_str()));
    xml.text("reason", instance.reason.as_ref().map_or("", |(_, text)| text.as_str()));
    xml.optional("keyName", instance.key_name.as_ref());
    xml.text("amiLaunchIndex", "0");
    xml.text("instanceType", instance.instance_type.as_str());
    xml.text("launchTime", iso_millis(instance.launched));
    xml.within("placement", |xml| {
        xml.text("availabilityZone", instance.zone.as_str());
        xml.text("groupName", instance.placement_group.as_deref().unwrap_or_default());
        xml.optional("partitionNumber", instance.partition.as_ref());
        xml.text("tenancy", "default");
    });
    xml.within("monitoring", |xml| xml.text("state", "disabled"));
    if let Some(addresses) = addresses {
        xml.text("subnetId", instance.subnet.as_str());
        xml.text("vpcId", &instance.vpc);
        xml.value("privateIpAddress", addresses.private);
        xml.optional("ipAddress", public.map(|(address, _)| address));
    }
    xml.optional("capacityReservationId", instance.capacity_reservation.as_ref());
    xml.text("architecture", &instance.architecture);
    xml.text("rootDeviceType", "ebs");
    xml.optional("rootDeviceName", region.images.get(&instance.image).map(|image| &image.root_device));
    xml.text("virtualizationType", "hvm");
    xml.text("hypervisor", "xen");
    if instance.market == Market::Spot {
        xml.text("instanceLifecycle", "spot");
    }
    if let Some(profile) = &instance.instance_profile {
        xml.within("iamInstanceProfile", |xml| {
            xml.text("arn", profile_arn(region, profile));
            xml.text("id", "AIPA0000000000000FOO1");
        });
    }
    xml.list("groupSet", "item", &instance.security_groups, |xml, group| {
        xml.text("groupId", group.as_str());
        xml.text("groupName", region.network.security_groups.get(group).map_or("", |it| it.name.as_str()));
    });
    if let Some((code, message)) = &instance.reason {
        xml.within("stateReason", |xml| {
            xml.text("code", code);
            xml.text("message", message);
        });
    }
    tags::write(xml, &instance.tags);
}
