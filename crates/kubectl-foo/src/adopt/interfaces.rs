//! Network interfaces, from a launch template to a FooMachinePool.

use super::options::named;
use super::template::{Interface, Tags, TemplateData};
use foo_api::FooMachinePoolSpec;
use foo_api::pool::{Efa, EfaType, NetworkInterface, PrimaryInterface};
use foo_api::shared::NetworkReference;
use foo_model::{NOT_FOR_PODS, Primary};
use std::collections::{BTreeMap, BTreeSet};

/// Network interfaces as a type of resources.
pub(super) const INTERFACES: &str = "network-interface";

/// The spec with the network interfaces that the API takes, if a FooMachinePool can have all of them.
pub(super) fn with_interfaces(
    spec: FooMachinePoolSpec,
    data: &TemplateData,
    differences: &mut Vec<String>,
) -> FooMachinePoolSpec {
    let public = primary(&data.network_interfaces).and_then(|it| it.associate_public_ip_address);
    let spec = FooMachinePoolSpec { associate_public_ip_address: public, ..spec };
    let Some(Interfaces { efa, additional }) = interfaces(&data.network_interfaces) else { return spec };
    if additional.is_empty() {
        return with_efa(spec, efa, differences);
    }
    if !data.tag_specifications.iter().any(is_not_for_pods) {
        let (key, value) = NOT_FOR_PODS;
        differences.push(format!(
            "network interfaces without the tag {key}={value}: the Amazon VPC CNI does not use those of spec.networkInterfaces for Pods"
        ));
    }
    no_public_address(public, differences);
    let spec = FooMachinePoolSpec { associate_public_ip_address: None, ..spec };
    FooMachinePoolSpec { network_interfaces: additional, ..with_efa(spec, efa, differences) }
}

/// Whether these are tags of network interfaces, and one is that of interfaces that the VPC CNI does not use.
fn is_not_for_pods(tags: &Tags) -> bool {
    let is_tag = |key: &str, value: &str| (key, value) == NOT_FOR_PODS;
    tags.resource_type == INTERFACES && tags.tags.iter().any(|it| is_tag(&it.key, &it.value))
}

/// Network interfaces that a FooMachinePool can have, besides the primary one.
pub(super) struct Interfaces {
    efa: Option<Efa>,
    additional: Vec<NetworkInterface>,
}

/// The network interfaces of a launch template, if a FooMachinePool can have all of them. The device indices of additional ones may
/// differ.
pub(super) fn interfaces(all: &[Interface]) -> Option<Interfaces> {
    let is_additional = |it: &&Interface| place(it) != (0, 0) && kind(it) == "interface";
    let (additional, others): (Vec<&Interface>, Vec<&Interface>) = all.iter().partition(is_additional);
    if others.is_empty() && !additional.is_empty() {
        return None;
    }
    let is_plain = others.len() < 2 && others.iter().all(|it| kind(it) == "interface");
    let efa = if is_plain { None } else { Some(efa(&others)?) };
    let primary: BTreeSet<&String> = primary(all).map(groups).unwrap_or_default();
    let mut counts: BTreeMap<(u32, BTreeSet<&String>), i32> = BTreeMap::new();
    for it in additional {
        // Without security groups, EC2 gives it the VPC's default one.
        let has_default_group = groups(it).is_empty() && !primary.is_empty();
        if has_default_group || !is_like_those_of_a_pool(it) {
            return None;
        }
        let own = Some(groups(it)).filter(|own| *own != primary).unwrap_or_default();
        let count = counts.entry((it.network_card_index.unwrap_or(0), own)).or_default();
        *count = count.saturating_add(1);
    }
    let reference = |id: &String| NetworkReference { id: Some(id.clone()), tags: None };
    let additional = counts.into_iter().map(|((card, groups), count)| NetworkInterface {
        network_card: i32::try_from(card).unwrap_or(i32::MAX),
        count,
        security_groups: groups.into_iter().map(reference).collect(),
    });
    Some(Interfaces { efa, additional: additional.collect() })
}

/// The primary interface. Elastic Fabric Adapters of other network cards can have the device index 0, too.
pub(super) fn primary(all: &[Interface]) -> Option<&Interface> {
    all.iter().find(|it| place(it) == (0, 0))
}

/// Network card and device index.
fn place(it: &Interface) -> (u32, i64) {
    (it.network_card_index.unwrap_or(0), it.device_index.unwrap_or(0))
}

fn kind(it: &Interface) -> &str {
    it.interface_type.as_deref().unwrap_or("interface")
}

fn groups(it: &Interface) -> BTreeSet<&String> {
    it.groups.iter().collect()
}

/// Whether an interface is deleted with its instance, and has no setting that the spec does not have.
fn is_like_those_of_a_pool(it: &Interface) -> bool {
    it.delete_on_termination != Some(false) && named("", &it.others).next().is_none()
}

/// The Elastic Fabric Adapter interfaces, if they are as a FooMachinePool has them. The device index on other network cards than the
/// first may differ: both work, and AWS's advice has changed.
fn efa(interfaces: &[&Interface]) -> Option<Efa> {
    let mut sorted: Vec<&Interface> = interfaces.to_vec();
    sorted.sort_by_key(|it| place(it));
    let (first, others) = sorted.split_first()?;
    if !others.iter().all(|it| is_like_those_of_a_pool(it) && groups(it) == groups(first)) {
        return None;
    }
    let count = u32::try_from(sorted.iter().filter(|it| kind(it).starts_with("efa")).count()).ok()?;
    let only = others.iter().any(|it| kind(it) == "efa-only");
    let in_their_places = |primary: &Primary| {
        let wanted = foo_model::Efa { interfaces: count, primary: *primary, only }.network_interfaces();
        let is_same = |(it, wanted): (&&Interface, foo_model::NetworkInterface<'static>)| {
            let (card, device) = place(it);
            let same_device = card > 0 || device == i64::from(wanted.device);
            (Some(card), Some(kind(it))) == (wanted.card, wanted.kind) && same_device
        };
        wanted.len() == sorted.len() && sorted.iter().zip(wanted).all(is_same)
    };
    let primary = [Primary::Efa, Primary::Plain, Primary::PlainAlone].into_iter().find(in_their_places)?;
    (count > 0).then(|| Efa {
        interfaces: i32::try_from(count).ok(),
        primary: match primary {
            Primary::Efa => PrimaryInterface::Efa,
            Primary::Plain | Primary::PlainAlone => PrimaryInterface::Interface,
        },
        others: if only || others.is_empty() { EfaType::EfaOnly } else { EfaType::Efa },
    })
}

/// Those that the API takes: with one instance type, and a public address for a single interface only.
fn with_efa(spec: FooMachinePoolSpec, efa: Option<Efa>, differences: &mut Vec<String>) -> FooMachinePoolSpec {
    let Some(efa) = efa else { return spec };
    if spec.instance_type.is_none() {
        differences.push(
            "Elastic Fabric Adapters: a FooMachinePool has them with one instance type only".to_owned(),
        );
        return spec;
    }
    let is_single = efa.primary == PrimaryInterface::Efa && efa.interfaces == Some(1);
    let public = spec.associate_public_ip_address;
    if !is_single {
        no_public_address(public, differences);
    }
    FooMachinePoolSpec { associate_public_ip_address: public.filter(|_| is_single), efa: Some(efa), ..spec }
}

/// Names the public address of an instance with several network interfaces.
fn no_public_address(public: Option<bool>, differences: &mut Vec<String>) {
    if public == Some(true) {
        differences.push(
            "public addresses: instances of a FooMachinePool with several network interfaces have none"
                .to_owned(),
        );
    }
}
