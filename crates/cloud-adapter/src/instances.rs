//! Instances and their types.

use crate::error::{self, Gap};
use crate::ids::without_unknown;
use crate::numbers::count;
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types as aws;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use foo_cloud::{
    AddressLimits, CloudError, Described, ErrorKind, InstanceDetails, InstanceState, InstanceTypeInfo,
    Operation, Result,
};
use foo_model::{InstanceId, InstanceType};
use std::collections::{BTreeMap, BTreeSet};

/// Ids per DescribeInstances call.
const IDS: usize = 500;
/// Maximum number of ids that are requested once more, alone, after EC2 left them out. If EC2 leaves out
/// many, the fault is on its side, and more calls do not help.
const ALONE: usize = 10;
/// Types per DescribeInstanceTypes call.
const TYPES: usize = 100;

/// EC2's state of instances; an id that EC2's responses omit is left out.
///
/// EC2 refuses the whole batch for one unknown id. It usually names the unknown ones, which are then removed;
/// a batch that is refused without a name is halved until the unknown id is alone. An id that is missing in
/// a response is not unknown: a fault in one zone can hide its instances from a call for many. Such an id is
/// requested alone.
pub(crate) async fn describe(client: &Client, ids: &[InstanceId]) -> Result<BTreeMap<InstanceId, Described>> {
    let mut responses = BTreeMap::new();
    let mut batches: Vec<Vec<&str>> =
        ids.chunks(IDS).map(|some| some.iter().map(InstanceId::as_str).collect()).collect();
    let mut alone = 0;
    while let Some(batch) = batches.pop() {
        match describe_known(client, &batch).await? {
            Batch::All(details) => {
                responses.extend(details.into_iter().map(|it| (it.id.clone(), Described::Known(it))));
                let missing = batch.iter().filter(|id| !responses.contains_key(&InstanceId::new(**id)));
                if batch.len() > 1 {
                    let again: Vec<Vec<&str>> = missing.take(ALONE - alone).map(|id| vec![*id]).collect();
                    alone += again.len();
                    batches.extend(again);
                }
            }
            Batch::Unknown(message) => {
                let parts = without_unknown(&batch, &message);
                let unknown = batch.iter().filter(|id| !parts.iter().any(|part| part.contains(id)));
                responses.extend(unknown.map(|id| (InstanceId::new(*id), Described::NotFound)));
                batches.extend(parts);
            }
        }
    }
    Ok(responses)
}

enum Batch {
    All(Vec<InstanceDetails>),
    /// EC2's message, which names the unknown ids.
    Unknown(String),
}

async fn describe_known(client: &Client, ids: &[&str]) -> Result<Batch> {
    const OPERATION: Operation = Operation::DescribeInstances;
    let ids = ids.iter().map(|id| (*id).to_owned()).collect();
    // No MaxResults: EC2 refuses it together with ids.
    let call = client.describe_instances().set_instance_ids(Some(ids));
    match call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await {
        Ok(reservations) => {
            let instances = reservations.iter().flat_map(aws::Reservation::instances);
            Ok(Batch::All(instances.filter_map(readable).collect()))
        }
        Err(failed) => match failed.code() {
            Some("InvalidInstanceID.NotFound" | "InvalidInstanceID.Malformed") => {
                Ok(Batch::Unknown(failed.message().unwrap_or_default().to_owned()))
            }
            _ => Err(error::of(OPERATION, &failed)),
        },
    }
}

/// An unreadable instance is treated as if EC2 had said nothing about it: the others of the call must not
/// wait for it.
fn readable(instance: &aws::Instance) -> Option<InstanceDetails> {
    let read = details(instance);
    if let Err(Gap(field)) = &read {
        let id = instance.instance_id().unwrap_or_default();
        tracing::warn!(instance = id, field, "EC2 returned an instance without a required field");
    }
    read.ok()
}

fn details(instance: &aws::Instance) -> Result<InstanceDetails, Gap> {
    let zone = instance.placement().and_then(aws::Placement::availability_zone);
    let text = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
    Ok(InstanceDetails {
        id: instance.instance_id().ok_or(Gap("instanceId"))?.into(),
        state: state(instance.state().and_then(aws::InstanceState::name).ok_or(Gap("instanceState"))?),
        zone: zone.ok_or(Gap("availabilityZone"))?.into(),
        instance_type: instance.instance_type().map(aws::InstanceType::as_str).unwrap_or_default().into(),
        private_dns: text(instance.private_dns_name()),
        private_ip: text(instance.private_ip_address()),
        public_dns: text(instance.public_dns_name()),
        public_ip: text(instance.public_ip_address()),
        spot: instance.instance_lifecycle() == Some(&aws::InstanceLifecycleType::Spot),
    })
}

