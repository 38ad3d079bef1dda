//! The networks of a region, for everything else: what they see of it, and the calls that reach them.

use crate::core::error::{AwsError, AwsResult};
use crate::core::network::part::Part;
use crate::core::network::{
    EndpointMishap, NatMishap, NetworkReads, Networking, NewInterface, NewLoadBalancer,
};
use crate::core::region::Region;
use foo_model::network::{Change, Kind, Parts, Quotas, Scope, Tags, ZoneInfo};
use foo_model::{EndpointId, InterfaceId, SecurityGroupId, SubnetId, VpcId};
use std::borrow::Cow;
use std::collections::BTreeSet;

impl Region {
    pub(crate) fn networking(&mut self) -> Networking<'_> {
        Networking {
            name: &self.name,
            account: &self.account,
            network: &mut self.network,
            settings: &self.settings,
            zone_states: &self.mishaps.zones,
            chance: &mut self.network_chance,
            due: &mut self.due,
            now: self.now,
        }
    }

    fn network_reads(&self) -> NetworkReads<'_> {
        NetworkReads {
            network: &self.network,
            settings: &self.settings,
            zone_states: &self.mishaps.zones,
            now: self.now,
        }
    }

    /// Carries out one change completely or not at all (except DeleteVpcEndpoints, which deletes those that it can).
    /// The response contains what it created. An association of a route table or a range has the table, subnet or VPC,
    /// which contains only that association. A second call with the same client token creates nothing and gets the
    /// first response.
    ///
    /// # Errors
    /// AWS's refusals, with its codes and messages.
    pub fn change_network(&mut self, change: &Change) -> AwsResult<Parts> {
        self.networking().change(change)
    }

    /// DeleteVpcEndpoints. Returns those that cannot be deleted with the reason; it deletes all others. A gateway
    /// endpoint is deleted at once, an interface endpoint after a while; its interfaces remain until then.
    pub fn delete_endpoints(&mut self, ids: &BTreeSet<EndpointId>) -> Vec<(EndpointId, AwsError)> {
        self.networking().delete_endpoints(ids)
    }

    /// Parts of one kind within a scope, as Describe calls see them. Only [`Kind::VpcAttributes`] shows attributes of
    /// VPCs.
    pub fn describe_network(&self, kind: Kind, scope: &Scope) -> Parts {
        self.network_reads().describe(kind, scope)
    }

    /// Everything in all networks of the region at this moment; no AWS call returns that.
    pub fn network_now(&self) -> Parts {
        self.network_reads().everything()
    }

    /// The zones of the region.
    pub fn zone_infos(&self) -> impl Iterator<Item = ZoneInfo> {
        self.network_reads().zone_infos()
    }

    /// The parts of a kind that EC2 shows, by id.
    pub fn parts_seen<T: Part>(&self) -> impl Iterator<Item = Cow<'_, T>> {
        self.network_reads().parts_seen()
    }

    /// A part, if EC2 shows it.
    pub fn part_seen<T: Part>(&self, id: &T::Id) -> Option<Cow<'_, T>> {
        self.network_reads().part_seen(id)
    }

    /// Parts that a Describe call names; all of them must exist.
    ///
    /// # Errors
    /// EC2's codes for ids that are malformed or unknown.
    pub fn parts_by_id<T: Part>(&self, ids: &[String]) -> AwsResult<Vec<Cow<'_, T>>> {
        self.network_reads().parts_by_id(ids)
    }

    /// The tags of all parts that EC2 shows: kind of resource, id, tags.
    pub fn network_tags_seen(&self) -> Vec<(&'static str, String, Tags)> {
        self.network_reads().tags_seen()
    }

    /// A part that a change names, as it is now.
    ///
    /// # Errors
    /// EC2's code for an id that it does not know, or not yet.
    pub fn part<T: Part>(&self, id: &T::Id) -> AwsResult<&T> {
        self.network_reads().part(id)
    }

    /// The quotas that Service Quotas reports, and how much of each is used.
    pub fn network_quotas(&self) -> Quotas {
        self.network_reads().quotas()
    }

    /// Removes everything except zones, as in a region whose default VPC was deleted.
    pub fn empty_network(&mut self) {
        self.networking().empty();
    }

    /// Adds a network interface of another user to a subnet, and returns its id.
    ///
    /// # Errors
    /// The subnet does not exist or is full.
    pub fn put_foreign_interface(&mut self, new: NewInterface) -> AwsResult<InterfaceId> {
        self.networking().put_interface(new)
    }

    /// Adds a load balancer, and returns its ARN, or the name of a classic one.
    ///
    /// # Errors
    /// A subnet does not exist or is full, or the load balancer has none.
    pub fn put_load_balancer(&mut self, new: NewLoadBalancer) -> AwsResult<String> {
        self.networking().put_load_balancer(new)
    }

    /// Deletes a part as another user would, after removing what AWS requires to be removed first: attachments,
    /// associations, rules that refer to it. A NAT gateway or an endpoint is deleted at once.
    ///
    /// # Errors
    /// There is no part with this id, or it contains other parts: AWS's refusal.
    pub fn delete_as_another_user(&mut self, id: &str) -> AwsResult<()> {
        self.networking().delete_as_another_user(id)
    }

    /// Changes, adds and removes parts of networks, whatever else refers to them. Zones stay. Reads show it after the
    /// read lag, as they do a change by a call.
    pub fn edit_network(&mut self, edit: impl FnOnce(&mut Parts)) {
        self.networking().edit(edit);
    }

    /// The rules for future NAT gateways that are not used up.
    pub fn nat_mishaps(&self) -> &[NatMishap] {
        &self.network.nat_mishaps
    }

    /// Replaces the rules for future NAT gateways.
    pub fn set_nat_mishaps(&mut self, rules: Vec<NatMishap>) {
        self.network.nat_mishaps = rules;
    }

    /// Replaces what becomes of future interface endpoints.
    pub fn set_endpoint_mishap(&mut self, mishap: EndpointMishap) {
        self.network.endpoint_mishap = Some(mishap);
    }

    /// Creates the security group of a cluster: everything from itself, everything out, with EKS's tags.
    pub(crate) fn make_cluster_group(&mut self, vpc: &VpcId, cluster: &str, digits: u32) -> SecurityGroupId {
        self.networking().make_cluster_group(vpc, cluster, digits)
    }

    /// Puts the interfaces of a control plane into its subnets, instead of those it had. `false`, and nothing is
    /// changed, if one of the subnets has no free address.
    pub(crate) fn place_control_plane(
        &mut self,
        cluster: &str,
        subnets: &BTreeSet<SubnetId>,
        groups: &BTreeSet<SecurityGroupId>,
    ) -> bool {
        self.networking().place_control_plane(cluster, subnets, groups)
    }

    /// Removes what EKS created for a cluster, except a security group that is in use.
    pub(crate) fn remove_control_plane(&mut self, cluster: &str, group: &SecurityGroupId) {
        self.networking().remove_control_plane(cluster, group);
    }
}
