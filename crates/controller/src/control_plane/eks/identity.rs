//! Whose an EKS cluster is: the control plane's id on the FooControlPlane, rivals for one name, and which user or role
//! AWS sees in this manager.

use super::control_planes::{EksControlPlanes, Place, arn};
use super::state::EksState;
use crate::calls::Goal;
use crate::calls::identity::Annotations;
use crate::clouds::CloudRegion;
use crate::credentials::Credentials;
use foo_api::FooControlPlane;
use foo_api::names::managers;
use foo_cloud::Freshness;
use foo_model::eks::{Query, QueryResult};
use foo_model::names::{ADOPTED_ANNOTATION, CONTROL_PLANE_ID_ANNOTATION, EKS_NAME_ANNOTATION};
use foo_model::{Blocked, Reason};
use futures::future::join_all;
use kube::{Api, ResourceExt};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// The role of a session hardly ever changes.
const ROLE: Freshness = Freshness::Within(Duration::from_hours(1));
/// How long AWS has to return the caller for another FooControlPlane.
const PATIENCE: Duration = Duration::from_secs(5);

impl EksControlPlanes {
    /// Whether anything of the EKS cluster of this FooControlPlane may be in AWS.
    pub(super) fn may_exist(control_plane: &FooControlPlane, state: &EksState) -> bool {
        let annotated = control_plane.annotations().contains_key(CONTROL_PLANE_ID_ANNOTATION);
        let record = &state.process.record;
        annotated || state.identity.id_written || record.arn.is_some() || record.creating_since.is_some()
    }

    /// Whether the EKS cluster may have its name: its identity allows it, and no other FooControlPlane with the same
    /// credentials, in whatever region, or with the same id has it. Of two, the one that has a cluster keeps the name,
    /// otherwise the older one.
    pub(super) fn may_have_its_name(
        &self,
        control_plane: &FooControlPlane,
        place: &Place,
        credentials: &Credentials,
    ) -> Result<(), Blocked> {
        let name = self.name_in_eks(control_plane).unwrap_or_default();
        self.is_named_as_allowed(control_plane, place)?;
        let credentials = credentials.name();
        let is_rival = |other: &FooControlPlane| {
            self.cloud_key(other).is_some_and(|key| key.credentials == credentials)
                || self.has_id_of(control_plane, other)
        };
        match self.who_comes_first(control_plane, is_rival) {
            Some(other) => Err(taken(control_plane, &name, &other)),
            None => Ok(()),
        }
    }

    /// Whether the identity allows the name of the EKS cluster.
    fn is_named_as_allowed(&self, control_plane: &FooControlPlane, place: &Place) -> Result<(), Blocked> {
        let name = self.name_in_eks(control_plane).unwrap_or_default();
        let namespace = control_plane.namespace().unwrap_or_default();
        let limits = self.context.identities.limits(place.identity.as_deref(), &namespace);
        limits.control_plane_name(&name)
    }

    /// The same for other credentials of the same user or role: a token contains the name of its cluster, but neither
    /// region nor account, so that one for either cluster would be good for both. As long as it is not known whose
    /// credentials they are, they count as the same.
    ///
    /// Of two that already have clusters (an identity got another role, or they were created before this rule) the
    /// younger one stops. In different namespaces both do: a user who reads either Secret is administrator of both
    /// clusters, whichever is older.
    pub(super) async fn is_alone_with(
        &self,
        control_plane: &FooControlPlane,
        own: Option<&str>,
    ) -> Result<(), Blocked> {
        let mut others = self.first_of_its_name(control_plane);
        others.extend(self.clusters_of_its_name_elsewhere(control_plane));
        let principals = join_all(others.iter().map(|other| self.principal_of(other))).await;
        let same = |principal: &Option<String>| match (own, principal.as_deref()) {
            (Some(own), Some(other)) => is_same_principal(own, other),
            (None, _) | (_, None) => true,
        };
        match others.iter().zip(&principals).find(|(_, principal)| same(principal)) {
            Some((other, _)) => {
                let name = self.name_in_eks(control_plane).unwrap_or_default();
                Err(taken(control_plane, &name, other))
            }
            None => Ok(()),
        }
    }

