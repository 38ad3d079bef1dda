//! What a call changes or deletes.

use foo_model::AssociationId;
use foo_model::network::Change;

/// Something that a call changes or deletes.
pub(super) enum Target {
    /// A part that carries tags.
    Part(String),
    /// The association of a table with a subnet.
    Association(AssociationId),
    /// A range of a VPC.
    Range(AssociationId),
    /// What controllers of the workload cluster made.
    Leftover(String),
}

fn part(id: &impl ToString) -> Vec<Target> {
    vec![Target::Part(id.to_string())]
}

/// All that a call changes or deletes. What it only refers to (the subnet of a NAT gateway) is not among it.
pub(super) fn targets(change: &Change) -> Vec<Target> {
    match change {
        // Creations in a VPC change nothing that was there.
        Change::CreateVpc { .. }
        | Change::CreateSubnet { .. }
        | Change::CreateInternetGateway { .. }
        | Change::CreateEgressOnlyInternetGateway { .. }
        | Change::AllocateAddress { .. }
        | Change::CreateNatGateway { .. }
        | Change::CreateRouteTable { .. }
        | Change::CreateSecurityGroup { .. }
        | Change::CreateVpcEndpoint { .. } => Vec::new(),
        Change::ModifyVpcAttribute { vpc, .. }
        | Change::AssociateVpcCidrBlock { vpc, .. }
        | Change::AssociateVpcIpv6 { vpc }
        | Change::DeleteVpc { vpc } => part(vpc),
        Change::DisassociateVpcCidrBlock { association } => vec![Target::Range(association.clone())],
        Change::ModifySubnetAttribute { subnet, .. }
        | Change::AssociateSubnetCidrBlock { subnet, .. }
        | Change::DeleteSubnet { subnet } => part(subnet),
        Change::AttachInternetGateway { gateway, .. }
        | Change::DetachInternetGateway { gateway, .. }
        | Change::DeleteInternetGateway { gateway } => part(gateway),
        Change::DeleteEgressOnlyInternetGateway { gateway } => part(gateway),
        Change::ReleaseAddress { allocation } => part(allocation),
        Change::DeleteNatGateway { gateway } => part(gateway),
        Change::CreateRoute { table, .. }
        | Change::ReplaceRoute { table, .. }
        | Change::DeleteRoute { table, .. }
        | Change::ReplaceRouteTableAssociation { table, .. }
        | Change::DeleteRouteTable { table } => part(table),
        Change::AssociateRouteTable { table, subnet } => {
            vec![Target::Part(table.to_string()), Target::Part(subnet.to_string())]
        }
        Change::DisassociateRouteTable { association } => vec![Target::Association(association.clone())],
        Change::AuthorizeSecurityGroupIngress { group, .. }
        | Change::AuthorizeSecurityGroupEgress { group, .. }
        | Change::RevokeSecurityGroupIngress { group, .. }
        | Change::RevokeSecurityGroupEgress { group, .. }
        | Change::DeleteSecurityGroup { group } => part(group),
        Change::ModifyVpcEndpoint { endpoint, .. } => part(endpoint),
        Change::DeleteVpcEndpoints { endpoints } => {
            endpoints.iter().map(|it| Target::Part(it.to_string())).collect()
        }
        Change::CreateTags { ids, .. } | Change::DeleteTags { ids, .. } => {
            ids.iter().map(|it| Target::Part(it.clone())).collect()
        }
        Change::DeleteNetworkInterface { interface } => vec![Target::Leftover(interface.to_string())],
        Change::DeleteLoadBalancer { name, .. } => vec![Target::Leftover(name.clone())],
        Change::DeleteTargetGroup { arn } => vec![Target::Leftover(arn.clone())],
    }
}
