//! The fields of what a network is to be, as a FooPlan shows what differs.

use crate::plans::fields::{self, Fields};
use foo_network::Desired;
use foo_network::desired::{DesiredEndpoint, DesiredEndpointKind, DesiredGroup, DesiredSubnet, DesiredVpc};
use serde_json::{Map, Value, json};

/// What users decide. What is known besides the spec is the same in both states.
pub(super) fn fields(desired: &Desired) -> Fields {
    let Desired {
        network_id: _,
        uid: _,
        begun_before: _,
        cluster: _,
        kubernetes_cluster: _,
        installation: _,
        adopt_from: _,
        account: _,
        vpc,
        ipv6,
        subnets,
        nat,
        endpoints,
        security_groups,
        connection,
        tags,
        drift,
        deletion,
        leftovers,
        being_deleted: _,
        paused,
    } = desired;
    let (vpc_id, cidr, secondary) = match vpc {
        DesiredVpc::Managed { cidr, secondary } => (None, Some(cidr), secondary.as_slice()),
        DesiredVpc::Existing(id) => (Some(id), None, [].as_slice()),
    };
    fields::fields(&json!({
        "vpcID": vpc_id,
        "cidr": cidr,
        "secondaryCIDRs": secondary,
        "ipv6": ipv6,
        "subnets": named(subnets, subnet),
        "nat": nat,
        "endpoints": named(endpoints, endpoint),
        "security_groups": named(security_groups, group),
        "cluster_security_group": connection,
        "tags": tags,
        "drift": drift,
        "deletion": deletion,
        "leftovers": leftovers,
        "paused": paused,
    }))
}

fn named<T>(all: &[T], one: impl Fn(&T) -> (String, Value)) -> Map<String, Value> {
    all.iter().map(one).collect()
}

fn subnet(wanted: &DesiredSubnet) -> (String, Value) {
    let DesiredSubnet { key, tier, zone, cidr, ipv6_index, public_ip_on_launch, tags } = wanted;
    let fields = json!({
        "tier": tier,
        "zone": zone,
        "cidr": cidr,
        "ipv6_index": ipv6_index,
        "public_ip_on_launch": public_ip_on_launch,
        "tags": tags,
    });
    (key.clone(), fields)
}

fn endpoint(wanted: &DesiredEndpoint) -> (String, Value) {
    let DesiredEndpoint { name, service, kind } = wanted;
    let fields = match kind {
        DesiredEndpointKind::Gateway => json!({ "service": service, "type": "Gateway" }),
        DesiredEndpointKind::Interface { subnets, groups, private_dns } => json!({
            "service": service,
            "type": "Interface",
            "subnets": subnets,
            "security_groups": groups,
            "private_dns": private_dns,
        }),
    };
    (name.clone(), fields)
}

fn group(wanted: &DesiredGroup) -> (String, Value) {
    let DesiredGroup { name, is_for_nodes, ingress, tags, egress, own_egress } = wanted;
    let fields = json!({
        "is_for_nodes": is_for_nodes,
        "ingress": ingress,
        "tags": tags,
        "egress": egress,
        "own_egress": own_egress,
    });
    (name.clone(), fields)
}