    /// Which user or role AWS sees in the calls for a FooControlPlane, if that is found out in time.
    async fn principal_of(&self, control_plane: &FooControlPlane) -> Option<String> {
        let place = self.place(control_plane).ok()?;
        let credentials = self.credentials(control_plane, &place).ok()?;
        let asked = async {
            let region = self.context.clouds.get(&credentials, &place.region).await.ok()?;
            own_principal(&region, &credentials).await.map(|it| it.arn)
        };
        tokio::time::timeout(PATIENCE, asked).await.ok().flatten()
    }

    /// Whether this FooControlPlane is a copy of another one, with its annotations, that has the EKS cluster or comes
    /// before it: the tags of the cluster then name both.
    pub(super) fn is_copy(&self, control_plane: &FooControlPlane) -> bool {
        self.who_comes_first(control_plane, |other| self.has_id_of(control_plane, other)).is_some()
    }

    /// A rival that names the same EKS cluster and has it, or is older.
    fn who_comes_first(
        &self,
        control_plane: &FooControlPlane,
        is_rival: impl Fn(&FooControlPlane) -> bool,
    ) -> Option<Arc<FooControlPlane>> {
        self.first_of_its_name(control_plane).into_iter().find(|other| is_rival(other))
    }

    /// FooControlPlanes of other namespaces that have an EKS cluster of the same name, and may have it, if this one has
    /// one.
    fn clusters_of_its_name_elsewhere(&self, control_plane: &FooControlPlane) -> Vec<Arc<FooControlPlane>> {
        if arn(control_plane).is_none() {
            return Vec::new();
        }
        let name = self.name_in_eks(control_plane);
        self.own.state_filter(|other| {
            other.namespace() != control_plane.namespace()
                && self.name_in_eks(other) == name
                && arn(other).is_some()
                && self.place(other).is_ok_and(|place| self.is_named_as_allowed(other, &place).is_ok())
        })
    }

    /// FooControlPlanes that name an EKS cluster in the same way and have it, or are older. One that may not have the
    /// name and has no cluster does not count: otherwise a tenant could keep another one from a name by naming it
    /// first.
    fn first_of_its_name(&self, control_plane: &FooControlPlane) -> Vec<Arc<FooControlPlane>> {
        let name = self.name_in_eks(control_plane);
        let rank = |it: &FooControlPlane| {
            (arn(it).is_none(), it.creation_timestamp(), it.namespace(), it.name_any())
        };
        self.own.state_filter(|other| {
            other.uid() != control_plane.uid()
                && self.name_in_eks(other) == name
                && rank(other) < rank(control_plane)
                && (arn(other).is_some()
                    || self.place(other).is_ok_and(|place| self.is_named_as_allowed(other, &place).is_ok()))
        })
    }

    /// Ids of the other FooControlPlanes in the namespace.
    pub(super) fn neighbours(&self, control_plane: &FooControlPlane) -> BTreeSet<String> {
        let others = self.own.state_filter(|other| {
            other.namespace() == control_plane.namespace() && other.uid() != control_plane.uid()
        });
        others.iter().filter_map(|other| id(other)).collect()
    }

    /// Whether both have the same id, and their clusters are not known to be two.
    fn has_id_of(&self, control_plane: &FooControlPlane, other: &FooControlPlane) -> bool {
        let region = |it: &FooControlPlane| self.place(it).ok().map(|place| place.region);
        let differ = |one: Option<String>, two: Option<String>| one.is_some() && two.is_some() && one != two;
        id(control_plane) == id(other)
            && !differ(arn(control_plane), arn(other))
            && !differ(region(control_plane), region(other))
    }

