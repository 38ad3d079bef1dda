//! The spec of a FooMachinePool that is like an Auto Scaling group and the launch template it launches from. What such a spec
//! cannot have is named: instances that are launched after the adoption do not have it.

use super::capacity::{is_in_block, with_capacity};
use super::found::{Found, Group, Image, Override, name_beside};
use super::interfaces::{INTERFACES, interfaces, primary, with_interfaces};
use super::manifest::of_name;
use super::obstacles::AUTOSCALER;
use super::options::{self, named};
use super::overlay::{is_instance_store, with_overlay};
use super::requirements::requirements;
use super::template::{Ebs, Mapping, Tag, Tags, TemplateData};
use anyhow::{Result, anyhow, bail};
use foo_api::FooMachinePoolSpec;
use foo_api::pool::{
    Ami, DataVolume, ImageIds, InstanceRequirements, MixedInstances, MixedInstancesOverride, Spot,
    SpotStrategy, Volume, VolumeType,
};
use foo_api::shared::NetworkReference;
use foo_model::NOT_FOR_PODS;
use foo_model::names::TAG_PREFIX;
use std::collections::{BTreeMap, BTreeSet};

/// Devices that are the root volume of nearly all images (EC2 User Guide, "Device names for volumes").
const USUAL_ROOTS: [&str; 2] = ["/dev/xvda", "/dev/sda1"];
/// Beginnings of keys of tags that are for others: AWS's own, the provider's, and those by which tools find the group.
const TAGS_OF_OTHERS: [&str; 6] = [
    "aws:",
    TAG_PREFIX,
    "kubernetes.io/cluster/",
    AUTOSCALER,
    "eks:",
    "sigs.k8s.io/cluster-api-provider-aws/",
];

/// A spec, and what differs from the group.
pub(super) struct Written {
    pub(super) spec: FooMachinePoolSpec,
    pub(super) differences: Vec<String>,
}

/// The spec for a group.
///
/// # Errors
/// No FooMachinePool can be like the group.
pub(super) fn spec(found: &Found) -> Result<Written> {
    let Found { group, template, image, .. } = found;
    let data = &template.launch_template_data;
    let mut differences = Vec::new();
    let name = &group.auto_scaling_group_name;
    let launch_template_name = template_name(found)?;
    let ami = images(found, &mut differences)?;
    let (instance_type, mixed_instances) = types(found, &ami, &mut differences)?;
    let (root_volume, volumes) = volumes(data, image.as_ref(), &mut differences);
    let subnets: Vec<NetworkReference> =
        group.subnets.split(',').filter(|id| !id.is_empty()).map(reference).collect();
    if subnets.is_empty() {
        bail!("{name} has no subnets: a FooMachinePool would launch into those of its FooCluster");
    }
    let settings = FooMachinePoolSpec {
        group_name: Some(name.clone()),
        launch_template_name,
        adopt: true,
        instance_type,
        mixed_instances,
        ami,
        iam_instance_profile: profile(data),
        ssh_key_name: data.key_name.clone(),
        security_groups: security_groups(data, &mut differences),
        root_volume,
        volumes,
        spot: spot(data, &mut differences),
        subnets,
        tags: tags(group, data),
        ..FooMachinePoolSpec::default()
    };
    let spec = options::with_options(settings, data, &mut differences);
    let spec = with_interfaces(spec, data, &mut differences);
    let spec = with_capacity(spec, data, &mut differences);
    let of_interfaces = interface_tags(data, &spec);
    let spec = with_overlay(spec, found, &of_interfaces, &mut differences);
    if data.user_data.is_some() {
        differences.push(
            "user data: the FooMachinePool uses the bootstrap data of its MachinePool; labels, taints and settings of the kubelet belong \
             there"
                .to_owned(),
        );
    }
    differences.extend(other_tags(data));
    differences.extend(named("launch template", &data.others));
    Ok(Written { spec, differences })
}

/// The name of the pool's launch template, unless it is the group's: that may be another tool's.
fn template_name(found: &Found) -> Result<Option<String>> {
    let name = &found.group.auto_scaling_group_name;
    let beside = name_beside(name);
    let is_taken = |name: &String| found.taken_names.contains(name);
    match (is_taken(name) || found.template.launch_template_name == *name, is_taken(&beside)) {
        (false, _) => Ok(None),
        (true, false) => Ok(Some(beside)),
        (true, true) => {
            bail!("launch templates {name} and {beside} exist: delete the second one, if nothing uses it")
        }
    }
}

