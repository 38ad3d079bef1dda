//! From spec and AWS facts to the content of a launch template, and its two hashes.
//!
//! The spec hash covers a struct of its own, [`Rolls`], with a frozen serialised form: another one, or another
//! [`SCHEME`], would replace every Node when the manager is upgraded. A new field is an `Option` that is left out of it
//! while it is not set.

use super::mix::{self, Arm64};
use super::overlay::{interface_tags, overlay};
use super::stored::{self, Keeping};
use crate::pool::names::hex;
use foo_api::capi::ContractReference;
use foo_api::names::BOOTSTRAP_GROUP;
use foo_api::pool::{self as api, FooMachinePoolSpec, HttpTokens, Switch};
use foo_api::shared::unsigned;
use foo_bootstrap::LIMIT as USER_DATA_LIMIT;
use foo_model::{
    AdditionalInterface, BandwidthWeighting, Blocked, CapacityReservation, Cores, CpuCredits, Efa,
    HostnameType, ImageId, InstanceOptions, InstanceType, MetadataOptions, NOT_FOR_PODS, Placement,
    PlacementGroup, PrivateDns, Reason, ReservationPreference, SecurityGroupId, SpecHash, SpotOptions,
    TemplateContent, TemplateHashes, Tenancy, UserData, Volume, VolumeType,
};
use foo_planner::desired::Template;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Version of the hashing scheme, the prefix of every hash.
const SCHEME: &str = "v1";

/// Facts that a template needs.
pub(in crate::pool) struct Facts {
    /// The image and its root device.
    pub(in crate::pool) image: ImageId,
    /// The arm64 types, if they have another image.
    pub(in crate::pool) arm64: Option<Arm64>,
    /// Device name of the root volume.
    pub(in crate::pool) root_device: String,
    /// Security groups, sorted, without repetition.
    pub(in crate::pool) security_groups: Vec<SecurityGroupId>,
    /// Bootstrap data.
    pub(in crate::pool) user_data: Vec<u8>,
    /// Whether they wait in a warm pool before they join the cluster.
    pub(in crate::pool) waits_in_warm_pool: bool,
    /// Name of the Secret it came from.
    pub(in crate::pool) data_secret_name: String,
    /// What a change of the bootstrap data in that Secret means.
    pub(in crate::pool) new_data: NewData,
    /// Kubernetes version of the MachinePool.
    pub(in crate::pool) version: Option<String>,
    /// Where the bootstrap data is kept, if not in the launch template.
    pub(in crate::pool) keeping: Option<Keeping>,
    /// Tags of instances and volumes.
    pub(in crate::pool) tags: BTreeMap<String, String>,
    /// Elastic Fabric Adapter interfaces.
    pub(in crate::pool) efa: Option<Efa>,
    /// Bandwidth weighting.
    pub(in crate::pool) bandwidth_weighting: Option<BandwidthWeighting>,
    /// Network interfaces besides the primary one and those with an Elastic Fabric Adapter.
    pub(in crate::pool) interfaces: Vec<AdditionalInterface>,
}

/// What a change of the bootstrap data in the same Secret means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pool) enum NewData {
    /// Probably a new token, as kubeadm's provider writes every few minutes: for new instances only.
    ForNewInstances,
    /// Its inputs changed, since it has no token: instances are replaced.
    ReplacesInstances,
}

impl NewData {
    /// In the Secret of a MachinePool with this bootstrap configuration.
    pub(in crate::pool) fn of(config: Option<&ContractReference>) -> Self {
        let is_ours = config
            .is_some_and(|config| config.kind == "FooNodeConfig" && config.api_group == BOOTSTRAP_GROUP);
        if is_ours { Self::ReplacesInstances } else { Self::ForNewInstances }
    }
}

