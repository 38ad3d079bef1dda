//! VPC endpoints.

use crate::core::region::Region;
use crate::wire::ec2::tags;
use crate::wire::xml::Xml;
use foo_model::SecurityGroupId;
use foo_model::network::{Endpoint, EndpointKind, EndpointState, Interface, SecurityGroup};
use std::collections::BTreeSet;

/// The inside of a `VpcEndpoint`.
pub(in crate::wire::ec2::network) fn write(xml: &mut Xml, endpoint: &Endpoint, region: &Region) {
    xml.text("vpcEndpointId", endpoint.id.as_str());
    xml.text("vpcEndpointType", endpoint_type(endpoint));
    xml.text("vpcId", endpoint.vpc.as_str());
    xml.text("serviceName", &endpoint.service);
    xml.text("state", state(endpoint));
    let (none, no_groups) = (BTreeSet::new(), BTreeSet::new());
    let (tables, subnets, groups, private_dns) = match &endpoint.kind {
        EndpointKind::Gateway { tables } => (tables, None, &no_groups, false),
        EndpointKind::Interface { subnets, groups, private_dns } => {
            (&none, Some(subnets), groups, *private_dns)
        }
        EndpointKind::Other(_) => (&none, None, &no_groups, false),
    };
    xml.texts("routeTableIdSet", "item", tables.iter().map(ToString::to_string));
    xml.texts("subnetIdSet", "item", subnets.into_iter().flatten().map(ToString::to_string));
    xml.list("groupSet", "item", groups, |xml, id| write_group(xml, id, region));
    xml.value("privateDnsEnabled", private_dns);
    xml.text("requesterManaged", "false");
    let wanted = description(endpoint);
    let interfaces = region.network.all::<Interface>().filter(|it| it.description == wanted);
    xml.texts("networkInterfaceIdSet", "item", interfaces.map(|it| it.id.to_string()));
    xml.text("ownerId", &region.account);
    if let Some(failure) = &endpoint.failure {
        xml.within("lastError", |xml| xml.text("message", failure));
    }
    tags::write(xml, &endpoint.tags);
}

/// The description of an endpoint's interfaces.
fn description(endpoint: &Endpoint) -> String {
    format!("VPC Endpoint Interface {}", endpoint.id)
}

/// A group by id, and by name if it is known.
pub(super) fn write_group(xml: &mut Xml, id: &SecurityGroupId, region: &Region) {
    xml.text("groupId", id.as_str());
    xml.optional("groupName", region.network.get::<SecurityGroup>(id).map(|group| &group.name));
}

pub(in crate::wire::ec2::network) fn endpoint_type(endpoint: &Endpoint) -> &str {
    match &endpoint.kind {
        EndpointKind::Gateway { .. } => "Gateway",
        EndpointKind::Interface { .. } => "Interface",
        EndpointKind::Other(other) => other,
    }
}

/// The state with a small first letter, as EC2 sends it, although its model writes it with a capital.
pub(in crate::wire::ec2::network) fn state(endpoint: &Endpoint) -> &'static str {
    match endpoint.state {
        EndpointState::PendingAcceptance => "pendingAcceptance",
        EndpointState::Pending => "pending",
        EndpointState::Available => "available",
        EndpointState::Deleting => "deleting",
        EndpointState::Deleted => "deleted",
        EndpointState::Rejected => "rejected",
        EndpointState::Failed => "failed",
        EndpointState::Expired => "expired",
    }
}