fn reference(id: &str) -> NetworkReference {
    NetworkReference { id: Some(id.trim().to_owned()), tags: None }
}

type Types = (Option<String>, Option<MixedInstances>);

fn types(found: &Found, ami: &Ami, differences: &mut Vec<String>) -> Result<Types> {
    let (group, data) = (&found.group, &found.template.launch_template_data);
    let name = &group.auto_scaling_group_name;
    let Some(policy) = &group.mixed_instances_policy else {
        let one = data.instance_type.clone();
        let one = one.ok_or_else(|| anyhow!("the launch template of {name} has no instance type"))?;
        return Ok((Some(one), None));
    };
    let choices = &policy.launch_template.overrides;
    if choices.iter().any(|it| it.launch_template_specification.is_some()) {
        differences
            .push("launch templates of single instance types: the FooMachinePool has one for all".to_owned());
    }
    let mut overrides = Vec::new();
    for choice in choices {
        let Override { instance_type, instance_requirements, .. } = choice;
        let requirements = match instance_requirements {
            None => None,
            Some(attributes) => {
                let set = requirements(attributes, architecture(found, ami, choice), differences)?;
                Some(if ami.ids.is_some() { of_own_manufacturers(set) } else { set })
            }
        };
        if instance_type.is_some() || requirements.is_some() {
            overrides.push(MixedInstancesOverride { instance_type: instance_type.clone(), requirements });
        }
    }
    if overrides.is_empty() {
        let one = data.instance_type.clone();
        let one = one.ok_or_else(|| anyhow!("the mixed instances policy of {name} has no instance type"))?;
        overrides.push(MixedInstancesOverride::of_type(one));
    }
    let is_described = |it: &MixedInstancesOverride| it.requirements.is_some();
    if overrides.iter().any(is_described) && !overrides.iter().all(is_described) {
        bail!(
            "{name} has instance types and attributes of instance types: a FooMachinePool has one of the two"
        );
    }
    let distribution = &policy.instances_distribution;
    let strategy = distribution.spot_allocation_strategy.as_deref();
    let known: Option<SpotStrategy> = strategy.and_then(of_name);
    if let (Some(unknown), None) = (strategy, known) {
        differences.push(format!("{unknown} for spot instances: a FooMachinePool gets lowest-price"));
    }
    let on_demand = distribution.on_demand_allocation_strategy.as_deref();
    let mixed = MixedInstances {
        on_demand_strategy: options::known(on_demand, "OnDemandAllocationStrategy", differences),
        overrides,
        on_demand_base: distribution.on_demand_base_capacity.unwrap_or(0),
        on_demand_percentage: distribution.on_demand_percentage_above_base_capacity.unwrap_or(100),
        // AWS's default (Auto Scaling API Reference, InstancesDistribution).
        spot_strategy: known.unwrap_or(SpotStrategy::LowestPrice),
        spot_max_price: distribution.spot_max_price.clone().filter(|price| !price.is_empty()),
    };
    Ok((None, Some(mixed)))
}

/// The images of the launch template and of its overrides, as far as they can be read, by their ids.
fn known_images(found: &Found) -> impl Iterator<Item = (&str, &Image)> {
    // The response about the image of the launch template may have no id.
    let id = found.template.launch_template_data.image_id.as_deref();
    let of_template = found.image.iter().filter_map(move |image| Some((id?, image)));
    of_template.chain(found.images_of_types.iter().map(|image| (image.image_id.as_str(), image)))
}

/// Architecture of the image that the pool will have for an override.
fn architecture<'f>(found: &'f Found, ami: &Ami, choice: &Override) -> Option<&'f str> {
    let of_group = choice.image_id.as_deref().or(found.template.launch_template_data.image_id.as_deref());
    let id = ami.id.as_deref().or(of_group)?;
    known_images(found).find(|(known, _)| *known == id).map(|(_, image)| image.architecture.as_str())
}

/// In a pool of both architectures, attributes name manufacturers of their own one only: others make no type that boots its image.
fn of_own_manufacturers(mut set: InstanceRequirements) -> InstanceRequirements {
    let own = set.manufacturers();
    set.cpu_manufacturers.retain(|maker| own.contains(maker));
    set
}