/// The desired template.
pub(in crate::pool) fn template(spec: &FooMachinePoolSpec, facts: Facts) -> Result<Template, Blocked> {
    let user_data = match facts.new_data {
        NewData::ForNewInstances => None,
        NewData::ReplacesInstances => {
            is_of_the_images_family(spec, &facts.user_data)?;
            // Of the user data itself: where it is kept replaces nothing.
            Some(hash(&facts.user_data))
        }
    };
    let (sent, object) = match &facts.keeping {
        None => (within_limit(facts.user_data, &facts.data_secret_name)?, None),
        Some(keeping) => {
            let (sent, object) = stored::kept(keeping, facts.user_data, &facts.data_secret_name)?;
            (sent, Some(Box::new(object)))
        }
    };
    let interface_tags = tags_of_interfaces(spec, &facts.interfaces, &facts.tags);
    let content = TemplateContent {
        image: facts.image,
        instance_type: mix::type_of_template(spec, facts.arm64.as_ref()),
        arm64_image: facts.arm64.map(|arm64| arm64.image),
        security_groups: facts.security_groups,
        instance_profile: spec.iam_instance_profile.clone(),
        key_name: spec.ssh_key_name.clone(),
        volumes: volumes(spec, &facts.root_device),
        metadata: MetadataOptions {
            tokens_required: spec.metadata_options.http_tokens == HttpTokens::Required,
            hop_limit: unsigned(spec.metadata_options.http_put_response_hop_limit),
            disabled: spec.metadata_options.http_endpoint == Some(Switch::Disabled),
            ipv6: spec.metadata_options.http_protocol_ipv6 == Some(Switch::Enabled),
        },
        spot: spec.spot.as_ref().map(|spot| SpotOptions { max_price: spot.max_price.clone() }),
        options: InstanceOptions {
            efa: facts.efa,
            bandwidth_weighting: facts.bandwidth_weighting,
            interfaces: sorted(facts.interfaces),
            ..options(spec)
        },
        user_data: sent,
        tags: facts.tags,
        interface_tags,
    };
    let spec_hash = rolls_hash(&content, &facts.data_secret_name, facts.version.as_deref(), user_data);
    let data_hash = follows_hash(&content);
    let source_hash = source_hash(&facts.data_secret_name);
    let waits_in_warm_pool = facts.waits_in_warm_pool;
    let template = Template { content, spec_hash, data_hash, source_hash, object, waits_in_warm_pool };
    has_room_for_images(&template)?;
    Ok(template)
}

/// Whether the description of a launch template version has room for its record: where the user data are in S3, and the image of arm64.
fn has_room_for_images(template: &Template) -> Result<(), Blocked> {
    let (has, most) = (template.hashes().describe().len(), TemplateHashes::LONGEST);
    if has <= most {
        return Ok(());
    }
    let message = format!(
        "a launch template version cannot record both the image of arm64 and the place of the user data: shorten bucket and prefix \
         of spec.userDataStorage together by {}",
        has.saturating_sub(most)
    );
    Err(Blocked::new(Reason::ImagesNotCombinable, message))
}

/// Whether the recommended image reads user data as the FooNodeConfig writes it, whose `spec.family` may differ: then no
/// Node would join.
fn is_of_the_images_family(spec: &FooMachinePoolSpec, user_data: &[u8]) -> Result<(), Blocked> {
    let Some(image) = &spec.ami.recommended else { return Ok(()) };
    let family = crate::node_config::family(image.family.user_data());
    foo_bootstrap::read(family, user_data).map(drop).map_err(|error| {
        let message = format!(
            "the image of spec.ami.recommended cannot read the user data of the FooNodeConfig, whose spec.family has to be absent or {family:?}: {error}; without spec.family it follows the image by itself"
        );
        Blocked::new(Reason::ImageFamilyDiffers, message)
    })
}

/// User data for the launch template itself.
fn within_limit(user_data: Vec<u8>, secret: &str) -> Result<UserData, Blocked> {
    if user_data.len() <= USER_DATA_LIMIT {
        return Ok(UserData(user_data));
    }
    let message = format!(
        "the bootstrap data in Secret {secret} has {} bytes, EC2 takes at most {USER_DATA_LIMIT}: keep it in S3 \
         (spec.userDataStorage), set compression of its FooNodeConfig to Gzip, or shorten it",
        user_data.len()
    );
    Err(Blocked::new(Reason::UserDataTooLarge, message))
}

fn volumes(spec: &FooMachinePoolSpec, root_device: &str) -> Vec<Volume> {
    let root = spec.root_volume.iter().map(|root| volume(root_device, root));
    let data = spec
        .volumes
        .iter()
        .map(|data| Volume { snapshot: data.snapshot_id.clone(), ..volume(&data.device_name, &data.volume) });
    root.chain(data).collect()
}

