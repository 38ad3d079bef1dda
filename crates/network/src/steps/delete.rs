//! Deletion: one plan deletes everything that nothing of the network or of others uses any more; the VPC is the last.
//!
//! The order: NAT gateways and endpoints, whose interfaces are in subnets; then addresses, subnets, groups, and the
//! internet gateway (which cannot be detached while public addresses are mapped); then route tables, whose associations end with
//! the subnets; then the VPC.

use super::{begin, connection, foreign, leftovers, nat};
use crate::desired::DeletionPolicy;
use crate::draft::{Draft, Weight};
use crate::role::Role;
use crate::situation::{Situation, Standing, tagged};
use crate::tags;
use crate::timing::WAITING_LONG;
use foo_calls::report::Deletion;
use foo_model::network::{
    Change, EndpointKind, EndpointState, Interface, Kind, Peer, RouteTable, Rule, Scope, SecurityGroup,
};
use foo_model::{EndpointId, Reason, SubnetId, Timestamp, VpcId};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn delete(situation: &Situation<'_>, draft: &mut Draft) -> Deletion {
    if situation.desired.deletion == DeletionPolicy::Retain {
        return Deletion::Done;
    }
    if !begin::is_of_this_installation(situation, draft) {
        return Deletion::Pending;
    }
    for (role, intent) in &situation.record.intents {
        draft.wait_for_intent(situation, role, intent);
    }
    let since = situation.memory.deleting_since.unwrap_or(situation.now);
    let way = Way::new(situation, draft, since);
    gateways(&way, draft);
    endpoints(&way, draft);
    addresses(&way, draft);
    subnets(&way, draft);
    connections(&way, draft);
    groups(&way, draft);
    internet_gateways(&way, draft);
    tables(&way, draft);
    vpcs(&way, draft);
    if is_done(situation, draft, since) { Deletion::Done } else { Deletion::Pending }
}

/// What deletions need to know.
struct Way<'a> {
    situation: &'a Situation<'a>,
    /// Role of each part of the network, by id.
    roles: BTreeMap<String, Role>,
    /// Whether reads of everything that can be in the VPC began after the deletion.
    all_read: bool,
}

impl<'a> Way<'a> {
    fn new(situation: &'a Situation<'a>, draft: &mut Draft, since: Timestamp) -> Self {
        let parts = tagged(&situation.own);
        let role = |it: &crate::situation::Tagged| tags::role(&it.tags).unwrap_or(Role::Vpc);
        let roles = parts.iter().map(|it| (it.id.clone(), role(it))).collect();
        let mut vpcs: BTreeSet<VpcId> = situation.own.vpcs.keys().cloned().collect();
        if !parts.is_empty() {
            vpcs.extend(situation.vpc_id());
        }
        let mut all_read = true;
        for vpc in &vpcs {
            all_read &= foreign::request_reads(situation, draft, vpc, since);
        }
        // Only then it is known who else uses the VPC.
        if all_read {
            for vpc in &vpcs {
                leftovers::delete(situation, draft, vpc);
            }
        }
        Self { situation, roles, all_read }
    }

    fn role(&self, id: &str) -> Role {
        self.roles.get(id).cloned().unwrap_or(Role::Vpc)
    }

    /// Interfaces of others.
    fn interfaces(&self) -> impl Iterator<Item = &Interface> {
        let all = self.situation.others.interfaces.values();
        // NAT gateways and endpoints of the network are read themselves.
        all.filter(|it| {
            let balancer = it.description.starts_with("ELB ");
            balancer || !foreign::is_of_a_known_part(self.situation, it)
        })
    }

    fn waits(&self, draft: &mut Draft, id: &str, message: impl Into<String>) {
        draft.note(&self.role(id), Weight::Pending, Reason::DeletingNetwork, message);
    }

    fn delete(&self, draft: &mut Draft, id: &str, change: Change) {
        let role = self.role(id);
        if draft.send(self.situation, &role, change, "the network is being deleted") {
            draft.note(&role, Weight::Pending, Reason::DeletingNetwork, format!("{id} is being deleted"));
        }
    }
}

