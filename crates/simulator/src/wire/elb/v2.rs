//! Application, network and gateway load balancers and their target groups, which have ARNs (Elastic Load Balancing API
//! Reference, version 2015-12-01).

use super::fields::{of_api, page, tagged, write_tags};
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::operation::Caller;
use crate::wire::xml::Xml;
use foo_model::network::{Change, Interface, LoadBalancer, LoadBalancerKind, Subnet, TargetGroup};
use foo_model::{InstanceId, SubnetId, TargetGroupArn};
use std::collections::BTreeSet;

fn arn(balancer: &LoadBalancer) -> &str {
    balancer.arn.as_deref().unwrap_or_default()
}

fn unknown_balancer() -> AwsError {
    AwsError::new("LoadBalancerNotFound", "One or more load balancers not found")
}

fn unknown_target_group() -> AwsError {
    AwsError::new("TargetGroupNotFound", "One or more target groups not found")
}

pub(super) fn balancers(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let page = page(params)?;
    let (arns, names) = (params.texts("LoadBalancerArns"), params.texts("Names"));
    let all = of_api(region, false);
    let known = |wanted: &String| all.iter().any(|it| arn(it) == wanted || it.name == *wanted);
    if !arns.iter().chain(&names).all(known) {
        return Err(unknown_balancer());
    }
    let asked = |it: &LoadBalancer| {
        (arns.is_empty() && names.is_empty())
            || names.contains(&it.name)
            || arns.iter().any(|wanted| arn(it) == wanted)
    };
    let entries = all
        .iter()
        .filter(|it| asked(it))
        .filter(|it| page.after.as_deref().is_none_or(|after| arn(it) > after));
    let (found, next) = page.take(entries, |balancer| arn(balancer).to_owned());
    let region: &Region = region;
    xml.list("LoadBalancers", "member", found, |xml, balancer| write(xml, balancer, region));
    xml.optional("NextMarker", next);
    Ok(())
}

fn write(xml: &mut Xml, balancer: &LoadBalancer, region: &Region) {
    let kind: &'static str = balancer.kind.into();
    xml.text("LoadBalancerArn", arn(balancer));
    xml.text("LoadBalancerName", &balancer.name);
    xml.value("DNSName", format!("{}-1234567890.elb.{}.amazonaws.com", balancer.name, region.name));
    xml.text("Type", kind);
    xml.text("Scheme", "internet-facing");
    xml.text("VpcId", balancer.vpc.as_str());
    xml.within("State", |xml| xml.text("Code", "active"));
    xml.text("IpAddressType", "ipv4");
    xml.list("AvailabilityZones", "member", subnets(balancer, region), |xml, id| {
        xml.optional("ZoneName", region.network.get::<Subnet>(id).map(|subnet| &subnet.zone));
        xml.text("SubnetId", id.as_str());
    });
    xml.texts("SecurityGroups", "member", balancer.groups.iter().map(ToString::to_string));
}

/// The subnets that a load balancer has interfaces in. Their descriptions end as its ARN does.
fn subnets<'a>(balancer: &LoadBalancer, region: &'a Region) -> BTreeSet<&'a SubnetId> {
    let Some((_, ending)) = arn(balancer).split_once(":loadbalancer/") else { return BTreeSet::new() };
    let wanted = format!("ELB {ending}");
    let all = region.network.all::<Interface>();
    all.filter(|interface| interface.description == wanted).map(|interface| &interface.subnet).collect()
}

