//! Pod identity associations (EKS User Guide, "Learn how EKS Pod Identity grants pods access to AWS services").

use super::tags::check_tags;
use crate::core::eks::identities::PodIdentity;
use crate::core::eks::principals::Principals;
use crate::core::eks::refusal::{in_use, invalid, not_found, too_many};
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use foo_model::eks::NewPodIdentity;
use std::collections::BTreeMap;

/// Who assumes the roles of pods.
const SERVICE: &str = "pods.eks.amazonaws.com";

/// What the sessions of Pods have; what is not given stays (EKS API Reference, CreatePodIdentityAssociation).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodSession {
    /// Whether they have no tags.
    pub disable_session_tags: Option<bool>,
    /// ARN of the role that they assume with that of the association; empty for none.
    pub target_role_arn: Option<String>,
}

fn no_association(id: &str) -> AwsError {
    not_found(format!("No pod identity association found for associationId: {id}."))
}

impl Region {
    fn check_pod_role(&self, arn: &str, principals: &Principals) -> AwsResult<()> {
        if self.role_for(SERVICE, arn, principals).is_some() {
            return Ok(());
        }
        if self.known_role(arn, principals).is_some() {
            return Err(invalid("Trust policy of the role provided in the request is invalid"));
        }
        Err(invalid("Role provided in the request does not exist."))
    }

    fn new_pod_identity(&mut self, cluster: &str, namespace: &str, account: &str, role: &str) -> PodIdentity {
        let id: String = format!("{:016x}", self.eks.chance.bits());
        let id = format!("a-{id}0");
        PodIdentity {
            arn: format!("arn:aws:eks:{}:{}:podidentityassociation/{cluster}/{id}", self.name, self.account),
            id,
            namespace: namespace.to_owned(),
            service_account: account.to_owned(),
            role: role.to_owned(),
            target_role: None,
            external_id: None,
            without_session_tags: false,
            created: self.now,
            modified: self.now,
            owner: None,
            tags: foo_model::network::Tags::new(),
        }
    }

    /// CreatePodIdentityAssociation.
    ///
    /// # Errors
    /// EKS's refusals.
    pub fn create_pod_identity(
        &mut self,
        cluster: &str,
        new: &NewPodIdentity,
        session: &PodSession,
        token: Option<&str>,
        principals: &Principals,
    ) -> AwsResult<PodIdentity> {
        const ACTION: &str = "CreatePodIdentityAssociation";
        let NewPodIdentity { namespace, service_account, role_arn, tags } = new;
        let request = &(new, session);
        self.cluster_to_change(cluster)?;
        if let Some(id) = self.eks.tokens.made_before(ACTION, cluster, token, request)?
            && let Some(made) = self.known_cluster(cluster)?.pod_identities.get(&id)
        {
            return Ok(made.clone());
        }
        for (field, value) in [("namespace", namespace), ("serviceAccount", service_account)] {
            if value.is_empty() {
                return Err(invalid(format!("{field} cannot be empty.")));
            }
        }
        self.check_pod_role(role_arn, principals)?;
        check_tags(tags)?;
        let quota = usize::try_from(self.settings.eks.pod_identities).unwrap_or(usize::MAX);
        let of = &self.known_cluster(cluster)?.pod_identities;
        let bound = |it: &PodIdentity| it.namespace == *namespace && it.service_account == *service_account;
        if of.values().any(bound) {
            return Err(bound_already(namespace, service_account));
        }
        if of.len() >= quota {
            return Err(too_many("The maximum number of pod identity associations has been reached."));
        }
        let mut made = self.new_pod_identity(cluster, namespace, service_account, role_arn);
        made.tags.clone_from(tags);
        made.without_session_tags = session.disable_session_tags.unwrap_or(false);
        made.target_role.clone_from(&session.target_role_arn);
        made.external_id = made.target_role.as_ref().map(|_| external_id(self, cluster, &made));
        self.cluster_to_change(cluster)?.pod_identities.insert(made.id.clone(), made.clone());
        self.eks.tokens.remember(ACTION, cluster, token, request, &made.id);
        Ok(made)
    }