fn gateways(way: &Way<'_>, draft: &mut Draft) {
    for gateway in way.situation.living_nats() {
        let role = way.role(gateway.id.as_str());
        nat::delete(way.situation, draft, gateway, &role, "the network is being deleted");
        way.waits(
            draft,
            gateway.id.as_str(),
            format!("{} is being deleted, which takes minutes", gateway.id),
        );
    }
    for id in way.situation.own.egress_only_gateways.keys() {
        way.delete(draft, id.as_str(), Change::DeleteEgressOnlyInternetGateway { gateway: id.clone() });
    }
}

fn endpoints(way: &Way<'_>, draft: &mut Draft) {
    let mut endpoints: BTreeSet<EndpointId> = BTreeSet::new();
    for (id, endpoint) in &way.situation.own.endpoints {
        if endpoint.state == EndpointState::Deleting {
            draft.watch(way.situation, Kind::Endpoint);
            way.waits(draft, id.as_str(), format!("{id} is being deleted"));
        } else {
            endpoints.insert(id.clone());
        }
    }
    if let Some(first) = endpoints.first().cloned() {
        way.delete(draft, first.as_str(), Change::DeleteVpcEndpoints { endpoints });
    }
}

fn addresses(way: &Way<'_>, draft: &mut Draft) {
    for (id, address) in &way.situation.own.addresses {
        if way.situation.living_nats().any(|nat| nat.allocations.contains(id)) {
            way.waits(draft, id.as_str(), format!("{id} waits for its NAT gateway"));
        } else if let Some(interface) = way.interfaces().find(|it| address.interface.as_ref() == Some(&it.id))
        {
            way.waits(draft, id.as_str(), format!("{id} is used by {}", interface.id));
        } else if address.interface.is_some() && !way.all_read {
            way.waits(draft, id.as_str(), format!("waiting for a read of what uses {id}"));
        } else {
            way.delete(draft, id.as_str(), Change::ReleaseAddress { allocation: id.clone() });
        }
    }
}

fn subnets(way: &Way<'_>, draft: &mut Draft) {
    for id in way.situation.own.subnets.keys() {
        let users = users_of_subnet(way, id);
        if !users.is_empty() {
            way.waits(draft, id.as_str(), format!("{id} is used by {}", users.join(", ")));
        } else if way.all_read {
            way.delete(draft, id.as_str(), Change::DeleteSubnet { subnet: id.clone() });
        } else {
            way.waits(draft, id.as_str(), format!("waiting for a read of what is in {id}"));
        }
    }
}

fn users_of_subnet(way: &Way<'_>, subnet: &SubnetId) -> Vec<String> {
    let nats = way.situation.living_nats().filter(|it| it.subnet == *subnet).map(|it| it.id.to_string());
    let endpoints = way.situation.own.endpoints.values().filter(|it| match &it.kind {
        EndpointKind::Interface { subnets, .. } => subnets.contains(subnet),
        EndpointKind::Gateway { .. } | EndpointKind::Other(_) => false,
    });
    let interfaces = way.interfaces().filter(|it| it.subnet == *subnet).map(|it| it.id.to_string());
    nats.chain(endpoints.map(|it| it.id.to_string())).chain(interfaces).collect()
}

fn groups(way: &Way<'_>, draft: &mut Draft) {
    for (id, group) in &way.situation.own.security_groups {
        revoke(way, draft, group);
        let endpoints = way.situation.own.endpoints.values().filter(|it| match &it.kind {
            EndpointKind::Interface { groups, .. } => groups.contains(id),
            EndpointKind::Gateway { .. } | EndpointKind::Other(_) => false,
        });
        let mut users: Vec<String> = endpoints.map(|it| it.id.to_string()).collect();
        users.extend(way.interfaces().filter(|it| it.groups.contains(id)).map(|it| it.id.to_string()));
        let own = way.situation.own.security_groups.values();
        let all = own.chain(way.situation.others.security_groups.values());
        users.extend(all.filter(|it| it.id != *id && names(it, id)).map(|it| format!("rules of {}", it.id)));
        if !users.is_empty() {
            way.waits(draft, id.as_str(), format!("{id} is used by {}", users.join(", ")));
        } else if way.all_read {
            way.delete(draft, id.as_str(), Change::DeleteSecurityGroup { group: id.clone() });
        } else {
            way.waits(draft, id.as_str(), format!("waiting for a read of what uses {id}"));
        }
    }
}

