//! Elastic Fabric Adapter interfaces: as many as the spec requests, or as the instance type supports.

use foo_api::pool::{self as api, EfaType, FooMachinePoolSpec, PrimaryInterface};
use foo_api::shared::unsigned;
use foo_cloud::InstanceTypeInfo;
use foo_model::{Blocked, Efa, Primary, Reason};

/// The interfaces of instances of these types, of which a pool with EFA has one.
pub(in crate::pool) fn efa(
    spec: &FooMachinePoolSpec,
    types: &[InstanceTypeInfo],
) -> Result<Option<Efa>, Blocked> {
    let (Some(wanted), Some(kind)) = (&spec.efa, types.first()) else { return Ok(None) };
    let api::Efa { interfaces, primary, others } = wanted;
    // A type with fewer of them than network cards has none on the first card.
    let first_card_has_efa = kind.efa_interfaces >= kind.network_cards;
    let primary = match primary {
        PrimaryInterface::Efa => Primary::Efa,
        PrimaryInterface::Interface if first_card_has_efa => Primary::Plain,
        PrimaryInterface::Interface => Primary::PlainAlone,
    };
    let most = kind.efa_interfaces.min(kind.network_cards);
    let interfaces = interfaces.map_or(most, unsigned);
    let name = kind.instance_type.as_str();
    let refused = |message| Err(Blocked::new(Reason::EfaNotSupported, message));
    if most == 0 {
        return refused(format!("instance type {name} does not support Elastic Fabric Adapters (spec.efa)"));
    }
    if primary == Primary::Efa && !first_card_has_efa {
        return refused(format!(
            "the first network card of instance type {name} does not support Elastic Fabric Adapters: spec.efa.primary has to be Interface"
        ));
    }
    if interfaces > most {
        return refused(format!(
            "instance type {name} supports up to {most} of the {interfaces} Elastic Fabric Adapters of spec.efa"
        ));
    }
    Ok(Some(Efa { interfaces, primary, only: *others == EfaType::EfaOnly }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::inputs::mix::small_type;

    fn of(efa: api::Efa, network_cards: u32, efa_interfaces: u32) -> Result<Option<Efa>, String> {
        let kind = InstanceTypeInfo { network_cards, efa_interfaces, ..small_type("x.large") };
        let spec = FooMachinePoolSpec { efa: Some(efa), ..FooMachinePoolSpec::default() };
        super::efa(&spec, &[kind]).map_err(|blocked| blocked.message)
    }

    fn primary() -> api::Efa {
        api::Efa { primary: PrimaryInterface::Efa, ..api::Efa::default() }
    }

    #[test]
    fn a_pool_gets_the_interfaces_it_requests_or_all_of_its_type() {
        let some = |interfaces, primary| Ok(Some(Efa { interfaces, primary, only: true }));
        assert_eq!(of(api::Efa::default(), 4, 4), some(4, Primary::Plain));
        assert_eq!(
            of(api::Efa { interfaces: Some(2), ..api::Efa::default() }, 4, 4),
            some(2, Primary::Plain)
        );
        assert_eq!(of(api::Efa::default(), 1, 1), some(1, Primary::Plain));
        assert_eq!(
            of(api::Efa::default(), 17, 16),
            some(16, Primary::PlainAlone),
            "the first card has no EFA"
        );
        assert_eq!(of(primary(), 4, 4), some(4, Primary::Efa));
        let full = api::Efa { others: EfaType::Efa, ..primary() };
        assert_eq!(of(full, 1, 1), Ok(Some(Efa { interfaces: 1, primary: Primary::Efa, only: false })));
        assert_eq!(super::efa(&FooMachinePoolSpec::default(), &[]), Ok(None));
    }

    #[test]
    fn what_the_instance_type_does_not_support_is_refused_with_its_limit() {
        for (efa, cards, most, said) in [
            (api::Efa::default(), 1, 0, "does not support Elastic Fabric Adapters"),
            (api::Efa { interfaces: Some(5), ..api::Efa::default() }, 4, 4, "up to 4 of the 5"),
            (primary(), 17, 16, "spec.efa.primary has to be Interface"),
        ] {
            let refused = of(efa, cards, most).unwrap_err();
            assert!(refused.contains(said), "{refused}");
        }
    }
}
