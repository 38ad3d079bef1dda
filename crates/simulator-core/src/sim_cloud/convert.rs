//! Conversions between `foo_model`'s types and the core's.

use super::overlay;
use super::requirements;
use crate::core::document::Document;
use crate::core::ec2::capacity::CapacityReservation;
use crate::core::ec2::instances::{Ec2Instance, Market};
use crate::core::ec2::launch_data::LaunchData;
use crate::core::ec2::templates::{Template, TemplateKey};
use crate::core::group::activity::Activity;
use crate::core::group::model::{Group, LaunchSource, Member, MixedPolicy, Override};
use crate::core::rules::group::hooks::{Hook, HookChange};
use crate::core::rules::group::operations::SettingsChange;
use crate::core::rules::group::source::{OverrideSpec, SourceSpec, TemplateSpec};
use crate::core::rules::group::warm_pool::{WarmPool, WarmPoolChange};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foo_cloud::{InstanceDetails, VersionCopy};
use foo_model::hook::{HookTarget, LifecycleHook};
use foo_model::{
    AwsTime, FoundReservation, GroupSettings, HookName, InstancesMix, LaunchTemplate, LaunchTemplateId,
    MixOverride, MixTypes, NetworkInterface, NotificationType, Notifications, OnDemandStrategy,
    ReservationKind, Seconds, SecurityGroupId, SpotStrategy, TemplateContent, TemplateHashes, TemplateRecord,
    TemplateVersion, Timestamp, TopicArn, WarmPoolSettings, WarmState,
};
use std::collections::{BTreeMap, BTreeSet};

/// Template content as launch template data, in the names of EC2's responses.
pub(super) fn document_of(content: &TemplateContent) -> Document {
    let TemplateContent {
        image,
        arm64_image: _, // Of overrides of the group.
        instance_type,
        security_groups,
        instance_profile,
        key_name,
        volumes,
        metadata,
        spot,
        options,
        user_data,
        tags,
        interface_tags,
    } = content;
    let mut document = Document::map()
        .with("imageId", Some(Document::text(image)))
        .with("instanceType", instance_type.as_ref().map(Document::text))
        .with("keyName", key_name.as_ref().map(Document::text))
        .with("userData", encoded(user_data))
        .with("metadataOptions", Some(metadata_options(*metadata)));
    instance_options(&mut document, options);
    let interfaces: Vec<Document> = options.network_interfaces(security_groups).map(interface).collect();
    if !interfaces.is_empty() {
        document.set("networkInterfaceSet", Document::List(interfaces));
    } else if let Some(groups) = ids(security_groups) {
        document.set("securityGroupIdSet", groups);
    }
    if let Some(profile) = instance_profile {
        let field = if profile.starts_with("arn:") { "arn" } else { "name" };
        document.set("iamInstanceProfile", Document::map().with(field, Some(Document::text(profile))));
    }
    let of_spec = volumes.iter().map(|it| volume(it, options.overlay.ebs_card(&it.device)));
    let devices: Vec<Document> = of_spec.chain(overlay::other_devices(&options.overlay, volumes)).collect();
    if !devices.is_empty() {
        document.set("blockDeviceMappingSet", Document::List(devices));
    }
    if let Some(foo_model::SpotOptions { max_price }) = spot {
        let options =
            max_price.as_ref().map(|price| Document::map().with("maxPrice", Some(Document::text(price))));
        let market =
            Document::map().with("marketType", Some(Document::text("spot"))).with("spotOptions", options);
        document.set("instanceMarketOptions", market);
    }
    if options.capacity_reservation.as_ref().is_some_and(foo_model::CapacityReservation::is_block) {
        let market = Document::map().with("marketType", Some(Document::text("capacity-block")));
        document.set("instanceMarketOptions", market);
    }
    tag_specifications(&mut document, tags, interface_tags);
    overlay::over(&mut document, &options.overlay);
    document
}

/// The fields that a copy of a version replaces, as launch template data.
pub(super) fn document_of_copy(
    copy: &VersionCopy<'_>,
    interface_tags: &BTreeMap<String, String>,
) -> Document {
    let VersionCopy { from: _, user_data, tags } = copy;
    let mut document = Document::map().with("userData", encoded(user_data));
    tag_specifications(&mut document, tags, interface_tags);
    document
}

/// The tags of network interfaces of a version with this data.
pub(super) fn interface_tags(data: &LaunchData) -> BTreeMap<String, String> {
    data.tags_for("network-interface")
}

fn ids(groups: &[SecurityGroupId]) -> Option<Document> {
    (!groups.is_empty()).then(|| Document::List(groups.iter().map(Document::text).collect()))
}