pub(super) fn target_groups(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let page = page(params)?;
    let (arns, names) = (params.texts("TargetGroupArns"), params.texts("Names"));
    let region: &Region = region;
    let all: Vec<TargetGroup> =
        region.parts_seen::<TargetGroup>().map(std::borrow::Cow::into_owned).collect();
    if !arns.iter().chain(&names).all(|wanted| all.iter().any(|it| it.arn == *wanted || it.name == *wanted)) {
        return Err(unknown_target_group());
    }
    let balancer_of = |group: &TargetGroup| region.network.targeted.get(&group.arn);
    let of_balancer = params.text("LoadBalancerArn");
    let entries = all
        .iter()
        .filter(|it| arns.is_empty() || arns.contains(&it.arn))
        .filter(|it| names.is_empty() || names.contains(&it.name))
        .filter(|it| of_balancer.is_none_or(|wanted| balancer_of(it).is_some_and(|of| of == wanted)))
        .filter(|it| page.after.as_ref().is_none_or(|after| it.arn > *after));
    let (found, next) = page.take(entries, |group| group.arn.clone());
    xml.list("TargetGroups", "member", found, |xml, group| {
        xml.text("TargetGroupArn", &group.arn);
        xml.text("TargetGroupName", &group.name);
        xml.text("Protocol", "TCP");
        xml.text("Port", "80");
        xml.text("VpcId", group.vpc.as_str());
        xml.text("TargetType", "instance");
        xml.texts("LoadBalancerArns", "member", balancer_of(group));
    });
    xml.optional("NextMarker", next);
    Ok(())
}

/// DescribeTargetHealth, of all targets or of those that are named.
pub(super) fn target_health(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let arn = TargetGroupArn::from(params.required("TargetGroupArn")?);
    let mut targets = region.target_health(&arn).ok_or_else(unknown_target_group)?;
    let named: BTreeSet<InstanceId> =
        params.list("Targets").into_iter().filter_map(|it| it.text("Id").map(InstanceId::from)).collect();
    targets.retain(|id, _| named.is_empty() || named.contains(id));
    xml.list("TargetHealthDescriptions", "member", targets, |xml, (id, health)| {
        xml.within("Target", |xml| {
            xml.text("Id", id.as_str());
            xml.text("Port", "80");
        });
        xml.text("HealthCheckPort", "80");
        xml.within("TargetHealth", |xml| {
            xml.text("State", health.state_name());
            xml.optional("Reason", Some(health.reason).filter(|reason| !reason.is_empty()));
        });
    });
    Ok(())
}

pub(super) fn tags(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let region: &Region = region;
    let mut found = Vec::new();
    for wanted in tagged(params, "ResourceArns")? {
        let tags = if wanted.contains(":targetgroup/") {
            let group = region.part_seen::<TargetGroup>(&wanted).ok_or_else(unknown_target_group)?;
            group.tags.clone()
        } else {
            let balancer = region.part_seen::<LoadBalancer>(&wanted).ok_or_else(unknown_balancer)?;
            balancer.tags.clone()
        };
        found.push((wanted, tags));
    }
    xml.list("TagDescriptions", "member", found, |xml, (arn, tags)| {
        xml.text("ResourceArn", arn);
        write_tags(xml, &tags);
    });
    Ok(())
}

pub(super) fn delete(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    let arn = params.required("LoadBalancerArn")?;
    let (kind, name) = kind_and_name(arn)
        .ok_or_else(|| AwsError::validation(format!("'{arn}' is not a valid load balancer ARN")))?;
    let (name, arn) = (name.to_owned(), Some(arn.to_owned()));
    region.change_network(&Change::DeleteLoadBalancer { kind, name, arn })?;
    Ok(())
}

/// `arn:aws:elasticloadbalancing:…:loadbalancer/app/<name>/<id>`
fn kind_and_name(arn: &str) -> Option<(LoadBalancerKind, &str)> {
    let (_, resource) = arn.split_once(":loadbalancer/")?;
    let mut parts = resource.split('/');
    let kind = match parts.next()? {
        "app" => LoadBalancerKind::Application,
        "net" => LoadBalancerKind::Network,
        "gwy" => LoadBalancerKind::Gateway,
        _ => return None,
    };
    Some((kind, parts.next()?))
}

pub(super) fn delete_target_group(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    _: &mut Xml,
) -> AwsResult<()> {
    let arn = params.required("TargetGroupArn")?.to_owned();
    region.change_network(&Change::DeleteTargetGroup { arn })?;
    Ok(())
}
