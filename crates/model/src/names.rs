//! Names of what we make for an instance. Stable: the same pool and instance give the same name in every version,
//! because a FooMachine is found again by it. Changing anything here needs a migration.

use crate::hash::fnv1a;
use crate::{InstanceId, MachineName};
use std::collections::BTreeMap;

/// Annotation on the FooMachinePool: its roll-out is stopped for as long as it is there.
pub const ROLLOUT_PAUSED_ANNOTATION: &str = "infrastructure.foo.com/rollout-paused";

/// Annotation on the FooMachinePool or the FooControlPlane: as long as it is there, its maintenance windows are open. Instances are
/// replaced, or add-ons that follow EKS updated, at any time.
pub const ROLLOUT_NOW_ANNOTATION: &str = "infrastructure.foo.com/rollout-now";

/// Annotation on the FooMachinePool: content that a roll-out gave up on, as `<spec hash>: <what failed>`. Written by the
/// provider; whoever takes it away has the content tried again.
pub const QUARANTINE_ANNOTATION: &str = "infrastructure.foo.com/quarantine";

/// Annotation on the FooMachinePool: what the provider set in the group because the spec names it, as JSON, so that it can be removed when
/// it leaves the spec. Written by the provider before the first call; it moves with the object.
pub const APPLIED_ANNOTATION: &str = "infrastructure.foo.com/applied-to-group";

/// Annotation on a bootstrap Secret, `true`: its user data wait, before they join the cluster, until the instance is in service in its Auto
/// Scaling group, so that an instance in a warm pool is no Node. Written with the user data of a FooNodeConfig that asks for it, or by the
/// owner of a Secret. A group gets a warm pool only with it.
pub const WAITS_IN_WARM_POOL_ANNOTATION: &str = "infrastructure.foo.com/waits-in-warm-pool";

/// Whether a bootstrap Secret with these annotations has user data that wait in a warm pool.
pub fn is_marked_as_waiting(annotations: &BTreeMap<String, String>) -> bool {
    annotations.get(WAITS_IN_WARM_POOL_ANNOTATION).is_some_and(|value| value == "true")
}

/// Annotation on the FooMachinePool: the image that the provider looked up, as JSON. Written by the provider before the image is
/// used; it goes along when the object is moved.
pub const IMAGE_ANNOTATION: &str = "infrastructure.foo.com/image";

/// Annotation on the FooMachinePool: id of the management cluster that gave its group up to this one. Written by a person;
/// taken off by the provider once the group is this one's.
pub const ADOPT_FROM_ANNOTATION: &str = "infrastructure.foo.com/adopt-from";

/// Beginning of the keys of all tags of the provider.
pub const TAG_PREFIX: &str = "infrastructure.foo.com/";
/// Tag on everything that the provider owns: `<namespace>/<cluster>`.
pub const TAG_CLUSTER: &str = "infrastructure.foo.com/cluster";
/// Tag on everything that the provider owns: `<pool>`.
pub const TAG_POOL: &str = "infrastructure.foo.com/pool";
/// Tag on a launch template whose name is not that of its group: the group. Without it, the template of a name that the spec has belongs
/// to another group.
pub const TAG_GROUP: &str = "infrastructure.foo.com/group";
/// Tag on the group alone: id of the management cluster that manages it. Not on templates, whose tags never change, nor
/// on instances: a move would have to change their tags, and create a template version for the next ones.
pub const TAG_INSTALLATION: &str = "infrastructure.foo.com/installation";
/// Value of [`TAG_INSTALLATION`] on a group that no management cluster manages: its pool was deleted with `deletionPolicy: Retain`.
pub const INSTALLATION_OF_RETAINED: &str = "retained";
/// Tag on every part of a network that the provider creates: the network's id. A part without it is foreign.
pub const TAG_NETWORK: &str = "infrastructure.foo.com/network";
/// Tag on every part of a network that the provider creates: what it is for (`subnet/private/eu-central-1a`).
pub const TAG_ROLE: &str = "infrastructure.foo.com/role";

/// Tag on every EKS cluster that the provider manages, and on every add-on, access entry, pod identity association and
/// OIDC provider that it creates: the control plane's id. A resource without it is foreign.
pub const TAG_CONTROL_PLANE: &str = "infrastructure.foo.com/control-plane";

