//! The manifest of a FooMachinePool that adopts an Auto Scaling group, from what AWS has: [`found`] reads that with the user's
//! own credentials, `pool` and `obstacles` are pure functions. The manager plays no part; [`crate::plan`] asks it what an
//! adoption would do.

mod capacity;
pub mod found;
mod interfaces;
pub(crate) mod manifest;
mod obstacles;
mod options;
mod overlay;
mod pool;
mod requirements;
pub mod template;
mod warm_pool;

use crate::access::Reads;
use crate::aws::Aws;
use crate::cluster::{InAws, get_opt};
use crate::refused::Usage;
use crate::text::{line, section};
use anyhow::{Result, bail};
use foo_api::capi::{Bootstrap, MachinePool, MachinePoolSpec, MachineTemplate, MachineTemplateSpec};
use foo_api::names::{AUTOSCALER_MAX_ANNOTATION, AUTOSCALER_MIN_ANNOTATION};
use foo_api::node_config::Family;
use foo_api::patterns::{is_aws_name, is_object_name};
use foo_api::{FooMachinePool, FooNodeConfig};
use found::Found;
use kube::Resource;
use manifest::{LONGEST_NAME, manifest_of, reference, without_defaults};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The pool that adopts a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopter {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its Cluster.
    pub cluster: String,
    /// Kubernetes version of the control plane, if it is known.
    pub version: Option<String>,
    /// Secret with bootstrap data; without it a FooNodeConfig.
    pub bootstrap_secret: Option<String>,
}

/// What an adoption takes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adoption {
    /// ARN of the group: it shows the account.
    pub arn: String,
    /// The manifests, in the order in which they are applied.
    pub objects: Vec<Value>,
    /// What prevents it, or works against it.
    pub obstacles: Vec<String>,
    /// What instances that are launched later do not have, or have otherwise.
    pub differences: Vec<String>,
    /// The commands by which the owner of the account agrees.
    pub consent: Vec<String>,
    /// What stays to be done when the group is adopted.
    pub afterwards: Vec<String>,
}

/// Whether a group of that name, and objects with the adopter's, can be in manifests.
///
/// # Errors
/// A [`Usage`] that says what cannot be.
pub fn check_names(group: &str, pool: &str) -> Result<()> {
    if !is_aws_name(group) {
        let usage = format!(
            "{group} is no groupName of a FooMachinePool: it has 3 to 128 letters, digits and characters of _./()-, and begins with \
             one of the first two"
        );
        return Err(Usage(usage).into());
    }
    if !is_object_name(pool) || pool.len() > LONGEST_NAME {
        return Err(Usage(format!("{pool} is no name of a FooMachinePool: give it one with --name")).into());
    }
    Ok(())
}

/// Whether the manifest would change objects that exist and have nothing to do with the group.
///
/// # Errors
/// There are some, or a right is missing.
pub async fn check_free(reads: &Reads<'_>, group: &str, adopter: &Adopter) -> Result<()> {
    let Adopter { namespace, name, .. } = adopter;
    if let Some(pool) = get_opt::<FooMachinePool>(reads, namespace, name).await? {
        if pool.spec.adopt && pool.spec.group_name.as_deref() == Some(group) {
            return Ok(());
        }
        bail!("FooMachinePool {name} exists and does not adopt {group}: choose another name with --name");
    }
    if get_opt::<MachinePool>(reads, namespace, name).await?.is_some() {
        bail!("MachinePool {name} exists: choose another name with --name");
    }
    if adopter.bootstrap_secret.is_none() && get_opt::<FooNodeConfig>(reads, namespace, name).await?.is_some()
    {
        bail!("FooNodeConfig {name} exists: choose another name with --name");
    }
    Ok(())
}

/// What it takes to adopt a group.
///
/// # Errors
/// One that says why no FooMachinePool can adopt the group, or what cannot be read.
pub async fn adoption(
    aws: &Aws,
    reads: &Reads<'_>,
    group: &str,
    adopter: &Adopter,
    cluster: &InAws,
) -> Result<Adoption> {
    of_found(&found::read(aws, reads, group).await?, adopter, cluster)
}

/// Whether bootstrap data is given, or the Cluster's Nodes need none.
///
/// # Errors
/// Neither is so.
pub fn check_bootstrap(target: &InAws, secret: Option<&str>, cluster: &str) -> Result<()> {
    if target.is_on_eks || secret.is_some() {
        return Ok(());
    }
    let usage = format!(
        "the control plane of Cluster {cluster} is no FooControlPlane in mode eks: name the Secret with the bootstrap data of its \
         Nodes with --bootstrap-secret"
    );
    Err(Usage(usage).into())
}

