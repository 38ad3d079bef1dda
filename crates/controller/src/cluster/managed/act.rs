//! A checked plan is carried out: all of its actions at the same time, what each came to noted as soon as it is known.

use super::state::NetworkState;
use crate::clouds::CloudRegion;
use crate::cluster::clusters::Clusters;
use crate::labels::ActionOutcome;
use foo_api::FooCluster;
use foo_calls::{Domain as _, Outcome, Refusal};
use foo_cloud::CloudError;
use foo_model::network::{Change, Parts};
use foo_model::{EventReason, some_names};
use foo_network::{Action, Network, Role};
use futures::{StreamExt, stream};
use kube::Resource;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

/// Calls at a time: what EC2 lets one account do at once (EC2 Developer Guide, "Request throttling for the Amazon EC2 API") is
/// left to others as well.
const AT_ONCE: usize = 10;
/// A failure that stays the same is told again after this long.
const TOLD_AGAIN: Duration = Duration::from_hours(1);

/// What became of one action.
pub(super) struct Done {
    action: Action,
    result: Result<Parts, CloudError>,
}

/// What an action is, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Created,
    Deleted,
    Changed,
}

impl Clusters {
    /// Carries the actions out, none of which waits for another one.
    pub(super) async fn act(
        &self,
        actions: &[Action],
        region: &CloudRegion,
        state: &mut NetworkState,
    ) -> Vec<Done> {
        // Whoever drops this pass in the middle of a call leaves behind that it may have happened.
        for action in actions {
            Network::calls(&mut state.memory).sent(action, self.context.clock.now());
        }
        let calls = stream::iter(actions.to_vec()).map(|action| {
            let cloud = Arc::clone(&region.cloud);
            async move { Done { result: cloud.change_network(&action.change).await, action } }
        });
        let mut calls = calls.buffer_unordered(AT_ONCE);
        let mut all = Vec::with_capacity(actions.len());
        while let Some(done) = calls.next().await {
            let outcome = if done.result.is_ok() { ActionOutcome::Done } else { ActionOutcome::Failed };
            self.context.metrics.aws_change(done.action.change.operation(), outcome);
            if let Err(error) = &done.result {
                tracing::warn!(role = %done.action.role, %error, "AWS did not change a network as requested");
            }
            Network::calls(&mut state.memory).ended(
                &done.action,
                self.context.clock.now(),
                outcome_of(&done.result),
            );
            all.push(done);
        }
        all
    }

    /// Events: of what was done, one for each kind of deed; of each failure, when it is a new one.
    pub(super) async fn tell(&self, cluster: &FooCluster, done: &[Done], state: &mut NetworkState) {
        let object = cluster.object_ref(&());
        let was_ready = cluster.status.as_ref().is_some_and(|status| status.ready == Some(true));
        for (deed, reason, verb) in [
            (Deed::Created, EventReason::NetworkResourcesCreated, "Created"),
            (Deed::Deleted, EventReason::NetworkResourcesDeleted, "Deleted"),
            (Deed::Changed, EventReason::NetworkChanged, "Changed"),
        ] {
            // Of a network that is still being built, every change is part of that.
            if deed == Deed::Changed && !was_ready {
                continue;
            }
            let of = done.iter().filter(|done| done.result.is_ok() && deed_of(&done.action.change) == deed);
            let mut names: Vec<String> = of.map(|done| named(done, deed)).collect();
            names.sort();
            if !names.is_empty() {
                let note = format!("{verb} {}", some_names(names.iter().map(String::as_str)));
                self.context.events.publish(&object, reason, &note).await;
            }
        }
        for Done { action, result } in done {
            let Err(error) = result else { continue };
            let note = format!("{}: {error}", action.role);
            self.warn(cluster, EventReason::ActionFailed, &note, state).await;
        }
    }

    /// An event about what is wrong, unless there was the same one not long ago.
    pub(super) async fn warn(
        &self,
        cluster: &FooCluster,
        reason: impl Into<EventReason>,
        note: &str,
        state: &mut NetworkState,
    ) {
        let now = self.context.clock.now();
        state.told.retain(|_, since| since.until(now) < TOLD_AGAIN);
        if state.told.insert(note.to_owned(), now).is_none() {
            self.context.events.publish(&cluster.object_ref(&()), reason, note).await;
        }
    }
}