/// Revokes the provider's rules in cluster security groups of EKS: AWS does not delete a group that a rule names.
fn connections(way: &Way<'_>, draft: &mut Draft) {
    for group in way.situation.others.security_groups.values() {
        for named in way.situation.own.security_groups.keys() {
            let why = "the network is being deleted";
            connection::revoke(way.situation, draft, &Role::Vpc, group, named, why);
        }
    }
}

fn names(group: &SecurityGroup, named: &foo_model::SecurityGroupId) -> bool {
    let mut rules = group.ingress.iter().chain(&group.egress);
    rules.any(|rule| matches!(&rule.peer, Peer::Group(id) if id == named))
}

/// Revokes rules of a group that name another group of the network: AWS does not delete a group that a rule names.
fn revoke(way: &Way<'_>, draft: &mut Draft, group: &SecurityGroup) {
    let between = |rules: &BTreeSet<Rule>| -> BTreeSet<Rule> {
        let own = &way.situation.own.security_groups;
        let other =
            |rule: &&Rule| matches!(&rule.peer, Peer::Group(id) if *id != group.id && own.contains_key(id));
        rules.iter().filter(other).cloned().collect()
    };
    let (ingress, egress) = (between(&group.ingress), between(&group.egress));
    let id = group.id.as_str();
    if !ingress.is_empty() {
        let change = Change::RevokeSecurityGroupIngress { group: group.id.clone(), rules: ingress };
        way.delete(draft, id, change);
    }
    if !egress.is_empty() {
        let change = Change::RevokeSecurityGroupEgress { group: group.id.clone(), rules: egress };
        way.delete(draft, id, change);
    }
}

fn internet_gateways(way: &Way<'_>, draft: &mut Draft) {
    for (id, gateway) in &way.situation.own.internet_gateways {
        let Some(vpc) = &gateway.vpc else {
            way.delete(draft, id.as_str(), Change::DeleteInternetGateway { gateway: id.clone() });
            continue;
        };
        let nats = way.situation.living_nats().filter(|it| it.vpc == *vpc).map(|it| it.id.to_string());
        let public = way.interfaces().filter(|it| it.vpc == *vpc && it.public_ip.is_some());
        let users: Vec<String> = nats.chain(public.map(|it| it.id.to_string())).collect();
        if !users.is_empty() {
            let message = format!("{id} is used by the public addresses of {}", users.join(", "));
            way.waits(draft, id.as_str(), message);
        } else if way.all_read {
            let change = Change::DetachInternetGateway { gateway: id.clone(), vpc: vpc.clone() };
            way.delete(draft, id.as_str(), change);
        } else {
            way.waits(draft, id.as_str(), "waiting for a read of public addresses");
        }
    }
}

fn tables(way: &Way<'_>, draft: &mut Draft) {
    for (id, table) in &way.situation.own.route_tables {
        let users = users_of_table(way, draft, table);
        if !way.all_read {
            way.waits(draft, id.as_str(), format!("waiting for a read of the subnets that use {id}"));
        } else if !users.is_empty() {
            way.waits(draft, id.as_str(), format!("{id} is used by {}", users.join(", ")));
        } else if !table.associations.is_empty() {
            disassociate(way, draft, table);
        } else if table.main {
            way.waits(draft, id.as_str(), format!("{id} is the main route table and goes with the VPC"));
        } else {
            way.delete(draft, id.as_str(), Change::DeleteRouteTable { table: id.clone() });
        }
    }
}

