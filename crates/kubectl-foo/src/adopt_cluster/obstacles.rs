//! What prevents the adoption of an EKS cluster or works against it, who has to consent, and what stays to be done.

use super::adopter::{Adopter, Identity};
use super::found::{Cluster, Found};
use crate::adopt::manifest::{CAPA_CLUSTER, STACK};
use crate::text::quoted;
use anyhow::{Result, bail};
use foo_api::FooClusterIdentitySpec;
use foo_api::control_plane::Eks;
use foo_api::in_aws::{Limit, Thing, is_about};
use foo_api::patterns::is_aws_name;
use foo_model::names::{TAG_ADOPTABLE, TAG_CLUSTER, TAG_CONTROL_PLANE, TAG_INSTALLATION};

/// Most security groups of a FooControlPlane.
const MOST_SECURITY_GROUPS: usize = 4;
/// Tag of clusters that eksctl created.
const EKSCTL: &str = "alpha.eksctl.io/cluster-name";

/// What has to be done first, each with the way to do it.
///
/// # Errors
/// The cluster can never be adopted.
pub(super) fn obstacles(found: &Found, adopter: &Adopter, identity: &Identity) -> Result<Vec<String>> {
    let Found { cluster, addons, unread, .. } = found;
    never(cluster)?;
    let mut obstacles: Vec<String> = unread.iter().map(|why| format!("not known: {why}")).collect();
    obstacles.extend(of_status(&cluster.status));
    // The rest of the key is the name of the EKS cluster, not that of its Cluster.
    let of_capa = cluster.tags.keys().filter(|key| key.starts_with(CAPA_CLUSTER));
    obstacles.extend(of_capa.map(|key| {
        format!(
            "Cluster API Provider AWS manages the EKS cluster: pause the Cluster of its AWSManagedControlPlane with spec.eksClusterName \
             {}, then delete the tag {key} of the EKS cluster",
            cluster.name
        )
    }));
    obstacles.extend(addons.iter().filter_map(|it| of_addon(&it.addon_name, &it.status)));
    if cluster.compute_config.enabled {
        obstacles.push(
            "EKS Auto Mode is on, which a FooControlPlane does not have: replace its Nodes, and switch it off".to_owned(),
        );
    }
    if cluster.authentication_mode() == "CONFIG_MAP" {
        obstacles.push(
            "the authentication mode is CONFIG_MAP, with which there are no access entries: change it to API_AND_CONFIG_MAP, or apply \
             the manifest and the provider does; EKS cannot go back"
                .to_owned(),
        );
    }
    obstacles.extend(of_identity(cluster, adopter, identity));
    let consent = consent_of(adopter);
    if let Some(other) = cluster.tags.get(TAG_ADOPTABLE).filter(|it| **it != consent) {
        obstacles.push(format!(
            "the owner of the account has consented to the adoption by {other}, not by {consent}"
        ));
    }
    let groups = cluster.resources_vpc_config.security_group_ids.len();
    if groups > MOST_SECURITY_GROUPS {
        obstacles.push(format!(
            "the control plane has {groups} security groups: a FooControlPlane has at most {MOST_SECURITY_GROUPS}; detach some first"
        ));
    }
    Ok(obstacles)
}

fn never(cluster: &Cluster) -> Result<()> {
    let name = &cluster.name;
    if let Some(owner) =
        [TAG_CLUSTER, TAG_CONTROL_PLANE, TAG_INSTALLATION].iter().find_map(|key| cluster.tags.get(*key))
    {
        bail!("{name} belongs to {owner} already, as a tag of this provider says");
    }
    if cluster.connector_config.is_some() {
        bail!("{name} does not run in EKS: EKS only shows it");
    }
    if cluster.outpost_config.is_some() {
        bail!("{name} is on an Outpost: a FooControlPlane is in a region");
    }
    if cluster.status == "DELETING" {
        bail!("{name} is being deleted");
    }
    Ok(())
}

fn of_status(status: &str) -> Option<String> {
    match status {
        "ACTIVE" => None,
        "UPDATING" => Some("EKS updates the cluster: wait until the update ends".to_owned()),
        "CREATING" | "PENDING" => Some(format!("the cluster is {status}: wait until it is ACTIVE")),
        other => Some(format!("the cluster is {other}: it has to be ACTIVE")),
    }
}