/// What it takes to adopt the group that was found.
///
/// # Errors
/// No FooMachinePool can adopt it.
pub fn of_found(found: &Found, adopter: &Adopter, cluster: &InAws) -> Result<Adoption> {
    let mut obstacles = obstacles::obstacles(found, cluster)?;
    let pool::Written { mut spec, mut differences } = pool::spec(found)?;
    match warm_pool::warm_pool(&found.group, adopter.bootstrap_secret.is_some()) {
        Ok(warm_pool) => spec.warm_pool = warm_pool,
        Err(refused) => obstacles.push(refused),
    }
    obstacles.extend(obstacles::of_tags(spec.tags.len()));
    differences.extend(obstacles::lifetime(&found.group));
    let mut objects = vec![manifest::<FooMachinePool>(adopter, None, &without_defaults(&spec)?)];
    let bootstrap = if let Some(secret) = &adopter.bootstrap_secret {
        Bootstrap { data_secret_name: Some(secret.clone()), ..Bootstrap::default() }
    } else {
        let image = found.image.as_ref().map(|image| image.name.as_str());
        let family = family(image.or(found.template.launch_template_data.image_id.as_deref()));
        if family.is_none() {
            differences.push(
                "no name of the image shows its family: set spec.family of the FooNodeConfig".to_owned(),
            );
        }
        let mut node = Map::new();
        node.extend(family.map(|family| ("family".to_owned(), json!(family))));
        node.extend(spec.warm_pool.map(|_| ("joinWhenInService".to_owned(), json!(true))));
        objects.push(manifest::<FooNodeConfig>(adopter, None, &Value::Object(node)));
        Bootstrap { config_ref: Some(reference::<FooNodeConfig>(&adopter.name)), ..Bootstrap::default() }
    };
    objects.push(machine_pool(found, adopter, bootstrap)?);
    let named = format!("{}/{}", adopter.namespace, adopter.name);
    let renewed = spec.warm_pool.map(|_| warm_pool::RENEWED.to_owned());
    let consent = obstacles::consent(&found.group, &named, &cluster.region);
    Ok(Adoption {
        arn: found.group.arn.clone(),
        objects,
        obstacles,
        differences,
        consent: consent.into_iter().collect(),
        afterwards: obstacles::afterwards(found).into_iter().chain(renewed).collect(),
    })
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
    manifest_of::<K>(&adopter.namespace, &adopter.name, annotations, spec)
}

/// The family of an image by its name or that of its parameter: those of EKS's images and Canonical's (EKS User Guide,
/// "Retrieve recommended AMI IDs").
fn family(name: Option<&str>) -> Option<Family> {
    let name = name?.to_ascii_lowercase();
    if name.contains("al2023") || name.contains("amazon-linux-2023") {
        Some(Family::AL2023)
    } else if name.contains("bottlerocket") {
        Some(Family::Bottlerocket)
    } else {
        (name.contains("ubuntu") || name.contains("canonical")).then_some(Family::CloudInit)
    }
}

/// What is not in the manifests, for a person. Ends with a new line.
pub fn notes(adoption: &Adoption) -> String {
    let Adoption { arn, objects: _, obstacles, differences, consent, afterwards } = adoption;
    let mut text = String::new();
    line(&mut text, &format!("Auto Scaling group {arn}"));
    section(&mut text, "In the way", obstacles);
    section(&mut text, "Different for instances that are launched later", differences);
    section(&mut text, "Next, by the owner of the AWS account", consent);
    section(&mut text, "After the adoption", afterwards);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_of_an_image_is_in_its_name_or_its_parameter() {
        for (name, expected) in [
            ("amazon-eks-node-al2023-x86_64-standard-1.36-v20261101", Some(Family::AL2023)),
            (
                "resolve:ssm:/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id",
                Some(Family::AL2023),
            ),
            ("bottlerocket-aws-k8s-1.36-x86_64-v1.50.0", Some(Family::Bottlerocket)),
            ("ubuntu-eks/k8s_1.36/images/hvm-ssd/ubuntu-noble", Some(Family::CloudInit)),
            ("golden-image-7", None),
        ] {
            assert_eq!(family(Some(name)), expected, "{name}");
        }
        assert_eq!(family(None), None);
    }

    #[test]
    fn names_that_no_manifest_can_have_are_refused() {
        check_names("legacy_workers/(1)", "legacy-workers").unwrap();
        for (group, pool) in [
            ("my group", "a"),
            ("_a_b", "a"),
            ("ab", "a"),
            ("file:///etc/passwd", "a"),
            ("[a]", "a"),
            ("workers", ""),
            ("workers", "A"),
        ] {
            assert!(check_names(group, pool).is_err_and(|error| error.is::<Usage>()), "{group} {pool}");
        }
    }

    #[test]
    fn clusters_that_are_not_on_eks_need_a_secret() {
        let cluster = InAws { is_on_eks: false, ..InAws::default() };
        assert!(check_bootstrap(&cluster, None, "c").is_err_and(|error| error.is::<Usage>()));
        check_bootstrap(&cluster, Some("join"), "c").unwrap();
        check_bootstrap(&InAws { is_on_eks: true, ..InAws::default() }, None, "c").unwrap();
    }
}
