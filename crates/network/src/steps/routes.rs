//! Route tables, routes, and which subnet uses which table.

use super::vpc;
use crate::desired::{DesiredSubnet, Tier};
use crate::draft::{Draft, Weight};
use crate::role::Role;
use crate::situation::Situation;
use foo_model::network::{
    Change, Destination, InternetGateway, Kind, NatState, RouteTable, RouteTarget, Scope, TableAssociation,
};
use foo_model::{EgressOnlyGatewayId, Reason, RouteTableId, SubnetId};
use ipnet::{Ipv4Net, Ipv6Net};

/// A route that a table is to have, and where it leads once that is there.
struct Wanted {
    destination: Destination,
    /// What is waited for, if the target is not there.
    target: Result<RouteTarget, &'static str>,
}

pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft) {
    for role in &situation.wanted.roles {
        if !matches!(role, Role::PublicRoutes | Role::PrivateRoutes(_)) {
            continue;
        }
        create(situation, draft, role);
        if let Some(table) = situation.table(role) {
            let wanted = wanted(situation, role);
            let content: Vec<_> =
                wanted.iter().map(|it| (&it.destination, it.target.as_ref().ok())).collect();
            draft.content(role, &content);
            routes(draft, role, table, &wanted);
            associations(situation, draft, role, &table.id);
        }
    }
    let unwanted = situation.held.keys().filter(|role| !situation.wanted.roles.contains(*role));
    for role in unwanted.filter(|role| role.kind() == Kind::RouteTable) {
        clear_unused(situation, draft, role);
    }
}

/// A table that is no longer requested stays, and so do its routes while subnets use it. Once none does, the routes would only keep
/// gateways that are no longer requested either. A main table is used by every subnet that has no other one.
fn clear_unused(situation: &Situation<'_>, draft: &mut Draft, role: &Role) {
    let Some(table) = situation.table(role).filter(|it| !it.main && it.associations.is_empty()) else {
        return;
    };
    draft.content(role, &"no routes");
    routes(draft, role, table, &[]);
}

fn create(situation: &Situation<'_>, draft: &mut Draft, role: &Role) {
    if draft.holds(situation, role) {
        return;
    }
    let Some(vpc) = vpc::may_be_used(situation) else {
        return draft.note(role, Weight::Pending, Reason::CreatingNetwork, "waits for the VPC");
    };
    let tags = crate::tags::of(situation.desired, role);
    draft.create(situation, role, |token| Change::CreateRouteTable { vpc, tags, token });
}

fn wanted(situation: &Situation<'_>, role: &Role) -> Vec<Wanted> {
    let everywhere = || Destination::V4(Ipv4Net::default());
    let everywhere_v6 = || Destination::V6(Ipv6Net::default());
    let mut routes = Vec::new();
    let with_v6 = |tier: Tier| {
        let mut subnets = situation.desired.subnets.iter().filter(|it| table_of(it) == *role);
        situation.desired.ipv6 && subnets.any(|it| it.tier == tier && it.ipv6_index.is_some())
    };
    if *role == Role::PublicRoutes {
        // A route that leads there already is right, even while the gateway is detached.
        let leads_there = |it: &InternetGateway| {
            let mut routes = situation.table(role).into_iter().flat_map(|it| &it.routes);
            routes.any(|route| route.target == RouteTarget::InternetGateway(it.id.clone()))
        };
        let gateway = situation.attached_gateway();
        let gateway = gateway.or_else(|| situation.internet_gateway().filter(|it| leads_there(it)));
        let gateway = gateway.map(|it| RouteTarget::InternetGateway(it.id.clone()));
        let target = gateway.ok_or("waits for the internet gateway");
        routes.push(Wanted { destination: everywhere(), target: target.clone() });
        if with_v6(Tier::Public) {
            routes.push(Wanted { destination: everywhere_v6(), target });
        }
    }
    if let Role::PrivateRoutes(zone) = role {
        if let Some(zone) = situation.wanted.nat_zone_for(zone) {
            let nat = situation.nat(zone).filter(|it| it.state == NatState::Available);
            let target = nat.map(|it| RouteTarget::NatGateway(it.id.clone()));
            let target = target.ok_or("waits for the NAT gateway");
            routes.push(Wanted { destination: everywhere(), target });
        }
        if with_v6(Tier::Private) && situation.wanted.roles.contains(&Role::EgressOnlyGateway) {
            let gateway = situation.id(&Role::EgressOnlyGateway).map(EgressOnlyGatewayId::from);
            let target = gateway.map(RouteTarget::EgressOnlyGateway);
            let target = target.ok_or("waits for the egress-only internet gateway");
            routes.push(Wanted { destination: everywhere_v6(), target });
        }
    }
    routes
}