    /// Id and name are on the FooControlPlane before anything is created.
    pub(super) async fn keep_id(
        &self,
        control_plane: &FooControlPlane,
        goal: Goal,
        state: &mut EksState,
    ) -> Result<(), kube::Error> {
        let name = self.name_in_eks(control_plane).unwrap_or_default();
        let id = state.identity.id.clone();
        let names = [(CONTROL_PLANE_ID_ANNOTATION, id.as_str()), (EKS_NAME_ANNOTATION, name.as_str())];
        let api = self.api(control_plane);
        annotations(&api, control_plane).keep_id(&names, goal, &mut state.identity).await
    }

    /// That its cluster was adopted is on the FooControlPlane: a move loses the status, and anyone with rights in the
    /// account can remove the tag.
    /// On one whose cluster was created for it, the annotation comes from a copy and is removed.
    pub(super) async fn keep_adopted(
        &self,
        control_plane: &FooControlPlane,
        adopted: bool,
    ) -> Result<(), kube::Error> {
        let api = self.api(control_plane);
        annotations(&api, control_plane).keep(ADOPTED_ANNOTATION, adopted.then_some("true")).await
    }
}

/// Those that show the owner of the EKS cluster.
pub(super) fn annotations<'a>(
    api: &'a Api<FooControlPlane>,
    control_plane: &'a FooControlPlane,
) -> Annotations<'a, FooControlPlane> {
    Annotations { api, object: control_plane, manager: managers::CONTROL_PLANE_ID }
}

/// The name of an EKS cluster is that of another FooControlPlane.
fn taken(control_plane: &FooControlPlane, name: &str, other: &FooControlPlane) -> Blocked {
    // What is in another namespace is not for this one's users to know.
    let whose = if other.namespace() == control_plane.namespace() {
        format!("FooControlPlane {}", other.name_any())
    } else {
        "a FooControlPlane in another namespace".to_owned()
    };
    let message = format!(
        "{whose} has an EKS cluster named {name} with the same AWS user or role, so that a token for one cluster would be valid for both: \
         set another spec.eks.name, or use FooClusterIdentities with separate roles"
    );
    Blocked::new(Reason::ClusterNameTaken, message)
}

/// The control plane's id: the annotation, or the uid until that is written.
fn id(control_plane: &FooControlPlane) -> Option<String> {
    control_plane.annotations().get(CONTROL_PLANE_ID_ANNOTATION).cloned().or_else(|| control_plane.uid())
}

/// Which user or role AWS sees in these calls.
#[derive(Debug, PartialEq, Eq)]
enum Caller<'a> {
    /// A user or role, by the ARN that an access entry can have.
    Principal(&'a str),
    /// A session of a role, of which the path is not known.
    Session { partition: &'a str, account: &'a str, role: &'a str },
    /// The root user or a federated user: no access entry can be for them.
    Other,
}

fn caller(arn: &str) -> Caller<'_> {
    let parts: Vec<&str> = arn.splitn(6, ':').collect();
    let &["arn", partition, service, _, account, resource] = parts.as_slice() else { return Caller::Other };
    let session = resource.strip_prefix("assumed-role/").and_then(|rest| rest.split('/').next());
    match (service, session) {
        ("sts", Some(role)) if !role.is_empty() => Caller::Session { partition, account, role },
        ("iam", _) if resource.starts_with("user/") || resource.starts_with("role/") => {
            Caller::Principal(arn)
        }
        _ => Caller::Other,
    }
}

/// Whether two ARNs are those of one user or role. The path is not compared: IAM's names are unique in an account
/// whatever the path, and in whatever case (IAM User Guide, "IAM identifiers"), and the path of a session's role is not
/// always known.
fn is_same_principal(one: &str, other: &str) -> bool {
    let principal = |arn: &str| {
        let parts: Vec<&str> = arn.splitn(6, ':').collect();
        let &["arn", partition, "iam", _, account, resource] = parts.as_slice() else { return None };
        let (kind, name) = resource.split_once('/')?;
        let name = name.rsplit('/').next()?.to_ascii_lowercase();
        Some([partition.to_owned(), account.to_owned(), kind.to_owned(), name])
    };
    one == other || principal(one).is_some_and(|it| principal(other) == Some(it))
}

