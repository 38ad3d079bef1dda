//! Services that endpoints can connect to, and the prefix lists of those with gateway endpoints.

use super::parse::fields::{ids, only};
use crate::core::error::{AwsError, AwsResult};
use crate::core::network::services::EndpointService;
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::filters::Filters;
use crate::wire::operation::Caller;
use crate::wire::paging::{Page, Paging};
use crate::wire::xml::Xml;
use foo_model::Zone;
use std::collections::{BTreeMap, BTreeSet};

const PAGES: Paging = Paging { limit: "MaxResults", default: 1_000, min: 1, max: 1_000 };

/// A service with one type of endpoints: name, type, service.
type Offer = (String, &'static str, EndpointService);

/// DescribeVpcEndpointServices: a service with both types is listed twice.
pub(super) fn endpoints(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    only(params, &["ServiceName", "Filter", "MaxResults", "NextToken"])?;
    let page = Page::of(params, &PAGES)?;
    let filters = Filters::ec2(params)?.only(&["owner", "service-name", "service-type"])?;
    let wanted: BTreeSet<String> = ids(params, "ServiceName");
    let all = EndpointService::all(&region.name);
    if let Some(name) = wanted.iter().find(|name| !all.contains_key(*name)) {
        let text = format!("The Vpc Endpoint Service '{name}' does not exist");
        return Err(AwsError::new("InvalidServiceName", text));
    }
    let none = BTreeMap::new();
    let of_type = |(name, service): (String, EndpointService)| {
        let gateway = service.prefix_list().map(|_| (name.clone(), "Gateway", service));
        let interface = service.has_interfaces.then_some((name, "Interface", service));
        gateway.into_iter().chain(interface)
    };
    let entries = all
        .into_iter()
        .filter(|(name, _)| wanted.is_empty() || wanted.contains(name))
        .flat_map(of_type)
        .filter(|(name, kind, _)| {
            filters.match_with(&none, |filter| match filter {
                "owner" => vec!["amazon"],
                "service-type" => vec![*kind],
                _ => vec![name.as_str()],
            })
        })
        .filter(|offer| page.after.as_ref().is_none_or(|after| key(offer) > *after));
    let (found, next) = page.take(entries, key);
    let names: BTreeSet<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
    xml.texts("serviceNameSet", "item", names);
    xml.list("serviceDetailSet", "item", &found, |xml, offer| write(xml, offer, region));
    xml.optional("nextToken", next);
    Ok(())
}

fn key((name, kind, _): &Offer) -> String {
    format!("{name}\n{kind}")
}

fn write(xml: &mut Xml, (name, kind, service): &Offer, region: &Region) {
    xml.text("serviceName", name);
    xml.list("serviceType", "item", [kind], |xml, kind| xml.text("serviceType", kind));
    xml.texts("availabilityZoneSet", "item", region.network.zones.keys().map(Zone::as_str));
    xml.text("owner", "amazon");
    if *kind == "Interface" {
        xml.value("privateDnsName", service.domain(&region.name));
    }
    xml.text("vpcEndpointPolicySupported", "true");
    xml.text("acceptanceRequired", "false");
    xml.text("managesVpcEndpoints", "false");
    xml.texts("supportedIpAddressTypeSet", "item", ["ipv4"]);
}

/// DescribePrefixLists: the lists of services with gateway endpoints. Their ranges are examples: the simulator routes
/// nothing.
pub(super) fn prefix_lists(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    only(params, &["PrefixListId", "Filter", "MaxResults", "NextToken"])?;
    let page = Page::of(params, &PAGES)?;
    let filters = Filters::ec2(params)?.only(&["prefix-list-id", "prefix-list-name"])?;
    let wanted: BTreeSet<String> = ids(params, "PrefixListId");
    let all: BTreeMap<String, String> = EndpointService::all(&region.name)
        .into_iter()
        .filter_map(|(name, service)| service.prefix_list().map(|list| (list.to_string(), name)))
        .collect();
    if let Some(id) = wanted.iter().find(|id| !all.contains_key(*id)) {
        let text = format!("The prefix list ID '{id}' does not exist");
        return Err(AwsError::new("InvalidPrefixListID.NotFound", text));
    }
    let none = BTreeMap::new();
    let entries = all
        .iter()
        .filter(|(id, _)| wanted.is_empty() || wanted.contains(*id))
        .filter(|(id, name)| {
            filters.match_with(&none, |filter| vec![if filter == "prefix-list-id" { *id } else { *name }])
        })
        .filter(|(id, _)| page.after.as_ref().is_none_or(|after| *id > after));
    let (found, next) = page.take(entries, |(id, _)| (*id).clone());
    xml.list("prefixListSet", "item", found, |xml, (id, name)| {
        xml.text("prefixListId", id);
        xml.text("prefixListName", name);
        xml.texts("cidrSet", "item", ["198.51.100.0/24"]);
    });
    xml.optional("nextToken", next);
    Ok(())
}
