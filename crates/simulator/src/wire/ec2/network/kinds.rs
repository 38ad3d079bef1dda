//! The kinds of parts: parameters, filters and responses of their Describe calls (EC2 API Reference).

use super::describe::{PAGING, Shown, each, one};
use super::render::{endpoints, gateways, groups, interfaces, tables, truth, vpcs};
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::paging::Paging;
use crate::wire::xml::Xml;
use foo_model::network::{
    Address, EgressOnlyGateway, Endpoint, Interface, InternetGateway, NatGateway, RouteTable, SecurityGroup,
    Subnet, Vpc,
};

impl Shown for Vpc {
    const SET: &'static str = "vpcSet";
    const IDS: &'static str = "VpcId";
    const FILTERS: &'static [&'static str] = &[
        "cidr",
        "cidr-block-association.association-id",
        "cidr-block-association.cidr-block",
        "cidr-block-association.state",
        "ipv6-cidr-block-association.association-id",
        "ipv6-cidr-block-association.ipv6-cidr-block",
        "ipv6-cidr-block-association.state",
        "is-default",
        "owner-id",
        "state",
        "vpc-id",
    ];

    fn values(&self, filter: &str, _: &Region) -> Vec<String> {
        match filter {
            "cidr" => one(self.cidr),
            "cidr-block-association.association-id" => each(&self.cidrs, |it| it.id.to_string()),
            "cidr-block-association.cidr-block" => each(&self.cidrs, |it| it.range.to_string()),
            "cidr-block-association.state" => each(&self.cidrs, |it| vpcs::range_state(it.state).to_owned()),
            "ipv6-cidr-block-association.association-id" => each(&self.ipv6, |it| it.id.to_string()),
            "ipv6-cidr-block-association.ipv6-cidr-block" => each(&self.ipv6, |it| it.range.to_string()),
            "ipv6-cidr-block-association.state" => {
                each(&self.ipv6, |it| vpcs::range_state(it.state).to_owned())
            }
            "is-default" => one(self.is_default),
            "owner-id" => one(&self.owner),
            "state" => one(vpcs::vpc_state(self)),
            _ => one(&self.id),
        }
    }

    fn write(&self, xml: &mut Xml, region: &Region) {
        vpcs::write_vpc(xml, self, region);
    }
}

impl Shown for Subnet {
    const SET: &'static str = "subnetSet";
    const IDS: &'static str = "SubnetId";
    const FILTERS: &'static [&'static str] = &[
        "availability-zone",
        "availability-zone-id",
        "availabilityZone",
        "available-ip-address-count",
        "cidr",
        "cidr-block",
        "default-for-az",
        "ipv6-cidr-block-association.association-id",
        "ipv6-cidr-block-association.ipv6-cidr-block",
        "ipv6-cidr-block-association.state",
        "map-public-ip-on-launch",
        "owner-id",
        "state",
        "subnet-id",
        "vpc-id",
    ];

    fn values(&self, filter: &str, region: &Region) -> Vec<String> {
        match filter {
            "availability-zone" | "availabilityZone" => one(&self.zone),
            "availability-zone-id" => one(&self.zone_id),
            "available-ip-address-count" => one(self.free_addresses),
            "cidr" | "cidr-block" => one(self.cidr),
            "default-for-az" => one(false),
            "ipv6-cidr-block-association.association-id" => each(&self.ipv6, |it| it.id.to_string()),
            "ipv6-cidr-block-association.ipv6-cidr-block" => each(&self.ipv6, |it| it.range.to_string()),
            "ipv6-cidr-block-association.state" => {
                each(&self.ipv6, |it| vpcs::range_state(it.state).to_owned())
            }
            "map-public-ip-on-launch" => one(self.public_ip_on_launch),
            "owner-id" => one(&region.account),
            "state" => one(&self.state),
            "subnet-id" => one(&self.id),
            _ => one(&self.vpc),
        }
    }

    fn write(&self, xml: &mut Xml, region: &Region) {
        vpcs::write_subnet(xml, self, region);
    }
}

impl Shown for InternetGateway {
    const SET: &'static str = "internetGatewaySet";
    const IDS: &'static str = "InternetGatewayId";
    const FILTERS: &'static [&'static str] =
        &["attachment.state", "attachment.vpc-id", "internet-gateway-id", "owner-id"];

    fn values(&self, filter: &str, region: &Region) -> Vec<String> {
        match filter {
            "attachment.state" => each(&self.vpc, |_| "available".to_owned()),
            "attachment.vpc-id" => each(&self.vpc, ToString::to_string),
            "owner-id" => one(&region.account),
            _ => one(&self.id),
        }
    }

    fn write(&self, xml: &mut Xml, region: &Region) {
        gateways::write_internet(xml, self, region);
    }
}

