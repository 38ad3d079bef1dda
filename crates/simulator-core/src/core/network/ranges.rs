//! Ranges of addresses of VPCs (VPC User Guide, "VPC CIDR blocks").

use super::given::local_routes;
use super::part::Part;
use super::quotas::is_reached;
use super::state::Network;
use super::step::Step;
use super::view::Networking;
use crate::core::error::{AwsError, AwsResult};
use foo_model::network::{CidrAssociation, CidrState, Parts, RouteTable, RouteTarget, Subnet, Vpc};
use foo_model::{AssociationId, RouteTableId, VpcId};
use ipnet::{Ipv4Net, Ipv6Net};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Whether two ranges have an address in common.
pub(super) fn overlap(one: Ipv4Net, other: Ipv4Net) -> bool {
    one.contains(&other) || other.contains(&one)
}

const fn net(a: u8, b: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, 0, 0), prefix)
}

/// Ranges that EC2 refuses for VPCs (VPC User Guide, "VPC CIDR blocks").
const UNUSABLE: [Ipv4Net; 4] = [net(0, 0, 8), net(127, 0, 8), net(169, 254, 16), net(224, 0, 4)];

const TEN: Ipv4Net = net(10, 0, 8);
const TEN_FIRST_HALF: Ipv4Net = net(10, 0, 15);
const TEN_ZERO: Ipv4Net = net(10, 0, 16);
const SEVENTEEN_TWO: Ipv4Net = net(172, 16, 12);
const LAST_OF_172: Ipv4Net = net(172, 31, 16);
const ONE_NINE_TWO: Ipv4Net = net(192, 168, 16);
const BENCHMARK: Ipv4Net = net(198, 19, 16);

/// Validates a range for a VPC: its prefix length is 16–28, and it is outside of the ranges that EC2 refuses.
pub(super) fn check_vpc_range(cidr: Ipv4Net) -> AwsResult<()> {
    if (16..=28).contains(&cidr.prefix_len()) && !UNUSABLE.iter().any(|range| overlap(*range, cidr)) {
        return Ok(());
    }
    Err(AwsError::new("InvalidVpc.Range", format!("The CIDR '{cidr}' is invalid.")))
}

/// Whether a range may be added to a VPC with this first range (VPC User Guide, "IPv4 CIDR block association
/// restrictions").
fn may_join(first: Ipv4Net, all: &[Ipv4Net], cidr: Ipv4Net) -> bool {
    let private = [TEN, SEVENTEEN_TWO, ONE_NINE_TWO];
    let home = private.iter().find(|range| range.contains(&first));
    let of_another_kind = match home {
        Some(home) => {
            private.iter().any(|range| range != home && overlap(*range, cidr)) || overlap(BENCHMARK, cidr)
        }
        None if BENCHMARK.contains(&first) => private.iter().any(|range| overlap(*range, cidr)),
        None => private.iter().any(|range| overlap(*range, cidr)) || overlap(BENCHMARK, cidr),
    };
    let in_ten = all.iter().any(|range| TEN_FIRST_HALF.contains(range)) && overlap(TEN_ZERO, cidr);
    let in_172 = home == Some(&SEVENTEEN_TWO) && overlap(LAST_OF_172, cidr);
    !of_another_kind && !in_ten && !in_172
}

