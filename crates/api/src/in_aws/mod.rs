//! Everything in AWS that a spec can name, or that the provider names there: one row each, with what keeps one tenant from what
//! another one has.
//!
//! The rule behind the table: a tenant who may write every object in one namespace can do nothing to what another namespace's
//! objects own, whatever it names, although the manager calls AWS with the same credentials for both. A field of a CRD that can name
//! something in AWS has a row here, or a reason in [`nothing`] why it names nothing; a test reads all CRDs. The manager enforces the
//! limits by [`Thing`], `docs/reference/names-in-aws.md` is generated from the rows. No decisions are made here.

pub mod nothing;
mod rows;

pub use rows::ROWS;

use crate::FooClusterIdentitySpec;

/// A kind of thing in AWS that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thing {
    /// A region.
    Region,
    /// An Auto Scaling group, its launch template and its instances.
    Group,
    /// An EKS cluster, its add-ons, access entries, associations and OIDC provider.
    ControlPlane,
    /// A VPC.
    Vpc,
    /// A subnet.
    Subnet,
    /// A security group.
    SecurityGroup,
    /// A service that VPC endpoints lead to.
    EndpointService,
    /// An instance profile, and with it the role of nodes.
    InstanceProfile,
    /// A role that is passed to EKS or to pods.
    Role,
    /// A user or role that gets access to an EKS cluster.
    Principal,
    /// The role of an identity.
    IdentityRole,
    /// A KMS key.
    KmsKey,
    /// A key pair.
    KeyPair,
    /// A target group of Elastic Load Balancing or VPC Lattice, or a Classic Load Balancer.
    TargetGroup,
    /// An SNS topic or an SQS queue.
    NotificationTarget,
    /// A bucket, and the user data in it.
    Bucket,
    /// A placement group, a Capacity Reservation, a group of dedicated hosts or reservations, a license configuration.
    Capacity,
    /// An EBS snapshot.
    Snapshot,
    /// An image.
    Image,
    /// A tag key.
    Tag,
}

/// One row.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What is named.
    pub thing: Thing,
    /// The same, for people.
    pub title: &'static str,
    /// Kind and path of the fields that name it. Templates have the fields of what they are templates of.
    pub fields: &'static [(&'static str, &'static str)],
    /// Who may name which ones.
    pub limit: Limit,
    /// Where a name is unique, and what happens when two objects name the same.
    pub scope: &'static str,
    /// What proves that it belongs to the object that names it.
    pub proof: &'static str,
    /// What has to consent before the provider takes over one that exists.
    pub adoption: &'static str,
    /// What the deletion of the object does to it.
    pub deletion: &'static str,
    /// Whose credentials reach it.
    pub credential: &'static str,
}

/// Who may name which ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A list in the spec of the FooClusterIdentity.
    Listed {
        /// The field of its spec.
        field: &'static str,
        /// What may be named without the list.
        absent: Absent,
    },
    /// All users who may write the object may name any.
    Open {
        /// Why that does no harm to others.
        because: &'static str,
    },
}

/// What may be named if an identity has no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// Any. Naming it gives no access to what objects of another namespace own.
    Any,
    /// Any but what the provider created for the network of a FooCluster of another namespace, or EKS for the cluster
    /// of a FooControlPlane there: using it takes addresses there, has the access of its members, and blocks its
    /// deletion.
    NotOfOthers,
    /// Those that begin with the namespace and an underscore, which need no list.
    OwnNames,
    /// Any; but none if `--require-identity` is set and several namespaces may use the identity. Whoever names a role acts with its
    /// rights, and those of another tenant's role reach what that tenant's objects own; whoever names a snapshot reads
    /// its data, whoever names a target group or load balancer receives requests, and whoever names a topic or queue sends messages there.
    NoneIfShared,
}

impl Thing {
    /// Its row.
    pub fn row(self) -> Option<&'static Row> {
        ROWS.iter().find(|row| row.thing == self)
    }

    /// What may be named if an identity has no list of them.
    pub fn absent(self) -> Absent {
        match self.row().map(|row| row.limit) {
            Some(Limit::Listed { absent, .. }) => absent,
            Some(Limit::Open { .. }) | None => Absent::Any,
        }
    }
}

impl FooClusterIdentitySpec {
    /// The list of those that objects with this identity may name; `None`: there is no list.
    pub fn allowed(&self, thing: Thing) -> Option<&[String]> {
        match thing {
            Thing::Region => self.allowed_regions.as_deref(),
            Thing::ControlPlane => self.allowed_control_plane_names.as_deref(),
            Thing::Vpc => self.allowed_vpcs.as_deref(),
            Thing::Subnet => self.allowed_subnets.as_deref(),
            Thing::SecurityGroup => self.allowed_security_groups.as_deref(),
            Thing::InstanceProfile => self.allowed_instance_profiles.as_deref(),
            Thing::Role => self.allowed_roles.as_deref(),
            Thing::KmsKey => self.allowed_kms_keys.as_deref(),
            Thing::KeyPair => self.allowed_key_pairs.as_deref(),
            Thing::TargetGroup => self.allowed_target_groups.as_deref(),
            Thing::NotificationTarget => self.allowed_notification_targets.as_deref(),
            Thing::Bucket => self.allowed_buckets.as_deref(),
            Thing::Capacity => self.allowed_capacity.as_deref(),
            Thing::Snapshot => self.allowed_snapshots.as_deref(),
            Thing::Group
            | Thing::EndpointService
            | Thing::Principal
            | Thing::IdentityRole
            | Thing::Image
            | Thing::Tag => None,
        }
    }
}

/// Stands for the namespace of the FooCluster in an entry of a list.
pub const NAMESPACE: &str = "{namespace}";

/// Whether an entry of a list is about this name: the same text, in which [`NAMESPACE`] stands for the namespace, and a `*` at the end
/// for any text.
pub fn is_about(entry: &str, namespace: &str, name: &str) -> bool {
    let entry = entry.replace(NAMESPACE, namespace);
    match entry.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => entry == name,
    }
}

#[cfg(test)]
mod tests;