fn interface(interface: NetworkInterface<'_>) -> Document {
    let NetworkInterface { device, card, kind, public, groups } = interface;
    Document::map()
        .with("deviceIndex", Some(Document::text(device)))
        .with("deleteOnTermination", Some(Document::text(true)))
        .with("groupSet", ids(groups))
        .with("associatePublicIpAddress", public.map(Document::text))
        .with("networkCardIndex", card.map(Document::text))
        .with("interfaceType", kind.map(Document::text))
}

fn encoded(data: &foo_model::UserData) -> Option<Document> {
    (!data.0.is_empty()).then(|| Document::Text(STANDARD.encode(&data.0)))
}

fn tag_specifications(
    document: &mut Document,
    tags: &BTreeMap<String, String>,
    of_interfaces: &BTreeMap<String, String>,
) {
    let all = [("instance", tags), ("volume", tags), ("network-interface", of_interfaces)];
    let specs = all.into_iter().filter(|(_, tags)| !tags.is_empty()).map(|(resource, tags)| {
        Document::map()
            .with("resourceType", Some(Document::text(resource)))
            .with("tagSet", Some(tag_set(tags)))
    });
    let specs: Vec<Document> = specs.collect();
    if !specs.is_empty() {
        document.set("tagSpecificationSet", Document::List(specs));
    }
}

fn instance_options(document: &mut Document, options: &foo_model::InstanceOptions) {
    let foo_model::InstanceOptions {
        detailed_monitoring,
        public_address: _, // Of the network interface.
        tenancy,
        cores,
        amd_sev_snp,
        cpu_credits,
        nitro_enclaves,
        private_dns,
        placement,
        capacity_reservation,
        license_configurations,
        efa: _, // Of the network interfaces.
        bandwidth_weighting,
        overlay,
        interfaces: _, // Of the network interfaces.
    } = options;
    let on = || Some(Document::text(true));
    if *detailed_monitoring {
        document.set("monitoring", Document::map().with("enabled", on()));
    }
    if *nitro_enclaves {
        document.set("enclaveOptions", Document::map().with("enabled", on()));
    }
    if !license_configurations.is_empty() {
        let license = |arn| Document::map().with("licenseConfigurationArn", Some(Document::text(arn)));
        document.set("licenseSet", Document::List(license_configurations.iter().map(license).collect()));
    }
    if let Some(credits) = cpu_credits {
        let credits = <&str>::from(credits);
        document
            .set("creditSpecification", Document::map().with("cpuCredits", Some(Document::text(credits))));
    }
    let switch = |on: bool| Document::text(if on { "enabled" } else { "disabled" });
    let cpu = Document::map()
        .with("coreCount", cores.map(|it| Document::text(it.count)))
        .with("threadsPerCore", cores.map(|it| Document::text(it.threads)))
        .with("amdSevSnp", amd_sev_snp.map(switch))
        .with("nestedVirtualization", overlay.nested_virtualization.map(switch));
    let foo_model::PrivateDns { hostname, a_record, aaaa_record } = private_dns;
    let names = Document::map()
        .with("hostnameType", hostname.map(|it| Document::text(<&str>::from(it))))
        .with("enableResourceNameDnsARecord", a_record.map(Document::text))
        .with("enableResourceNameDnsAAAARecord", aaaa_record.map(Document::text));
    let weighting = bandwidth_weighting.map(|it| Document::text(<&str>::from(it)));
    let performance = Document::map().with("bandwidthWeighting", weighting);
    for (field, part) in [
        ("cpuOptions", cpu),
        ("privateDnsNameOptions", names),
        ("networkPerformanceOptions", performance),
        ("placement", placement_of(*tenancy, placement.as_ref())),
        ("capacityReservationSpecification", reservation_of(capacity_reservation.as_ref())),
    ] {
        if !part.is_empty() {
            document.set(field, part);
        }
    }
}

fn placement_of(tenancy: Option<foo_model::Tenancy>, placement: Option<&foo_model::Placement>) -> Document {
    let tenancy = tenancy.map(|tenancy| Document::text(<&str>::from(tenancy)));
    let document = Document::map().with("tenancy", tenancy);
    match placement {
        None => document,
        Some(foo_model::Placement::Group { group, partition }) => {
            let (field, group) = match group {
                foo_model::PlacementGroup::Name(name) => ("groupName", name),
                foo_model::PlacementGroup::Id(id) => ("groupId", id),
            };
            document
                .with(field, Some(Document::text(group)))
                .with("partitionNumber", partition.map(Document::text))
        }
        Some(foo_model::Placement::HostResourceGroup(arn)) => Document::map()
            .with("tenancy", Some(Document::text("host")))
            .with("hostResourceGroupArn", Some(Document::text(arn))),
    }
}