/// The user or role that credentials belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnPrincipal {
    /// Its ARN, with the role's path.
    pub(super) arn: String,
    /// Whether the path could not be read, so that the ARN is that of a role without one.
    pub(super) is_guessed: bool,
}

impl OwnPrincipal {
    fn known(arn: &str) -> Self {
        Self { arn: arn.to_owned(), is_guessed: false }
    }
}

/// The user or role that these credentials belong to; `None` if it cannot be known yet, or is no principal that EKS
/// gives access to.
pub(super) async fn own_principal(region: &CloudRegion, credentials: &Credentials) -> Option<OwnPrincipal> {
    let arn = match region.caller().await {
        Ok(arn) => arn,
        Err(error) => {
            tracing::warn!(%error, "could not find out which user or role calls AWS");
            return None;
        }
    };
    let (partition, account, role) = match caller(arn) {
        Caller::Principal(arn) => return Some(OwnPrincipal::known(arn)),
        Caller::Session { partition, account, role } => (partition, account, role),
        Caller::Other => return None,
    };
    let is_it = |arn: &&String| arn.rsplit('/').next() == Some(role);
    if let Some(assumed) = credentials.roles.last().map(|role| &role.arn).filter(is_it) {
        return Some(OwnPrincipal::known(assumed));
    }
    let known = region.clusters.ask(&Query::Role(role.to_owned()), ROLE).await;
    if let Some(error) = &known.failure {
        tracing::debug!(%error, role, "could not read the manager's own role; it is taken for one without a path");
    }
    if let Some(QueryResult::Role(Some(found))) = known.last_read.as_ref().map(|read| &*read.value) {
        return Some(OwnPrincipal::known(&found.arn));
    }
    let arn = format!("arn:{partition}:iam::{account}:role/{role}");
    Some(OwnPrincipal { arn, is_guessed: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_users_and_others_are_distinguished() {
        let user = "arn:aws:iam::123456789012:user/ops/ci";
        assert_eq!(caller(user), Caller::Principal(user));
        assert_eq!(
            caller("arn:aws-cn:sts::123456789012:assumed-role/manager/session-1"),
            Caller::Session { partition: "aws-cn", account: "123456789012", role: "manager" }
        );
        for other in [
            "arn:aws:iam::123456789012:root",
            "arn:aws:sts::123456789012:federated-user/x",
            "arn:aws:sts::123456789012:assumed-role/",
            "",
            "arn",
        ] {
            assert_eq!(caller(other), Caller::Other, "{other}");
        }
    }

    #[test]
    fn a_user_or_role_is_the_same_with_any_path() {
        let arn = |of: &str| format!("arn:aws:iam::123456789012:{of}");
        for (one, other) in [
            ("role/shared", "role/shared"),
            ("role/shared", "role/p/shared"),
            ("role/p/q/shared", "role/r/shared"),
            ("role/shared", "role/p/Shared"),
            ("user/ci", "user/ops/ci"),
        ] {
            assert!(is_same_principal(&arn(one), &arn(other)), "{one} {other}");
            assert!(is_same_principal(&arn(other), &arn(one)), "{other} {one}");
        }
        for (one, other) in [
            (arn("role/shared"), arn("user/shared")),
            (arn("role/shared"), arn("role/shared/other")),
            (arn("role/shared"), arn("role/p/shared2")),
            (arn("role/shared"), "arn:aws:iam::210987654321:role/shared".to_owned()),
            (arn("role/shared"), "arn:aws-cn:iam::123456789012:role/shared".to_owned()),
            (arn("role/shared"), "shared".to_owned()),
            ("one".to_owned(), "two".to_owned()),
        ] {
            assert!(!is_same_principal(&one, &other), "{one} {other}");
        }
    }
}
