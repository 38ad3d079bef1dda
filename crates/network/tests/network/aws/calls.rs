//! Creations and changes.

use super::{Answered, Aws, not_found, refusal};
use foo_model::network::*;
use foo_model::*;
use ipnet::Ipv4Net;
use std::collections::BTreeSet;

fn conflict(code: &str) -> foo_calls::Refusal {
    refusal(Reason::AlreadyExists, code)
}

impl Aws {
    pub(super) fn carry_out(&mut self, change: &Change) -> Answered {
        match change {
            Change::CreateVpc { cidr, ipv6, tags } => Ok(self.create_vpc(*cidr, *ipv6, tags)),
            Change::ModifyVpcAttribute { vpc, attribute, enabled } => {
                let vpc = self.parts.vpcs.get_mut(vpc).ok_or_else(|| not_found("InvalidVpcID.NotFound"))?;
                match attribute {
                    DnsAttribute::Support => vpc.dns_support = Some(*enabled),
                    DnsAttribute::Hostnames => vpc.dns_hostnames = Some(*enabled),
                }
                Ok(Parts::default())
            }
            Change::AssociateVpcCidrBlock { vpc, cidr } => {
                let id = AssociationId::new(self.id("vpc-cidr-assoc"));
                let vpc = self.parts.vpcs.get_mut(vpc).ok_or_else(|| not_found("InvalidVpcID.NotFound"))?;
                if vpc.cidrs.iter().any(|it| it.range.contains(cidr)) {
                    return Err(conflict("CidrConflict"));
                }
                vpc.cidrs.push(CidrAssociation { id, range: *cidr, state: CidrState::Associating });
                Ok(Parts::default())
            }
            Change::AssociateVpcIpv6 { vpc } => {
                let id = AssociationId::new(self.id("vpc-cidr-assoc"));
                let vpc = self.parts.vpcs.get_mut(vpc).ok_or_else(|| not_found("InvalidVpcID.NotFound"))?;
                let range = "2001:db8::/56".parse().unwrap();
                vpc.ipv6.push(CidrAssociation { id, range, state: CidrState::Associating });
                Ok(Parts::default())
            }
            Change::CreateSubnet { .. } => self.create_subnet(change),
            Change::ModifySubnetAttribute { subnet, attribute, enabled } => {
                let subnet = self
                    .parts
                    .subnets
                    .get_mut(subnet)
                    .ok_or_else(|| not_found("InvalidSubnetID.NotFound"))?;
                match attribute {
                    SubnetAttribute::PublicIpOnLaunch => subnet.public_ip_on_launch = *enabled,
                    SubnetAttribute::Ipv6OnCreation => subnet.ipv6_on_creation = *enabled,
                }
                Ok(Parts::default())
            }
            Change::AssociateSubnetCidrBlock { subnet, ipv6 } => {
                let id = AssociationId::new(self.id("subnet-cidr-assoc"));
                let subnet = self
                    .parts
                    .subnets
                    .get_mut(subnet)
                    .ok_or_else(|| not_found("InvalidSubnetID.NotFound"))?;
                subnet.ipv6.push(CidrAssociation { id, range: *ipv6, state: CidrState::Associated });
                Ok(Parts::default())
            }
            Change::CreateInternetGateway { tags } => {
                let id = InternetGatewayId::new(self.id("igw"));
                let part = InternetGateway { id: id.clone(), vpc: None, tags: tags.clone() };
                self.hide(id.as_str());
                self.parts.internet_gateways.insert(id.clone(), part.clone());
                Ok(Parts { internet_gateways: [(id, part)].into(), ..Parts::default() })
            }
            Change::AttachInternetGateway { gateway, vpc } => {
                if self.parts.internet_gateways.values().any(|it| it.vpc.as_ref() == Some(vpc)) {
                    return Err(conflict("Resource.AlreadyAssociated"));
                }
                let gateway = self.parts.internet_gateways.get_mut(gateway);
                gateway.ok_or_else(|| not_found("InvalidInternetGatewayID.NotFound"))?.vpc =
                    Some(vpc.clone());
                Ok(Parts::default())
            }
            Change::CreateEgressOnlyInternetGateway { vpc, tags, token } => {
                let (id, _) = self.with_token(token, change, "eigw")?;
                let id = EgressOnlyGatewayId::new(id);
                let part = EgressOnlyGateway { id: id.clone(), vpc: vpc.clone(), tags: tags.clone() };
                self.hide(id.as_str());
                self.parts.egress_only_gateways.insert(id.clone(), part.clone());
                Ok(Parts { egress_only_gateways: [(id, part)].into(), ..Parts::default() })
            }
            Change::AllocateAddress { tags } => self.allocate(tags),
            Change::CreateNatGateway { .. } => self.create_nat(change),
            Change::CreateRouteTable { vpc, tags, token } => {
                let (id, new) = self.with_token(token, change, "rtb")?;
                let id = RouteTableId::new(id);
                let routes = vec![Route {
                    destination: Destination::V4("10.0.0.0/16".parse().unwrap()),
                    target: RouteTarget::Local,
                    blackhole: false,
                }];
                let (vpc, tags) = (vpc.clone(), tags.clone());
                let part =
                    RouteTable { id: id.clone(), vpc, main: false, routes, associations: vec![], tags };
                if new {
                    self.hide(id.as_str());
                    self.parts.route_tables.insert(id.clone(), part.clone());
                }
                Ok(Parts { route_tables: [(id, part)].into(), ..Parts::default() })
            }
            Change::CreateRoute { .. } | Change::ReplaceRoute { .. } | Change::DeleteRoute { .. } => {
                self.route(change)
            }
            Change::AssociateRouteTable { .. }
            | Change::ReplaceRouteTableAssociation { .. }
            | Change::DisassociateRouteTable { .. } => self.association(change),
            Change::CreateSecurityGroup { vpc, name, description, tags } => {
                if self.parts.security_groups.values().any(|it| it.vpc == *vpc && it.name == *name) {
                    return Err(conflict("InvalidGroup.Duplicate"));
                }
                Ok(self.create_group(vpc, name, description, tags))
            }
            Change::AuthorizeSecurityGroupIngress { group, rules } => self.rules(group, rules, true, true),
            Change::AuthorizeSecurityGroupEgress { group, rules } => self.rules(group, rules, false, true),
            Change::RevokeSecurityGroupIngress { group, rules } => self.rules(group, rules, true, false),
            Change::RevokeSecurityGroupEgress { group, rules } => self.rules(group, rules, false, false),
            Change::UpdateSecurityGroupRuleDescriptionsIngress { group, rules } => {
                let it = self.parts.security_groups.get_mut(group);
                let ingress = &mut it.ok_or_else(|| not_found("InvalidGroup.NotFound"))?.ingress;
                for rule in rules {
                    let before = ingress.len();
                    ingress.retain(|it| !(it.protocol == rule.protocol && it.peer == rule.peer));
                    if ingress.len() == before {
                        return Err(not_found("InvalidPermission.NotFound"));
                    }
                    ingress.insert(rule.clone());
                }
                Ok(Parts::default())
            }
            Change::CreateVpcEndpoint { .. } | Change::ModifyVpcEndpoint { .. } => self.endpoint(change),
            Change::CreateTags { .. } | Change::DeleteTags { .. } => {
                self.tag(change);
                Ok(Parts::default())
            }
            _ => self.delete(change),
        }
    }