/// The image of the launch template, or those of the instance types, if they are one for each architecture.
fn images(found: &Found, differences: &mut Vec<String>) -> Result<Ami> {
    let of_template = found.template.launch_template_data.image_id.as_deref();
    if found.group.overrides().all(|it| it.image_id.is_none()) {
        return ami(of_template);
    }
    let ids: BTreeSet<&str> =
        found.group.overrides().filter_map(|it| it.image_id.as_deref().or(of_template)).collect();
    let of = |architecture: &str| {
        let runs = |id: &&&str| {
            known_images(found).any(|(known, it)| known == **id && it.architecture == architecture)
        };
        ids.iter().find(runs).map(|id| (*id).to_owned())
    };
    match (ids.len(), of("x86_64"), of("arm64")) {
        (1, _, _) => ami(ids.first().copied()),
        (2, Some(x86_64), Some(arm64)) => Ok(Ami { ids: Some(ImageIds { x86_64, arm64 }), ..Ami::default() }),
        _ => {
            differences.push(
                "images of single instance types: the FooMachinePool has one for each architecture"
                    .to_owned(),
            );
            ami(found.template.launch_template_data.image_id.as_deref())
        }
    }
}

fn ami(image: Option<&str>) -> Result<Ami> {
    let image = image.ok_or_else(|| anyhow!("the launch template has no image"))?;
    Ok(match image.strip_prefix("resolve:ssm:") {
        Some(parameter) => Ami { ssm_parameter: Some(parameter.to_owned()), ..Ami::default() },
        None => Ami::of_id(image),
    })
}

fn profile(data: &TemplateData) -> Option<String> {
    let profile = data.iam_instance_profile.as_ref()?;
    let of_arn = || profile.arn.as_deref().and_then(|arn| arn.rsplit('/').next()).map(str::to_owned);
    profile.name.clone().or_else(of_arn)
}

fn security_groups(data: &TemplateData, differences: &mut Vec<String>) -> Vec<NetworkReference> {
    let primary = primary(&data.network_interfaces);
    if let Some(primary) = primary {
        differences.extend(named("network interface", &primary.others));
        if primary.delete_on_termination == Some(false) {
            differences.push("the network interface stays when its instance ends: it is deleted".to_owned());
        }
    }
    if interfaces(&data.network_interfaces).is_none() {
        differences.push(
            "network interfaces: a FooMachinePool has Elastic Fabric Adapters with the security groups of the primary interface (spec.efa) \
             and others that have security groups and are deleted with their instances (spec.networkInterfaces)"
                .to_owned(),
        );
    }
    let of_interface = primary.map(|it| it.groups.iter()).into_iter().flatten();
    let groups: Vec<NetworkReference> =
        of_interface.chain(&data.security_group_ids).map(|id| reference(id)).collect();
    if groups.is_empty() {
        differences.push(
            "no security group, so that instances have the VPC's default one: a FooMachinePool has those of its FooCluster".to_owned(),
        );
    }
    groups
}

fn volumes(
    data: &TemplateData,
    image: Option<&Image>,
    differences: &mut Vec<String>,
) -> (Option<Volume>, Vec<DataVolume>) {
    let is_root = |device: &str| match image {
        Some(image) => image.root_device_name == device,
        None => USUAL_ROOTS.contains(&device),
    };
    let (mut root, mut further) = (None, Vec::new());
    for mapping in &data.block_device_mappings {
        let device = &mapping.device_name;
        let Some(ebs) = &mapping.ebs else {
            if mapping.no_device.is_none() && !is_instance_store(mapping.virtual_name.as_deref()) {
                differences
                    .push(format!("device {device}: it is neither an EBS nor an instance store volume"));
            }
            continue;
        };
        let of_image = image.and_then(|image| of_device(&image.block_device_mappings, device));
        differences.extend(named(&format!("volume {device}"), &ebs.others));
        let Some(volume) = volume(ebs, of_image) else {
            differences.push(format!("volume {device}: its size or type is not known"));
            continue;
        };
        if root.is_none() && is_root(device) {
            root = Some(volume);
            differences.extend(ebs.snapshot_id.iter().map(|snapshot| {
                format!("volume {device} from {snapshot}: the root volume of a FooMachinePool is the image's")
            }));
        } else {
            let snapshot_id = ebs.snapshot_id.clone();
            further.push(DataVolume { device_name: device.clone(), snapshot_id, volume });
        }
    }
    (root, further)
}

