//! What Amazon GuardDuty creates in a VPC with nodes of EKS if Runtime Monitoring is on with automated agents: an interface endpoint,
//! and its security group. It deletes neither with the nodes (Amazon GuardDuty User Guide, "How Runtime Monitoring works with Amazon EKS
//! clusters"; "Using infrastructure as code with GuardDuty automated security agents").

use super::given::all_traffic_out;
use super::view::Networking;
use crate::core::ec2::instances::Ec2Instance;
use foo_model::VpcId;
use foo_model::network::{Endpoint, EndpointKind, Peer, Protocol, Rule, SecurityGroup, Tags, Vpc};
use std::collections::BTreeSet;

impl Networking<'_> {
    /// A node of EKS was launched.
    pub(crate) fn guard_node(&mut self, instance: &Ec2Instance) {
        let is_node = instance.tags.keys().any(|key| key.starts_with("kubernetes.io/cluster/"));
        let vpc = VpcId::new(instance.vpc.as_str());
        let service = format!("com.amazonaws.{}.guardduty-data", self.name);
        let is_guarded = self.network.of_vpc::<Endpoint>(&vpc).any(|it| it.service == service);
        if !self.settings.guardduty || !is_node || is_guarded {
            return;
        }
        let Some(ranges) = self.network.get::<Vpc>(&vpc).map(|vpc| vpc.cidrs.clone()) else { return };
        let tags = Tags::from([("GuardDutyManaged".to_owned(), "true".to_owned())]);
        let https = |range| Rule {
            protocol: Protocol::Tcp(443, 443),
            peer: Peer::V4(range),
            description: String::new(),
        };
        let group = SecurityGroup {
            id: self.new_id("sg"),
            vpc: vpc.clone(),
            name: format!("GuardDutyManagedSecurityGroup-{vpc}"),
            description: "Associated with VPC Endpoint".to_owned(),
            ingress: ranges.iter().map(|it| https(it.range)).collect(),
            egress: all_traffic_out(false),
            tags: tags.clone(),
        };
        let kind = EndpointKind::Interface {
            subnets: BTreeSet::from([instance.subnet.clone()]),
            groups: BTreeSet::from([group.id.clone()]),
            private_dns: false,
        };
        self.network.put_new(group, self.now);
        // Without room for its endpoint GuardDuty reports that the VPC is not covered.
        let _created = self.create_endpoint(&vpc, &service, &kind, &tags);
    }
}
