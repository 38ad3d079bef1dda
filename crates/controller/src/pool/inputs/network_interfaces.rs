//! Network interfaces besides the primary one and those with an Elastic Fabric Adapter: what the instance types of a pool can have,
//! and how many are not for Pods.

use super::mix;
use foo_api::pool::{self as api, FooMachinePoolSpec};
use foo_api::shared::unsigned;
use foo_cloud::InstanceTypeInfo;
use foo_model::{AdditionalInterface, Blocked, Efa, InstanceOptions, Reason, SecurityGroupId};
use std::collections::BTreeMap;

/// Each of these interfaces.
pub(in crate::pool) fn each(
    requested: &api::NetworkInterface,
    security_groups: Vec<SecurityGroupId>,
) -> impl Iterator<Item = AdditionalInterface> {
    let api::NetworkInterface { network_card, count, security_groups: _ } = requested;
    let one = AdditionalInterface { card: unsigned(*network_card), security_groups };
    (0..unsigned(*count)).map(move |_| one.clone())
}

/// Whether each instance type that the spec names can have the interfaces. Types that it describes by their attributes are not
/// checked: EC2 Auto Scaling chooses them when it launches instances.
pub(in crate::pool) fn are_supported(
    spec: &FooMachinePoolSpec,
    efa: Option<Efa>,
    types: &[InstanceTypeInfo],
) -> Result<(), Blocked> {
    let (wanted, names) = (on_each_card(spec, efa), mix::named_types(spec));
    let mut named = types.iter().filter(|kind| names.contains(&kind.instance_type));
    match named.find_map(|kind| not_supported(&wanted, kind)) {
        None => Ok(()),
        Some(message) => Err(Blocked::new(Reason::NetworkInterfacesNotSupported, message)),
    }
}

/// How many interfaces of the first network card the Amazon VPC CNI does not use for Pods: all except the primary one, if the pool has
/// additional ones. On other cards it has none, unless it is configured to (amazon-vpc-cni-k8s, README, `ENABLE_MULTI_NIC`).
pub(in crate::pool) fn not_for_pods(spec: &FooMachinePoolSpec, efa: Option<Efa>) -> u32 {
    on_each_card(spec, efa).get(&0).map_or(0, |all| all.saturating_sub(1))
}

/// The number of interfaces by network card; none of a pool without additional ones.
fn on_each_card(spec: &FooMachinePoolSpec, efa: Option<Efa>) -> BTreeMap<u32, u32> {
    let mut all: BTreeMap<u32, u32> = BTreeMap::new();
    if spec.network_interfaces.is_empty() {
        return all;
    }
    let interfaces = spec.network_interfaces.iter().flat_map(|it| each(it, Vec::new())).collect();
    let options = InstanceOptions { efa, interfaces, ..InstanceOptions::default() };
    for interface in options.network_interfaces(&[]) {
        let on_card = all.entry(interface.card.unwrap_or(0)).or_default();
        *on_card = on_card.saturating_add(1);
    }
    all
}