impl Shown for EgressOnlyGateway {
    const SET: &'static str = "egressOnlyInternetGatewaySet";
    const IDS: &'static str = "EgressOnlyInternetGatewayId";
    const PAGES: Option<Paging> = Some(Paging { default: 255, max: 255, ..PAGING });
    const FILTERS: &'static [&'static str] = &[];

    fn values(&self, _: &str, _: &Region) -> Vec<String> {
        Vec::new()
    }

    fn write(&self, xml: &mut Xml, _: &Region) {
        gateways::write_egress_only(xml, self);
    }
}

impl Shown for Address {
    const SET: &'static str = "addressesSet";
    const IDS: &'static str = "AllocationId";
    const ALSO: &'static [&'static str] = &["PublicIp"];
    const PAGES: Option<Paging> = None;
    const FILTERS: &'static [&'static str] = &[
        "allocation-id",
        "association-id",
        "domain",
        "instance-id",
        "network-border-group",
        "network-interface-id",
        "private-ip-address",
        "public-ip",
    ];

    fn values(&self, filter: &str, region: &Region) -> Vec<String> {
        let interface = self.interface.as_ref().and_then(|id| region.network.get::<Interface>(id));
        match filter {
            "allocation-id" => one(&self.id),
            "association-id" => each(&self.interface, |_| gateways::association(self)),
            "domain" => one("vpc"),
            "instance-id" => each(interface.and_then(|it| it.instance.as_ref()), ToString::to_string),
            "network-border-group" => one(&region.name),
            "network-interface-id" => each(&self.interface, ToString::to_string),
            "private-ip-address" => each(interface, |it| it.private_ip.clone()),
            _ => one(&self.ip),
        }
    }

    fn asked(&self, params: &Params) -> bool {
        let wanted = params.texts("PublicIp");
        wanted.is_empty() || wanted.contains(&self.ip)
    }

    fn write(&self, xml: &mut Xml, region: &Region) {
        gateways::write_address(xml, self, region);
    }
}

impl Shown for NatGateway {
    const SET: &'static str = "natGatewaySet";
    const IDS: &'static str = "NatGatewayId";
    const FILTERS: &'static [&'static str] = &["nat-gateway-id", "state", "subnet-id", "vpc-id"];

    fn values(&self, filter: &str, _: &Region) -> Vec<String> {
        match filter {
            "nat-gateway-id" => one(&self.id),
            "state" => one(gateways::nat_state(self)),
            "subnet-id" => one(&self.subnet),
            _ => one(&self.vpc),
        }
    }

    fn write(&self, xml: &mut Xml, region: &Region) {
        gateways::write_nat(xml, self, region);
    }
}

impl Shown for RouteTable {
    const SET: &'static str = "routeTableSet";
    const IDS: &'static str = "RouteTableId";
    const PAGES: Option<Paging> = Some(Paging { default: 100, max: 100, ..PAGING });
    const FILTERS: &'static [&'static str] = &[
        "association.main",
        "association.route-table-association-id",
        "association.route-table-id",
        "association.subnet-id",
        "owner-id",
        "route-table-id",
        "route.destination-cidr-block",
        "route.destination-ipv6-cidr-block",
        "route.destination-prefix-list-id",
        "route.egress-only-internet-gateway-id",
        "route.gateway-id",
        "route.nat-gateway-id",
        "route.origin",
        "route.state",
        "vpc-id",
    ];

    fn values(&self, filter: &str, region: &Region) -> Vec<String> {
        let main = tables::main_association(self, region);
        match filter {
            "association.main" => {
                each(main.map(|_| true).into_iter().chain(self.associations.iter().map(|_| false)), |main| {
                    main.to_string()
                })
            }
            "association.route-table-association-id" => {
                each(self.associations.iter().map(|it| &it.id).chain(main), ToString::to_string)
            }
            "association.route-table-id" if main.is_none() && self.associations.is_empty() => Vec::new(),
            "association.subnet-id" => each(&self.associations, |it| it.subnet.to_string()),
            "owner-id" => one(&region.account),
            "route.origin" => each(&self.routes, |route| tables::origin(route).to_owned()),
            "route.state" => each(&self.routes, |route| tables::state(route).to_owned()),
            "vpc-id" => one(&self.vpc),
            "route-table-id" | "association.route-table-id" => one(&self.id),
            route => tables::route_values(self, route.strip_prefix("route.").unwrap_or(route)),
        }
    }

    fn write(&self, xml: &mut Xml, region: &Region) {
        tables::write(xml, self, region);
    }
}

