//! Routes (EC2 API Reference, CreateRoute, ReplaceRoute, DeleteRoute; VPC User Guide, "Route table concepts").

use super::part::Words;
use super::state::Network;
use super::view::Networking;
use crate::core::error::{AwsError, AwsResult};
use foo_model::network::{
    Destination, EgressOnlyGateway, InternetGateway, NatGateway, NatState, Parts, Route, RouteTable,
    RouteTarget,
};
use foo_model::{RouteTableId, VpcId};
use std::fmt::Display;

/// A destination in EC2's notation.
fn text(destination: &Destination) -> String {
    match destination {
        Destination::V4(range) => range.to_string(),
        Destination::V6(range) => range.to_string(),
        Destination::Prefixes(id) => id.to_string(),
    }
}

/// The name of the parameter for a destination of this kind.
fn parameter(destination: &Destination) -> &'static str {
    match destination {
        Destination::V4(_) => "destination-cidr-block",
        Destination::V6(_) => "destination-ipv6-cidr-block",
        Destination::Prefixes(_) => "destination-prefix-list-id",
    }
}

/// The destination as EC2 stores it: without host bits.
fn canonical(destination: &Destination) -> Destination {
    match destination {
        Destination::V4(range) => Destination::V4(range.trunc()),
        Destination::V6(range) => Destination::V6(range.trunc()),
        Destination::Prefixes(id) => Destination::Prefixes(id.clone()),
    }
}

/// Whether a destination lies completely inside a range of the VPC.
fn is_inside(local: &Route, destination: &Destination) -> bool {
    match &local.destination {
        Destination::V4(range) => matches!(destination, Destination::V4(wanted) if range.contains(wanted)),
        Destination::V6(range) => matches!(destination, Destination::V6(wanted) if range.contains(wanted)),
        Destination::Prefixes(_) => false,
    }
}

fn different_networks(table: &RouteTableId, what: &str, id: impl Display) -> AwsError {
    AwsError::invalid_value(format!("route table {table} and {what} {id} belong to different networks"))
}

/// CreateRoute's refusal of an unknown NAT gateway.
const NAT_GATEWAY: Words = Words {
    prefix: "nat-",
    malformed: "InvalidNatGatewayID.Malformed",
    unknown: "InvalidNatGatewayID.NotFound",
    message: ("The natGateway ID '", "' does not exist"),
    resource: "natgateway",
};

