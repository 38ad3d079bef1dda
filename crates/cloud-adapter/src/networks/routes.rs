//! Conversions of route tables and routes between the SDK and `foo_model`.

use super::shapes::tags;
use crate::error::Gap;
use aws_sdk_ec2::types as aws;
use foo_model::network::{Destination, Route, RouteTable, RouteTarget, TableAssociation};

pub(super) fn route_table(table: &aws::RouteTable) -> Result<RouteTable, Gap> {
    let associations = table.associations().iter();
    Ok(RouteTable {
        id: table.route_table_id().ok_or(Gap("routeTableId"))?.into(),
        vpc: table.vpc_id().ok_or(Gap("vpcId"))?.into(),
        main: associations.clone().any(|it| it.main() == Some(true)),
        routes: table.routes().iter().filter_map(route).collect(),
        associations: associations.filter_map(association).collect(),
        tags: tags(table.tags()),
    })
}

/// An association with a subnet; none for that of the main table, for those of gateways, and for one that is being
/// removed.
fn association(it: &aws::RouteTableAssociation) -> Option<TableAssociation> {
    let state = it.association_state().and_then(aws::RouteTableAssociationState::state);
    let is_over = matches!(
        state,
        Some(
            aws::RouteTableAssociationStateCode::Disassociating
                | aws::RouteTableAssociationStateCode::Disassociated
                | aws::RouteTableAssociationStateCode::Failed
        )
    );
    if is_over {
        return None;
    }
    Some(TableAssociation { id: it.route_table_association_id()?.into(), subnet: it.subnet_id()?.into() })
}

/// None for a route with an unknown kind of destination, which the provider did not create.
fn route(route: &aws::Route) -> Option<Route> {
    let v4 = || Some(Destination::V4(route.destination_cidr_block()?.parse().ok()?));
    let v6 = || Some(Destination::V6(route.destination_ipv6_cidr_block()?.parse().ok()?));
    let prefixes = || Some(Destination::Prefixes(route.destination_prefix_list_id()?.into()));
    Some(Route {
        destination: v4().or_else(v6).or_else(prefixes)?,
        target: target(route),
        blackhole: route.state() == Some(&aws::RouteState::Blackhole),
    })
}

fn target(route: &aws::Route) -> RouteTarget {
    let gateway = |id: &str| match id.split_once('-') {
        None if id == "local" => RouteTarget::Local,
        Some(("igw", _)) => RouteTarget::InternetGateway(id.into()),
        Some(("vpce", _)) => RouteTarget::Endpoint(id.into()),
        _ => RouteTarget::Other(id.to_owned()),
    };
    let ours = || route.nat_gateway_id().map(|id| RouteTarget::NatGateway(id.into()));
    let egress =
        || route.egress_only_internet_gateway_id().map(|id| RouteTarget::EgressOnlyGateway(id.into()));
    let others = [
        route.transit_gateway_id(),
        route.vpc_peering_connection_id(),
        // A route to an instance also names its interface.
        route.instance_id(),
        route.network_interface_id(),
        route.carrier_gateway_id(),
        route.local_gateway_id(),
        route.core_network_arn(),
        route.odb_network_arn(),
        route.ip_address(),
    ];
    let other = || RouteTarget::Other(others.into_iter().flatten().next().unwrap_or_default().to_owned());
    route.gateway_id().map(gateway).or_else(ours).or_else(egress).unwrap_or_else(other)
}

/// The three parameters for a destination, of which exactly one is set.
#[derive(Debug, Default, PartialEq)]
pub(super) struct DestinationParameters {
    pub(super) v4: Option<String>,
    pub(super) v6: Option<String>,
    pub(super) prefixes: Option<String>,
}

pub(super) fn destination(destination: &Destination) -> DestinationParameters {
    let none = DestinationParameters::default();
    match destination {
        Destination::V4(range) => DestinationParameters { v4: Some(range.to_string()), ..none },
        Destination::V6(range) => DestinationParameters { v6: Some(range.to_string()), ..none },
        Destination::Prefixes(list) => DestinationParameters { prefixes: Some(list.to_string()), ..none },
    }
}

/// The three parameters for a target that the provider uses, of which exactly one is set.
#[derive(Debug, Default, PartialEq)]
pub(super) struct TargetParameters {
    pub(super) gateway: Option<String>,
    pub(super) nat: Option<String>,
    pub(super) egress_only: Option<String>,
}

/// None for targets to which the provider creates no routes.
pub(super) fn target_parameters(target: &RouteTarget) -> Option<TargetParameters> {
    let none = TargetParameters::default();
    match target {
        RouteTarget::InternetGateway(id) => Some(TargetParameters { gateway: Some(id.to_string()), ..none }),
        RouteTarget::NatGateway(id) => Some(TargetParameters { nat: Some(id.to_string()), ..none }),
        RouteTarget::EgressOnlyGateway(id) => {
            Some(TargetParameters { egress_only: Some(id.to_string()), ..none })
        }
        RouteTarget::Local | RouteTarget::Endpoint(_) | RouteTarget::Other(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to(build: impl FnOnce(aws::builders::RouteBuilder) -> aws::builders::RouteBuilder) -> RouteTarget {
        target(&build(aws::Route::builder()).build())
    }

    #[test]
    fn a_target_is_known_by_its_parameter_and_its_id() {
        assert_eq!(to(|it| it.gateway_id("local")), RouteTarget::Local);
        assert_eq!(to(|it| it.gateway_id("igw-1")), RouteTarget::InternetGateway("igw-1".into()));
        assert_eq!(to(|it| it.gateway_id("vpce-1")), RouteTarget::Endpoint("vpce-1".into()));
        assert_eq!(to(|it| it.gateway_id("vgw-1")), RouteTarget::Other("vgw-1".into()));
        assert_eq!(to(|it| it.nat_gateway_id("nat-1")), RouteTarget::NatGateway("nat-1".into()));
        assert_eq!(
            to(|it| it.egress_only_internet_gateway_id("eigw-1")),
            RouteTarget::EgressOnlyGateway("eigw-1".into())
        );
        assert_eq!(to(|it| it.transit_gateway_id("tgw-1")), RouteTarget::Other("tgw-1".into()));
        assert_eq!(
            to(|it| it.instance_id("i-1").network_interface_id("eni-1")),
            RouteTarget::Other("i-1".into())
        );
        assert_eq!(to(|it| it), RouteTarget::Other(String::new()));
    }

    #[test]
    fn targets_that_only_aws_sets_have_no_parameters() {
        for target in
            [RouteTarget::Local, RouteTarget::Endpoint("vpce-1".into()), RouteTarget::Other("tgw-1".into())]
        {
            assert_eq!(target_parameters(&target), None);
        }
    }
}