    fn create_vpc(&mut self, cidr: Ipv4Net, ipv6: bool, tags: &Tags) -> Parts {
        let id = VpcId::new(self.id("vpc"));
        let range = |id: String, range| CidrAssociation {
            id: AssociationId::new(id),
            range,
            state: CidrState::Associated,
        };
        let first = range(self.id("vpc-cidr-assoc"), cidr);
        let part = Vpc {
            id: id.clone(),
            owner: "123456789012".to_owned(),
            cidr,
            cidrs: vec![first],
            ipv6: vec![],
            is_default: false,
            available: true,
            dns_support: None,
            dns_hostnames: None,
            tags: tags.clone(),
        };
        let answer = Parts { vpcs: [(id.clone(), part.clone())].into(), ..Parts::default() };
        let mut truth = Vpc { dns_support: Some(true), dns_hostnames: Some(false), ..part };
        if ipv6 {
            let id = AssociationId::new(self.id("vpc-cidr-assoc"));
            let range = "2001:db8::/56".parse().unwrap();
            truth.ipv6.push(CidrAssociation { id, range, state: CidrState::Associating });
        }
        self.hide(id.as_str());
        self.parts.vpcs.insert(id.clone(), truth);
        let main = RouteTableId::new(self.id("rtb"));
        let table = RouteTable {
            id: main.clone(),
            vpc: id.clone(),
            main: true,
            routes: vec![],
            associations: vec![],
            tags: Tags::new(),
        };
        self.parts.route_tables.insert(main, table);
        self.create_group(&id, "default", "default VPC security group", &Tags::new());
        answer
    }

