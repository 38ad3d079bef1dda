//! The tags that each part has.

use crate::desired::{Desired, DesiredGroup, Tier};
use crate::role::Role;
use foo_model::names::{TAG_CLUSTER, TAG_INSTALLATION, TAG_NETWORK, TAG_ROLE, are_in_one_namespace};
use foo_model::network::Tags;
use std::collections::{BTreeMap, BTreeSet};

/// The tag of what the cluster of this name owns or uses, as cloud controllers know it.
pub(crate) fn kubernetes_tag(name: &str) -> String {
    format!("kubernetes.io/cluster/{name}")
}

/// All tags of the part with this role.
pub(crate) fn of(desired: &Desired, role: &Role) -> Tags {
    let mut tags = desired.tags.clone();
    let subnet = role.subnet().and_then(|key| desired.subnets.iter().find(|it| it.key == key));
    tags.entry("Name".to_owned()).or_insert_with(|| name(desired, role));
    if let Some(subnet) = subnet {
        if let Some(elb) = of_load_balancers(subnet.tier) {
            tags.insert(elb.to_owned(), "1".to_owned());
            // The AWS Load Balancer Controller passes over subnets that have such tags of other clusters only (its documentation,
            // "Subnet Auto-Discovery").
            tags.extend(of_kubernetes(desired));
        }
        tags.extend(subnet.tags.clone());
    }
    if let Some(group) = group(desired, role) {
        tags.extend(group.tags.clone());
        tags.extend(of_kubernetes(desired).filter(|_| group.is_for_nodes));
    }
    tags.insert(TAG_INSTALLATION.to_owned(), desired.installation.clone());
    tags.insert(TAG_CLUSTER.to_owned(), desired.cluster.clone());
    tags.insert(TAG_NETWORK.to_owned(), desired.network_id.clone());
    tags.insert(TAG_ROLE.to_owned(), role.to_string());
    tags
}

/// The tag by which cloud controllers find subnets for load balancers. A subnet for Pods has neither that nor the tag of the
/// cluster: these controllers may also choose a subnet that has the latter alone.
fn of_load_balancers(tier: Tier) -> Option<&'static str> {
    match tier {
        Tier::Public => Some("kubernetes.io/role/elb"),
        Tier::Private => Some("kubernetes.io/role/internal-elb"),
        Tier::Pods => None,
    }
}

fn of_kubernetes(desired: &Desired) -> Option<(String, String)> {
    desired.kubernetes_cluster.as_deref().map(|name| (kubernetes_tag(name), "owned".to_owned()))
}

/// Name of a part, for people: `<cluster>-<role>`.
pub(crate) fn name(desired: &Desired, role: &Role) -> String {
    format!("{}-{}", desired.cluster_name(), role.to_string().replace('/', "-"))
}

fn group<'a>(desired: &'a Desired, role: &Role) -> Option<&'a DesiredGroup> {
    desired.security_groups.iter().find(|it| *role == Role::SecurityGroup(it.name.clone()))
}

/// The keys of the user's tags that each part has alone, by role; none of them is empty.
pub(crate) fn own_keys(desired: &Desired) -> BTreeMap<Role, BTreeSet<String>> {
    let subnets = desired.subnets.iter().map(|it| (Role::Subnet(it.key.clone()), &it.tags));
    let groups = desired.security_groups.iter().map(|it| (Role::SecurityGroup(it.name.clone()), &it.tags));
    let with_tags = subnets.chain(groups).filter(|(_, tags)| !tags.is_empty());
    with_tags.map(|(role, tags)| (role, tags.keys().cloned().collect())).collect()
}

/// Whether the tags are those of this network: by its id, which anyone who may write the FooCluster can set in its annotation, and by its
/// Cluster, which only AWS shows.
pub(crate) fn are_own(desired: &Desired, tags: &Tags) -> bool {
    tags.get(TAG_NETWORK) == Some(&desired.network_id)
        && tags.get(TAG_CLUSTER).is_some_and(|cluster| is_our_cluster(desired, cluster))
}

/// The Cluster of a FooCluster that is being deleted may not exist any more, and with it the name that the tag has: then the namespace
/// decides.
fn is_our_cluster(desired: &Desired, cluster: &str) -> bool {
    cluster == desired.cluster || (desired.being_deleted && are_in_one_namespace(cluster, &desired.cluster))
}

/// Whether the tags are those of another network that this management cluster created for the same Cluster.
pub(crate) fn are_of_an_earlier_one(desired: &Desired, tags: &Tags) -> bool {
    tags.get(TAG_NETWORK).is_some_and(|id| *id != desired.network_id)
        && tags.get(TAG_CLUSTER) == Some(&desired.cluster)
        && tags.get(TAG_INSTALLATION) == Some(&desired.installation)
}

/// Whether the tags are those of a network that another management cluster created for a Cluster of this namespace and name.
pub(crate) fn are_of_a_namesake(desired: &Desired, tags: &Tags) -> bool {
    tags.get(TAG_NETWORK).is_some_and(|id| *id != desired.network_id)
        && tags.get(TAG_CLUSTER) == Some(&desired.cluster)
        && tags.get(TAG_INSTALLATION).is_some_and(|id| *id != desired.installation)
}

/// Whether the tags have this network's id, and the name of another Cluster.
pub(crate) fn are_of_another_cluster(desired: &Desired, tags: &Tags) -> bool {
    tags.get(TAG_NETWORK) == Some(&desired.network_id)
        && !are_own(desired, tags)
        && tags.contains_key(TAG_CLUSTER)
}

/// The role that the tags name.
pub(crate) fn role(tags: &Tags) -> Option<Role> {
    tags.get(TAG_ROLE).and_then(|text| Role::parse(text))
}