fn volume(device: &str, volume: &api::Volume) -> Volume {
    Volume {
        device: device.to_owned(),
        size_gib: unsigned(volume.size_gib),
        kind: match volume.kind {
            api::VolumeType::Gp2 => VolumeType::Gp2,
            api::VolumeType::Gp3 => VolumeType::Gp3,
            api::VolumeType::Io1 => VolumeType::Io1,
            api::VolumeType::Io2 => VolumeType::Io2,
            api::VolumeType::St1 => VolumeType::St1,
            api::VolumeType::Sc1 => VolumeType::Sc1,
        },
        iops: volume.iops.map(unsigned),
        throughput: volume.throughput.map(unsigned),
        encrypted: volume.encrypted,
        kms_key: volume.kms_key_id.clone(),
        outlives_instance: volume.delete_on_termination == Some(false),
        snapshot: None,
        initialization_rate: volume.initialization_rate.map(unsigned),
    }
}

/// A launch template tags all interfaces alike, so that with additional ones none is for Pods; the primary one is used in spite of the tag.
/// Of a key that is there twice, the last of these counts: the pool's tag, the overlay's, the one that keeps Pods away.
fn tags_of_interfaces(
    spec: &FooMachinePoolSpec,
    additional: &[AdditionalInterface],
    tags: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let of_overlay = interface_tags(spec);
    if additional.is_empty() {
        return of_overlay;
    }
    let (key, value) = NOT_FOR_PODS;
    let not_for_pods = (key.to_owned(), value.to_owned());
    tags.clone().into_iter().chain(of_overlay).chain([not_for_pods]).collect()
}

/// Their order in the spec means nothing.
fn sorted(mut interfaces: Vec<AdditionalInterface>) -> Vec<AdditionalInterface> {
    interfaces.sort();
    interfaces
}

/// The options that follow from the spec alone.
fn options(spec: &FooMachinePoolSpec) -> InstanceOptions {
    let cpu = spec.cpu_options.as_ref();
    let cores = |cpu: &api::CpuOptions| {
        Some(Cores { count: unsigned(cpu.core_count?), threads: unsigned(cpu.threads_per_core?) })
    };
    InstanceOptions {
        detailed_monitoring: spec.detailed_monitoring,
        public_address: spec.associate_public_ip_address,
        tenancy: spec.tenancy.map(|tenancy| match tenancy {
            api::Tenancy::Default => Tenancy::Default,
            api::Tenancy::Dedicated => Tenancy::Dedicated,
        }),
        cores: cpu.and_then(cores),
        amd_sev_snp: cpu.and_then(|cpu| cpu.amd_sev_snp).map(|it| it == Switch::Enabled),
        cpu_credits: spec.cpu_credits.map(|credits| match credits {
            api::CpuCredits::Standard => CpuCredits::Standard,
            api::CpuCredits::Unlimited => CpuCredits::Unlimited,
        }),
        nitro_enclaves: spec.nitro_enclaves,
        private_dns: spec.private_dns_name_options.as_ref().map(private_dns).unwrap_or_default(),
        placement: spec.placement.as_ref().and_then(placement),
        capacity_reservation: spec.capacity_reservation.as_ref().and_then(capacity_reservation),
        license_configurations: spec.license_configurations.iter().cloned().collect(),
        // Facts about instance types and security groups decide on these.
        efa: None,
        bandwidth_weighting: None,
        interfaces: Vec::new(),
        overlay: overlay(spec),
    }
}

/// The schema has exactly one of the three.
fn placement(placement: &api::Placement) -> Option<Placement> {
    let api::Placement { group_name, group_id, partition_number, host_resource_group_arn } = placement;
    let by_name = group_name.clone().map(PlacementGroup::Name);
    let group = by_name.or_else(|| group_id.clone().map(PlacementGroup::Id));
    let group = group.map(|group| Placement::Group { group, partition: partition_number.map(unsigned) });
    group.or_else(|| host_resource_group_arn.clone().map(Placement::HostResourceGroup))
}

