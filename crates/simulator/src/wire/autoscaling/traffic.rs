//! Traffic sources of Auto Scaling groups, of all three types; and the older calls, which know one type each: Classic Load
//! Balancers, or target groups of Elastic Load Balancing.

use super::fields::group_name;
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::model::Group;
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::operation::Caller;
use crate::wire::xml::Xml;
use foo_model::{TargetState, TrafficSource, TrafficSourceKind};
use std::collections::BTreeSet;

/// The kinds that have calls and parameters of their own, with the parameter that lists them.
const OLDER: [(TrafficSourceKind, &str); 2] = [
    (TrafficSourceKind::ClassicLoadBalancer, "LoadBalancerNames"),
    (TrafficSourceKind::TargetGroup, "TargetGroupARNs"),
];

/// The traffic sources of a request, by any of the parameters.
pub(super) fn named(params: &Params) -> AwsResult<BTreeSet<TrafficSource>> {
    let older = OLDER.into_iter().flat_map(|(kind, list)| {
        params.texts(list).into_iter().map(move |identifier| kind.with(&identifier))
    });
    let mut sources: BTreeSet<TrafficSource> = older.collect();
    for source in params.list("TrafficSources") {
        let identifier = source.required("Identifier")?;
        sources.insert(kind_of(identifier, source.text("Type"))?.with(identifier));
    }
    Ok(sources)
}

/// The kind that a request states, or that follows from the identifier.
fn kind_of(identifier: &str, stated: Option<&str>) -> AwsResult<TrafficSourceKind> {
    match stated {
        Some(name) => TrafficSourceKind::from_name(name)
            .ok_or_else(|| AwsError::validation(format!("The traffic source type {name} is not valid."))),
        None if identifier.contains(":vpc-lattice:") => Ok(TrafficSourceKind::LatticeTargetGroup),
        None if identifier.contains(":targetgroup/") => Ok(TrafficSourceKind::TargetGroup),
        None => Ok(TrafficSourceKind::ClassicLoadBalancer),
    }
}

pub(super) fn attach(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    region.attach_traffic_sources(&group_name(params)?, &named(params)?)
}

pub(super) fn detach(region: &mut Region, params: &Params, _: &Caller<'_>, _: &mut Xml) -> AwsResult<()> {
    region.detach_traffic_sources(&group_name(params)?, &named(params)?)
}

/// The three members of a described group.
pub(super) fn write_of_group(xml: &mut Xml, group: &Group) {
    for (kind, list) in OLDER {
        let of_kind = group.traffic_sources.iter().filter(|source| source.kind() == kind);
        xml.texts(list, "member", of_kind.map(TrafficSource::identifier));
    }
    xml.list("TrafficSources", "member", &group.traffic_sources, |xml, source| {
        xml.text("Identifier", source.identifier());
        xml.text("Type", source.kind().name());
    });
}

pub(super) fn describe_load_balancers(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let states = states(region, params, |kind| kind == TrafficSourceKind::ClassicLoadBalancer)?;
    xml.list("LoadBalancers", "member", states, |xml, (source, state)| {
        xml.text("LoadBalancerName", source.identifier());
        xml.text("State", state);
    });
    Ok(())
}

pub(super) fn describe_target_groups(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let states = states(region, params, |kind| kind == TrafficSourceKind::TargetGroup)?;
    xml.list("LoadBalancerTargetGroups", "member", states, |xml, (source, state)| {
        xml.text("LoadBalancerTargetGroupARN", source.identifier());
        xml.text("State", state);
    });
    Ok(())
}

pub(super) fn describe_sources(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let wanted = params.text("TrafficSourceType");
    let states = states(region, params, |kind| wanted.is_none_or(|name| kind.name() == name))?;
    xml.list("TrafficSources", "member", states, |xml, (source, state)| {
        xml.text("Identifier", source.identifier());
        xml.text("TrafficSource", source.identifier());
        xml.text("State", state);
        xml.text("Type", source.kind().name());
    });
    Ok(())
}

/// `InService` once an instance is healthy, otherwise `Added` (Auto Scaling API Reference, `TrafficSourceState`).
fn states(
    region: &Region,
    params: &Params,
    shows: impl Fn(TrafficSourceKind) -> bool,
) -> AwsResult<Vec<(TrafficSource, &'static str)>> {
    let name = group_name(params)?;
    let group = region.group_seen(&name).ok_or_else(|| AwsError::no_group(&name))?;
    let state = |source: &TrafficSource| {
        let targets = region.source_health(source).unwrap_or_default();
        let serves = targets.values().any(|health| health.state == TargetState::Healthy);
        if serves { "InService" } else { "Added" }
    };
    let shown = group.traffic_sources.iter().filter(|source| shows(source.kind()));
    Ok(shown.map(|source| (source.clone(), state(source))).collect())
}
