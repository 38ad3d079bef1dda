//! The manifest of a FooMachinePool that adopts an Auto Scaling group, from what AWS has: [`found`] reads that with the user's
//! own credentials, `pool` and `obstacles` are pure functions. The manager plays no part; [`crate::plan`] asks it what an
//! adoption would do.

pub mod found;
mod obstacles;
mod pool;

use crate::access::Reads;
use crate::aws::Aws;
use crate::capi::Cluster;
use crate::refused::{Request, Usage, refused, resource};
use anyhow::{Result, anyhow};
use foo_api::capi::{
    Bootstrap, ContractReference, MachinePool, MachinePoolSpec, MachineTemplate, MachineTemplateSpec,
};
use foo_api::names::{AUTOSCALER_MAX_ANNOTATION, AUTOSCALER_MIN_ANNOTATION};
use foo_api::node_config::Family;
use foo_api::{FooCluster, FooControlPlane, FooMachinePool, FooMachinePoolSpec, FooNodeConfig};
use found::{Found, Image};
use kube::{Api, Resource};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The longest name of an object whose name is a label's value, too.
const LONGEST_NAME: usize = 63;

/// The pool that adopts a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopter {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its Cluster.
    pub cluster: String,
    /// Region of the Cluster.
    pub region: String,
    /// Kubernetes version of the control plane, if it is known.
    pub version: Option<String>,
    /// Secret with bootstrap data; without it a FooNodeConfig.
    pub bootstrap_secret: Option<String>,
}

/// What an adoption takes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adoption {
    /// The manifests, in the order in which they are applied.
    pub objects: Vec<Value>,
    /// What prevents it, or works against it.
    pub obstacles: Vec<String>,
    /// What instances that are launched later do not have, or have otherwise.
    pub differences: Vec<String>,
    /// The next steps.
    pub next: Vec<String>,
}

/// A Cluster, as an adoption needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Region of its FooCluster.
    pub region: String,
    /// Kubernetes version of its control plane, if that is a FooControlPlane.
    pub version: Option<String>,
    /// Whether its Nodes join by a FooNodeConfig.
    pub is_on_eks: bool,
}

/// Reads a Cluster and what it points to.
///
/// # Errors
/// It does not exist, has no FooCluster, or a right is missing.
pub async fn target(reads: &Reads<'_>, namespace: &str, name: &str) -> Result<Target> {
    let cluster: Cluster = get(reads, namespace, name).await?;
    let is_ours = |reference: &&ContractReference| reference.kind == FooCluster::kind(&());
    let infrastructure = cluster.spec.infrastructure_ref.as_ref().filter(is_ours);
    let infrastructure = infrastructure.ok_or_else(|| anyhow!("Cluster {name} has no FooCluster"))?;
    let foo_cluster: FooCluster = get(reads, namespace, &infrastructure.name).await?;
    let is_ours = |reference: &&ContractReference| reference.kind == FooControlPlane::kind(&());
    let control_plane: Option<FooControlPlane> = match cluster.spec.control_plane_ref.as_ref().filter(is_ours)
    {
        Some(reference) => Some(get(reads, namespace, &reference.name).await?),
        None => None,
    };
    Ok(Target {
        region: foo_cluster.spec.region,
        is_on_eks: control_plane.as_ref().is_some_and(|it| it.spec.eks.is_some()),
        version: control_plane.map(|it| it.spec.version),
    })
}