/// Subnets and endpoints. Requests another read of the table if subnets of others use it.
fn users_of_table(way: &Way<'_>, draft: &mut Draft, table: &RouteTable) -> Vec<String> {
    let endpoints = way.situation.own.endpoints.values().filter(|it| match &it.kind {
        EndpointKind::Gateway { tables } => tables.contains(&table.id),
        EndpointKind::Interface { .. } | EndpointKind::Other(_) => false,
    });
    let own = table.associations.iter().filter(|it| way.situation.own.subnets.contains_key(&it.subnet));
    let own = own.map(|it| it.subnet.to_string());
    let mut users: Vec<String> = own.chain(endpoints.map(|it| it.id.to_string())).collect();
    let foreign = foreign::foreign_associations(way.situation, table);
    if !foreign.is_empty() {
        let begun = way.situation.observed.tagged.begun.get(&Kind::RouteTable).copied();
        draft.request_read(
            Kind::RouteTable,
            begun.map_or(way.situation.now, |begun| begun.plus(WAITING_LONG)),
        );
    }
    users.extend(foreign);
    users
}

/// Ends the associations of a table with subnets that are neither the network's nor known to be of others: they are gone, unless the read of
/// subnets is older than the one at the table, so that it may lack a new one of another user. Then requests another read of them.
fn disassociate(way: &Way<'_>, draft: &mut Draft, table: &RouteTable) {
    let read = way.situation.observed.in_vpc.get(&table.vpc);
    let begun = read.and_then(|read| read.begun.get(&Kind::Subnet)).copied();
    let id = table.id.as_str();
    if let Some(shown) = table_read_at(way.situation, table)
        && begun.is_none_or(|begun| begun < shown)
    {
        draft.request_read_in(Kind::Subnet, Scope::Vpc(table.vpc.clone()), shown);
        return way.waits(
            draft,
            id,
            format!("waiting for a read of the owners of the subnets that use {id}"),
        );
    }
    for association in &table.associations {
        let change = Change::DisassociateRouteTable { association: association.id.clone() };
        way.delete(draft, id, change);
    }
}

/// When the newest read began that can have shown the associations of a table. `None`: only responses to the provider's own calls show it.
fn table_read_at(situation: &Situation<'_>, table: &RouteTable) -> Option<Timestamp> {
    let observed = situation.observed;
    let tagged = observed.tagged.begun.get(&Kind::RouteTable);
    let in_vpc = observed.in_vpc.get(&table.vpc).and_then(|read| read.begun.get(&Kind::RouteTable));
    let by_id = observed.by_id.begun.get(&Kind::RouteTable).and_then(|ids| ids.get(table.id.as_str()));
    tagged.into_iter().chain(in_vpc).chain(by_id).max().copied()
}

fn vpcs(way: &Way<'_>, draft: &mut Draft) {
    for id in way.situation.own.vpcs.keys() {
        let foreign = foreign::all(way.situation, id);
        let hidden = way.situation.held.values().any(|it| it.standing == Standing::Hidden);
        let waits = way.situation.has_parts_in(id) || !way.situation.record.intents.is_empty() || hidden;
        if waits || !foreign.is_empty() {
            way.waits(draft, id.as_str(), format!("{id} waits for what is in it"));
        } else if way.all_read {
            way.delete(draft, id.as_str(), Change::DeleteVpc { vpc: id.clone() });
        }
    }
}

/// Nothing of the network is shown, recorded or may have been created, and all kinds were read since the deletion began.
fn is_done(situation: &Situation<'_>, draft: &mut Draft, since: Timestamp) -> bool {
    let mut all_read = true;
    for kind in Kind::OF_A_NETWORK {
        if situation.observed.tagged.begun.get(&kind).is_none_or(|begun| *begun < since) {
            all_read = false;
            draft.request_read(kind, since);
            draft.unsettled = true;
        }
    }
    let left = situation.held.values().any(|it| it.standing != Standing::Disowned);
    all_read
        && !left
        && situation.extra.is_empty()
        && tagged(&situation.own).is_empty()
        && situation.record.intents.is_empty()
}