    fn create_group(&mut self, vpc: &VpcId, name: &str, description: &str, tags: &Tags) -> Parts {
        let id = SecurityGroupId::new(self.id("sg"));
        let everything =
            Rule { protocol: Protocol::All, peer: Peer::V4(Ipv4Net::default()), description: String::new() };
        let part = SecurityGroup {
            id: id.clone(),
            vpc: vpc.clone(),
            name: name.to_owned(),
            description: description.to_owned(),
            ingress: BTreeSet::new(),
            egress: [everything].into(),
            tags: tags.clone(),
        };
        self.hide(id.as_str());
        self.parts.security_groups.insert(id.clone(), part.clone());
        Parts {
            security_groups: [(id, SecurityGroup { egress: BTreeSet::new(), ..part })].into(),
            ..Parts::default()
        }
    }

    fn create_subnet(&mut self, change: &Change) -> Answered {
        let Change::CreateSubnet { vpc, zone, cidr, ipv6, tags } = change else { unreachable!() };
        let ranges = &self.parts.vpcs.get(vpc).ok_or_else(|| not_found("InvalidVpcID.NotFound"))?.cidrs;
        if !ranges.iter().any(|it| it.range.contains(cidr)) {
            return Err(refusal(Reason::RequestInvalid, "InvalidSubnet.Range"));
        }
        let mut there = self.parts.subnets.values().filter(|it| it.vpc == *vpc);
        if there.any(|it| it.cidr.contains(cidr) || cidr.contains(&it.cidr)) {
            return Err(conflict("InvalidSubnet.Conflict"));
        }
        let id = SubnetId::new(self.id("subnet"));
        let association = AssociationId::new(self.id("subnet-cidr-assoc"));
        let ipv6 = ipv6.map(|range| CidrAssociation { id: association, range, state: CidrState::Associated });
        let part = Subnet {
            id: id.clone(),
            vpc: vpc.clone(),
            zone: zone.clone(),
            zone_id: String::new(),
            cidr: *cidr,
            ipv6: ipv6.into_iter().collect(),
            state: "available".to_owned(),
            free_addresses: 100,
            public_ip_on_launch: false,
            ipv6_on_creation: false,
            tags: tags.clone(),
        };
        self.hide(id.as_str());
        self.parts.subnets.insert(id.clone(), part.clone());
        Ok(Parts { subnets: [(id, part)].into(), ..Parts::default() })
    }

    fn allocate(&mut self, tags: &Tags) -> Answered {
        if self.parts.addresses.len() >= self.address_quota as usize {
            return Err(refusal(Reason::LimitExceeded, "AddressLimitExceeded"));
        }
        let id = AllocationId::new(self.id("eipalloc"));
        let part = Address { id: id.clone(), ip: String::new(), interface: None, tags: tags.clone() };
        self.hide(id.as_str());
        self.parts.addresses.insert(id.clone(), part.clone());
        Ok(Parts { addresses: [(id, part)].into(), ..Parts::default() })
    }

    fn create_nat(&mut self, change: &Change) -> Answered {
        let Change::CreateNatGateway { subnet, allocation, tags, token } = change else { unreachable!() };
        let vpc =
            self.parts.subnets.get(subnet).ok_or_else(|| not_found("InvalidSubnetID.NotFound"))?.vpc.clone();
        let address =
            self.parts.addresses.get(allocation).ok_or_else(|| not_found("InvalidAllocationID.NotFound"))?;
        let taken = address.interface.is_some();
        let (id, new) = self.with_token(token, change, "nat")?;
        let id = NatGatewayId::new(id);
        if !new {
            let part = self.parts.nat_gateways[&id].clone();
            return Ok(Parts { nat_gateways: [(id, part)].into(), ..Parts::default() });
        }
        assert!(!taken, "a NAT gateway with an address that is in use");
        let interface = self.interface(subnet, &format!("Interface for NAT Gateway {id}"));
        let it = self.parts.interfaces.get_mut(&interface).unwrap();
        "nat_gateway".clone_into(&mut it.interface_type);
        it.requester_managed = true;
        it.public_ip = Some("198.51.100.1".to_owned());
        self.parts.addresses.get_mut(allocation).unwrap().interface = Some(interface);
        let part = NatGateway {
            id: id.clone(),
            vpc,
            subnet: subnet.clone(),
            allocations: [allocation.clone()].into(),
            state: NatState::Pending,
            failure: None,
            created: Some(foo_model::AwsTime::from_millis(self.now.0)),
            tags: tags.clone(),
        };
        self.timers.insert(id.to_string(), self.now);
        self.hide(id.as_str());
        self.parts.nat_gateways.insert(id.clone(), part.clone());
        Ok(Parts { nat_gateways: [(id, part)].into(), ..Parts::default() })
    }