impl Networking<'_> {
    /// AssociateVpcCidrBlock with an IPv4 range.
    pub(super) fn associate_range(&mut self, id: &VpcId, cidr: Ipv4Net) -> AwsResult<Parts> {
        let cidr = cidr.trunc();
        let vpc = self.part::<Vpc>(id)?;
        check_vpc_range(cidr)?;
        let quota = self.settings.network_quotas.ranges;
        if is_reached(vpc.cidrs.len(), quota) {
            return Err(AwsError::new(
                "CidrLimitExceeded",
                format!("This network '{id}' has met its maximum number of allowed CIDRs: {quota}"),
            ));
        }
        let all: Vec<Ipv4Net> = vpc.cidrs.iter().map(|it| it.range).collect();
        if all.iter().any(|range| overlap(*range, cidr)) {
            return Err(AwsError::new("InvalidVpc.Range", format!("The CIDR '{cidr}' is invalid.")));
        }
        if !may_join(vpc.cidr, &all, cidr) {
            return Err(AwsError::new(
                "InvalidVpc.Range",
                format!(
                    "The CIDR '{cidr}' is restricted. Use a CIDR from the same private address range as the current VPC \
                     CIDR, or use a publicly-routable CIDR. For additional restrictions, see \
                     https://docs.aws.amazon.com/vpc/latest/userguide/VPC_Subnets.html#vpc-resize"
                ),
            ));
        }
        let association =
            CidrAssociation { id: self.new_id("vpc-cidr-assoc"), range: cidr, state: CidrState::Associating };
        Ok(self.add_range(id, |vpc| &mut vpc.cidrs, association))
    }

    /// AssociateVpcCidrBlock with an Amazon-provided IPv6 range.
    pub(super) fn associate_ipv6(&mut self, id: &VpcId) -> AwsResult<Parts> {
        self.part::<Vpc>(id)?;
        Ok(self.add_ipv6(id))
    }

    pub(super) fn add_ipv6(&mut self, id: &VpcId) -> Parts {
        let association = CidrAssociation {
            id: self.new_id("vpc-cidr-assoc"),
            range: self.network.next_ipv6(),
            state: CidrState::Associating,
        };
        self.add_range(id, |vpc| &mut vpc.ipv6, association)
    }

    fn add_range<T: Clone>(
        &mut self,
        id: &VpcId,
        ranges: fn(&mut Vpc) -> &mut Vec<CidrAssociation<T>>,
        association: CidrAssociation<T>,
    ) -> Parts {
        let Some(vpc) = self.network.vpcs.get_mut(id) else { return Parts::default() };
        let mut response = Vpc {
            cidrs: Vec::new(),
            ipv6: Vec::new(),
            dns_support: None,
            dns_hostnames: None,
            tags: foo_model::network::Tags::new(),
            ..vpc.clone()
        };
        ranges(&mut response).push(association.clone());
        let step = Step::RangeAssociated(id.clone(), association.id.clone());
        ranges(vpc).push(association);
        self.network.write_local_routes(id);
        self.later(self.settings.networks_pending, step);
        response.alone()
    }

    pub(super) fn range_associated(&mut self, id: &VpcId, association: &AssociationId) {
        self.set_range_state(id, association, CidrState::Associating, CidrState::Associated);
    }

    fn set_range_state(&mut self, id: &VpcId, association: &AssociationId, from: CidrState, to: CidrState) {
        let Some(vpc) = self.network.vpcs.get_mut(id) else { return };
        let v4 = vpc.cidrs.iter_mut().map(|it| (&it.id, &mut it.state));
        let v6 = vpc.ipv6.iter_mut().map(|it| (&it.id, &mut it.state));
        for (_, state) in v4.chain(v6).filter(|(id, state)| *id == association && **state == from) {
            *state = to;
        }
    }

    /// DisassociateVpcCidrBlock.
    pub(super) fn disassociate_range(&mut self, association: &AssociationId) -> AwsResult<Parts> {
        let has = |vpc: &&Vpc| {
            vpc.cidrs.iter().any(|it| &it.id == association)
                || vpc.ipv6.iter().any(|it| &it.id == association)
        };
        let vpc = self.network.all::<Vpc>().find(has).ok_or_else(|| {
            AwsError::new(
                "InvalidVpcCidrBlockAssociationIdError.NotFound",
                format!("The vpc CIDR block association ID '{association}' does not exist"),
            )
        })?;
        let id = vpc.id.clone();
        if vpc.cidrs.first().is_some_and(|first| &first.id == association) {
            return Err(AwsError::new(
                "OperationNotPermitted",
                format!(
                    "The vpc CIDR block with association ID {association} may not be disassociated. It is the primary \
                     IPv4 CIDR block of the VPC"
                ),
            ));
        }
        if let Some(range) = range_with_subnet(self.network, vpc, association) {
            return Err(AwsError::new(
                "InvalidCidrBlock.InUse",
                format!("The vpc {id} currently has a subnet within CIDR block {range}"),
            ));
        }
        for state in [CidrState::Associating, CidrState::Associated] {
            self.set_range_state(&id, association, state, CidrState::Disassociating);
        }
        self.network.write_local_routes(&id);
        self.later(self.settings.networks_pending, Step::RangeGone(id, association.clone()));
        Ok(Parts::default())
    }

    pub(super) fn range_gone(&mut self, id: &VpcId, association: &AssociationId) {
        let Some(vpc) = self.network.vpcs.get_mut(id) else { return };
        vpc.cidrs.retain(|it| &it.id != association);
        vpc.ipv6.retain(|it| &it.id != association);
    }
}

/// The range of this association, if it contains a subnet.
fn range_with_subnet(network: &Network, vpc: &Vpc, association: &AssociationId) -> Option<String> {
    let mut subnets = network.of_vpc::<Subnet>(&vpc.id);
    if let Some(v4) = vpc.cidrs.iter().find(|it| &it.id == association) {
        return subnets.any(|subnet| v4.range.contains(&subnet.cidr)).then(|| v4.range.to_string());
    }
    let v6 = vpc.ipv6.iter().find(|it| &it.id == association)?;
    let inside = |subnet: &Subnet| subnet.ipv6.iter().any(|it| v6.range.contains(&it.range));
    subnets.any(inside).then(|| v6.range.to_string())
}

impl Network {
    /// The next Amazon-provided IPv6 range.
    fn next_ipv6(&mut self) -> Ipv6Net {
        let n = self.given_ipv6;
        self.given_ipv6 = n.wrapping_add(1);
        let address = Ipv6Addr::new(0x2a05, 0xd014, 0x0800 | (n >> 8), (n & 0xff) << 8, 0, 0, 0, 0);
        Ipv6Net::new(address, 56).unwrap_or_default()
    }

    /// Adds local routes for all ranges of a VPC to its route tables.
    fn write_local_routes(&mut self, id: &VpcId) {
        let Some(local) = self.vpcs.get(id).map(local_routes) else { return };
        let tables: Vec<RouteTableId> = self.of_vpc::<RouteTable>(id).map(|it| it.id.clone()).collect();
        for table in tables {
            if let Some(table) = self.route_tables.get_mut(&table) {
                let others = table.routes.iter().filter(|route| route.target != RouteTarget::Local);
                table.routes = local.iter().chain(others).cloned().collect();
            }
        }
    }
}
