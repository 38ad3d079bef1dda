//! How many Pods a Node of a pool can have: as many as the Amazon VPC CNI has addresses for.
//!
//! nodeadm, Bottlerocket and `bootstrap.sh` count in the same way (amazon-eks-ami, `nodeadm/internal/kubelet/eni_max_pods.go`),
//! but only for the default settings of the VPC CNI. For the others the rules are those of AWS's calculator (amazon-eks-ami,
//! `max-pods-calculator.sh`; EKS User Guide, "How maxPods is determined"), except that bare metal has prefixes, as in the VPC
//! CNI.

use foo_api::pool::MaxPods;
use foo_cloud::{AddressLimits, InstanceTypeInfo};

/// Pods that use the addresses of the Node: the VPC CNI and kube-proxy.
const ON_HOST_NETWORK: u32 = 2;
/// Addresses of a prefix, which takes the place of one address.
const PREFIX: u32 = 16;
/// A Node with more vCPUs than these can have more Pods.
const FEW_VCPUS: u32 = 30;

/// The numbers for a pool with these types, of each the smallest. `None` without a type, and if the limits of one are not known.
/// `not_for_pods` is how many interfaces of the default network card the VPC CNI does not use (amazon-vpc-cni-k8s, `hasRoomForEni` in
/// `pkg/ipamd/ipamd.go`): AWS's calculator does not know them.
pub(super) fn max_pods(types: &[InstanceTypeInfo], not_for_pods: u32) -> Option<MaxPods> {
    let each: Option<Vec<MaxPods>> = types.iter().map(|kind| of_type(kind, not_for_pods)).collect();
    each?.into_iter().reduce(least)
}

fn of_type(kind: &InstanceTypeInfo, not_for_pods: u32) -> Option<MaxPods> {
    let AddressLimits { interfaces, ipv4_per_interface, prefixes } = kind.addresses?;
    let interfaces = interfaces.saturating_sub(not_for_pods);
    // The first address of an interface is its own.
    let places = ipv4_per_interface.saturating_sub(1);
    // The VPC CNI uses single addresses where there are no prefixes.
    let in_prefixes = if prefixes { places.saturating_mul(PREFIX) } else { places };
    // With custom networking the first interface is in the subnet of the Node.
    let others = interfaces.saturating_sub(1);
    let most = if kind.vcpus > FEW_VCPUS { 250 } else { 110 };
    let limited = |interfaces, addresses| count(pods(interfaces, addresses).min(most));
    Some(MaxPods {
        standard: count(pods(interfaces, places)),
        custom_networking: limited(others, places),
        prefix_delegation: limited(interfaces, in_prefixes),
        prefix_delegation_with_custom_networking: limited(others, in_prefixes),
    })
}

/// With this number of addresses for Pods on each of the interfaces.
fn pods(interfaces: u32, addresses: u32) -> u32 {
    interfaces.saturating_mul(addresses).saturating_add(ON_HOST_NETWORK)
}

fn count(pods: u32) -> i32 {
    i32::try_from(pods).unwrap_or(i32::MAX)
}

