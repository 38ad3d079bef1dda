//! VPCs (EC2 API Reference, CreateVpc; VPC User Guide, "VPC basics").

use super::given::{default_group, local_routes};
use super::part::Part;
use super::pins;
use super::quotas::is_reached;
use super::ranges;
use super::view::Networking;
use crate::core::error::{AwsError, AwsResult};
use foo_model::network::{
    CidrAssociation, CidrState, DnsAttribute, Parts, RouteTable, SecurityGroup, Tags, Vpc,
};
use foo_model::{AssociationId, RouteTableId, SecurityGroupId, VpcId};
use ipnet::Ipv4Net;

impl Networking<'_> {
    /// CreateVpc. EC2 creates a main route table and a default security group with it.
    pub(super) fn create_vpc(&mut self, cidr: Ipv4Net, ipv6: bool, tags: &Tags) -> AwsResult<Parts> {
        let cidr = cidr.trunc();
        ranges::check_vpc_range(cidr)?;
        if is_reached(self.network.vpcs.len(), self.settings.network_quotas.vpcs) {
            return Err(AwsError::new("VpcLimitExceeded", "The maximum number of VPCs has been reached."));
        }
        let first: AssociationId = self.new_id("vpc-cidr-assoc");
        let vpc = Vpc {
            id: self.new_id("vpc"),
            owner: self.account.to_owned(),
            cidr,
            cidrs: vec![CidrAssociation { id: first, range: cidr, state: CidrState::Associated }],
            ipv6: Vec::new(),
            is_default: false,
            available: false,
            dns_support: Some(true),
            dns_hostnames: Some(false),
            tags: tags.clone(),
        };
        let id = vpc.id.clone();
        let group: SecurityGroupId = self.new_id("sg");
        let table = RouteTable {
            id: self.new_id::<RouteTableId>("rtb"),
            vpc: id.clone(),
            main: true,
            routes: local_routes(&vpc),
            associations: Vec::new(),
            tags: Tags::new(),
        };
        let association: AssociationId = self.new_id("rtbassoc");
        self.network.put_new(default_group(group, id.clone(), ipv6), self.now);
        self.network.put_new(table, self.now);
        self.network.main_associations.insert(id.clone(), association);
        let response = Vpc { dns_support: None, dns_hostnames: None, ..vpc.clone() };
        self.network.put_new(vpc, self.now);
        if ipv6 {
            self.add_ipv6(&id);
        }
        self.begin_pending::<Vpc>(id);
        Ok(response.alone())
    }

    /// ModifyVpcAttribute.
    pub(super) fn modify_vpc_attribute(
        &mut self,
        id: &VpcId,
        attribute: DnsAttribute,
        enabled: bool,
    ) -> AwsResult<Parts> {
        let support = self.part::<Vpc>(id)?.dns_support;
        let Some(vpc) = self.network.vpcs.get_mut(id) else { return Err(Vpc::WORDS.not_found(id)) };
        match attribute {
            DnsAttribute::Support => vpc.dns_support = Some(enabled),
            // EC2 API Reference, ModifyVpcAttribute: "You can only enable DNS hostnames if you've enabled DNS support." The code
            // is an assumption.
            DnsAttribute::Hostnames if enabled && support != Some(true) => {
                return Err(AwsError::new(
                    "InvalidParameterCombination",
                    format!(
                        "DNS hostnames cannot be enabled for {id} because DNS support is not enabled for it."
                    ),
                ));
            }
            DnsAttribute::Hostnames => vpc.dns_hostnames = Some(enabled),
        }
        Ok(Parts::default())
    }

    /// DeleteVpc. Its main route table and its default security group are deleted with it.
    pub(super) fn delete_vpc(&mut self, id: &VpcId) -> AwsResult<Parts> {
        self.part::<Vpc>(id)?;
        if pins::vpc_in_use(self.network, id) {
            return Err(pins::has_dependencies("vpc", id));
        }
        let tables: Vec<_> = self.network.of_vpc::<RouteTable>(id).map(|it| it.id.clone()).collect();
        let groups: Vec<_> = self.network.of_vpc::<SecurityGroup>(id).map(|it| it.id.clone()).collect();
        for table in tables {
            self.network.remove::<RouteTable>(&table);
        }
        for group in groups {
            self.network.remove::<SecurityGroup>(&group);
        }
        self.network.main_associations.remove(id);
        self.network.remove::<Vpc>(id);
        Ok(Parts::default())
    }
}