fn state(name: &aws::InstanceStateName) -> InstanceState {
    match name {
        aws::InstanceStateName::Pending => InstanceState::Pending,
        aws::InstanceStateName::ShuttingDown => InstanceState::ShuttingDown,
        aws::InstanceStateName::Terminated => InstanceState::Terminated,
        aws::InstanceStateName::Stopping => InstanceState::Stopping,
        aws::InstanceStateName::Stopped => InstanceState::Stopped,
        // An unknown state must not count as terminated.
        _ => InstanceState::Running,
    }
}

pub(crate) async fn describe_types(client: &Client, types: &[InstanceType]) -> Result<Vec<InstanceTypeInfo>> {
    const OPERATION: Operation = Operation::DescribeInstanceTypes;
    let mut all = Vec::with_capacity(types.len());
    for some in types.chunks(TYPES) {
        let names = some.iter().map(|name| name.as_str().into()).collect();
        let call = client.describe_instance_types().set_instance_types(Some(names));
        let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
        let found = found.map_err(|failed| error::of(OPERATION, &failed))?;
        for info in &found {
            all.push(type_info(info).map_err(|gap| gap.during(OPERATION))?);
        }
    }
    let known: BTreeSet<&InstanceType> = all.iter().map(|info| &info.instance_type).collect();
    match types.iter().find(|name| !known.contains(name)) {
        Some(unknown) => Err(missing(OPERATION, unknown)),
        None => Ok(all),
    }
}

fn type_info(info: &aws::InstanceTypeInfo) -> Result<InstanceTypeInfo, Gap> {
    let name = info.instance_type().ok_or(Gap("instanceType"))?;
    let vcpus = info.v_cpu_info().and_then(aws::VCpuInfo::default_v_cpus);
    let memory = info.memory_info().and_then(aws::MemoryInfo::size_in_mib);
    let network = info.network_info();
    let efa = network.and_then(aws::NetworkInfo::efa_info);
    let weightings = network.map(aws::NetworkInfo::bandwidth_weightings).unwrap_or_default().iter();
    let gpus = info.gpu_info().map(aws::GpuInfo::gpus).unwrap_or_default().iter();
    let nvidia =
        gpus.filter(|gpu| gpu.manufacturer().is_some_and(|name| name.eq_ignore_ascii_case("nvidia")));
    Ok(InstanceTypeInfo {
        instance_type: name.as_str().into(),
        vcpus: count(vcpus, "defaultVCpus")?,
        memory_mib: memory.and_then(|mib| u64::try_from(mib).ok()).ok_or(Gap("sizeInMiB"))?,
        neuron_devices: neuron_devices(info),
        nvidia_gpus: nvidia.filter_map(|gpu| u32::try_from(gpu.count()?).ok()).sum(),
        architecture: architecture(info).ok_or(Gap("supportedArchitectures"))?,
        network_cards: network.and_then(|it| u32::try_from(it.maximum_network_cards()?).ok()).unwrap_or(1),
        efa_interfaces: efa.and_then(|it| u32::try_from(it.maximum_efa_interfaces()?).ok()).unwrap_or(0),
        bandwidth_weightings: weightings.filter_map(|it| it.as_str().parse().ok()).collect(),
        addresses: addresses(info),
        interfaces_per_card: network.map(interfaces_per_card).unwrap_or_default(),
    })
}

fn interfaces_per_card(network: &aws::NetworkInfo) -> BTreeMap<u32, u32> {
    let of_card = |card: &aws::NetworkCardInfo| {
        let index = u32::try_from(card.network_card_index()?).ok()?;
        Some((index, positive(card.maximum_network_interfaces())?))
    };
    network.network_cards().iter().filter_map(of_card).collect()
}

fn positive(number: Option<i32>) -> Option<u32> {
    u32::try_from(number?).ok().filter(|number| *number > 0)
}

/// Of the default network card, whose interfaces have the addresses of Pods (amazon-eks-ami, `nodeadm/internal/util/ec2.go`).
fn addresses(info: &aws::InstanceTypeInfo) -> Option<AddressLimits> {
    let network = info.network_info()?;
    let default = network.default_network_card_index().unwrap_or(0);
    let card = network.network_cards().iter().find(|card| card.network_card_index() == Some(default))?;
    Some(AddressLimits {
        interfaces: positive(card.maximum_network_interfaces())?,
        ipv4_per_interface: positive(network.ipv4_addresses_per_interface())?,
        prefixes: info.hypervisor() == Some(&aws::InstanceTypeHypervisor::Nitro)
            || info.bare_metal() == Some(true),
    })
}