fn least(one: MaxPods, other: MaxPods) -> MaxPods {
    let MaxPods { standard, custom_networking, prefix_delegation, prefix_delegation_with_custom_networking } =
        one;
    MaxPods {
        standard: standard.min(other.standard),
        custom_networking: custom_networking.min(other.custom_networking),
        prefix_delegation: prefix_delegation.min(other.prefix_delegation),
        prefix_delegation_with_custom_networking: prefix_delegation_with_custom_networking
            .min(other.prefix_delegation_with_custom_networking),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::inputs::mix::small_type;
    use foo_api::node_config::VpcCni;
    use proptest::prelude::*;

    fn kind(vcpus: u32, addresses: Option<AddressLimits>) -> InstanceTypeInfo {
        InstanceTypeInfo { vcpus, addresses, ..small_type("x") }
    }

    fn nitro(vcpus: u32, interfaces: u32, ipv4_per_interface: u32) -> InstanceTypeInfo {
        kind(vcpus, Some(AddressLimits { interfaces, ipv4_per_interface, prefixes: true }))
    }

    fn xen(vcpus: u32, interfaces: u32, ipv4_per_interface: u32) -> InstanceTypeInfo {
        kind(vcpus, Some(AddressLimits { interfaces, ipv4_per_interface, prefixes: false }))
    }

    /// Standard, custom networking, prefix delegation, both.
    fn numbers(types: &[InstanceTypeInfo]) -> Option<[i32; 4]> {
        numbers_without(0, types)
    }

    /// The same with this number of interfaces that are not for Pods.
    fn numbers_without(not_for_pods: u32, types: &[InstanceTypeInfo]) -> Option<[i32; 4]> {
        let known = max_pods(types, not_for_pods)?;
        let with = |prefix_delegation, custom_networking| {
            known.with(VpcCni { prefix_delegation, custom_networking })
        };
        Some([with(false, false), with(false, true), with(true, false), with(true, true)])
    }

    /// The numbers of AWS's calculator; the first of each type is the one of AWS's list `eni-max-pods.txt`.
    #[test]
    fn a_node_can_have_as_many_pods_as_aws_computes_for_its_type() {
        for (name, kind, expected) in [
            ("t3.nano", nitro(2, 2, 2), [4, 3, 34, 18]),
            ("t3.medium", nitro(2, 3, 6), [17, 12, 110, 110]),
            ("m5.large", nitro(2, 3, 10), [29, 20, 110, 110]),
            ("m5.xlarge", nitro(4, 4, 15), [58, 44, 110, 110]),
            ("m5.4xlarge", nitro(16, 8, 30), [234, 110, 110, 110]),
            ("m5.8xlarge", nitro(32, 8, 30), [234, 205, 250, 250]),
            ("m5.24xlarge", nitro(96, 15, 50), [737, 250, 250, 250]),
            ("m4.large", xen(2, 2, 10), [20, 11, 20, 11]),
        ] {
            assert_eq!(numbers(&[kind]), Some(expected), "{name}");
        }
    }

    #[test]
    fn a_pool_of_several_types_has_the_smallest_of_each_number() {
        let (small, without_prefixes) = (nitro(2, 3, 6), xen(64, 8, 30));
        assert_eq!(numbers(&[small.clone(), without_prefixes]), Some([17, 12, 110, 110]));
        assert_eq!(numbers(&[small, xen(2, 2, 10)]), Some([17, 11, 20, 11]));
    }

    #[test]
    fn without_the_limits_of_each_type_there_is_no_number() {
        assert_eq!(numbers(&[]), None);
        assert_eq!(numbers(&[nitro(2, 3, 10), kind(2, None)]), None);
    }

    #[test]
    fn interfaces_that_are_not_for_pods_lower_every_number() {
        let (large, more) = (nitro(2, 3, 10), nitro(16, 8, 30));
        assert_eq!(numbers_without(1, std::slice::from_ref(&large)), Some([20, 11, 110, 110]));
        assert_eq!(numbers_without(2, std::slice::from_ref(&large)), Some([11, 2, 110, 2]));
        assert_eq!(numbers_without(2, std::slice::from_ref(&more)), Some([176, 110, 110, 110]));
        assert_eq!(numbers_without(9, &[large, more]), Some([2; 4]), "more than there are");
    }

    proptest! {
        #[test]
        fn settings_change_the_number_in_one_direction_only(
            vcpus in 1..500_u32, interfaces in 1..40_u32, addresses in 1..100_u32,
            prefixes in any::<bool>(),
        ) {
            let limits = AddressLimits { interfaces, ipv4_per_interface: addresses, prefixes };
            let [standard, custom, prefix, both] = numbers(&[kind(vcpus, Some(limits))]).unwrap();
            prop_assert!(custom <= standard && both <= prefix, "custom networking takes an interface");
            prop_assert!(custom <= both, "prefixes add addresses");
            let most = if vcpus > 30 { 250 } else { 110 };
            prop_assert_eq!(prefix.min(most), prefix);
            prop_assert!(prefix >= standard.min(most) && both >= 2);
        }

        #[test]
        fn a_type_more_never_raises_a_number(
            one in (1..100_u32, 1..20_u32, 1..60_u32), other in (1..100_u32, 1..20_u32, 1..60_u32),
        ) {
            let [one, other] = [one, other].map(|(vcpus, interfaces, each)| nitro(vcpus, interfaces, each));
            let alone = numbers(std::slice::from_ref(&one)).unwrap();
            let both = numbers(&[one, other]).unwrap();
            prop_assert!(alone.iter().zip(both).all(|(alone, both)| both <= *alone));
        }
    }
}
