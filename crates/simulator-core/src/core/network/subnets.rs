//! Subnets (EC2 API Reference, CreateSubnet; VPC User Guide, "Subnet CIDR blocks").

use super::part::Part;
use super::pins;
use super::pool::AddressPool;
use super::quotas::is_reached;
use super::ranges::overlap;
use super::step::Step;
use super::view::Networking;
use crate::core::error::{AwsError, AwsResult};
use foo_model::network::{CidrAssociation, CidrState, Parts, RouteTable, Subnet, SubnetAttribute, Tags, Vpc};
use foo_model::{AssociationId, RouteTableId, SubnetId, VpcId, Zone};
use ipnet::{Ipv4Net, Ipv6Net};

fn out_of_range(cidr: impl std::fmt::Display) -> AwsError {
    AwsError::new("InvalidSubnet.Range", format!("The CIDR '{cidr}' is invalid."))
}

fn conflict(cidr: impl std::fmt::Display) -> AwsError {
    AwsError::new("InvalidSubnet.Conflict", format!("The CIDR '{cidr}' conflicts with another subnet"))
}

impl Networking<'_> {
    /// CreateSubnet.
    pub(super) fn create_subnet(
        &mut self,
        vpc: &VpcId,
        zone: &Zone,
        cidr: Ipv4Net,
        ipv6: Option<Ipv6Net>,
        tags: &Tags,
    ) -> AwsResult<Parts> {
        let cidr = cidr.trunc();
        self.part::<Vpc>(vpc)?;
        let zone_id = self.zone_of_subnets(zone)?;
        self.check_range(vpc, cidr)?;
        if let Some(ipv6) = ipv6 {
            self.check_ipv6(vpc, ipv6)?;
        }
        if is_reached(self.network.of_vpc::<Subnet>(vpc).count(), self.settings.network_quotas.subnets) {
            return Err(AwsError::new(
                "SubnetLimitExceeded",
                "The maximum number of subnets has been reached.",
            ));
        }
        let pool = AddressPool::new(cidr);
        let mut subnet = Subnet {
            id: self.new_id("subnet"),
            vpc: vpc.clone(),
            zone: zone.clone(),
            zone_id,
            cidr,
            ipv6: Vec::new(),
            state: "pending".to_owned(),
            free_addresses: pool.free(),
            public_ip_on_launch: false,
            ipv6_on_creation: false,
            tags: tags.clone(),
        };
        let id = subnet.id.clone();
        if let Some(range) = ipv6 {
            subnet.ipv6.push(self.begin_subnet_range(&id, range));
        }
        self.network.pools.insert(id.clone(), pool);
        self.network.put_new(subnet.clone(), self.now);
        self.begin_pending::<Subnet>(id);
        Ok(subnet.alone())
    }

    fn zone_of_subnets(&self, zone: &Zone) -> AwsResult<String> {
        self.network.zones.get(zone).cloned().ok_or_else(|| {
            let zones: Vec<&str> = self.network.zones.keys().map(Zone::as_str).collect();
            AwsError::invalid_value(format!(
                "Value ({zone}) for parameter availabilityZone is invalid. Subnets can currently only be created in the \
                 following availability zones: {}.",
                zones.join(", ")
            ))
        })
    }

    fn check_range(&self, vpc: &VpcId, cidr: Ipv4Net) -> AwsResult<()> {
        let usable = |it: &CidrAssociation<Ipv4Net>| {
            matches!(it.state, CidrState::Associated) && it.range.contains(&cidr)
        };
        let inside = self.network.vpcs.get(vpc).is_some_and(|vpc| vpc.cidrs.iter().any(usable));
        if !(16..=28).contains(&cidr.prefix_len()) || !inside {
            return Err(out_of_range(cidr));
        }
        if self.network.of_vpc::<Subnet>(vpc).any(|other| overlap(other.cidr, cidr)) {
            return Err(conflict(cidr));
        }
        Ok(())
    }

    /// Validates the IPv6 range of a subnet: a /64 of its VPC's range that no other subnet has.
    fn check_ipv6(&self, vpc: &VpcId, range: Ipv6Net) -> AwsResult<()> {
        let usable =
            |it: &CidrAssociation<Ipv6Net>| it.state == CidrState::Associated && it.range.contains(&range);
        let inside = self.network.vpcs.get(vpc).is_some_and(|vpc| vpc.ipv6.iter().any(usable));
        if range.prefix_len() != 64 || !inside {
            return Err(out_of_range(range));
        }
        let mut others = self.network.of_vpc::<Subnet>(vpc).flat_map(|subnet| &subnet.ipv6);
        if others.any(|other| other.range == range) {
            return Err(conflict(range));
        }
        Ok(())
    }

    fn begin_subnet_range(&mut self, id: &SubnetId, range: Ipv6Net) -> CidrAssociation<Ipv6Net> {
        let association = CidrAssociation {
            id: self.new_id::<AssociationId>("subnet-cidr-assoc"),
            range,
            state: CidrState::Associating,
        };
        let step = Step::SubnetRangeAssociated(id.clone(), association.id.clone());
        self.later(self.settings.networks_pending, step);
        association
    }

    pub(super) fn subnet_range_associated(&mut self, id: &SubnetId, association: &AssociationId) {
        let Some(subnet) = self.network.subnets.get_mut(id) else { return };
        for range in subnet.ipv6.iter_mut().filter(|it| &it.id == association) {
            range.state = CidrState::Associated;
        }
    }

    /// ModifySubnetAttribute.
    pub(super) fn modify_subnet_attribute(
        &mut self,
        id: &SubnetId,
        attribute: SubnetAttribute,
        enabled: bool,
    ) -> AwsResult<Parts> {
        let has_ipv6 = !self.part::<Subnet>(id)?.ipv6.is_empty();
        let Some(subnet) = self.network.subnets.get_mut(id) else { return Err(Subnet::WORDS.not_found(id)) };
        match attribute {
            SubnetAttribute::PublicIpOnLaunch => subnet.public_ip_on_launch = enabled,
            SubnetAttribute::Ipv6OnCreation if enabled && !has_ipv6 => {
                return Err(AwsError::invalid_value(format!(
                    "Invalid value 'true' for assignIpv6AddressOnCreation. {id} does not have any IPv6 CIDR block \
                     associated."
                )));
            }
            SubnetAttribute::Ipv6OnCreation => subnet.ipv6_on_creation = enabled,
        }
        Ok(Parts::default())
    }

    /// AssociateSubnetCidrBlock. A subnet has at most one IPv6 range.
    pub(super) fn associate_subnet_range(&mut self, id: &SubnetId, range: Ipv6Net) -> AwsResult<Parts> {
        let subnet = self.part::<Subnet>(id)?.clone();
        self.check_ipv6(&subnet.vpc, range)?;
        if !subnet.ipv6.is_empty() {
            return Err(AwsError::new(
                "CidrLimitExceeded",
                format!("This subnet '{id}' has met its maximum number of allowed CIDRs: 1"),
            ));
        }
        let association = self.begin_subnet_range(id, range);
        if let Some(subnet) = self.network.subnets.get_mut(id) {
            subnet.ipv6.push(association.clone());
        }
        Ok(Subnet { ipv6: vec![association], tags: Tags::new(), ..subnet }.alone())
    }

    /// DeleteSubnet. Its association with a route table goes with it, which AWS documents nowhere: kOps deletes subnets first,
    /// then their route tables, and never disassociates them (kubernetes/kops, `pkg/resources/aws/routetable.go`: a table is
    /// blocked by its subnets alone); the same was seen of a tear-down on AWS (stackshy/cloudemu#1261).
    pub(super) fn delete_subnet(&mut self, id: &SubnetId) -> AwsResult<Parts> {
        self.part::<Subnet>(id)?;
        if pins::subnet_in_use(self.network, id) {
            return Err(pins::has_dependencies("subnet", id));
        }
        let with: Vec<RouteTableId> = self
            .network
            .all::<RouteTable>()
            .filter(|table| table.associations.iter().any(|it| &it.subnet == id))
            .map(|table| table.id.clone())
            .collect();
        for table in with {
            if let Some(table) = self.network.route_tables.get_mut(&table) {
                table.associations.retain(|it| &it.subnet != id);
            }
        }
        self.network.pools.remove(id);
        self.network.remove::<Subnet>(id);
        Ok(Parts::default())
    }
}