/// The schema has exactly one of the four.
fn capacity_reservation(reservation: &api::CapacityReservation) -> Option<CapacityReservation> {
    let api::CapacityReservation { preference, id, resource_group_arn, block } = reservation;
    let preference = preference.map(|it| match it {
        api::ReservationPreference::Open => ReservationPreference::Open,
        api::ReservationPreference::None => ReservationPreference::None,
        api::ReservationPreference::CapacityReservationsOnly => {
            ReservationPreference::CapacityReservationsOnly
        }
    });
    let preference = preference.map(CapacityReservation::Preference);
    let by_id = || id.clone().map(CapacityReservation::Id);
    let of_group = || resource_group_arn.clone().map(CapacityReservation::ResourceGroup);
    let in_block = || block.as_ref().map(|it| CapacityReservation::Block(it.id.clone()));
    preference.or_else(by_id).or_else(of_group).or_else(in_block)
}

fn private_dns(options: &api::PrivateDnsNameOptions) -> PrivateDns {
    let api::PrivateDnsNameOptions {
        hostname_type,
        enable_resource_name_dns_a_record,
        enable_resource_name_dns_aaaa_record,
    } = options;
    PrivateDns {
        hostname: hostname_type.map(|it| match it {
            api::HostnameType::IpName => HostnameType::IpName,
            api::HostnameType::ResourceName => HostnameType::ResourceName,
        }),
        a_record: *enable_resource_name_dns_a_record,
        aaaa_record: *enable_resource_name_dns_aaaa_record,
    }
}

/// Everything whose change replaces instances. Frozen; see the module's documentation.
#[derive(Serialize)]
struct Rolls<'a> {
    image: &'a ImageId,
    instance_type: Option<&'a InstanceType>,
    security_groups: &'a [SecurityGroupId],
    instance_profile: Option<&'a str>,
    key_name: Option<&'a str>,
    volumes: &'a [Volume],
    metadata: &'a MetadataOptions,
    spot: Option<&'a SpotOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<&'a InstanceOptions>,
    data_secret_name: &'a str,
    version: Option<&'a str>,
    /// Hash of the user data, where new user data replaces instances.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_data: Option<SpecHash>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arm64_image: Option<&'a ImageId>,
}

fn rolls_hash(
    content: &TemplateContent,
    data_secret_name: &str,
    version: Option<&str>,
    user_data: Option<SpecHash>,
) -> SpecHash {
    let TemplateContent {
        image,
        arm64_image,
        instance_type,
        security_groups,
        instance_profile,
        key_name,
        volumes,
        metadata,
        spot,
        options,
        user_data: _,      // In `follows_hash`.
        tags: _,           // In `follows_hash`.
        interface_tags: _, // In `follows_hash`.
    } = content;
    let rolls = Rolls {
        image,
        instance_type: instance_type.as_ref(),
        security_groups,
        instance_profile: instance_profile.as_deref(),
        key_name: key_name.as_deref(),
        volumes,
        metadata,
        spot: spot.as_ref(),
        options: Some(options).filter(|it| **it != InstanceOptions::default()),
        data_secret_name,
        version,
        user_data,
        arm64_image: arm64_image.as_ref(),
    };
    // Serialising plain structs of strings and numbers cannot fail; an empty text would only cause a constant
    // hash.
    hash(&serde_json::to_vec(&rolls).unwrap_or_default())
}

/// The hash of what only new instances get: user data and tags. The lengths separate the parts.
fn follows_hash(content: &TemplateContent) -> SpecHash {
    // No tag consists of this.
    let separator = (!content.interface_tags.is_empty()).then_some(b"\0".as_slice());
    let tags = parts_of(&content.tags).chain(separator).chain(parts_of(&content.interface_tags));
    let mut bytes = Vec::new();
    for part in std::iter::once(content.user_data.0.as_slice()).chain(tags) {
        bytes.extend_from_slice(&part.len().to_be_bytes());
        bytes.extend_from_slice(part);
    }
    hash(&bytes)
}

fn parts_of(tags: &BTreeMap<String, String>) -> impl Iterator<Item = &[u8]> {
    tags.iter().flat_map(|(key, value)| [key.as_bytes(), value.as_bytes()])
}

/// Where the user data comes from.
fn source_hash(data_secret_name: &str) -> SpecHash {
    hash(data_secret_name.as_bytes())
}

fn hash(bytes: &[u8]) -> SpecHash {
    SpecHash::new(format!("{SCHEME}-{}", hex(&Sha256::digest(bytes), 16)))
}

#[cfg(test)]
mod tests;