/// Tag that the owner of an AWS account sets to allow an adoption: on an EKS cluster `<namespace>/<cluster>` of the Cluster that may adopt
/// it, on an Auto Scaling group `<namespace>/<pool>` of the FooMachinePool.
pub const TAG_ADOPTABLE: &str = "infrastructure.foo.com/adoptable";
/// Tag on an EKS cluster or an Auto Scaling group that was adopted and not created by us: it is retained unless the spec says otherwise.
/// Written together with the ownership tags.
pub const TAG_ADOPTED: &str = "infrastructure.foo.com/adopted";

/// Annotation on the FooCluster: the id of its network, which is the uid that the FooCluster had when the network was begun.
/// Written by the provider before the first call; it goes along when the object is moved, and the uid does not.
pub const NETWORK_ID_ANNOTATION: &str = "infrastructure.foo.com/network-id";

/// Annotation on the FooControlPlane in mode `eks`: the control plane's id, which is the uid that the FooControlPlane had when its EKS
/// cluster was begun. Written by the provider before the first plan; it goes along when the object is moved, and the uid does not.
pub const CONTROL_PLANE_ID_ANNOTATION: &str = "infrastructure.foo.com/control-plane-id";

/// Annotation on the FooControlPlane in mode `eks`: the name of its EKS cluster. Written by the provider together with the control plane's
/// id: the default name depends on the management cluster, and a moved control plane keeps its name.
pub const EKS_NAME_ANNOTATION: &str = "infrastructure.foo.com/eks-cluster-name";

/// Annotation on the FooControlPlane in mode `eks` or the FooMachinePool: its EKS cluster or group was adopted, as [`TAG_ADOPTED`] says.
/// Written by the provider; it goes along when the object is moved, and the status does not. It can only prevent a deletion.
pub const ADOPTED_ANNOTATION: &str = "infrastructure.foo.com/adopted";

/// Annotation on a kubeconfig Secret with the token of an EKS cluster: when the token ends (RFC 3339), by AWS's clock.
pub const TOKEN_EXPIRES_ANNOTATION: &str = "infrastructure.foo.com/token-expires";

/// Whether two names of the form `<namespace>/<name>`, as the tag of a Cluster has them, are in one namespace.
pub fn are_in_one_namespace(one: &str, other: &str) -> bool {
    let namespace = |name: &str| name.split_once('/').map(|(namespace, _)| namespace.to_owned());
    namespace(one).is_some() && namespace(one) == namespace(other)
}

/// Longest name of an EKS cluster (EKS API Reference, CreateCluster).
const MAX_EKS_NAME: usize = 100;

/// Default name of the EKS cluster of a Cluster: `<namespace>_<cluster>-<hash>`, at most 100 characters of the alphabet of EKS (letters,
/// digits, `-` and `_`). The hash is eight digits of the FNV-1a hash of namespace, Cluster and management cluster, because a token for one
/// EKS cluster is good for every other one of that name that the same user or role may access, in any region. A longer name is cut before
/// the hash. No namespace contains `_`, so that names of two namespaces differ.
pub fn eks_cluster_name(namespace: &str, cluster: &str, installation: &str) -> String {
    /// A dash and eight hexadecimal digits.
    const HASH: usize = 9;
    let whole = format!("{namespace}_{cluster}");
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mapped = whole.chars().map(|c| if fits(c) { c } else { '-' });
    let kept: String = mapped.take(MAX_EKS_NAME.saturating_sub(HASH)).collect();
    let hash = fnv1a(&format!("{whole}/{installation}"));
    let folded = (hash >> 32) ^ (hash & 0xffff_ffff);
    format!("{kept}-{folded:08x}")
}

/// Longest name: a Machine's name becomes a label value in places, and those end at 63 characters.
const MAX_NAME: usize = 63;

/// Longest piece of the instance id that is used as it is. Real ids have 8 or 17 digits; the rest is for future
/// ids.
const MAX_INSTANCE: usize = 24;

/// Name of the FooMachine, and so of the Machine, of an instance: `<pool>-<instance id without "i-">`.
///
/// At most 63 characters of a DNS-1123 label. A pool name that is too long is cut and its FNV-1a hash put behind
/// the cut. Two instances never share a name, because the instance id stays whole; two pools never share an
/// instance.
pub fn machine_name(pool: &str, id: &InstanceId) -> MachineName {
    let instance = instance_part(id.as_str());
    let room = MAX_NAME.saturating_sub(instance.len() + 1);
    let pool = pool_part(pool, room);
    MachineName::new(format!("{pool}-{instance}"))
}

