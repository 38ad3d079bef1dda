//! What EKS makes in a VPC for a cluster: its security group, and the interfaces of its control plane (EKS User Guide, "View Amazon
//! EKS security group requirements", "View Amazon EKS networking requirements").

use super::given::all_traffic_out;
use super::interfaces::NewInterfaceOf;
use super::pins;
use super::view::Networking;
use foo_model::network::{Interface, Peer, Protocol, Rule, SecurityGroup, Tags, Vpc};
use foo_model::{InterfaceId, SecurityGroupId, SubnetId, VpcId};
use std::collections::BTreeSet;

/// Most interfaces of a control plane (EKS User Guide: "between two and four").
const INTERFACES: usize = 4;

/// The description of the interfaces of a cluster.
fn description(cluster: &str) -> String {
    format!("Amazon EKS {cluster}")
}

impl Networking<'_> {
    /// Makes the security group of a cluster: everything from itself, everything out, to itself by a rule of its own (for Elastic
    /// Fabric Adapters), with EKS's tags.
    pub(in crate::core) fn make_cluster_group(
        &mut self,
        vpc: &VpcId,
        cluster: &str,
        digits: u32,
    ) -> SecurityGroupId {
        let ipv6 = self.network.get::<Vpc>(vpc).is_some_and(|vpc| !vpc.ipv6.is_empty());
        let id: SecurityGroupId = self.new_id("sg");
        let name = format!("eks-cluster-sg-{cluster}-{digits}");
        let own = Rule { protocol: Protocol::All, peer: Peer::Group(id.clone()), description: String::new() };
        let mut egress = all_traffic_out(ipv6);
        egress.insert(own.clone());
        let tag = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let group = SecurityGroup {
            id: id.clone(),
            vpc: vpc.clone(),
            description: format!(
                "EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, as well as \
                 any managed workloads. ({cluster})"
            ),
            ingress: BTreeSet::from([own]),
            egress,
            tags: Tags::from([
                tag("Name", &name),
                tag(&format!("kubernetes.io/cluster/{cluster}"), "owned"),
                tag("aws:eks:cluster-name", cluster),
            ]),
            name,
        };
        self.network.put_new(group, self.now);
        id
    }

    /// Puts the interfaces of a control plane into its subnets, instead of those it had. `false`, and nothing is changed, if one
    /// of the subnets has no free address.
    pub(in crate::core) fn place_control_plane(
        &mut self,
        cluster: &str,
        subnets: &BTreeSet<SubnetId>,
        groups: &BTreeSet<SecurityGroupId>,
    ) -> bool {
        let former = self.control_plane_interfaces(cluster);
        let mut placed: Vec<InterfaceId> = Vec::new();
        for subnet in subnets.iter().take(INTERFACES) {
            let id: InterfaceId = self.new_id("eni");
            let new = NewInterfaceOf {
                subnet: subnet.clone(),
                groups: groups.clone(),
                description: description(cluster),
                interface_type: "interface",
                requester_managed: true,
            };
            if self.network.add_interface(id.clone(), new).is_none() {
                for id in &placed {
                    self.network.remove_interface(id);
                }
                return false;
            }
            placed.push(id);
        }
        for id in &former {
            self.network.remove_interface(id);
        }
        true
    }

    /// The interfaces of a control plane.
    pub(in crate::core) fn control_plane_interfaces(&self, cluster: &str) -> Vec<InterfaceId> {
        let description = description(cluster);
        let of = |it: &&Interface| it.requester_managed && it.description == description;
        self.network.all::<Interface>().filter(of).map(|it| it.id.clone()).collect()
    }

    /// Takes away what EKS made for a cluster. Its security group stays if something else has it or names it, and then keeps its
    /// VPC from being deleted **(A)**.
    pub(in crate::core) fn remove_control_plane(&mut self, cluster: &str, group: &SecurityGroupId) {
        for id in self.control_plane_interfaces(cluster) {
            self.network.remove_interface(&id);
        }
        if !pins::group_in_use(self.network, group) {
            self.network.remove::<SecurityGroup>(group);
        }
    }
}