    /// UpdatePodIdentityAssociation. What the request leaves away stays.
    ///
    /// # Errors
    /// EKS's refusals.
    pub fn update_pod_identity(
        &mut self,
        cluster: &str,
        id: &str,
        role: Option<&str>,
        session: &PodSession,
        principals: &Principals,
    ) -> AwsResult<PodIdentity> {
        if let Some(role) = role {
            self.check_pod_role(role, principals)?;
        }
        let now = self.now;
        let of = self.cluster_to_change(cluster)?;
        let mut changed = of.pod_identities.get(id).cloned().ok_or_else(|| no_association(id))?;
        changed.role = role.map(str::to_owned).unwrap_or(changed.role);
        changed.without_session_tags = session.disable_session_tags.unwrap_or(changed.without_session_tags);
        if let Some(target) = &session.target_role_arn {
            changed.target_role = Some(target.clone()).filter(|target| !target.is_empty());
        }
        changed.modified = now;
        changed.external_id = changed.target_role.as_ref().map(|_| external_id(self, cluster, &changed));
        let of = self.cluster_to_change(cluster)?;
        of.pod_identities.insert(id.to_owned(), changed.clone());
        Ok(changed)
    }

    /// DeletePodIdentityAssociation.
    ///
    /// # Errors
    /// There is none.
    pub fn delete_pod_identity(&mut self, cluster: &str, id: &str) -> AwsResult<PodIdentity> {
        let of = self.cluster_to_change(cluster)?;
        let deleted = of.pod_identities.remove(id).ok_or_else(|| no_association(id))?;
        for addon in of.addons.values_mut() {
            addon.spec.pod_identities.retain(|own| *own != deleted.arn);
        }
        Ok(deleted)
    }

    /// An association, as DescribePodIdentityAssociation sees it.
    ///
    /// # Errors
    /// There is none.
    pub fn pod_identity_seen(&self, cluster: &str, id: &str) -> AwsResult<&PodIdentity> {
        self.cluster_seen(cluster)?.pod_identities.get(id).ok_or_else(|| no_association(id))
    }

    /// Gives an add-on these associations, instead of those that it had; their ARNs.
    pub(super) fn bind_addon(
        &mut self,
        cluster: &str,
        owner: &str,
        namespace: &str,
        asked: &BTreeMap<String, String>,
        principals: &Principals,
    ) -> AwsResult<Vec<String>> {
        for (account, role) in asked {
            self.check_pod_role(role, principals)?;
            let bound = |other: &PodIdentity| {
                other.owner.as_deref() != Some(owner)
                    && other.namespace == namespace
                    && other.service_account == *account
            };
            if self.known_cluster(cluster)?.pod_identities.values().any(bound) {
                return Err(bound_already(namespace, account));
            }
        }
        let made: Vec<PodIdentity> = asked
            .iter()
            .map(|(account, role)| {
                let made = self.new_pod_identity(cluster, namespace, account, role);
                PodIdentity { owner: Some(owner.to_owned()), ..made }
            })
            .collect();
        let of = self.cluster_to_change(cluster)?;
        of.pod_identities.retain(|_, it| it.owner.as_deref() != Some(owner));
        let arns = made.iter().map(|it| it.arn.clone()).collect();
        of.pod_identities.extend(made.into_iter().map(|it| (it.id.clone(), it)));
        Ok(arns)
    }
}

fn bound_already(namespace: &str, account: &str) -> AwsError {
    in_use(format!("Association already exists for service account {namespace}/{account}."))
}

/// What a session must know to assume the target role (EKS API Reference, PodIdentityAssociation, `externalId`).
fn external_id(region: &Region, cluster: &str, of: &PodIdentity) -> String {
    format!("{}/{}/{cluster}/{}/{}", region.name, region.account, of.namespace, of.service_account)
}