    fn route(&mut self, change: &Change) -> Answered {
        let (Change::CreateRoute { table, destination, .. }
        | Change::ReplaceRoute { table, destination, .. }
        | Change::DeleteRoute { table, destination }) = change
        else {
            unreachable!()
        };
        if let Change::CreateRoute { target: RouteTarget::NatGateway(nat), .. }
        | Change::ReplaceRoute { target: RouteTarget::NatGateway(nat), .. } = change
        {
            let state = self.parts.nat_gateways.get(nat).map(|it| it.state);
            assert_eq!(state, Some(NatState::Available), "a route to a NAT gateway that does not work");
        }
        let table = self.parts.route_tables.get_mut(table);
        let routes = &mut table.ok_or_else(|| not_found("InvalidRouteTableID.NotFound"))?.routes;
        let there = routes.iter().any(|it| it.destination == *destination);
        match change {
            Change::CreateRoute { .. } if there => return Err(conflict("RouteAlreadyExists")),
            Change::ReplaceRoute { .. } | Change::DeleteRoute { .. } if !there => {
                return Err(not_found("InvalidRoute.NotFound"));
            }
            _ => routes.retain(|it| it.destination != *destination),
        }
        if let Change::CreateRoute { target, .. } | Change::ReplaceRoute { target, .. } = change {
            routes.push(Route { destination: destination.clone(), target: target.clone(), blackhole: false });
        }
        Ok(Parts::default())
    }

    fn association(&mut self, change: &Change) -> Answered {
        let (table, subnet) = match change {
            Change::AssociateRouteTable { table, subnet } => {
                let mut all = self.parts.route_tables.values().flat_map(|it| &it.associations);
                if all.any(|it| it.subnet == *subnet) {
                    return Err(conflict("Resource.AlreadyAssociated"));
                }
                (Some(table), subnet.clone())
            }
            Change::ReplaceRouteTableAssociation { association, .. }
            | Change::DisassociateRouteTable { association } => {
                let mut all = self.parts.route_tables.values().flat_map(|it| &it.associations);
                let found = all.find(|it| it.id == *association).map(|it| it.subnet.clone());
                let subnet = found.ok_or_else(|| not_found("InvalidAssociationID.NotFound"))?;
                for table in self.parts.route_tables.values_mut() {
                    table.associations.retain(|it| it.id != *association);
                }
                match change {
                    Change::ReplaceRouteTableAssociation { table, .. } => (Some(table), subnet),
                    _ => (None, subnet),
                }
            }
            _ => unreachable!(),
        };
        let Some(table) = table else { return Ok(Parts::default()) };
        let id = AssociationId::new(self.id("rtbassoc"));
        let it = self
            .parts
            .route_tables
            .get_mut(table)
            .ok_or_else(|| not_found("InvalidRouteTableID.NotFound"))?;
        it.associations.push(TableAssociation { id, subnet });
        let associations = it.associations.last().cloned().into_iter().collect();
        let answer = RouteTable { associations, routes: vec![], tags: Tags::new(), ..it.clone() };
        Ok(Parts { route_tables: [(table.clone(), answer)].into(), ..Parts::default() })
    }

    fn rules(
        &mut self,
        group: &SecurityGroupId,
        rules: &BTreeSet<Rule>,
        ingress: bool,
        add: bool,
    ) -> Answered {
        for rule in rules {
            if let Peer::Group(id) = &rule.peer
                && !self.parts.security_groups.contains_key(id)
            {
                return Err(not_found("InvalidGroup.NotFound"));
            }
        }
        let group =
            self.parts.security_groups.get_mut(group).ok_or_else(|| not_found("InvalidGroup.NotFound"))?;
        let there = if ingress { &mut group.ingress } else { &mut group.egress };
        let same = |a: &Rule, b: &Rule| a.protocol == b.protocol && a.peer == b.peer;
        let has = rules.iter().filter(|rule| there.iter().any(|it| same(it, rule))).count();
        if add && has > 0 {
            return Err(conflict("InvalidPermission.Duplicate"));
        }
        if !add && has < rules.len() {
            return Err(not_found("InvalidPermission.NotFound"));
        }
        if add {
            there.extend(rules.iter().cloned());
        } else {
            there.retain(|it| !rules.iter().any(|rule| same(it, rule)));
        }
        Ok(Parts::default())
    }
}
