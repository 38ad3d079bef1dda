//! Client tokens: the same request with the same token happens once (EC2 Developer Guide, "Ensuring idempotency").

use crate::core::error::{AwsError, AwsResult};
use foo_model::network::{Change, Parts};
use std::collections::BTreeMap;

/// Requests by operation and token, with what they created.
#[derive(Clone, Debug, Default)]
pub(super) struct Tokens(BTreeMap<(&'static str, String), (Change, Parts)>);

/// The client token of a change, if it has one.
fn token(change: &Change) -> Option<&str> {
    let token = match change {
        Change::CreateEgressOnlyInternetGateway { token, .. }
        | Change::CreateNatGateway { token, .. }
        | Change::CreateRouteTable { token, .. }
        | Change::CreateVpcEndpoint { token, .. } => token,
        Change::CreateVpc { .. }
        | Change::ModifyVpcAttribute { .. }
        | Change::AssociateVpcCidrBlock { .. }
        | Change::AssociateVpcIpv6 { .. }
        | Change::DisassociateVpcCidrBlock { .. }
        | Change::DeleteVpc { .. }
        | Change::CreateSubnet { .. }
        | Change::ModifySubnetAttribute { .. }
        | Change::AssociateSubnetCidrBlock { .. }
        | Change::DeleteSubnet { .. }
        | Change::CreateInternetGateway { .. }
        | Change::AttachInternetGateway { .. }
        | Change::DetachInternetGateway { .. }
        | Change::DeleteInternetGateway { .. }
        | Change::DeleteEgressOnlyInternetGateway { .. }
        | Change::AllocateAddress { .. }
        | Change::ReleaseAddress { .. }
        | Change::DeleteNatGateway { .. }
        | Change::CreateRoute { .. }
        | Change::ReplaceRoute { .. }
        | Change::DeleteRoute { .. }
        | Change::AssociateRouteTable { .. }
        | Change::ReplaceRouteTableAssociation { .. }
        | Change::DisassociateRouteTable { .. }
        | Change::DeleteRouteTable { .. }
        | Change::CreateSecurityGroup { .. }
        | Change::AuthorizeSecurityGroupIngress { .. }
        | Change::AuthorizeSecurityGroupEgress { .. }
        | Change::RevokeSecurityGroupIngress { .. }
        | Change::RevokeSecurityGroupEgress { .. }
        | Change::UpdateSecurityGroupRuleDescriptionsIngress { .. }
        | Change::DeleteSecurityGroup { .. }
        | Change::ModifyVpcEndpoint { .. }
        | Change::DeleteVpcEndpoints { .. }
        | Change::CreateTags { .. }
        | Change::DeleteTags { .. }
        | Change::DeleteNetworkInterface { .. }
        | Change::DeleteLoadBalancer { .. }
        | Change::DeleteTargetGroup { .. } => return None,
    };
    Some(token.as_str()).filter(|token| !token.is_empty())
}

impl Tokens {
    /// What this request created when it came before.
    ///
    /// # Errors
    /// `IdempotentParameterMismatch` if another request came with its token.
    pub(super) fn repeated(&self, change: &Change) -> AwsResult<Option<Parts>> {
        let Some(token) = token(change) else { return Ok(None) };
        match self.0.get(&(change.operation(), token.to_owned())) {
            None => Ok(None),
            Some((former, created)) if former == change => Ok(Some(created.clone())),
            Some(_) => Err(AwsError::new(
                "IdempotentParameterMismatch",
                "The client token you have provided is associated with a resource that has different parameters.",
            )),
        }
    }

    /// Keeps what a request created.
    pub(super) fn remember(&mut self, change: &Change, created: &Parts) {
        if let Some(token) = token(change) {
            self.0.insert((change.operation(), token.to_owned()), (change.clone(), created.clone()));
        }
    }
}
