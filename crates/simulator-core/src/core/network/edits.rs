//! Changes of parts without AWS's rules: a test creates states that no caller of AWS could.

use super::part::Part;
use super::pool::AddressPool;
use super::view::Networking;
use foo_model::network::{
    Address, EgressOnlyGateway, Endpoint, Interface, InternetGateway, LoadBalancer, NatGateway, Parts,
    RouteTable, SecurityGroup, Subnet, TargetGroup, Vpc,
};
use std::collections::{BTreeMap, BTreeSet};

impl Networking<'_> {
    /// Changes, adds and removes parts of networks, whatever else refers to them. Zones stay. Reads show it after the
    /// read lag, as they do a change by a call.
    pub(in crate::core) fn edit(&mut self, edit: impl FnOnce(&mut Parts)) {
        let before = self.reads().everything();
        let mut after = before.clone();
        edit(&mut after);
        for id in before.subnets.keys().filter(|id| !after.subnets.contains_key(*id)) {
            self.network.pools.remove(id);
        }
        for (id, subnet) in after.subnets.iter().filter(|(id, _)| !before.subnets.contains_key(*id)) {
            self.network.pools.insert(id.clone(), AddressPool::new(subnet.cidr));
        }
        self.replace::<Vpc>(&before.vpcs, after.vpcs);
        self.replace::<Subnet>(&before.subnets, after.subnets);
        self.replace::<InternetGateway>(&before.internet_gateways, after.internet_gateways);
        self.replace::<EgressOnlyGateway>(&before.egress_only_gateways, after.egress_only_gateways);
        let gone = before.interfaces.keys().filter(|id| !after.interfaces.contains_key(*id));
        for id in gone.cloned().collect::<BTreeSet<_>>() {
            self.network.remove_interface(&id);
        }
        self.replace::<Interface>(&before.interfaces, after.interfaces);
        self.replace::<Address>(&before.addresses, after.addresses);
        self.replace::<NatGateway>(&before.nat_gateways, after.nat_gateways);
        self.replace::<RouteTable>(&before.route_tables, after.route_tables);
        self.replace::<SecurityGroup>(&before.security_groups, after.security_groups);
        self.replace::<Endpoint>(&before.endpoints, after.endpoints);
        self.replace::<LoadBalancer>(&before.load_balancers, after.load_balancers);
        self.replace::<TargetGroup>(&before.target_groups, after.target_groups);
    }

    fn replace<T: Part + PartialEq>(&mut self, before: &BTreeMap<T::Id, T>, after: BTreeMap<T::Id, T>) {
        for id in before.keys().filter(|id| !after.contains_key(*id)) {
            self.network.remove::<T>(id);
        }
        for (id, part) in after {
            if before.get(&id) != Some(&part) {
                self.network.put(part);
            }
        }
    }
}
