//! The spec of a FooMachinePool that is like an Auto Scaling group and the launch template it launches from. What such a spec
//! cannot have is named: instances that are launched after the adoption do not have it.

use super::found::{Ebs, Found, Group, Image, Interface, Mapping, Override, Tags, TemplateData};
use anyhow::{Result, anyhow, bail};
use foo_api::FooMachinePoolSpec;
use foo_api::pool::{
    Ami, DataVolume, HttpTokens, MetadataOptions, MixedInstances, MixedInstancesOverride, Spot, SpotStrategy,
    Volume, VolumeType,
};
use foo_api::shared::NetworkReference;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// Most characters of the name of a launch template (EC2 API Reference, CreateLaunchTemplate).
const LONGEST_NAME: usize = 128;
/// Devices that are the root volume of nearly all images (EC2 User Guide, "Device names for volumes").
const USUAL_ROOTS: [&str; 2] = ["/dev/xvda", "/dev/sda1"];
/// Beginnings of keys of tags that are for others: AWS's own, the provider's, and those by which tools find the group.
const TAGS_OF_OTHERS: [&str; 5] =
    ["aws:", "infrastructure.foo.com/", "kubernetes.io/cluster/", "k8s.io/cluster-autoscaler/", "eks:"];

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
    let (instance_type, mixed_instances) = types(group, data, &mut differences)?;
    let (root_volume, volumes) = volumes(data, image.as_ref(), &mut differences);
    let subnets = group.subnets.split(',').filter(|id| !id.is_empty()).map(reference).collect();
    let spec = FooMachinePoolSpec {
        group_name: Some(name.clone()),
        launch_template_name: (template.launch_template_name == *name).then(|| name_beside(name)),
        adopt: true,
        instance_type,
        mixed_instances,
        ami: ami(data.image_id.as_deref())?,
        iam_instance_profile: profile(data),
        ssh_key_name: data.key_name.clone(),
        security_groups: security_groups(data, &mut differences),
        root_volume,
        volumes,
        metadata_options: metadata(data, &mut differences),
        spot: spot(data, &mut differences),
        subnets,
        tags: tags(group, data),
        ..FooMachinePoolSpec::default()
    };
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

/// The same name with an addition: a launch template of the first name exists.
fn name_beside(name: &str) -> String {
    const ADDITION: &str = "-foo";
    let kept: String = name.chars().take(LONGEST_NAME - ADDITION.len()).collect();
    kept + ADDITION
}

fn reference(id: &str) -> NetworkReference {
    NetworkReference { id: Some(id.trim().to_owned()), tags: None }
}

/// Settings of AWS that the spec does not have.
fn named<'a>(of: &str, others: &'a BTreeMap<String, Value>) -> impl Iterator<Item = String> + 'a {
    let of = of.to_owned();
    let is_set = |value: &Value| match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Number(_) | Value::String(_) => true,
    };
    let set = others.iter().filter(move |(_, value)| is_set(value));
    set.map(move |(name, _)| format!("{name} of the {of}: a FooMachinePool does not have it"))
}

type Types = (Option<String>, Option<MixedInstances>);

fn types(group: &Group, data: &TemplateData, differences: &mut Vec<String>) -> Result<Types> {
    let name = &group.auto_scaling_group_name;
    let Some(policy) = &group.mixed_instances_policy else {
        let one = data.instance_type.clone();
        let one = one.ok_or_else(|| anyhow!("the launch template of {name} has no instance type"))?;
        return Ok((Some(one), None));
    };
    let overrides = &policy.launch_template.overrides;
    if overrides.iter().any(|it| it.instance_requirements.is_some()) {
        bail!("{name} chooses instance types by attributes: a FooMachinePool has a list of types");
    }
    if overrides.iter().any(|it| it.launch_template_specification.is_some()) {
        differences
            .push("launch templates of single instance types: the FooMachinePool has one for all".to_owned());
    }
    let typed = |it: &Override| Some(MixedInstancesOverride { instance_type: it.instance_type.clone()? });
    let mut overrides: Vec<_> = overrides.iter().filter_map(typed).collect();
    if overrides.is_empty() {
        let one = data.instance_type.clone();
        let one = one.ok_or_else(|| anyhow!("the mixed instances policy of {name} has no instance type"))?;
        overrides.push(MixedInstancesOverride { instance_type: one });
    }
    let distribution = &policy.instances_distribution;
    if let Some(strategy) = distribution.on_demand_allocation_strategy.as_deref()
        && strategy != "prioritized"
    {
        differences.push(format!("{strategy} for on-demand instances: a FooMachinePool uses prioritized"));
    }
    let strategy = distribution.spot_allocation_strategy.as_deref();
    let strategy: Option<SpotStrategy> = strategy.and_then(of_name);
    let mixed = MixedInstances {
        overrides,
        on_demand_base: distribution.on_demand_base_capacity.unwrap_or(0),
        on_demand_percentage: distribution.on_demand_percentage_above_base_capacity.unwrap_or(100),
        // AWS's default (Auto Scaling API Reference, InstancesDistribution).
        spot_strategy: strategy.unwrap_or(SpotStrategy::LowestPrice),
        spot_max_price: distribution.spot_max_price.clone().filter(|price| !price.is_empty()),
    };
    Ok((None, Some(mixed)))
}

