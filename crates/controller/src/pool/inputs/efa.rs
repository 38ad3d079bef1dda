//! Elastic Fabric Adapter interfaces: as many as the spec requests, or as the instance type supports.

use foo_api::pool::{self as api, EfaType, FooMachinePoolSpec, PrimaryInterface};
use foo_api::shared::unsigned;
use foo_cloud::InstanceTypeInfo;
use foo_model::{Blocked, Efa, Reason};

/// The interfaces of instances of these types, of which a pool with EFA has one.
pub(in crate::pool) fn efa(
    spec: &FooMachinePoolSpec,
    types: &[InstanceTypeInfo],
) -> Result<Option<Efa>, Blocked> {
    let (Some(wanted), Some(kind)) = (&spec.efa, types.first()) else { return Ok(None) };
    let api::Efa { interfaces, primary, others } = wanted;
    let plain_primary = *primary == PrimaryInterface::Interface;
    let cards = kind.network_cards.saturating_sub(u32::from(plain_primary));
    let most = kind.efa_interfaces.min(cards);
    let interfaces = interfaces.map_or(most, unsigned);
    if interfaces == 0 || interfaces > most {
        let name = kind.instance_type.as_str();
        let message = match (most, plain_primary) {
            (0, true) if kind.efa_interfaces > 0 => format!(
                "instance type {name} has EFA on its first network card only: spec.efa.primary has to be EFA"
            ),
            (0, _) => format!("instance type {name} does not support Elastic Fabric Adapters (spec.efa)"),
            (most, false) => format!(
                "instance type {name} supports up to {most} of the {interfaces} EFA interfaces of spec.efa"
            ),
            (most, true) => format!(
                "instance type {name} supports up to {most} of the {interfaces} EFA interfaces of spec.efa besides a primary interface \
                 without EFA"
            ),
        };
        return Err(Blocked::new(Reason::EfaNotSupported, message));
    }
    Ok(Some(Efa { interfaces, plain_primary, only: *others == EfaType::EfaOnly }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(efa: api::Efa, network_cards: u32, efa_interfaces: u32) -> Result<Option<Efa>, String> {
        let kind = InstanceTypeInfo {
            instance_type: "x.large".into(),
            vcpus: 1,
            memory_mib: 1,
            nvidia_gpus: 0,
            neuron_devices: 0,
            architecture: "x86_64".into(),
            network_cards,
            efa_interfaces,
        };
        let spec = FooMachinePoolSpec { efa: Some(efa), ..FooMachinePoolSpec::default() };
        super::efa(&spec, &[kind]).map_err(|blocked| blocked.message)
    }

    #[test]
    fn a_pool_gets_the_interfaces_it_requests_or_all_of_its_type() {
        let plain = || api::Efa { primary: PrimaryInterface::Interface, ..api::Efa::default() };
        let some = |interfaces, plain_primary| Ok(Some(Efa { interfaces, plain_primary, only: false }));
        assert_eq!(of(api::Efa::default(), 4, 4), some(4, false));
        assert_eq!(of(api::Efa { interfaces: Some(2), ..api::Efa::default() }, 4, 4), some(2, false));
        assert_eq!(of(plain(), 17, 16), some(16, true), "the first card has no EFA");
        assert_eq!(of(plain(), 4, 4), some(3, true));
        let only = api::Efa { others: EfaType::EfaOnly, ..api::Efa::default() };
        assert_eq!(of(only, 1, 1), Ok(Some(Efa { interfaces: 1, plain_primary: false, only: true })));
        let spec = FooMachinePoolSpec::default();
        assert_eq!(super::efa(&spec, &[]), Ok(None));
    }

    #[test]
    fn what_the_instance_type_does_not_support_is_refused_with_its_limit() {
        let plain = api::Efa { primary: PrimaryInterface::Interface, ..api::Efa::default() };
        for (efa, cards, most, said) in [
            (api::Efa::default(), 1, 0, "does not support Elastic Fabric Adapters"),
            (api::Efa { interfaces: Some(5), ..api::Efa::default() }, 4, 4, "up to 4 of the 5"),
            (plain.clone(), 1, 1, "spec.efa.primary has to be EFA"),
            (api::Efa { interfaces: Some(4), ..plain }, 4, 4, "besides a primary interface without EFA"),
        ] {
            let refused = of(efa, cards, most).unwrap_err();
            assert!(refused.contains(said), "{refused}");
        }
    }
}