/// EC2 lists Trainium and Inferentia2 as Neuron devices, and the first Inferentia as inference accelerators (EC2 API
/// Reference, `InstanceTypeInfo`).
fn neuron_devices(info: &aws::InstanceTypeInfo) -> u32 {
    let devices = info.neuron_info().map(aws::NeuronInfo::neuron_devices).unwrap_or_default();
    let devices: u32 = devices.iter().filter_map(|it| u32::try_from(it.count()?).ok()).sum();
    let accelerators = info
        .inference_accelerator_info()
        .map(aws::InferenceAcceleratorInfo::accelerators)
        .unwrap_or_default();
    let of_aws = |it: &&aws::InferenceDeviceInfo| {
        it.manufacturer().is_some_and(|name| name.eq_ignore_ascii_case("aws"))
    };
    let accelerators =
        accelerators.iter().filter(of_aws).filter_map(|it| u32::try_from(it.count()?).ok()).sum();
    devices.max(accelerators)
}

/// Old types list i386 first; no Node runs on that.
fn architecture(info: &aws::InstanceTypeInfo) -> Option<String> {
    let supported = info.processor_info()?.supported_architectures();
    let ours = supported
        .iter()
        .find(|one| matches!(one, aws::ArchitectureType::X8664 | aws::ArchitectureType::Arm64));
    Some(ours.or_else(|| supported.first())?.as_str().to_owned())
}

pub(crate) fn missing(operation: Operation, what: &impl std::fmt::Display) -> CloudError {
    CloudError::new(operation, ErrorKind::NotFound, None, &format!("{what} does not exist"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A type without a hypervisor, whose default network card is its second one.
    fn shown() -> aws::builders::InstanceTypeInfoBuilder {
        let card = |index, interfaces| {
            aws::NetworkCardInfo::builder()
                .network_card_index(index)
                .maximum_network_interfaces(interfaces)
                .build()
        };
        let network = aws::NetworkInfo::builder()
            .default_network_card_index(1)
            .ipv4_addresses_per_interface(15)
            .network_cards(card(0, 2))
            .network_cards(card(1, 4));
        let processor =
            aws::ProcessorInfo::builder().supported_architectures(aws::ArchitectureType::X8664).build();
        aws::InstanceTypeInfo::builder()
            .instance_type("x".into())
            .v_cpu_info(aws::VCpuInfo::builder().default_v_cpus(2).build())
            .memory_info(aws::MemoryInfo::builder().size_in_mib(8192).build())
            .processor_info(processor)
            .network_info(network.build())
    }

    fn addresses_of(shown: aws::builders::InstanceTypeInfoBuilder) -> Option<AddressLimits> {
        type_info(&shown.build()).unwrap().addresses
    }

    #[test]
    fn the_default_network_card_has_prefixes_on_the_nitro_system_and_on_bare_metal() {
        let of_card_1 = |prefixes| Some(AddressLimits { interfaces: 4, ipv4_per_interface: 15, prefixes });
        assert_eq!(addresses_of(shown().hypervisor(aws::InstanceTypeHypervisor::Nitro)), of_card_1(true));
        assert_eq!(addresses_of(shown().hypervisor(aws::InstanceTypeHypervisor::Xen)), of_card_1(false));
        assert_eq!(addresses_of(shown().bare_metal(true)), of_card_1(true));
        assert_eq!(addresses_of(shown().bare_metal(false)), of_card_1(false));
    }

    #[test]
    fn limits_that_ec2_does_not_report_are_not_guessed() {
        assert_eq!(addresses_of(shown().set_network_info(None)), None);
        let without_cards = aws::NetworkInfo::builder().ipv4_addresses_per_interface(15).build();
        assert_eq!(addresses_of(shown().network_info(without_cards)), None);
    }

    #[test]
    fn each_network_card_has_its_own_limit_of_interfaces() {
        let limits = |shown: aws::builders::InstanceTypeInfoBuilder| {
            type_info(&shown.build()).unwrap().interfaces_per_card
        };
        assert_eq!(limits(shown()), [(0, 2), (1, 4)].into());
        assert!(limits(shown().set_network_info(None)).is_empty());
    }
}