/// The value that AWS's name stands for, if the API has it: both have the same names.
fn of_name<T: DeserializeOwned>(name: &str) -> Option<T> {
    serde_json::from_value(Value::from(name)).ok()
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
    let is_first = |it: &&Interface| it.device_index.unwrap_or(0) == 0;
    let first = data.network_interfaces.iter().find(is_first);
    if let Some(first) = first {
        let own = ["NetworkCardIndex", "InterfaceType", "Description"];
        let others = first.others.iter().filter(|(name, _)| !own.contains(&name.as_str()));
        let others = others.map(|(name, value)| (name.clone(), value.clone())).collect();
        differences.extend(named("network interface", &others));
        if first.delete_on_termination == Some(false) {
            differences.push("the network interface stays when its instance ends: it is deleted".to_owned());
        }
    }
    if data.network_interfaces.len() > 1 {
        differences.push("further network interfaces: instances of a FooMachinePool have one".to_owned());
    }
    let of_interface = first.map(|it| it.groups.iter()).into_iter().flatten();
    of_interface.chain(&data.security_group_ids).map(|id| reference(id)).collect()
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
            differences.push(format!("device {device}: a FooMachinePool has EBS volumes only"));
            continue;
        };
        let of_image = image.and_then(|image| of_device(&image.block_device_mappings, device));
        differences.extend(named(&format!("volume {device}"), &ebs.others));
        if ebs.delete_on_termination == Some(false) {
            differences.push(format!("volume {device} stays when its instance ends: it is deleted"));
        }
        let Some(volume) = volume(ebs, of_image) else {
            differences.push(format!("volume {device}: its size or type is not known"));
            continue;
        };
        if is_root(device) {
            root = Some(volume);
        } else {
            further.push(DataVolume { device_name: device.clone(), volume });
        }
    }
    (root, further)
}

fn of_device<'m>(mappings: &'m [Mapping], device: &str) -> Option<&'m Ebs> {
    mappings.iter().find(|it| it.device_name == device)?.ebs.as_ref()
}

/// A volume; what the launch template leaves out is as in the image (EC2 User Guide, "Block device mappings").
fn volume(ebs: &Ebs, of_image: Option<&Ebs>) -> Option<Volume> {
    let kind = ebs.volume_type.as_deref().or_else(|| of_image?.volume_type.as_deref());
    let kind: VolumeType = kind.map_or(Some(VolumeType::Gp2), of_name)?;
    let has_iops = matches!(kind, VolumeType::Gp3 | VolumeType::Io1 | VolumeType::Io2);
    Some(Volume {
        size_gib: ebs.volume_size.or_else(|| of_image?.volume_size)?,
        kind,
        iops: ebs.iops.filter(|_| has_iops),
        throughput: ebs.throughput.filter(|_| kind == VolumeType::Gp3),
        encrypted: ebs.encrypted,
        kms_key_id: ebs.kms_key_id.clone().filter(|_| ebs.encrypted == Some(true)),
    })
}

fn metadata(data: &TemplateData, differences: &mut Vec<String>) -> MetadataOptions {
    let default = MetadataOptions::default();
    let options = data.metadata_options.clone().unwrap_or_default();
    let mut is_not = |set: Option<&str>, usual: &str, what: &str| {
        if let Some(set) = set.filter(|set| *set != usual) {
            differences.push(format!("{what} {set} of the metadata service: a FooMachinePool has {usual}"));
        }
    };
    is_not(options.http_endpoint.as_deref(), "enabled", "HttpEndpoint");
    is_not(options.http_protocol_ipv6.as_deref(), "disabled", "HttpProtocolIpv6");
    is_not(options.instance_metadata_tags.as_deref(), "disabled", "InstanceMetadataTags");
    if options.http_tokens.is_none() {
        differences.push(
            "HttpTokens of the metadata service is not set: a FooMachinePool requires tokens".to_owned(),
        );
    }
    let tokens: Option<HttpTokens> = options.http_tokens.as_deref().and_then(of_name);
    MetadataOptions {
        http_tokens: tokens.unwrap_or(default.http_tokens),
        http_put_response_hop_limit: options
            .http_put_response_hop_limit
            .unwrap_or(default.http_put_response_hop_limit),
    }
}

fn spot(data: &TemplateData, differences: &mut Vec<String>) -> Option<Spot> {
    let market = data.instance_market_options.as_ref()?;
    match market.market_type.as_deref() {
        Some("spot") => {
            let max_price = market.spot_options.as_ref().and_then(|options| options.max_price.clone());
            Some(Spot { max_price })
        }
        Some(other) => {
            differences
                .push(format!("market {other}: a FooMachinePool launches on-demand and spot instances"));
            None
        }
        None => None,
    }
}

/// Types of resources that have other tags than the instances.
fn other_tags(data: &TemplateData) -> impl Iterator<Item = String> {
    let pairs = |of: &Tags| {
        of.tags.iter().map(|tag| (tag.key.clone(), tag.value.clone())).collect::<BTreeMap<_, _>>()
    };
    let of_instances = data.tag_specifications.iter().find(|it| it.resource_type == "instance").map(pairs);
    let of_instances = of_instances.unwrap_or_default();
    data.tag_specifications.iter().filter(move |it| pairs(it) != of_instances).map(|it| {
        format!(
            "tags of the resource type {}: spec.tags are those of instances and volumes alike",
            it.resource_type
        )
    })
}

/// Tags that instances have: those of the group that they get at their launch, and those of the launch template, which win
/// (Auto Scaling User Guide, "Tag Auto Scaling groups and instances").
fn tags(group: &Group, data: &TemplateData) -> BTreeMap<String, String> {
    let of_group = group.tags.iter().filter(|tag| tag.propagate_at_launch);
    let of_instances = data.tag_specifications.iter().filter(|it| it.resource_type == "instance");
    let all = of_group.chain(of_instances.flat_map(|it| &it.tags));
    let is_own = |key: &str| TAGS_OF_OTHERS.iter().all(|of_others| !key.starts_with(of_others));
    let kept = all.filter(|tag| is_own(&tag.key));
    kept.map(|tag| (tag.key.clone(), tag.value.clone())).collect()
}