fn reservation_of(reservation: Option<&foo_model::CapacityReservation>) -> Document {
    let target = |field, value: &String| {
        let target = Document::map().with(field, Some(Document::text(value)));
        Document::map().with("capacityReservationTarget", Some(target))
    };
    match reservation {
        None => Document::map(),
        Some(foo_model::CapacityReservation::Preference(preference)) => Document::map()
            .with("capacityReservationPreference", Some(Document::text(<&str>::from(preference)))),
        Some(foo_model::CapacityReservation::Id(id) | foo_model::CapacityReservation::Block(id)) => {
            target("capacityReservationId", id)
        }
        Some(foo_model::CapacityReservation::ResourceGroup(arn)) => {
            target("capacityReservationResourceGroupArn", arn)
        }
    }
}

fn metadata_options(options: foo_model::MetadataOptions) -> Document {
    let foo_model::MetadataOptions { tokens_required, hop_limit, disabled, ipv6 } = options;
    let tokens = if tokens_required { "required" } else { "optional" };
    Document::map()
        .with("httpTokens", Some(Document::text(tokens)))
        .with("httpPutResponseHopLimit", Some(Document::text(hop_limit)))
        .with("httpEndpoint", Some(Document::text(if disabled { "disabled" } else { "enabled" })))
        .with("httpProtocolIpv6", ipv6.then(|| Document::text("enabled")))
        .with("instanceMetadataTags", Some(Document::text("disabled")))
}

/// An EBS volume, on this EBS card.
fn volume(volume: &foo_model::Volume, card: Option<u32>) -> Document {
    let foo_model::Volume {
        device,
        size_gib,
        kind,
        iops,
        throughput,
        encrypted,
        kms_key,
        outlives_instance,
        snapshot,
        initialization_rate,
    } = volume;
    let ebs = Document::map()
        .with("volumeSize", Some(Document::text(size_gib)))
        .with("volumeType", Some(Document::text(kind.name())))
        .with("iops", iops.map(Document::text))
        .with("throughput", throughput.map(Document::text))
        .with("encrypted", encrypted.map(Document::text))
        .with("kmsKeyId", kms_key.as_ref().map(Document::text))
        .with("snapshotId", snapshot.as_ref().map(Document::text))
        .with("volumeInitializationRate", initialization_rate.map(Document::text))
        .with("ebsCardIndex", card.map(Document::text))
        .with("deleteOnTermination", Some(Document::text(!outlives_instance)));
    Document::map().with("deviceName", Some(Document::text(device))).with("ebs", Some(ebs))
}

fn tag_set(tags: &BTreeMap<String, String>) -> Document {
    let tag = |(key, value): (&String, &String)| {
        Document::map().with("key", Some(Document::text(key))).with("value", Some(Document::text(value)))
    };
    Document::List(tags.iter().map(tag).collect())
}

/// The source of a group: a template, and a mix if there is one.
pub(super) fn source_of(
    id: &LaunchTemplateId,
    version: TemplateVersion,
    mix: Option<&InstancesMix>,
) -> SourceSpec {
    let template = TemplateSpec { key: TemplateKey::Id(id.clone()), version: Some(version.to_string()) };
    let Some(mix) = mix else { return SourceSpec::Template(template) };
    let InstancesMix {
        overrides,
        on_demand_base,
        on_demand_percentage,
        on_demand_strategy,
        spot_strategy,
        spot_max_price,
    } = mix;
    let overrides = overrides.iter().map(|MixOverride { types, image }| {
        let document = match types {
            MixTypes::Named(name) => Document::map().with("InstanceType", Some(Document::text(name))),
            MixTypes::Requirements(it) => {
                Document::map().with("InstanceRequirements", Some(requirements::document_of(it)))
            }
        };
        let document = document.with("ImageId", image.as_ref().map(Document::text));
        OverrideSpec { template: None, document }
    });
    let distribution = Document::map()
        .with("OnDemandBaseCapacity", Some(Document::text(on_demand_base)))
        .with("OnDemandPercentageAboveBaseCapacity", Some(Document::text(on_demand_percentage)))
        .with("OnDemandAllocationStrategy", Some(Document::text(<&str>::from(on_demand_strategy))))
        .with("SpotAllocationStrategy", Some(Document::text(spot_strategy.name())))
        .with("SpotMaxPrice", Some(Document::text(spot_max_price.as_deref().unwrap_or_default())));
    SourceSpec::Mixed {
        template: Some(template),
        overrides: Some(overrides.collect()),
        distribution: Some(distribution),
    }
}