/// What this type does not support of these interfaces. A limit that EC2 does not report is none.
fn not_supported(wanted: &BTreeMap<u32, u32>, kind: &InstanceTypeInfo) -> Option<String> {
    let (name, cards) = (kind.instance_type.as_str(), kind.network_cards);
    wanted.iter().find_map(|(card, wanted)| {
        if *card >= cards {
            return Some(format!(
                "instance type {name} does not support networkCard {card} of spec.networkInterfaces: its last network card is {}",
                cards.saturating_sub(1)
            ));
        }
        let most = kind.interfaces_per_card.get(card).filter(|most| *wanted > **most)?;
        Some(format!(
            "instance type {name} does not support the {wanted} network interfaces on network card {card}, the primary one and those of \
             spec.efa among them: it has up to {most} there (spec.networkInterfaces)"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::inputs::mix::small_type;
    use foo_model::Primary;
    use serde_json::{Value, json};

    /// A pool of `two.large`, which has two network cards with three interfaces each.
    fn spec(interfaces: &Value) -> FooMachinePoolSpec {
        let spec =
            json!({"ami": {"id": "ami-1"}, "instanceType": "two.large", "networkInterfaces": interfaces});
        serde_json::from_value(spec).unwrap()
    }

    fn two_cards(name: &str) -> InstanceTypeInfo {
        let interfaces_per_card = [(0, 3), (1, 3)].into();
        InstanceTypeInfo { network_cards: 2, interfaces_per_card, ..small_type(name) }
    }

    const TWO_ADAPTERS: Efa = Efa { interfaces: 2, primary: Primary::Plain, only: true };

    fn check(interfaces: &Value, efa: Option<Efa>) -> Result<(), String> {
        let checked = are_supported(&spec(interfaces), efa, &[two_cards("two.large")]);
        checked.map_err(|blocked| blocked.message)
    }

    #[test]
    fn a_pool_has_the_interfaces_that_its_type_has_room_for() {
        for interfaces in [
            json!([]),
            json!([{}]),
            json!([{"count": 2}, {"networkCard": 1, "count": 3}]),
            json!([{"networkCard": 1}, {"networkCard": 1, "securityGroups": [{"id": "sg-1"}]}]),
        ] {
            assert_eq!(check(&interfaces, None), Ok(()), "{interfaces}");
        }
        assert_eq!(check(&json!([{}, {"networkCard": 1, "count": 2}]), Some(TWO_ADAPTERS)), Ok(()));
    }

    #[test]
    fn what_the_instance_type_has_no_room_for_is_refused_with_its_limit() {
        for (interfaces, efa, said) in [
            (json!([{"count": 3}]), None, "the 4 network interfaces on network card 0"),
            (json!([{}, {"count": 2}]), None, "the 4 network interfaces on network card 0"),
            (json!([{"networkCard": 1, "count": 4}]), None, "the 4 network interfaces on network card 1"),
            (json!([{"count": 2}]), Some(TWO_ADAPTERS), "the 4 network interfaces on network card 0"),
            (
                json!([{"networkCard": 2}]),
                None,
                "networkCard 2 of spec.networkInterfaces: its last network card is 1",
            ),
        ] {
            let refused = check(&interfaces, efa).unwrap_err();
            assert!(refused.contains("two.large does not support") && refused.contains(said), "{refused}");
        }
    }

    #[test]
    fn each_type_of_a_mix_is_checked_and_what_is_not_known_is_not() {
        let mut pool = spec(&json!([{"count": 3}]));
        let mixed = json!({"overrides": [{"instanceType": "two.large"}, {"instanceType": "new.large"}]});
        (pool.instance_type, pool.mixed_instances) = (None, Some(serde_json::from_value(mixed).unwrap()));
        let types = [small_type("new.large"), two_cards("two.large"), two_cards("of another pool")];
        let refused = are_supported(&pool, None, &types).unwrap_err();
        assert_eq!(refused.reason, Reason::NetworkInterfacesNotSupported);
        assert!(refused.message.contains("two.large"), "{}", refused.message);
        assert_eq!(
            are_supported(&pool, None, &[small_type("new.large"), two_cards("of attributes")]),
            Ok(())
        );
    }

    #[test]
    fn interfaces_of_the_first_card_besides_the_primary_one_are_not_for_pods() {
        let of = |interfaces: &Value, efa: Option<Efa>| not_for_pods(&spec(interfaces), efa);
        assert_eq!(of(&json!([{"count": 2}, {"networkCard": 1}]), None), 2);
        assert_eq!(of(&json!([{"networkCard": 1}]), None), 0);
        assert_eq!(
            of(&json!([{"networkCard": 1}]), Some(TWO_ADAPTERS)),
            1,
            "that of the Elastic Fabric Adapter"
        );
        assert_eq!(of(&json!([]), Some(TWO_ADAPTERS)), 0, "without additional interfaces nothing changes");
    }
}