impl Networking<'_> {
    /// CreateRoute.
    pub(super) fn create_route(
        &mut self,
        id: &RouteTableId,
        destination: &Destination,
        target: &RouteTarget,
    ) -> AwsResult<Parts> {
        let destination = canonical(destination);
        let table = self.part::<RouteTable>(id)?.clone();
        if table.routes.iter().any(|route| route.destination == destination) {
            return Err(AwsError::new(
                "RouteAlreadyExists",
                format!("The route identified by {} already exists.", text(&destination)),
            ));
        }
        let route = self.usable_route(&table, destination, target)?;
        if let Some(table) = self.network.route_tables.get_mut(id) {
            table.routes.push(route);
        }
        Ok(Parts::default())
    }

    /// ReplaceRoute.
    pub(super) fn replace_route(
        &mut self,
        id: &RouteTableId,
        destination: &Destination,
        target: &RouteTarget,
    ) -> AwsResult<Parts> {
        let destination = canonical(destination);
        let table = self.part::<RouteTable>(id)?.clone();
        let mut former = table.routes.iter().filter(|route| route.target != RouteTarget::Local);
        if !former.any(|route| route.destination == destination) {
            return Err(AwsError::invalid_value(format!(
                "There is no route defined for '{}' in the route table. Use CreateRoute instead.",
                text(&destination)
            )));
        }
        let route = self.usable_route(&table, destination, target)?;
        if let Some(table) = self.network.route_tables.get_mut(id) {
            table.routes.retain(|it| it.destination != route.destination);
            table.routes.push(route);
        }
        Ok(Parts::default())
    }

    /// DeleteRoute. Local routes and those of endpoints cannot be deleted.
    pub(super) fn delete_route(&mut self, id: &RouteTableId, destination: &Destination) -> AwsResult<Parts> {
        let destination = canonical(destination);
        let table = self.part::<RouteTable>(id)?;
        let written = text(&destination);
        let Some(route) = table.routes.iter().find(|route| route.destination == destination) else {
            return Err(AwsError::new(
                "InvalidRoute.NotFound",
                format!("no route with {} {written} in route table {id}", parameter(&destination)),
            ));
        };
        match &route.target {
            RouteTarget::Local => {
                return Err(AwsError::invalid_value(format!(
                    "cannot remove local route {written} in route table {id}"
                )));
            }
            RouteTarget::Endpoint(endpoint) => {
                return Err(AwsError::invalid_value(format!(
                    "cannot remove route {written} of VPC endpoint {endpoint} in route table {id}"
                )));
            }
            RouteTarget::InternetGateway(_)
            | RouteTarget::EgressOnlyGateway(_)
            | RouteTarget::NatGateway(_)
            | RouteTarget::Other(_) => {}
        }
        if let Some(table) = self.network.route_tables.get_mut(id) {
            table.routes.retain(|route| route.destination != destination);
        }
        Ok(Parts::default())
    }

    /// Validates a route for this table.
    fn usable_route(
        &self,
        table: &RouteTable,
        destination: Destination,
        target: &RouteTarget,
    ) -> AwsResult<Route> {
        let mut local = table.routes.iter().filter(|route| route.target == RouteTarget::Local);
        if local.any(|local| is_inside(local, &destination)) {
            return Err(AwsError::invalid_value(format!(
                "The destination CIDR block {} is equal to or more specific than one of this VPC's CIDR blocks. This \
                 route can target only an interface or an instance.",
                text(&destination)
            )));
        }
        let blackhole = match target {
            RouteTarget::InternetGateway(id) => {
                let gateway = self.part::<InternetGateway>(id)?;
                if gateway.vpc.as_ref() != Some(&table.vpc) {
                    return Err(different_networks(&table.id, "network gateway", id));
                }
                false
            }
            RouteTarget::EgressOnlyGateway(id) => {
                if self.part::<EgressOnlyGateway>(id)?.vpc != table.vpc {
                    return Err(different_networks(&table.id, "egress only internet gateway", id));
                }
                if matches!(destination, Destination::V4(_)) {
                    return Err(AwsError::invalid_value(format!(
                        "An egress only internet gateway cannot be the target of the IPv4 route {}",
                        text(&destination)
                    )));
                }
                false
            }
            RouteTarget::NatGateway(id) => self.nat_target(table, id)?,
            RouteTarget::Local | RouteTarget::Endpoint(_) | RouteTarget::Other(_) => {
                return Err(AwsError::invalid_value(format!(
                    "The route {} cannot have this target",
                    text(&destination)
                )));
            }
        };
        if matches!(destination, Destination::Prefixes(_)) {
            return Err(AwsError::invalid_value("Only an endpoint creates a route to a prefix list of AWS."));
        }
        Ok(Route { destination, target: target.clone(), blackhole })
    }

    /// Whether a route to a NAT gateway is a blackhole. A pending gateway can be a target already (boto/boto3#779).
    fn nat_target(&self, table: &RouteTable, id: &foo_model::NatGatewayId) -> AwsResult<bool> {
        let gateway = self.part::<NatGateway>(id).map_err(|_| NAT_GATEWAY.refused(id.as_str()))?;
        if gateway.vpc != table.vpc {
            return Err(different_networks(&table.id, "NAT gateway", id));
        }
        match gateway.state {
            NatState::Pending | NatState::Available | NatState::Deleting | NatState::Failed => {
                Ok(gateway.failure.is_some())
            }
            NatState::Deleted => Err(NAT_GATEWAY.not_found(id)),
        }
    }
}

impl Network {
    /// Turns all routes to a target into blackholes.
    pub(super) fn break_routes(&mut self, target: &RouteTarget) {
        self.set_blackholes(|_| true, target, true);
    }

    /// Makes the routes of a VPC to a target active again.
    pub(super) fn revive_routes(&mut self, target: &RouteTarget, vpc: &VpcId) {
        self.set_blackholes(|table| &table.vpc == vpc, target, false);
    }

    fn set_blackholes(&mut self, of: impl Fn(&RouteTable) -> bool, target: &RouteTarget, blackhole: bool) {
        let leads = |table: &&RouteTable| of(table) && table.routes.iter().any(|it| &it.target == target);
        let ids: Vec<RouteTableId> =
            self.all::<RouteTable>().filter(leads).map(|table| table.id.clone()).collect();
        for id in ids {
            if let Some(table) = self.route_tables.get_mut(&id) {
                for route in table.routes.iter_mut().filter(|route| &route.target == target) {
                    route.blackhole = blackhole;
                }
            }
        }
    }
}