/// A group in `foo_model`.
pub(super) fn group_of(group: &Group) -> foo_model::Group {
    let template = group.template();
    let choice = template.version.parse().map_or_else(
        |_| foo_model::group::TemplateChoice::Floating(template.version.clone()),
        |number| foo_model::group::TemplateChoice::Version(TemplateVersion(number)),
    );
    foo_model::Group {
        name: group.name.clone(),
        arn: group.arn.clone(),
        sizes: group.sizes,
        template: Some((template.id.clone(), choice)),
        mix: match &group.source {
            LaunchSource::Template(_) => None,
            LaunchSource::Mixed(policy) => Some(mix_of(policy)),
        },
        settings: GroupSettings {
            subnets: group.subnets.iter().cloned().collect(),
            new_instances: group.new_instances,
            default_warmup: group.settings.policies.warmup.map(warmup_of),
        },
        traffic_sources: group.traffic_sources.clone(),
        suspended: group.suspended.clone(),
        tags: group.tags.iter().map(|(key, tag)| (key.clone(), tag.value.clone())).collect(),
        status: group.status,
        deletion_protection: foo_model::DeletionProtection::from_name(&group.settings.deletion_protection),
        warm_pool: group.warm_pool.map(|pool| warm_pool_of(group, pool)),
        instances: group.members.values().map(|member| instance_of(group, member)).collect(),
    }
}

fn warm_pool_of(group: &Group, pool: WarmPool) -> foo_model::WarmPool {
    let WarmPool { state, min_size, max_prepared, reuse, deleting } = pool;
    let state = WarmState::from_name(state.into());
    let settings = WarmPoolSettings { min_size, max_prepared, state, reuse };
    foo_model::WarmPool { settings, deleting, size: group.warm_count() }
}

/// All settings of a warm pool.
pub(super) fn warm_pool_change(settings: &WarmPoolSettings) -> WarmPoolChange {
    let WarmPoolSettings { min_size, max_prepared, state, reuse } = *settings;
    WarmPoolChange {
        state: state.name().parse().ok(),
        min_size: Some(min_size),
        max_prepared: Some(max_prepared),
        reuse: Some(reuse),
    }
}

fn warmup_of(warmup: std::time::Duration) -> Seconds {
    Seconds(u32::try_from(warmup.as_secs()).unwrap_or(u32::MAX))
}

/// Settings that are stored as they are sent.
pub(super) fn settings_of(default_warmup: Option<Seconds>) -> SettingsChange {
    let warmup = default_warmup.map(|it| ("DefaultInstanceWarmup".to_owned(), Document::text(it.0)));
    SettingsChange { stored: warmup.into_iter().collect(), ..SettingsChange::default() }
}

fn mix_of(policy: &MixedPolicy) -> InstancesMix {
    let text = |name| policy.distribution.get_text(&[name]);
    let overrides: Vec<MixOverride> = policy.overrides.iter().filter_map(choice_of).collect();
    InstancesMix {
        on_demand_base: policy.on_demand_base,
        on_demand_percentage: policy.on_demand_percentage,
        on_demand_strategy: text("OnDemandAllocationStrategy")
            .and_then(|name| name.parse().ok())
            .unwrap_or_else(|| OnDemandStrategy::default_for(&overrides)),
        spot_strategy: text("SpotAllocationStrategy")
            .and_then(SpotStrategy::from_name)
            .unwrap_or(SpotStrategy::LowestPrice),
        spot_max_price: text("SpotMaxPrice").filter(|price| !price.is_empty()).map(str::to_owned),
        overrides,
    }
}

fn choice_of(choice: &Override) -> Option<MixOverride> {
    let image = choice.image();
    if let Some(name) = &choice.instance_type {
        return Some(MixOverride::named(name.clone(), image));
    }
    let document = choice.document.get(&["InstanceRequirements"])?;
    Some(MixOverride::described(requirements::requirements_of(document), image))
}

fn instance_of(group: &Group, member: &Member) -> foo_model::Instance {
    foo_model::Instance {
        id: member.id.clone(),
        zone: member.zone.clone(),
        instance_type: member.instance_type.clone(),
        lifecycle: foo_model::LifecycleState::from_name(&group.state_name(member)),
        health: member.health,
        protection: member.protection,
        template: member.template.as_ref().map(|(id, _, version)| (id.clone(), *version)),
    }
}

