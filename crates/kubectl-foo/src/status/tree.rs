//! Makes the tree out of objects. Pure.

use super::read::Facts;
use super::{Branch, Details, Machines, Progress, Status, progress};
use crate::capi::{Cluster, Machine};
use crate::explain::read::facts;
use crate::explain::{CONTROL_PLANE_WELL, POOL_WELL, machine_why, operated_by, sizes, unwell, versions};
use crate::text::reported;
use foo_api::capi::ContractReference;
use foo_api::conditions::find;
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_api::{FooCluster, FooControlPlane, FooMachine, FooMachinePool};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{Resource, ResourceExt as _};
use std::collections::BTreeMap;

/// Conditions of a FooCluster that are well when they are True.
const NETWORK_WELL: [&str; 8] = [
    "CredentialsReady",
    "NetworkReady",
    "VPCReady",
    "SubnetsReady",
    "RoutesReady",
    "NATReady",
    "SecurityGroupsReady",
    "EndpointsReady",
];

/// The trees of these clusters at that moment. Texts about Machines contain ages.
pub fn tree(all: &Facts, machines: Machines, now: Timestamp) -> Status {
    let mut clusters: Vec<&Cluster> = all.clusters.iter().collect();
    clusters.sort_by_key(|cluster| place(*cluster));
    let view = View { all, machines, now };
    let mut objects: Vec<Branch> = clusters.iter().map(|cluster| view.cluster(cluster)).collect();
    if all.all {
        objects.extend(view.without_cluster());
    }
    Status { objects }
}

struct View<'a> {
    all: &'a Facts,
    machines: Machines,
    now: Timestamp,
}

impl View<'_> {
    fn cluster(&self, cluster: &Cluster) -> Branch {
        let conditions = cluster.status.as_ref().map(|it| it.conditions.as_slice()).unwrap_or_default();
        let available = find(conditions, "Available");
        let mut branch = branch(cluster, available);
        if cluster.spec.paused == Some(true) {
            branch.reasons.push("paused".to_owned());
        }
        branch.reasons.extend(deletion(cluster));
        branch.reasons.extend(available.filter(|it| it.status != "True").map(reported));
        branch.objects.extend(referenced(
            cluster,
            cluster.spec.control_plane_ref.as_ref(),
            self.all.control_planes.as_deref(),
            control_plane,
        ));
        branch.objects.extend(referenced(
            cluster,
            cluster.spec.infrastructure_ref.as_ref(),
            self.all.foo_clusters.as_deref(),
            network,
        ));
        let mut pools: Vec<&FooMachinePool> = self.all.pools.iter().flatten().collect();
        pools.retain(|pool| belongs(*pool, cluster));
        pools.sort_by_key(|pool| pool.name_any());
        branch.objects.extend(pools.into_iter().map(|pool| self.pool(pool)));
        branch
    }

    fn pool(&self, pool: &FooMachinePool) -> Branch {
        let conditions = pool.status.as_ref().map(|it| it.conditions.as_slice()).unwrap_or_default();
        let mut branch = branch(pool, find(conditions, "Ready"));
        branch.summary = sizes(pool);
        branch.details = of_pool(pool);
        branch.reasons.extend(deletion(pool));
        // Its progress says the same.
        let others: Vec<Condition> =
            conditions.iter().filter(|it| it.type_ != "RollingOut").cloned().collect();
        branch.reasons.extend(unwell(&others, &POOL_WELL));
        // Without both kinds nothing can be concluded about any of them.
        let both = self.all.foo_machines.as_deref().zip(self.all.machines.as_deref());
        let Some((foo_machines, machines)) = both else {
            branch.progress = progress::of_pool(pool, None);
            return branch;
        };
        let facts = facts(pool, foo_machines, machines, &[]);
        let named: BTreeMap<String, &Machine> =
            facts.machines.iter().map(|machine| (machine.name_any(), machine)).collect();
        let draining = named.values().filter(|it| it.metadata.deletion_timestamp.is_some()).count();
        branch.progress = progress::of_pool(pool, Some(draining));
        let mut well = 0;
        for foo_machine in &facts.foo_machines {
            let machine = named.get(&foo_machine.name_any()).copied();
            let why = machine_why(foo_machine, machine, self.now);
            if why.is_empty() && self.machines == Machines::Unsettled {
                well += 1;
            } else {
                branch.objects.push(of_machine(foo_machine, machine, why));
            }
        }
        branch.machines_well = (self.machines == Machines::Unsettled).then_some(well);
        branch
    }

    /// Objects of this provider that no Cluster has.
    fn without_cluster(&self) -> Vec<Branch> {
        let is_referenced =
            |reference: Option<&ContractReference>, kind: &str, namespace: &str, name: &str| {
                reference.is_some_and(|it| it.kind == kind && it.name == name) && !namespace.is_empty()
            };
        let has_cluster = |kind: &str, namespace: &str, name: &str| {
            let of_namespace =
                self.all.clusters.iter().filter(|it| it.metadata.namespace.as_deref() == Some(namespace));
            of_namespace.into_iter().any(|cluster| {
                let spec = &cluster.spec;
                is_referenced(spec.control_plane_ref.as_ref(), kind, namespace, name)
                    || is_referenced(spec.infrastructure_ref.as_ref(), kind, namespace, name)
            })
        };
        let mut alone = Vec::new();
        alone.extend(self.all.control_planes.iter().flatten().map(control_plane));
        alone.extend(self.all.foo_clusters.iter().flatten().map(network));
        alone.retain(|branch| !has_cluster(&branch.kind, &branch.namespace, &branch.name));
        let pools = self.all.pools.iter().flatten();
        let pools = pools.filter(|pool| !self.all.clusters.iter().any(|cluster| belongs(*pool, cluster)));
        alone.extend(pools.map(|pool| self.pool(pool)));
        for branch in &mut alone {
            branch.reasons.push("belongs to no Cluster".to_owned());
        }
        alone
    }
}