impl Shown for SecurityGroup {
    const SET: &'static str = "securityGroupInfo";
    const IDS: &'static str = "GroupId";
    const ALSO: &'static [&'static str] = &["GroupName"];
    const FILTERS: &'static [&'static str] = &[
        "description",
        "egress.ip-permission.cidr",
        "egress.ip-permission.group-id",
        "group-id",
        "group-name",
        "ip-permission.cidr",
        "ip-permission.group-id",
        "owner-id",
        "vpc-id",
    ];

    fn values(&self, filter: &str, region: &Region) -> Vec<String> {
        match filter {
            "description" => one(&self.description),
            "egress.ip-permission.cidr" => groups::ranges(&self.egress),
            "egress.ip-permission.group-id" => groups::peers(&self.egress),
            "group-id" => one(&self.id),
            "group-name" => one(&self.name),
            "ip-permission.cidr" => groups::ranges(&self.ingress),
            "ip-permission.group-id" => groups::peers(&self.ingress),
            "owner-id" => one(&region.account),
            _ => one(&self.vpc),
        }
    }

    fn asked(&self, params: &Params) -> bool {
        let wanted = params.texts("GroupName");
        wanted.is_empty() || wanted.contains(&self.name)
    }

    fn write(&self, xml: &mut Xml, region: &Region) {
        groups::write(xml, self, region);
    }
}

impl Shown for Endpoint {
    const SET: &'static str = "vpcEndpointSet";
    const IDS: &'static str = "VpcEndpointId";
    const PAGES: Option<Paging> = Some(Paging { min: 1, ..PAGING });
    const FILTERS: &'static [&'static str] =
        &["service-name", "vpc-endpoint-id", "vpc-endpoint-state", "vpc-endpoint-type", "vpc-id"];

    fn values(&self, filter: &str, _: &Region) -> Vec<String> {
        match filter {
            "service-name" => one(&self.service),
            "vpc-endpoint-id" => one(&self.id),
            "vpc-endpoint-state" => one(endpoints::state(self)),
            "vpc-endpoint-type" => one(endpoints::endpoint_type(self)),
            _ => one(&self.vpc),
        }
    }

    fn write(&self, xml: &mut Xml, region: &Region) {
        endpoints::write(xml, self, region);
    }
}

impl Shown for Interface {
    const SET: &'static str = "networkInterfaceSet";
    const IDS: &'static str = "NetworkInterfaceId";
    const ALSO: &'static [&'static str] = &["IncludeManagedResources"];
    const FILTERS: &'static [&'static str] = &[
        "association.allocation-id",
        "association.public-ip",
        "attachment.instance-id",
        "attachment.status",
        "availability-zone",
        "availability-zone-id",
        "description",
        "group-id",
        "interface-type",
        "network-interface-id",
        "owner-id",
        "private-ip-address",
        "requester-managed",
        "status",
        "subnet-id",
        "vpc-id",
    ];

    fn values(&self, filter: &str, region: &Region) -> Vec<String> {
        let subnet = || region.network.get::<Subnet>(&self.subnet);
        match filter {
            "association.allocation-id" => {
                each(interfaces::address_of(self, region), |address| address.id.to_string())
            }
            "association.public-ip" => each(&self.public_ip, Clone::clone),
            "attachment.instance-id" => each(&self.instance, ToString::to_string),
            "attachment.status" => each(self.in_use.then_some("attached"), ToOwned::to_owned),
            "availability-zone" => each(subnet(), |subnet| subnet.zone.to_string()),
            "availability-zone-id" => each(subnet(), |subnet| subnet.zone_id.clone()),
            "description" => one(&self.description),
            "group-id" => each(&self.groups, ToString::to_string),
            "interface-type" => one(&self.interface_type),
            "network-interface-id" => one(&self.id),
            "owner-id" => one(&region.account),
            "private-ip-address" => one(&self.private_ip),
            "requester-managed" => one(truth(self.requester_managed)),
            "status" => one(interfaces::status(self)),
            "subnet-id" => one(&self.subnet),
            _ => one(&self.vpc),
        }
    }

    fn write(&self, xml: &mut Xml, region: &Region) {
        interfaces::write(xml, self, region);
    }
}
