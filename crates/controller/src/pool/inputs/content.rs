//! From spec and AWS facts to the content of a launch template, and its two hashes.
//!
//! The spec hash covers a struct of its own, [`Rolls`], with a frozen serialised form: another one, or another
//! [`SCHEME`], would replace every Node when the manager is upgraded. A new field is an `Option` that is left out of it
//! while it is not set.

use super::stored::{self, Keeping};
use crate::pool::names::hex;
use foo_api::capi::ContractReference;
use foo_api::names::BOOTSTRAP_GROUP;
use foo_api::pool::{self as api, FooMachinePoolSpec, HttpTokens, Switch};
use foo_bootstrap::LIMIT as USER_DATA_LIMIT;
use foo_model::{
    Blocked, CapacityReservation, Cores, CpuCredits, HostnameType, ImageId, InstanceOptions, InstanceType,
    InstancesMix, MetadataOptions, MixOverride, Placement, PlacementGroup, PrivateDns, Reason,
    ReservationPreference, SecurityGroupId, SpecHash, SpotOptions, SpotStrategy, TemplateContent, Tenancy,
    UserData, Volume, VolumeType,
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
    /// Device name of the root volume.
    pub(in crate::pool) root_device: String,
    /// Security groups, sorted, without repetition.
    pub(in crate::pool) security_groups: Vec<SecurityGroupId>,
    /// Bootstrap data.
    pub(in crate::pool) user_data: Vec<u8>,
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
    let content = TemplateContent {
        image: facts.image,
        instance_type: first_type(spec),
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
        options: options(spec),
        user_data: sent,
        tags: facts.tags,
    };
    let spec_hash = rolls_hash(&content, &facts.data_secret_name, facts.version.as_deref(), user_data);
    let data_hash = follows_hash(&content);
    let source_hash = source_hash(&facts.data_secret_name);
    Ok(Template { content, spec_hash, data_hash, source_hash, object })
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

/// The mix of types, if the pool has one.
pub(in crate::pool) fn mix(spec: &FooMachinePoolSpec) -> Option<InstancesMix> {
    let mixed = spec.mixed_instances.as_ref()?;
    Some(InstancesMix {
        overrides: mixed
            .overrides
            .iter()
            .map(|choice| MixOverride { instance_type: InstanceType::new(choice.instance_type.as_str()) })
            .collect(),
        on_demand_base: unsigned(mixed.on_demand_base),
        on_demand_percentage: unsigned(mixed.on_demand_percentage),
        spot_strategy: match mixed.spot_strategy {
            api::SpotStrategy::PriceCapacityOptimized => SpotStrategy::PriceCapacityOptimized,
            api::SpotStrategy::CapacityOptimized => SpotStrategy::CapacityOptimized,
            api::SpotStrategy::CapacityOptimizedPrioritized => SpotStrategy::CapacityOptimizedPrioritized,
            api::SpotStrategy::LowestPrice => SpotStrategy::LowestPrice,
        },
        spot_max_price: mixed.spot_max_price.clone(),
    })
}

/// All instance types of a pool, preferred ones first.
pub(in crate::pool) fn instance_types(spec: &FooMachinePoolSpec) -> Vec<InstanceType> {
    match &spec.mixed_instances {
        Some(mixed) => {
            mixed.overrides.iter().map(|choice| InstanceType::new(choice.instance_type.as_str())).collect()
        }
        None => spec.instance_type.iter().map(|name| InstanceType::new(name.as_str())).collect(),
    }
}

fn first_type(spec: &FooMachinePoolSpec) -> InstanceType {
    instance_types(spec).into_iter().next().unwrap_or_else(|| InstanceType::new(""))
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

/// The schema has exactly one of the three.
fn capacity_reservation(reservation: &api::CapacityReservation) -> Option<CapacityReservation> {
    let api::CapacityReservation { preference, id, resource_group_arn } = reservation;
    let preference = preference.map(|it| match it {
        api::ReservationPreference::Open => ReservationPreference::Open,
        api::ReservationPreference::None => ReservationPreference::None,
        api::ReservationPreference::CapacityReservationsOnly => {
            ReservationPreference::CapacityReservationsOnly
        }
    });
    let preference = preference.map(CapacityReservation::Preference);
    let by_id = || id.clone().map(CapacityReservation::Id);
    preference.or_else(by_id).or_else(|| resource_group_arn.clone().map(CapacityReservation::ResourceGroup))
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
    instance_type: &'a InstanceType,
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
}

fn rolls_hash(
    content: &TemplateContent,
    data_secret_name: &str,
    version: Option<&str>,
    user_data: Option<SpecHash>,
) -> SpecHash {
    let TemplateContent {
        image,
        instance_type,
        security_groups,
        instance_profile,
        key_name,
        volumes,
        metadata,
        spot,
        options,
        user_data: _, // In `follows_hash`.
        tags: _,      // In `follows_hash`.
    } = content;
    let rolls = Rolls {
        image,
        instance_type,
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
    };
    // Serialising plain structs of strings and numbers cannot fail; an empty text would only cause a constant
    // hash.
    hash(&serde_json::to_vec(&rolls).unwrap_or_default())
}

/// The hash of what only new instances get: user data and tags. The lengths separate the parts.
fn follows_hash(content: &TemplateContent) -> SpecHash {
    let tags = content.tags.iter().flat_map(|(key, value)| [key.as_bytes(), value.as_bytes()]);
    let mut bytes = Vec::new();
    for part in std::iter::once(content.user_data.0.as_slice()).chain(tags) {
        bytes.extend_from_slice(&part.len().to_be_bytes());
        bytes.extend_from_slice(part);
    }
    hash(&bytes)
}

/// Where the user data comes from.
fn source_hash(data_secret_name: &str) -> SpecHash {
    hash(data_secret_name.as_bytes())
}

fn hash(bytes: &[u8]) -> SpecHash {
    SpecHash::new(format!("{SCHEME}-{}", hex(&Sha256::digest(bytes), 16)))
}

/// A Kubernetes integer that the schema keeps at zero or above.
pub(in crate::pool) fn unsigned(number: i32) -> u32 {
    u32::try_from(number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_api::pool::{Ami, MetadataOptions as ApiMetadata};
    use std::collections::BTreeSet;

    fn spec() -> FooMachinePoolSpec {
        FooMachinePoolSpec {
            instance_type: Some("m7i.large".into()),
            ami: Ami::of_id("ami-1"),
            ..FooMachinePoolSpec::default()
        }
    }

    fn facts() -> Facts {
        Facts {
            image: "ami-1".into(),
            root_device: "/dev/xvda".into(),
            security_groups: vec!["sg-1".into()],
            user_data: b"#cloud-config".to_vec(),
            data_secret_name: "boot".into(),
            new_data: NewData::ForNewInstances,
            version: Some("v1.36.3".into()),
            keeping: None,
            tags: BTreeMap::new(),
        }
    }

    fn in_s3() -> Facts {
        let keeping = Keeping {
            storage: foo_model::Storage { bucket: "nodes".into(), prefix: String::new() },
            region: "eu-central-1".into(),
            namespace: "ns".into(),
            group: "g".into(),
            reader: "arn:aws:iam::1:role/r".into(),
        };
        Facts { keeping: Some(keeping), ..facts() }
    }

    #[test]
    fn where_user_data_is_kept_replaces_nothing() {
        for new_data in [NewData::ForNewInstances, NewData::ReplacesInstances] {
            let (there, here) = (Facts { new_data, ..in_s3() }, Facts { new_data, ..facts() });
            let (there, here) = (hashes(&spec(), there), hashes(&spec(), here));
            assert_eq!(there.0, here.0);
            assert_ne!(there.1, here.1, "another launch template version");
        }
    }

    #[test]
    fn large_user_data_is_an_object_that_a_small_one_names() {
        let large = [b"#cloud-config\n".to_vec(), vec![b'#'; 100_000]].concat();
        let template = template(&spec(), Facts { user_data: large.clone(), ..in_s3() }).unwrap();
        assert_eq!(template.object.as_ref().unwrap().user_data.0, large);
        assert!(template.content.user_data.0.len() < USER_DATA_LIMIT / 2);
        let place = template.object.as_ref().map(|object| object.place.clone());
        assert_eq!(template.hashes().object, place);
    }

    fn cores(count: i32, threads: i32) -> api::CpuOptions {
        api::CpuOptions { core_count: Some(count), threads_per_core: Some(threads), amd_sev_snp: None }
    }

    fn snp(switch: Switch) -> api::CpuOptions {
        api::CpuOptions { amd_sev_snp: Some(switch), ..api::CpuOptions::default() }
    }

    fn host(hostname_type: api::HostnameType) -> api::PrivateDnsNameOptions {
        api::PrivateDnsNameOptions {
            hostname_type: Some(hostname_type),
            ..api::PrivateDnsNameOptions::default()
        }
    }

    fn hashes(spec: &FooMachinePoolSpec, facts: Facts) -> (SpecHash, SpecHash) {
        let template = template(spec, facts).unwrap();
        (template.spec_hash, template.data_hash)
    }

    #[test]
    fn the_hash_of_a_known_pool_never_changes() {
        // If this fails, an upgrade of the manager would replace every Node: restore the serialised form, or
        // add a new scheme and keep the old one for comparison.
        assert_eq!(hashes(&spec(), facts()).0.as_str(), "v1-6a714c2f33ab2636");
    }

    #[test]
    fn new_bytes_behind_the_same_secret_change_the_data_hash_only() {
        let before = hashes(&spec(), facts());
        let after = hashes(&spec(), Facts { user_data: b"other".to_vec(), ..facts() });
        assert_eq!(before.0, after.0);
        assert_ne!(before.1, after.1);
    }

    #[test]
    fn new_bytes_of_a_node_config_change_the_spec_hash() {
        let of = |user_data: &[u8]| Facts {
            user_data: user_data.to_vec(),
            new_data: NewData::ReplacesInstances,
            ..facts()
        };
        let before = hashes(&spec(), of(b"a"));
        assert_eq!(before, hashes(&spec(), of(b"a")));
        assert_ne!(before.0, hashes(&spec(), of(b"b")).0);
        // Pinned as the other one: an upgrade of the manager must not replace Nodes.
        assert_eq!(before.0.as_str(), "v1-fc2da03d95ad1fe2");
    }

    #[test]
    fn only_a_foo_node_config_promises_that_its_data_has_no_token() {
        let of = |api_group: &str, kind: &str| {
            NewData::of(Some(&ContractReference {
                api_group: api_group.into(),
                kind: kind.into(),
                name: "c".into(),
            }))
        };
        assert_eq!(of("bootstrap.foo.com", "FooNodeConfig"), NewData::ReplacesInstances);
        assert_eq!(of("bootstrap.cluster.x-k8s.io", "KubeadmConfig"), NewData::ForNewInstances);
        assert_eq!(of("bootstrap.example.com", "FooNodeConfig"), NewData::ForNewInstances);
        assert_eq!(NewData::of(None), NewData::ForNewInstances);
    }

    #[test]
    fn what_rolls_nodes_changes_the_spec_hash() {
        let before = hashes(&spec(), facts()).0;
        let changed = [
            hashes(&FooMachinePoolSpec { instance_type: Some("m7i.xlarge".into()), ..spec() }, facts()).0,
            hashes(&FooMachinePoolSpec { ssh_key_name: Some("k".into()), ..spec() }, facts()).0,
            hashes(
                &FooMachinePoolSpec {
                    metadata_options: ApiMetadata {
                        http_put_response_hop_limit: 2,
                        ..ApiMetadata::default()
                    },
                    ..spec()
                },
                facts(),
            )
            .0,
            hashes(&spec(), Facts { image: "ami-2".into(), ..facts() }).0,
            hashes(&spec(), Facts { version: Some("v1.37.0".into()), ..facts() }).0,
            hashes(&spec(), Facts { data_secret_name: "boot-2".into(), ..facts() }).0,
        ];
        for hash in changed {
            assert_ne!(hash, before);
        }
    }

    #[test]
    fn each_option_of_instances_replaces_them_and_its_absence_does_not() {
        let set = |change: fn(&mut FooMachinePoolSpec)| {
            let mut spec = spec();
            change(&mut spec);
            (hashes(&spec, facts()).0, template(&spec, facts()).unwrap().content)
        };
        let changes: [fn(&mut FooMachinePoolSpec); 16] = [
            |it| it.detailed_monitoring = true,
            |it| it.associate_public_ip_address = Some(true),
            |it| it.associate_public_ip_address = Some(false),
            |it| it.tenancy = Some(api::Tenancy::Default),
            |it| it.tenancy = Some(api::Tenancy::Dedicated),
            |it| it.cpu_options = Some(cores(2, 1)),
            |it| it.cpu_options = Some(cores(1, 2)),
            |it| it.cpu_options = Some(snp(Switch::Enabled)),
            |it| it.cpu_options = Some(snp(Switch::Disabled)),
            |it| it.cpu_credits = Some(api::CpuCredits::Standard),
            |it| it.cpu_credits = Some(api::CpuCredits::Unlimited),
            |it| it.nitro_enclaves = true,
            |it| it.private_dns_name_options = Some(host(api::HostnameType::IpName)),
            |it| it.private_dns_name_options = Some(host(api::HostnameType::ResourceName)),
            |it| it.metadata_options.http_endpoint = Some(Switch::Disabled),
            |it| it.metadata_options.http_protocol_ipv6 = Some(Switch::Enabled),
        ];
        let all: Vec<_> = changes.into_iter().map(set).collect();
        let distinct: BTreeSet<_> = all.iter().map(|(hash, _)| hash.as_str()).collect();
        assert_eq!(distinct.len(), changes.len(), "each is a change of its own");
        assert!(!distinct.contains(hashes(&spec(), facts()).0.as_str()));
        let same: [fn(&mut FooMachinePoolSpec); 3] = [
            |it| it.metadata_options.http_endpoint = Some(Switch::Enabled),
            |it| it.metadata_options.http_protocol_ipv6 = Some(Switch::Disabled),
            |it| it.private_dns_name_options = Some(api::PrivateDnsNameOptions::default()),
        ];
        for change in same {
            assert_eq!(set(change).0, hashes(&spec(), facts()).0, "what is EC2's default is no change");
        }
    }

    #[test]
    fn a_volume_that_outlives_its_instance_replaces_instances_and_one_that_does_not_changes_nothing() {
        let with = |delete_on_termination| {
            let volume = api::Volume { size_gib: 20, delete_on_termination, ..api::Volume::default() };
            hashes(&FooMachinePoolSpec { root_volume: Some(volume), ..spec() }, facts()).0
        };
        assert_eq!(with(None), with(Some(true)));
        assert_ne!(with(None), with(Some(false)));
        // Pinned before the field existed: an upgrade of the manager must not replace Nodes.
        assert_eq!(with(None).as_str(), "v1-56270b451db6f544");
    }

    #[test]
    fn the_hash_of_a_pool_with_every_option_never_changes() {
        let all = FooMachinePoolSpec {
            detailed_monitoring: true,
            associate_public_ip_address: Some(false),
            tenancy: Some(api::Tenancy::Dedicated),
            cpu_options: Some(api::CpuOptions { amd_sev_snp: Some(Switch::Enabled), ..cores(2, 1) }),
            cpu_credits: Some(api::CpuCredits::Unlimited),
            nitro_enclaves: true,
            private_dns_name_options: Some(api::PrivateDnsNameOptions {
                enable_resource_name_dns_a_record: Some(true),
                enable_resource_name_dns_aaaa_record: Some(false),
                ..host(api::HostnameType::ResourceName)
            }),
            metadata_options: ApiMetadata {
                http_endpoint: Some(Switch::Disabled),
                http_protocol_ipv6: Some(Switch::Enabled),
                ..ApiMetadata::default()
            },
            root_volume: Some(api::Volume {
                size_gib: 20,
                delete_on_termination: Some(false),
                ..api::Volume::default()
            }),
            ..spec()
        };
        // Names and order of the fields and variants in foo-model are part of it.
        assert_eq!(hashes(&all, facts()).0.as_str(), "v1-6d9462e5b8b36017");
    }

    #[test]
    fn special_capacity_replaces_instances_and_the_order_of_licenses_does_not() {
        let set = |change: &dyn Fn(&mut FooMachinePoolSpec)| {
            let mut spec = spec();
            change(&mut spec);
            hashes(&spec, facts()).0
        };
        let place = |placement: api::Placement| {
            move |it: &mut FooMachinePoolSpec| {
                it.placement = Some(placement.clone());
            }
        };
        let reserve = |reservation: api::CapacityReservation| {
            move |it: &mut FooMachinePoolSpec| {
                it.capacity_reservation = Some(reservation.clone());
            }
        };
        let prefer = |preference| {
            reserve(api::CapacityReservation { preference: Some(preference), ..Default::default() })
        };
        let text = || Some("x".to_owned());
        let volume = |snapshot: Option<&str>, rate| {
            let snapshot_id = snapshot.map(str::to_owned);
            move |it: &mut FooMachinePoolSpec| {
                let volume = api::Volume { size_gib: 9, initialization_rate: rate, ..api::Volume::default() };
                let snapshot_id = snapshot_id.clone();
                it.volumes = vec![api::DataVolume { device_name: "/dev/xvdb".into(), snapshot_id, volume }];
            }
        };
        let changes: [&dyn Fn(&mut FooMachinePoolSpec); 14] = [
            &|_| {},
            &place(api::Placement { group_name: text(), ..Default::default() }),
            &place(api::Placement { group_id: text(), ..Default::default() }),
            &place(api::Placement { group_name: text(), partition_number: Some(1), ..Default::default() }),
            &place(api::Placement { host_resource_group_arn: text(), ..Default::default() }),
            &prefer(api::ReservationPreference::Open),
            &prefer(api::ReservationPreference::None),
            &prefer(api::ReservationPreference::CapacityReservationsOnly),
            &reserve(api::CapacityReservation { id: text(), ..Default::default() }),
            &reserve(api::CapacityReservation { resource_group_arn: text(), ..Default::default() }),
            &|it| it.license_configurations = vec!["a".into(), "b".into()],
            &volume(None, None),
            &volume(Some("snap-1"), None),
            &volume(Some("snap-1"), Some(200)),
        ];
        let distinct: BTreeSet<_> = changes.iter().map(|change| set(change).to_string()).collect();
        assert_eq!(distinct.len(), changes.len(), "each is a change of its own");
        let other_order = set(&|it| it.license_configurations = vec!["b".into(), "a".into()]);
        assert_eq!(other_order, set(changes[10]));
    }

    #[test]
    fn the_hash_of_a_pool_with_special_capacity_never_changes() {
        let placement = |placement| FooMachinePoolSpec { placement: Some(placement), ..spec() };
        let reserved = |capacity_reservation| FooMachinePoolSpec {
            capacity_reservation: Some(capacity_reservation),
            ..spec()
        };
        let volume = api::Volume { size_gib: 20, initialization_rate: Some(200), ..api::Volume::default() };
        let all = FooMachinePoolSpec {
            license_configurations: vec!["arn:b".into(), "arn:a".into()],
            root_volume: Some(volume.clone()),
            volumes: vec![api::DataVolume {
                device_name: "/dev/xvdb".into(),
                snapshot_id: Some("snap-1".into()),
                volume,
            }],
            capacity_reservation: Some(api::CapacityReservation {
                preference: Some(api::ReservationPreference::CapacityReservationsOnly),
                ..Default::default()
            }),
            ..placement(api::Placement {
                group_name: Some("spread".into()),
                partition_number: Some(3),
                ..Default::default()
            })
        };
        let id = Some("x".to_owned());
        let others = [
            placement(api::Placement { group_id: id.clone(), ..Default::default() }),
            placement(api::Placement { host_resource_group_arn: id.clone(), ..Default::default() }),
            reserved(api::CapacityReservation { id: id.clone(), ..Default::default() }),
            reserved(api::CapacityReservation { resource_group_arn: id, ..Default::default() }),
        ];
        let hashes = std::iter::once(&all).chain(&others).map(|spec| hashes(spec, facts()).0);
        let hashes: Vec<String> = hashes.map(|hash| hash.to_string()).collect();
        // Names and order of the fields and variants in foo-model are part of them.
        assert_eq!(
            hashes,
            [
                "v1-15a7be5a0b51c37b",
                "v1-0ba328580672cd06",
                "v1-648975394724783f",
                "v1-b849475681911dd5",
                "v1-c9947aa87c579c97"
            ]
        );
    }

    #[test]
    fn tags_make_a_new_version_and_roll_nothing() {
        let before = hashes(&spec(), facts());
        let after = hashes(&spec(), Facts { tags: BTreeMap::from([("a".into(), "b".into())]), ..facts() });
        assert_eq!(before.0, after.0);
        assert_ne!(before.1, after.1);
    }

    #[test]
    fn user_data_over_the_limit_is_refused_with_a_reason() {
        let blocked =
            template(&spec(), Facts { user_data: vec![0; USER_DATA_LIMIT + 1], ..facts() }).unwrap_err();
        assert_eq!(blocked.reason, Reason::UserDataTooLarge);
        assert!(blocked.message.contains("16385 bytes"), "{}", blocked.message);
    }
}