/// The provider waits for EKS, and sends an update that failed once more.
fn of_addon(name: &str, status: &str) -> Option<String> {
    match status {
        "CREATING" | "UPDATING" | "DELETING" => {
            Some(format!("add-on {name} is {status}: wait until that ends"))
        }
        "CREATE_FAILED" | "UPDATE_FAILED" | "DELETE_FAILED" => {
            Some(format!("add-on {name} is {status}: repair it first, or the provider updates it"))
        }
        _ => None,
    }
}

/// Whether the FooClusterIdentity lets the Cluster name what it is about.
fn of_identity(cluster: &Cluster, adopter: &Adopter, identity: &Identity) -> Vec<String> {
    let name = adopter.identity_name();
    let namespace = &adopter.namespace;
    let spec = match identity {
        Identity::Unknown => {
            return vec![format!("not known: what the FooClusterIdentity {name} allows")];
        }
        Identity::Missing => {
            return vec![format!(
                "there is no FooClusterIdentity {name}, without which nothing is adopted: its administrator creates it, or name another \
                 one with --identity"
            )];
        }
        Identity::Known(spec) => spec,
    };
    let mut obstacles = Vec::new();
    let allowed = spec.allowed_namespaces.as_ref();
    // Labels of namespaces are for their administrator.
    let named = allowed.filter(|it| it.selector.is_none()).and_then(|it| it.list.as_ref());
    if allowed.is_none() || named.is_some_and(|list| !list.contains(namespace)) {
        obstacles.push(format!(
            "the FooClusterIdentity {name} does not allow the namespace {namespace}: its administrator adds it to allowedNamespaces"
        ));
    }
    let account = spec.role.as_ref().and_then(|role| role.arn.split(':').nth(4));
    if let (Some(account), Some(of_cluster)) = (account, cluster.account().filter(|it| Some(*it) != account))
    {
        obstacles.push(format!(
            "the FooClusterIdentity {name} has a role of account {account}, and the EKS cluster is in {of_cluster}: name another one \
             with --identity"
        ));
    }
    obstacles
}

/// What the FooClusterIdentity does not let the objects name.
pub(super) fn of_limits(
    eks: &Eks,
    adopter: &Adopter,
    identity: &Identity,
    vpc: &str,
    subnets: &[String],
) -> Vec<String> {
    let Identity::Known(spec) = identity else { return Vec::new() };
    let of_addons = eks.addons.iter().flat_map(|addon| {
        let of_pods = addon.pod_identities.iter().flatten().map(|it| it.role_arn.as_str());
        addon.service_account_role_arn.as_deref().into_iter().chain(of_pods)
    });
    let of_pods = eks.pod_identity_associations.iter().map(|it| it.role_arn.as_str());
    let mut roles: Vec<&str> =
        std::iter::once(eks.role_arn.as_str()).chain(of_addons).chain(of_pods).collect();
    roles.sort_unstable();
    roles.dedup();
    let named: [(Thing, &str, Vec<&str>); 7] = [
        (Thing::Region, "region", vec![&adopter.region]),
        (Thing::ControlPlane, "name", eks.name.iter().map(String::as_str).collect()),
        (Thing::Vpc, "VPC", vec![vpc]),
        (Thing::Subnet, "subnet", subnets.iter().map(String::as_str).collect()),
        (Thing::SecurityGroup, "security group", eks.security_groups.iter().map(String::as_str).collect()),
        (Thing::Role, "role", roles),
        (Thing::KmsKey, "key", eks.encryption.iter().map(|it| it.kms_key_arn.as_str()).collect()),
    ];
    let identity = adopter.identity_name();
    let mut obstacles = Vec::new();
    for (thing, what, names) in named {
        let Some(Limit::Listed { field, .. }) = thing.row().map(|row| row.limit) else { continue };
        let refused = names.into_iter().filter(|name| !is_allowed(spec, thing, &adopter.namespace, name));
        obstacles.extend(refused.map(|name| {
            format!(
                "the FooClusterIdentity {identity} does not allow the {what} {name}: its administrator adds it to {field}"
            )
        }));
    }
    obstacles
}