async fn get<K>(reads: &Reads<'_>, namespace: &str, name: &str) -> Result<K>
where
    K: crate::access::Listed,
{
    let api: Api<K> = Api::namespaced(reads.client.clone(), namespace);
    let resource = resource::<K>();
    let request = Request { verb: "get", resource: &resource, namespace: Some(namespace) };
    let found = api.get_opt(name).await.map_err(|error| refused(request, error))?;
    found.ok_or_else(|| anyhow!("{} {name} not found in namespace {namespace}", K::kind(&())))
}

/// The name of a pool that adopts that group: the group's, as far as Kubernetes allows it.
pub fn pool_name(group: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = group.chars().map(allowed).collect();
    let name: String = name.trim_matches('-').chars().take(LONGEST_NAME).collect();
    name.trim_end_matches('-').to_owned()
}

/// What it takes to adopt a group.
///
/// # Errors
/// A [`Usage`] if bootstrap data is missing; else one that says why no FooMachinePool can adopt the group.
pub async fn adoption(aws: &Aws, reads: &Reads<'_>, group: &str, adopter: &Adopter) -> Result<Adoption> {
    of_found(&found::read(aws, reads, group).await?, adopter)
}

/// Whether bootstrap data is given, or the Cluster's Nodes need none.
///
/// # Errors
/// Neither is so.
pub fn check_bootstrap(target: &Target, secret: Option<&str>, cluster: &str) -> Result<()> {
    if target.is_on_eks || secret.is_some() {
        return Ok(());
    }
    let usage = format!(
        "Cluster {cluster} is not on EKS: name the Secret with the bootstrap data of its Nodes with --bootstrap-secret"
    );
    Err(Usage(usage).into())
}

/// What it takes to adopt the group that was found.
///
/// # Errors
/// No FooMachinePool can adopt it.
pub fn of_found(found: &Found, adopter: &Adopter) -> Result<Adoption> {
    let obstacles = obstacles::obstacles(found)?;
    let pool::Written { spec, mut differences } = pool::spec(found)?;
    differences.extend(obstacles::lifetime(&found.group));
    let mut objects = vec![manifest::<FooMachinePool>(adopter, None, &without_defaults(&spec)?)];
    let bootstrap = if let Some(secret) = &adopter.bootstrap_secret {
        Bootstrap { data_secret_name: Some(secret.clone()), ..Bootstrap::default() }
    } else {
        let family = family(found.image.as_ref());
        if family.is_none() {
            differences.push(
                "the name of the image does not say of which family it is: set spec.family of the FooNodeConfig".to_owned(),
            );
        }
        let spec = family.map_or_else(|| json!({}), |family| json!({ "family": family }));
        objects.push(manifest::<FooNodeConfig>(adopter, None, &spec));
        Bootstrap { config_ref: Some(reference::<FooNodeConfig>(&adopter.name)), ..Bootstrap::default() }
    };
    objects.push(machine_pool(found, adopter, bootstrap)?);
    let adopter_name = format!("{}/{}", adopter.namespace, adopter.name);
    let consent = obstacles::consent(&found.group, &adopter_name, &adopter.region);
    Ok(Adoption { objects, obstacles, differences, next: consent.into_iter().collect() })
}

fn machine_pool(found: &Found, adopter: &Adopter, bootstrap: Bootstrap) -> Result<Value> {
    let group = &found.group;
    let spec = MachinePoolSpec {
        cluster_name: adopter.cluster.clone(),
        replicas: Some(group.desired_capacity),
        template: MachineTemplate {
            spec: MachineTemplateSpec {
                bootstrap,
                infrastructure_ref: reference::<FooMachinePool>(&adopter.name),
                version: adopter.version.clone(),
                ..MachineTemplateSpec::default()
            },
        },
        failure_domains: Vec::new(),
    };
    let mut spec = serde_json::to_value(&spec)?;
    // Required, and not among what the manager reads.
    if let Some(Value::Object(template)) = spec.pointer_mut("/template/spec") {
        template.insert("clusterName".to_owned(), adopter.cluster.clone().into());
    }
    let bounds = [(AUTOSCALER_MIN_ANNOTATION, group.min_size), (AUTOSCALER_MAX_ANNOTATION, group.max_size)];
    let bounds = bounds.map(|(name, bound)| (name.to_owned(), bound.to_string()));
    let annotations = obstacles::is_autoscaled(group).then(|| BTreeMap::from(bounds));
    Ok(manifest::<MachinePool>(adopter, annotations.as_ref(), &spec))
}

fn manifest<K: Resource<DynamicType = ()>>(
    adopter: &Adopter,
    annotations: Option<&BTreeMap<String, String>>,
    spec: &Value,
) -> Value {
    let Adopter { name, namespace, .. } = adopter;
    let metadata = match annotations {
        Some(annotations) => json!({ "name": name, "namespace": namespace, "annotations": annotations }),
        None => json!({ "name": name, "namespace": namespace }),
    };
    json!({ "apiVersion": K::api_version(&()), "kind": K::kind(&()), "metadata": metadata, "spec": spec })
}

fn reference<K: Resource<DynamicType = ()>>(name: &str) -> ContractReference {
    ContractReference {
        api_group: K::group(&()).into_owned(),
        kind: K::kind(&()).into_owned(),
        name: name.to_owned(),
    }
}

/// The fields of a spec that are not as the API server sets them by default.
fn without_defaults(spec: &FooMachinePoolSpec) -> Result<Value> {
    let fields = |spec: &FooMachinePoolSpec| serde_json::to_value(spec);
    let (Value::Object(set), Value::Object(defaults)) =
        (fields(spec)?, fields(&FooMachinePoolSpec::default())?)
    else {
        return Ok(Value::Null);
    };
    let differs = |(name, value): &(String, Value)| defaults.get(name) != Some(value);
    Ok(Value::Object(set.into_iter().filter(differs).collect::<Map<_, _>>()))
}

/// The family of an image by its name: those of EKS's images and Canonical's (EKS User Guide, "Retrieve recommended AMI IDs").
fn family(image: Option<&Image>) -> Option<Family> {
    let name = image?.name.to_ascii_lowercase();
    if name.contains("al2023") {
        Some(Family::AL2023)
    } else if name.contains("bottlerocket") {
        Some(Family::Bottlerocket)
    } else {
        name.contains("ubuntu").then_some(Family::CloudInit)
    }
}

/// What is not in the manifests, for a person. Ends with a new line; empty if there is nothing to say.
pub fn notes(adoption: &Adoption) -> String {
    let mut text = String::new();
    crate::text::section(&mut text, "In the way", &adoption.obstacles);
    crate::text::section(&mut text, "Different for instances that are launched later", &adoption.differences);
    crate::text::section(&mut text, "Next, by the owner of the AWS account", &adoption.next);
    text
}