fn routes(draft: &mut Draft, role: &Role, table: &RouteTable, wanted: &[Wanted]) {
    for route in wanted {
        let there = table.routes.iter().find(|it| it.destination == route.destination);
        let target = match &route.target {
            Ok(target) => target,
            Err(message) => {
                // A route that leads elsewhere stays until there is something better.
                draft.incomplete(role, *message);
                continue;
            }
        };
        let destination = route.destination.clone();
        let (table, target) = (table.id.clone(), target.clone());
        match there {
            None => {
                let why = format!("{table} has no route to {}", text(&destination));
                draft.fix(role, Change::CreateRoute { table, destination, target }, why);
            }
            Some(there) if there.target != target => {
                let why = format!("the route of {table} to {} leads elsewhere", text(&destination));
                draft.fix(role, Change::ReplaceRoute { table, destination, target }, why);
            }
            Some(_) => {}
        }
    }
    for there in &table.routes {
        let requested = wanted.iter().any(|it| it.destination == there.destination);
        if !requested && is_of_a_kind_we_make(&there.target) {
            let change =
                Change::DeleteRoute { table: table.id.clone(), destination: there.destination.clone() };
            let why = format!("the route of {} to {} is not requested", table.id, text(&there.destination));
            draft.fix(role, change, why);
        }
    }
}

/// Routes to anything else (peerings, transit gateways, interfaces) are the user's, or of cloud controllers.
fn is_of_a_kind_we_make(target: &RouteTarget) -> bool {
    match target {
        RouteTarget::InternetGateway(_) | RouteTarget::EgressOnlyGateway(_) | RouteTarget::NatGateway(_) => {
            true
        }
        RouteTarget::Local | RouteTarget::Endpoint(_) | RouteTarget::Other(_) => false,
    }
}

fn text(destination: &Destination) -> String {
    match destination {
        Destination::V4(range) => range.to_string(),
        Destination::V6(range) => range.to_string(),
        Destination::Prefixes(list) => list.to_string(),
    }
}

/// The table that a subnet uses.
fn table_of(subnet: &DesiredSubnet) -> Role {
    match subnet.tier {
        Tier::Public => Role::PublicRoutes,
        Tier::Private | Tier::Pods => Role::PrivateRoutes(subnet.zone.clone()),
    }
}

fn associations(situation: &Situation<'_>, draft: &mut Draft, role: &Role, table: &RouteTableId) {
    let subnets: Vec<_> = situation.desired.subnets.iter().filter(|it| table_of(it) == *role).collect();
    draft.content(role, &subnets.iter().map(|it| &it.key).collect::<Vec<_>>());
    for subnet in subnets {
        // A subnet that is not shown may have lost our tag.
        let Some(id) = situation.subnet(&subnet.key).map(|it| it.id.clone()) else {
            draft.incomplete(role, "waits for its subnets");
            continue;
        };
        match association(situation, &id) {
            Some((used, _)) if used == *table => {}
            Some((used, association)) => {
                let change = Change::ReplaceRouteTableAssociation { association, table: table.clone() };
                draft.fix(role, change, format!("{id} uses {used} instead of {table}"));
            }
            None => associate(situation, draft, role, table, id),
        }
    }
}

/// The table that a subnet uses, if it is known.
fn association(
    situation: &Situation<'_>,
    subnet: &SubnetId,
) -> Option<(RouteTableId, foo_model::AssociationId)> {
    let find = |tables: &std::collections::BTreeMap<RouteTableId, RouteTable>| {
        tables.values().find_map(|table| {
            let found: Option<&TableAssociation> = table.associations.iter().find(|it| it.subnet == *subnet);
            found.map(|it| (table.id.clone(), it.id.clone()))
        })
    };
    find(&situation.own.route_tables).or_else(|| find(&situation.others.route_tables))
}

/// AWS refuses to associate a subnet that uses another table: then the planner asks for all tables of the VPC, to find that one.
fn associate(
    situation: &Situation<'_>,
    draft: &mut Draft,
    role: &Role,
    table: &RouteTableId,
    subnet: SubnetId,
) {
    let why = format!("{subnet} does not use {table}");
    let change = Change::AssociateRouteTable { table: table.clone(), subnet };
    let refused = situation.memory.calls.failures.iter().find(|it| it.action.change == change);
    if let (Some(refused), Some(vpc)) = (refused, situation.vpc_id())
        && refused.refusal.code.as_deref() == Some("Resource.AlreadyAssociated")
    {
        let read = situation.observed.in_vpc.get(&vpc);
        let begun = read.and_then(|it| it.begun.get(&Kind::RouteTable)).copied();
        if begun.is_none_or(|begun| begun < refused.at) {
            draft.request_read_in(Kind::RouteTable, Scope::Vpc(vpc), refused.at);
        }
    }
    draft.fix(role, change, why);
}