fn outcome_of(result: &Result<Parts, CloudError>) -> Outcome<Parts> {
    match result {
        Ok(created) => Outcome::Done(created.clone()),
        Err(error) => {
            let refusal =
                Refusal { reason: error.kind.into(), code: error.code.clone(), message: error.to_string() };
            if error.may_have_happened() { Outcome::Lost(refusal) } else { Outcome::Refused(refusal) }
        }
    }
}

fn named(done: &Done, deed: Deed) -> String {
    let Done { action: Action { role, why, .. }, result } = done;
    match (deed, result.as_ref().ok().and_then(|created| id_of(role, created))) {
        (Deed::Created, Some(id)) => format!("{role} ({id})"),
        (Deed::Changed, _) => format!("{role}: {why}"),
        (Deed::Created | Deed::Deleted, _) => role.to_string(),
    }
}

fn deed_of(change: &Change) -> Deed {
    match change {
        Change::CreateVpc { .. }
        | Change::CreateSubnet { .. }
        | Change::CreateInternetGateway { .. }
        | Change::CreateEgressOnlyInternetGateway { .. }
        | Change::AllocateAddress { .. }
        | Change::CreateNatGateway { .. }
        | Change::CreateRouteTable { .. }
        | Change::CreateSecurityGroup { .. }
        | Change::CreateVpcEndpoint { .. } => Deed::Created,
        Change::DeleteVpc { .. }
        | Change::DeleteSubnet { .. }
        | Change::DeleteInternetGateway { .. }
        | Change::DeleteEgressOnlyInternetGateway { .. }
        | Change::ReleaseAddress { .. }
        | Change::DeleteNatGateway { .. }
        | Change::DeleteRouteTable { .. }
        | Change::DeleteSecurityGroup { .. }
        | Change::DeleteVpcEndpoints { .. }
        | Change::DeleteNetworkInterface { .. }
        | Change::DeleteLoadBalancer { .. }
        | Change::DeleteTargetGroup { .. } => Deed::Deleted,
        Change::ModifyVpcAttribute { .. }
        | Change::AssociateVpcCidrBlock { .. }
        | Change::AssociateVpcIpv6 { .. }
        | Change::DisassociateVpcCidrBlock { .. }
        | Change::ModifySubnetAttribute { .. }
        | Change::AssociateSubnetCidrBlock { .. }
        | Change::AttachInternetGateway { .. }
        | Change::DetachInternetGateway { .. }
        | Change::CreateRoute { .. }
        | Change::ReplaceRoute { .. }
        | Change::DeleteRoute { .. }
        | Change::AssociateRouteTable { .. }
        | Change::ReplaceRouteTableAssociation { .. }
        | Change::DisassociateRouteTable { .. }
        | Change::AuthorizeSecurityGroupIngress { .. }
        | Change::AuthorizeSecurityGroupEgress { .. }
        | Change::RevokeSecurityGroupIngress { .. }
        | Change::RevokeSecurityGroupEgress { .. }
        | Change::UpdateSecurityGroupRuleDescriptionsIngress { .. }
        | Change::ModifyVpcEndpoint { .. }
        | Change::CreateTags { .. }
        | Change::DeleteTags { .. } => Deed::Changed,
    }
}

/// The id of what was created for a role.
fn id_of(role: &Role, created: &Parts) -> Option<String> {
    fn first<K: Display, V>(parts: &BTreeMap<K, V>) -> Option<String> {
        parts.keys().next().map(K::to_string)
    }
    match role {
        Role::Vpc => first(&created.vpcs),
        Role::VpcIpv6 => None,
        Role::Subnet(_) => first(&created.subnets),
        Role::InternetGateway => first(&created.internet_gateways),
        Role::EgressOnlyGateway => first(&created.egress_only_gateways),
        Role::Address(_) => first(&created.addresses),
        Role::Nat(_) => first(&created.nat_gateways),
        Role::PublicRoutes | Role::PrivateRoutes(_) => first(&created.route_tables),
        Role::SecurityGroup(_) => first(&created.security_groups),
        Role::Endpoint(_) => first(&created.endpoints),
    }
}
