//! The immutable parts of a network. The rules belong to the FooCluster, not to its spec: a template has the
//! same spec, and Cluster API tries changes of it in dry runs.

use kube::core::Rule;

/// From an existing network to a managed one, or back.
pub(super) fn same_mode() -> Rule {
    Rule::new("has(self.spec.network.managed) == has(oldSelf.spec.network.managed)").message(
        "network cannot turn from existing to managed or back: the instances of the pools are in the network that the \
         cluster has; create another FooCluster",
    )
}

/// VPC or range of a managed network.
pub(super) fn same_vpc() -> Rule {
    managed("(has(NEW.vpcID) ? NEW.vpcID : '') == (has(OLD.vpcID) ? OLD.vpcID : '')").message(
        "network.managed.vpcID cannot be added, changed or removed: nothing in a VPC can move to another",
    )
}

/// Range of a managed network.
pub(super) fn same_cidr() -> Rule {
    managed("(has(NEW.cidr) ? NEW.cidr : '10.0.0.0/16') == (has(OLD.cidr) ? OLD.cidr : '10.0.0.0/16')").message(
        "network.managed.cidr cannot be changed: AWS cannot change the first range of a VPC; add secondaryCIDRs for more \
         room",
    )
}

/// Further ranges of a managed network.
pub(super) fn no_range_removed() -> Rule {
    managed("!has(OLD.secondaryCIDRs) || (has(NEW.secondaryCIDRs) && OLD.secondaryCIDRs.all(range, range in NEW.secondaryCIDRs))")
        .message("ranges cannot be removed from network.managed.secondaryCIDRs: subnets may be in them, and AWS removes no range with a subnet")
}

/// Dual stack, once there are addresses.
pub(super) fn keeps_ipv6() -> Rule {
    managed("!OLD.ipv6 || NEW.ipv6")
        .message("network.managed.ipv6 cannot be turned off: instances and load balancers use the addresses")
}

/// At least as many zones as before.
pub(super) fn no_fewer_zones() -> Rule {
    let number = |of: &str| {
        format!("(has({of}.zones) ? (has({of}.zones.count) ? {of}.zones.count : size({of}.zones.names)) : 3)")
    };
    managed(&format!("{} >= {}", number("NEW"), number("OLD"))).message(
        "zones cannot be removed from network.managed.zones: instances and load balancers may be in their subnets",
    )
}

/// Zones that were named are named still.
pub(super) fn no_zone_removed() -> Rule {
    managed(
        "!has(OLD.zones) || !has(OLD.zones.names) || !has(NEW.zones) || !has(NEW.zones.names) || \
         OLD.zones.names.all(zone, zone in NEW.zones.names)",
    )
    .message("zones cannot be removed from network.managed.zones: instances and load balancers may be in their subnets")
}

/// Types of subnets that there were are there still.
pub(super) fn no_type_removed() -> Rule {
    managed(
        "!has(NEW.subnets) || !has(NEW.subnets.types) || \
         (has(OLD.subnets) && has(OLD.subnets.types) ? OLD.subnets.types : ['Public', 'Private']).all(type, type in NEW.subnets.types)",
    )
    .message("types cannot be removed from network.managed.subnets.types: load balancers may be in their subnets")
}

/// Sizes of subnets.
pub(super) fn same_sizes() -> Rule {
    let size = |of: &str, which: &str| {
        format!(
            "(has({of}.subnets) && has({of}.subnets.sizes) && has({of}.subnets.sizes.{which}) ? {of}.subnets.sizes.{which} : 0)"
        )
    };
    let same = |which| format!("{} == {}", size("NEW", which), size("OLD", which));
    managed(&format!("{} && {}", same("private"), same("public"))).message(
        "network.managed.subnets.sizes cannot be added, changed or removed: AWS cannot resize a subnet",
    )
}

/// Subnets are computed or listed, as at first.
pub(super) fn same_way_of_subnets() -> Rule {
    let listed = |of: &str| format!("(has({of}.subnets) && has({of}.subnets.list))");
    managed(&format!("{} == {}", listed("NEW"), listed("OLD"))).message(
        "network.managed.subnets.list cannot be added or removed as a whole: AWS cannot move a subnet to another range",
    )
}

/// Listed subnets stay as they are.
pub(super) fn no_subnet_changed() -> Rule {
    managed(
        "!has(OLD.subnets) || !has(OLD.subnets.list) || !has(NEW.subnets) || !has(NEW.subnets.list) || \
         OLD.subnets.list.all(old, NEW.subnets.list.exists(new, new == old))",
    )
    .message(
        "entries of network.managed.subnets.list cannot be changed or removed: AWS cannot move or resize a subnet; add \
         another",
    )
}

/// A rule of two managed networks, the `NEW` one and the `OLD` one.
fn managed(condition: &str) -> Rule {
    let condition =
        condition.replace("NEW", "self.spec.network.managed").replace("OLD", "oldSelf.spec.network.managed");
    Rule::new(format!(
        "!has(self.spec.network.managed) || !has(oldSelf.spec.network.managed) || ({condition})"
    ))
}