fn of_device<'m>(mappings: &'m [Mapping], device: &str) -> Option<&'m Ebs> {
    mappings.iter().find(|it| it.device_name == device)?.ebs.as_ref()
}

/// A volume; what the launch template leaves out is as in the image (EC2 User Guide, "Block device mappings").
fn volume(ebs: &Ebs, of_image: Option<&Ebs>) -> Option<Volume> {
    // Performance belongs to a type: that of the image only if the type is the image's.
    let typed = if ebs.volume_type.is_some() { Some(ebs) } else { of_image };
    let kind: VolumeType = typed.and_then(|it| it.volume_type.as_deref()).and_then(of_name)?;
    let of_type = |field: fn(&Ebs) -> Option<i32>| field(ebs).or_else(|| field(typed?));
    let has_iops = matches!(kind, VolumeType::Gp3 | VolumeType::Io1 | VolumeType::Io2);
    Some(Volume {
        size_gib: ebs.volume_size.or_else(|| of_image?.volume_size)?,
        kind,
        iops: of_type(|it| it.iops).filter(|_| has_iops),
        throughput: of_type(|it| it.throughput).filter(|_| kind == VolumeType::Gp3),
        encrypted: ebs.encrypted,
        kms_key_id: ebs.kms_key_id.clone().filter(|_| ebs.encrypted == Some(true)),
        delete_on_termination: options::delete_on_termination(ebs, of_image),
        initialization_rate: ebs.volume_initialization_rate,
    })
}

fn spot(data: &TemplateData, differences: &mut Vec<String>) -> Option<Spot> {
    let market = data.instance_market_options.as_ref()?;
    match market.market_type.as_deref() {
        Some("spot") => {
            let options = market.spot_options.clone().unwrap_or_default();
            differences.extend(named("spot options", &options.others));
            Some(Spot { max_price: options.max_price })
        }
        Some(_) if is_in_block(data) => None,
        Some(other) => {
            differences.push(format!(
                "market {other}: a FooMachinePool launches on-demand and spot instances, and those of a Capacity Block with an id"
            ));
            None
        }
        None => None,
    }
}

/// Types of resources that have other tags than the instances, except network interfaces.
fn other_tags(data: &TemplateData) -> impl Iterator<Item = String> {
    let pairs = |of: &Tags| {
        of.tags.iter().map(|tag| (tag.key.clone(), tag.value.clone())).collect::<BTreeMap<_, _>>()
    };
    let of_instances = data.tag_specifications.iter().find(|it| it.resource_type == "instance").map(pairs);
    let of_instances = of_instances.unwrap_or_default();
    let others = data.tag_specifications.iter().filter(|it| it.resource_type != INTERFACES);
    others.filter(move |it| pairs(it) != of_instances).map(|it| {
        format!(
            "tags of the resource type {}: spec.tags are those of instances and volumes alike",
            it.resource_type
        )
    })
}

/// Tags that instances have: those of the launch template, and those of the group that they get at their launch, which win
/// (Auto Scaling User Guide, "Tag Auto Scaling groups and instances").
fn tags(group: &Group, data: &TemplateData) -> BTreeMap<String, String> {
    let of_instances = data.tag_specifications.iter().filter(|it| it.resource_type == "instance");
    let of_group = group.tags.iter().filter(|tag| tag.propagate_at_launch);
    own(of_instances.flat_map(|it| &it.tags).chain(of_group))
}

/// Tags that network interfaces have, except those that the provider gives them in any case, because of `spec.networkInterfaces`.
fn interface_tags(data: &TemplateData, spec: &FooMachinePoolSpec) -> BTreeMap<String, String> {
    let of_interfaces = data.tag_specifications.iter().filter(|it| it.resource_type == INTERFACES);
    let mut tags = own(of_interfaces.flat_map(|it| &it.tags));
    if !spec.network_interfaces.is_empty() {
        tags.retain(|key, value| key != NOT_FOR_PODS.0 && spec.tags.get(key) != Some(&*value));
    }
    tags
}

/// Those that are for no other program; of a key that is there twice, the last one.
fn own<'t>(tags: impl Iterator<Item = &'t Tag>) -> BTreeMap<String, String> {
    let is_own = |key: &str| TAGS_OF_OTHERS.iter().all(|of_others| !key.starts_with(of_others));
    let kept = tags.filter(|tag| is_own(&tag.key));
    kept.map(|tag| (tag.key.clone(), tag.value.clone())).collect()
}