/// A Capacity Reservation as EC2 describes it at that moment.
pub(super) fn reservation(reservation: &CapacityReservation, now: Timestamp) -> FoundReservation {
    let period = reservation.block;
    FoundReservation {
        kind: if period.is_some() { ReservationKind::CapacityBlock } else { ReservationKind::OnDemand },
        state: reservation.state(now).to_owned(),
        instance_type: reservation.instance_type.clone(),
        zone: reservation.zone.clone(),
        starts: Some(dated(period.map_or(reservation.created, |it| it.starts))),
        ends: period.map(|it| dated(it.ends)),
    }
}

/// A moment of the simulator's clock, which is AWS's to callers.
pub(crate) fn dated(moment: Timestamp) -> AwsTime {
    AwsTime::from_millis(moment.0)
}

/// An activity in `foo_model`.
pub(super) fn activity_of(activity: &Activity) -> foo_model::Activity {
    foo_model::Activity {
        id: activity.id.clone(),
        status: activity.status,
        description: activity.description.clone(),
        cause: activity.cause.clone(),
        status_message: activity.status_message.clone().unwrap_or_default(),
        started: dated(activity.started),
    }
}

/// A template in `foo_model`.
pub(super) fn template_of(template: &Template) -> LaunchTemplate {
    let versions = template.versions.values().map(|version| {
        let hashes = version.description.as_deref().and_then(TemplateHashes::parse);
        let is_default = version.number == template.default;
        TemplateRecord::new(version.number, hashes, is_default, dated(version.created))
    });
    LaunchTemplate {
        id: template.id.clone(),
        name: template.name.clone(),
        tags: template.tags.clone(),
        versions: versions.collect(),
    }
}

/// An instance as EC2 describes it.
pub(super) fn details_of(instance: &Ec2Instance) -> InstanceDetails {
    let addresses = instance.addresses.as_ref();
    let public = addresses.and_then(|addresses| addresses.public.as_ref());
    InstanceDetails {
        id: instance.id.clone(),
        state: instance.state,
        zone: instance.zone.clone(),
        instance_type: instance.instance_type.clone(),
        private_dns: addresses.map(|addresses| addresses.private_dns.clone()),
        private_ip: addresses.map(|addresses| addresses.private.to_string()),
        public_dns: public.map(|(_, name)| name.clone()),
        public_ip: public.map(|(address, _)| address.to_string()),
        spot: instance.market == Market::Spot,
    }
}

/// Parameters of a hook's notifications (Auto Scaling API Reference, PutLifecycleHook).
const TARGET: &str = "NotificationTargetARN";
const ROLE: &str = "RoleARN";
const METADATA: &str = "NotificationMetadata";

/// A lifecycle hook in `foo_model`.
pub(super) fn hook_of(hook: &Hook) -> LifecycleHook {
    let text = |name: &str| hook.notification.get(name).cloned();
    LifecycleHook {
        transition: hook.transition,
        heartbeat: Seconds(u32::try_from(hook.heartbeat.as_secs()).unwrap_or(u32::MAX)),
        result: hook.default_result,
        target: text(TARGET).map(|arn| HookTarget { arn, role: text(ROLE) }),
        metadata: text(METADATA),
    }
}

/// A lifecycle hook as parameters of PutLifecycleHook, as the adapter sends them.
pub(super) fn hook_change_of(
    name: &HookName,
    hook: &LifecycleHook,
    before: Option<&LifecycleHook>,
) -> HookChange {
    let LifecycleHook { transition, heartbeat, result, target, metadata } = hook;
    let had_target = before.is_some_and(|before| before.target.is_some());
    let cleared = (target.is_none() && had_target).then(String::new);
    let arn = target.as_ref().map(|target| target.arn.clone()).or(cleared);
    let role = target.as_ref().and_then(|target| target.role.clone());
    let texts = [(TARGET, arn), (ROLE, role), (METADATA, metadata.clone())];
    HookChange {
        name: name.as_str().to_owned(),
        transition: Some(*transition),
        heartbeat: Some(heartbeat.0),
        default_result: Some(*result),
        notification: texts.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text?))).collect(),
    }
}

/// What a group reports to topics; types that the provider cannot set are left out.
pub(super) fn notifications_of(group: &Group) -> Notifications {
    let types =
        |types: &BTreeSet<String>| types.iter().filter_map(|it| NotificationType::from_name(it)).collect();
    group.notifications.iter().map(|(topic, all)| (TopicArn::new(topic.as_str()), types(all))).collect()
}
