//! Classic load balancers, which have names (Elastic Load Balancing API Reference, version 2012-06-01).

use super::fields::{of_api, page, tagged, write_tags};
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::operation::Caller;
use crate::wire::xml::Xml;
use foo_model::network::{Change, Interface, LoadBalancer, LoadBalancerKind};
use std::collections::BTreeSet;

fn unknown(name: &str) -> AwsError {
    AwsError::new("LoadBalancerNotFound", format!("There is no ACTIVE Load Balancer named '{name}'"))
}

fn named(region: &Region, names: &[String]) -> AwsResult<Vec<LoadBalancer>> {
    let all = of_api(region, true);
    if let Some(name) = names.iter().find(|name| all.iter().all(|balancer| balancer.name != **name)) {
        return Err(unknown(name));
    }
    Ok(all.into_iter().filter(|it| names.is_empty() || names.contains(&it.name)).collect())
}

pub(super) fn balancers(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let page = page(params)?;
    let found = named(region, &params.texts("LoadBalancerNames"))?;
    let entries = found.into_iter().filter(|it| page.after.as_ref().is_none_or(|after| it.name > *after));
    let (found, next) = page.take(entries, |balancer| balancer.name.clone());
    let region: &Region = region;
    xml.list("LoadBalancerDescriptions", "member", found, |xml, balancer| write(xml, &balancer, region));
    xml.optional("NextMarker", next);
    Ok(())
}

fn write(xml: &mut Xml, balancer: &LoadBalancer, region: &Region) {
    xml.text("LoadBalancerName", &balancer.name);
    xml.value("DNSName", format!("{}-1234567890.{}.elb.amazonaws.com", balancer.name, region.name));
    xml.text("VPCId", balancer.vpc.as_str());
    xml.text("Scheme", "internet-facing");
    let wanted = format!("ELB {}", balancer.name);
    let subnets: BTreeSet<&str> = region
        .network
        .all::<Interface>()
        .filter(|interface| interface.description == wanted)
        .map(|interface| interface.subnet.as_str())
        .collect();
    xml.texts("Subnets", "member", subnets);
    xml.texts("SecurityGroups", "member", balancer.groups.iter().map(ToString::to_string));
    xml.texts("Instances", "member", [""; 0]);
    xml.texts("ListenerDescriptions", "member", [""; 0]);
}

pub(super) fn tags(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let found = named(region, &tagged(params, "LoadBalancerNames")?)?;
    xml.list("TagDescriptions", "member", found, |xml, balancer| {
        xml.text("LoadBalancerName", &balancer.name);
        write_tags(xml, &balancer.tags);
    });
    Ok(())
}

/// "If the load balancer does not exist or has already been deleted, the call succeeds."
pub(super) fn delete(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    let name = params.required("LoadBalancerName")?.to_owned();
    region.change_network(&Change::DeleteLoadBalancer {
        kind: LoadBalancerKind::Classic,
        name,
        arn: None,
    })?;
    Ok(())
}