fn instance_part(id: &str) -> String {
    let digits = label(id.strip_prefix("i-").unwrap_or(id));
    if digits.is_empty() || digits.len() > MAX_INSTANCE { format!("{:016x}", fnv1a(id)) } else { digits }
}

fn pool_part(pool: &str, room: usize) -> String {
    /// A dash and eight hexadecimal digits.
    const HASH: usize = 9;
    let whole = label(pool);
    if whole.is_empty() {
        return "pool".to_owned();
    }
    if whole.len() <= room {
        return whole;
    }
    let kept: String = whole.chars().take(room.saturating_sub(HASH)).collect();
    let folded = (fnv1a(pool) >> 32) ^ (fnv1a(pool) & 0xffff_ffff);
    format!("{}-{folded:08x}", kept.trim_end_matches('-'))
}

/// The text in the alphabet of a DNS-1123 label, neither beginning nor ending with a dash.
fn label(text: &str) -> String {
    let mapped: String = text
        .chars()
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' })
        .collect();
    mapped.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(pool: &str, id: &str) -> String {
        machine_name(pool, &InstanceId::new(id)).as_str().to_owned()
    }

    #[test]
    fn a_name_is_the_pool_and_the_digits_of_the_instance() {
        assert_eq!(name("workers", "i-0abc1234567890def"), "workers-0abc1234567890def");
        assert_eq!(name("my.pool", "i-12345678"), "my-pool-12345678");
    }

    #[test]
    fn a_long_pool_name_is_cut_and_hashed_and_stays_the_same_for_ever() {
        let long = "a-very-long-name-of-a-pool-that-continues-until-every-limit-is-near";
        assert_eq!(
            name(long, "i-0abc1234567890def"),
            "a-very-long-name-of-a-pool-that-cont-6b2be79a-0abc1234567890def"
        );
        assert_ne!(
            name(&format!("{long}1"), "i-0abc1234567890def"),
            name(&format!("{long}2"), "i-0abc1234567890def")
        );
    }

    #[test]
    fn strange_names_still_give_a_valid_name() {
        assert_eq!(name("---", "i-1"), "pool-1");
        assert_eq!(name("p", "i-"), format!("p-{:016x}", fnv1a("i-")));
    }

    const HERE: &str = "5ba1e1d0-0000-4000-8000-000000000001";

    #[test]
    fn an_eks_cluster_is_named_after_namespace_cluster_and_management_cluster_for_ever() {
        assert_eq!(eks_cluster_name("team-a", "blue", HERE), "team-a_blue-d390ac48");
        assert_eq!(eks_cluster_name("team-a", "blue.prod", HERE), "team-a_blue-prod-f5c56ac4");
        let long = eks_cluster_name(&"n".repeat(63), &"c".repeat(63), HERE);
        assert_eq!(long.len(), 100);
        assert_ne!(long, eks_cluster_name(&"n".repeat(63), &"c".repeat(62), HERE));
        assert_ne!(eks_cluster_name("a", "b.c", HERE), eks_cluster_name("a", "b-c", HERE));
        assert_ne!(eks_cluster_name("a", "b", HERE), eks_cluster_name("a", "b", "another"));
    }

    proptest! {
        /// What EKS takes, beginning with the namespace as an identity's limits want it.
        #[test]
        fn every_default_name_is_one_that_eks_takes_and_begins_with_its_namespace(namespace in "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", cluster in "[a-z0-9]([-.a-z0-9]{0,61}[a-z0-9])?") {
            let name = eks_cluster_name(&namespace, &cluster, HERE);
            prop_assert!(name.len() <= 100);
            let begins = format!("{namespace}_");
            prop_assert!(name.starts_with(&begins));
            prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_'));
        }

        #[test]
        fn every_name_is_a_short_dns_label_with_the_instance_in_it(pool in "[a-z0-9]([-.a-z0-9]{0,250}[a-z0-9])?", id in "[0-9a-f]{8}|[0-9a-f]{17}") {
            let name = name(&pool, &format!("i-{id}"));
            prop_assert!(name.len() <= 63);
            prop_assert!(name.ends_with(&id));
            prop_assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
            prop_assert!(name.starts_with(|c: char| c.is_ascii_alphanumeric()));
        }
    }
}