/// The object that a Cluster references; one of another provider without details.
fn referenced<K: Resource<DynamicType = ()>>(
    cluster: &Cluster,
    reference: Option<&ContractReference>,
    known: Option<&[K]>,
    of: impl Fn(&K) -> Branch,
) -> Option<Branch> {
    let reference = reference?;
    let named = |object: &&K| {
        object.meta().name.as_deref() == Some(reference.name.as_str())
            && object.meta().namespace == cluster.metadata.namespace
    };
    let is_ours = reference.kind == K::kind(&()) && reference.api_group == K::group(&());
    if let Some(found) = known.unwrap_or_default().iter().find(named).filter(|_| is_ours) {
        return Some(of(found));
    }
    let summary = match (is_ours, known) {
        (false, _) => "of another provider",
        (true, Some(_)) => "does not exist",
        (true, None) => "could not be read",
    };
    let kind = reference.kind.clone();
    let (namespace, name) = (cluster.namespace().unwrap_or_default(), reference.name.clone());
    Some(Branch { summary: summary.to_owned(), ..empty(kind, namespace, name) })
}

fn control_plane(control_plane: &FooControlPlane) -> Branch {
    let conditions = control_plane.status.as_ref().map(|it| it.conditions.as_slice()).unwrap_or_default();
    let mut branch = branch(control_plane, find(conditions, "Ready"));
    branch.summary = versions(control_plane);
    if control_plane.spec.eks.is_none() {
        branch.summary = format!("{}; {}", branch.summary, operated_by(control_plane));
    }
    let status = control_plane.status.as_ref();
    branch.details = Details {
        version: status.and_then(|status| status.version.clone()),
        arn: status.and_then(|status| status.eks.as_ref()?.arn.clone()),
        ..Details::default()
    };
    branch.progress = progress::of_control_plane(control_plane);
    branch.reasons.extend(deletion(control_plane));
    branch.reasons.extend(unwell(conditions, &CONTROL_PLANE_WELL));
    branch
}

fn network(cluster: &FooCluster) -> Branch {
    let conditions = cluster.status.as_ref().map(|it| it.conditions.as_slice()).unwrap_or_default();
    let mut branch = branch(cluster, find(conditions, "Ready"));
    let vpc = cluster.status.as_ref().and_then(|status| status.network.as_ref()).map(|it| it.vpc_id.as_str());
    let vpc = vpc.filter(|vpc| !vpc.is_empty()).map(|vpc| format!(", {vpc}")).unwrap_or_default();
    branch.summary = format!("network in {}{vpc}", cluster.spec.region);
    branch.progress = progress::of_network(cluster);
    branch.reasons.extend(deletion(cluster));
    branch.reasons.extend(unwell(conditions, &NETWORK_WELL));
    branch
}

fn of_machine(foo_machine: &FooMachine, machine: Option<&Machine>, why: Vec<String>) -> Branch {
    let status = machine.and_then(|machine| machine.status.as_ref());
    let ready = status.and_then(|status| find(&status.conditions, "Ready"));
    let mut branch = branch(foo_machine, ready);
    branch.kind = Machine::kind(&()).into_owned();
    branch.summary.clone_from(&foo_machine.spec.instance_id);
    let in_aws = foo_machine.status.clone().unwrap_or_default();
    branch.details = Details {
        instance_type: in_aws.instance_type,
        zone: in_aws.failure_domain,
        node: status.and_then(|status| Some(status.node_ref.as_ref()?.name.clone())),
        version: machine.and_then(|machine| machine.spec.version.clone()),
        launch_template_version: in_aws.launch_template_version,
        arn: None,
    };
    branch.reasons = why;
    branch
}

/// What a pool launches instances from, and its group.
fn of_pool(pool: &FooMachinePool) -> Details {
    let status = pool.status.clone().unwrap_or_default();
    Details {
        instance_type: status.instance_type,
        version: status.version,
        launch_template_version: status.launch_template.map(|template| template.version),
        // The provider writes the ARN of the group there.
        arn: pool.spec.provider_id.clone(),
        ..Details::default()
    }
}

/// A branch without details but its condition.
fn branch<K: Resource<DynamicType = ()>>(object: &K, ready: Option<&Condition>) -> Branch {
    let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
    Branch {
        ready: ready.map(|ready| ready.status.clone()),
        since: ready.map(|ready| ready.last_transition_time.0),
        ..empty(K::kind(&()).into_owned(), namespace, name)
    }
}

fn empty(kind: String, namespace: String, name: String) -> Branch {
    Branch {
        kind,
        namespace,
        name,
        ready: None,
        since: None,
        details: Details::default(),
        summary: String::new(),
        progress: Vec::<Progress>::new(),
        reasons: Vec::new(),
        machines_well: None,
        objects: Vec::new(),
    }
}

fn deletion<K: Resource>(object: &K) -> Option<String> {
    object.meta().deletion_timestamp.as_ref().map(|_| "being deleted".to_owned())
}

fn belongs<K: Resource>(object: &K, cluster: &Cluster) -> bool {
    object.meta().namespace == cluster.metadata.namespace
        && object.labels().get(CLUSTER_NAME_LABEL).map(String::as_str) == cluster.metadata.name.as_deref()
}

fn place<K: Resource>(object: &K) -> (String, String) {
    (object.namespace().unwrap_or_default(), object.name_any())
}