/// Whether an identity lets objects of a namespace name that. Names of EKS clusters need a list unless they begin with the namespace.
fn is_allowed(spec: &FooClusterIdentitySpec, thing: Thing, namespace: &str, name: &str) -> bool {
    let is_own = thing == Thing::ControlPlane && name.starts_with(&format!("{namespace}_"));
    match spec.allowed(thing) {
        _ if is_own => true,
        Some(list) => list.iter().any(|entry| is_about(entry, namespace, name)),
        None => thing != Thing::ControlPlane,
    }
}

/// More of something than the objects can have.
pub(super) fn of_numbers(eks: &Eks, subnets: &[String]) -> Vec<String> {
    let ranges = eks.endpoint_access.as_ref().and_then(|it| it.public_cidrs.as_ref());
    let counted = [
        (eks.subnets.len(), 16, "subnets", "FooControlPlane"),
        (ranges.map_or(0, Vec::len), 40, "ranges of the public endpoint", "FooControlPlane"),
        (eks.access_entries.len(), 200, "access entries", "FooControlPlane"),
        (eks.addons.len(), 50, "add-ons", "FooControlPlane"),
        (eks.pod_identity_associations.len(), 200, "pod identity associations", "FooControlPlane"),
        (eks.tags.len(), 40, "tags", "FooControlPlane"),
        (subnets.len(), 64, "subnets of control plane and Nodes", "FooCluster"),
    ];
    let many = counted.into_iter().filter(|(number, most, ..)| number > most);
    many.map(|(number, most, what, kind)| {
        format!("the cluster has {number} {what}: a {kind} has at most {most}; remove some from the manifest")
    })
    .collect()
}

/// The value of the tag by which the owner of the account agrees.
fn consent_of(Adopter { namespace, name, .. }: &Adopter) -> String {
    format!("{namespace}/{name}")
}

/// The command by which the owner of the account agrees, unless that is done.
pub(super) fn consent(cluster: &Cluster, adopter: &Adopter) -> Option<String> {
    let (tag, region) = (consent_of(adopter), &adopter.region);
    if cluster.tags.get(TAG_ADOPTABLE) == Some(&tag) {
        return None;
    }
    let (arn, tag) = (quoted(&cluster.arn), quoted(&format!("{TAG_ADOPTABLE}={tag}")));
    Some(format!("aws eks tag-resource --region {region} --resource-arn {arn} --tags {tag}"))
}

/// The command by which the administrator of the management cluster agrees, unless that is done.
pub(super) fn permission(adopter: &Adopter, identity: &Identity) -> Option<String> {
    let Identity::Known(spec) = identity else { return None };
    let patch = r#"{"spec": {"allowAdoption": true}}"#;
    let name = adopter.identity_name();
    let command = format!("kubectl patch fooclusteridentity {name} --type merge --patch {}", quoted(patch));
    (!spec.allow_adoption).then_some(command)
}

/// What stays to be done when the cluster is adopted.
pub(super) fn afterwards(found: &Found, adopter: &Adopter) -> Vec<String> {
    let Adopter { namespace, name, .. } = adopter;
    let tags = &found.cluster.tags;
    let mut afterwards: Vec<String> = Vec::new();
    for group in found.groups.iter().filter(|group| group.node_group().is_none()) {
        let group = &group.auto_scaling_group_name;
        afterwards.push(if is_aws_name(group) {
            format!("kubectl foo adopt {} --namespace {namespace} --cluster {name}", quoted(group))
        } else {
            format!("Auto Scaling group {group}: no FooMachinePool can have its name, so it is not adopted")
        });
    }
    if let Some(group) = &found.cluster.resources_vpc_config.cluster_security_group_id {
        afterwards.push(format!(
            "a pool whose Nodes are new needs the security group {group} of the cluster, or rules between that and its own"
        ));
    }
    if let Some(stack) = tags.get(STACK) {
        let eksctl = if tags.contains_key(EKSCTL) { "; never use eksctl delete cluster" } else { "" };
        afterwards.push(format!(
            "the CloudFormation stack {stack} created the cluster: update it with DeletionPolicy Retain for all of its resources, and do \
             not change the cluster through the stack any more{eksctl}"
        ));
    } else if !tags.keys().any(|key| key.starts_with(CAPA_CLUSTER)) {
        afterwards.push(
            "the tool that created the cluster has to give it up: in Terraform, replace its resources with removed blocks \
             (destroy = false)"
                .to_owned(),
        );
    }
    afterwards
}
