//! Which parts of a network cannot change. The rules belong to the FooCluster, not to its spec: a template has the
//! same spec, and Cluster API tries changes of it in dry runs.
//!
//! They protect what exists, according to the status. What was requested and does not exist can be reverted: a zone
//! that the region lacks, a range that overlaps another.
//!
//! The status is never behind what they ask for. An intent is in `status.network.intents` before the creation is sent,
//! and the part is in `status.network.resources` when the intent is taken out; a range is in `status.network.cidrs`
//! before a subnet is created in it. Two gaps are left, in which a change is accepted though something exists or is just
//! being created: between the provider's reading the spec and its writing the intent, and after `clusterctl move`, which
//! leaves the status behind, until the first pass. That is safe: the provider deletes no VPC, range or subnet because
//! of a change of the spec. It keeps what exists, or reports what differs (`ZoneInUse`, `SubnetDiffers`).

use kube::core::Rule;

/// From an existing network to a managed one, or back.
pub(super) fn same_mode() -> Rule {
    Rule::new("has(self.spec.network.managed) == has(oldSelf.spec.network.managed)").message(
        "network cannot turn from existing to managed or back: the instances of the pools are in the network that the \
         cluster has; create another FooCluster",
    )
}

/// VPC of a managed network, once anything was created for it or in it.
pub(super) fn same_vpc() -> Rule {
    let begun = exists("true");
    managed(&format!("(has(NEW.vpcID) ? NEW.vpcID : '') == (has(OLD.vpcID) ? OLD.vpcID : '') || !{begun}")).message(
        "network.managed.vpcID cannot be added, changed or removed once anything of the network exists: nothing in a \
         VPC can move to another",
    )
}

/// Range of a managed network, once its VPC has it; in the user's VPC, once a subnet is in it. A VPC that was created with
/// another range than the spec has by now cannot make use of it, so it can change.
pub(super) fn same_cidr() -> Rule {
    let range = |of: &str| format!("(has({of}.cidr) ? {of}.cidr : '10.0.0.0/16')");
    let (old, new) = (range("OLD"), range("NEW"));
    let (vpc, subnet) = (exists("part.role == 'vpc'"), exists(&is_subnet("")));
    let is_unused = format!("!has(OLD.vpcID) && {CIDRS_KNOWN} && !({old} in STATUS.cidrs)");
    managed(&format!("{new} == {old} || !(has(OLD.vpcID) ? {subnet} : {vpc}) || ({is_unused})")).message(
        "network.managed.cidr cannot be changed once it is used: AWS cannot change the first range of a VPC; add \
         secondaryCIDRs for more room",
    )
}

/// Further ranges that the VPC has.
pub(super) fn no_range_removed() -> Rule {
    managed(&format!(
        "!has(OLD.secondaryCIDRs) || !({CIDRS_KNOWN}) || OLD.secondaryCIDRs.all(range, \
         (has(NEW.secondaryCIDRs) && range in NEW.secondaryCIDRs) || !(range in STATUS.cidrs))"
    ))
    .message(
        "ranges that the VPC has cannot be removed from network.managed.secondaryCIDRs: subnets may be in them, and AWS \
         removes no range with a subnet",
    )
}

/// Dual stack, once the VPC got its range for it, or in the user's VPC a subnet did.
pub(super) fn keeps_ipv6() -> Rule {
    let vpc = exists("part.role == 'vpc/ipv6'");
    let subnet =
        format!("({KNOWN} && has(STATUS.subnets) && STATUS.subnets.exists(subnet, has(subnet.ipv6CIDR)))");
    managed(&format!("!OLD.ipv6 || NEW.ipv6 || !({vpc} || {subnet})")).message(
        "network.managed.ipv6 cannot be turned off once the network has an IPv6 range: instances and load balancers use \
         the addresses",
    )
}

/// At least as many zones as have subnets. Zones that are named are judged by [`no_zone_removed`].
pub(super) fn no_fewer_zones() -> Rule {
    let number = |of: &str| {
        format!("(has({of}.zones) ? (has({of}.zones.count) ? {of}.zones.count : size({of}.zones.names)) : 3)")
    };
    let (old, new) = (number("OLD"), number("NEW"));
    let there = ["private/", "public/", "pods/"].map(|tier| how_many(&is_subnet(tier)));
    let enough = there.map(|there| format!("{new} >= {there}")).join(" && ");
    managed(&format!(
        "{new} >= {old} || (has(NEW.zones) && has(NEW.zones.names)) || !({KNOWN}) || ({enough})"
    ))
    .message(ZONES)
}

/// Zones that have subnets and were named, or chosen by the provider, are among those that are named.
pub(super) fn no_zone_removed() -> Rule {
    let named = |of: &str| format!("{of}.zones.names.exists(zone, part.role.endsWith('/' + zone))");
    let (old, new) = (named("OLD"), named("NEW"));
    let left_out = exists(&format!(
        "{} && !{new} && (!has(OLD.zones) || !has(OLD.zones.names) || {old})",
        is_subnet("")
    ));
    managed(&format!("!has(NEW.zones) || !has(NEW.zones.names) || !{left_out}")).message(ZONES)
}

const ZONES: &str = "zones with subnets cannot be removed from network.managed.zones: instances and load balancers may be in the subnets";

/// The type of subnets that exist. There are always private ones; public ones are among the default, those for Pods are not.
pub(super) fn no_type_removed() -> Rule {
    let (public, pods) = (exists(&is_subnet("public/")), exists(&is_subnet("pods/")));
    let types = |of: &str| format!("(has({of}.subnets) && has({of}.subnets.types))");
    let (old, new) = (types("OLD"), types("NEW"));
    let keeps_public = format!(
        "!{new} || 'Public' in NEW.subnets.types || ({old} && !('Public' in OLD.subnets.types)) || !{public}"
    );
    let keeps_pods = format!(
        "({new} && 'Pods' in NEW.subnets.types) || !({old} && 'Pods' in OLD.subnets.types) || !{pods}"
    );
    managed(&format!("({keeps_public}) && ({keeps_pods})")).message(
        "types of which there are subnets cannot be removed from network.managed.subnets.types: load balancers or Pods may \
         be in the subnets",
    )
}

/// Sizes of subnets that exist.
pub(super) fn same_sizes() -> Rule {
    let size = |of: &str, which: &str| {
        format!(
            "(has({of}.subnets) && has({of}.subnets.sizes) && has({of}.subnets.sizes.{which}) ? {of}.subnets.sizes.{which} : 0)"
        )
    };
    let same = |which: &str| {
        let there = exists(&is_subnet(&format!("{which}/")));
        format!("({} == {} || !{there})", size("NEW", which), size("OLD", which))
    };
    managed(&["private", "public", "pods"].map(same).join(" && ")).message(
        "network.managed.subnets.sizes cannot be added, changed or removed once there are such subnets: AWS cannot resize \
         a subnet",
    )
}

/// Subnets are computed or listed, as at first.
pub(super) fn same_way_of_subnets() -> Rule {
    let listed = |of: &str| format!("(has({of}.subnets) && has({of}.subnets.list))");
    let there = exists(&is_subnet(""));
    managed(&format!("{} == {} || !{there}", listed("NEW"), listed("OLD"))).message(
        "network.managed.subnets.list cannot be added or removed as a whole once there are subnets: AWS cannot move a \
         subnet to another range",
    )
}

/// Listed subnets that exist stay as they are, except for their tags. One that is not as listed already has failed: its entry can
/// become what AWS has.
pub(super) fn no_subnet_changed() -> Rule {
    let is_it = format!("{} && part.role.endsWith('/' + old.name)", is_subnet(""));
    let failed =
        format!("has(STATUS.resources) && STATUS.resources.exists(part, {is_it} && part.state == 'Failed')");
    let same_role = "NEW.subnets.list.exists(new, new.name == old.name && new.type == old.type)";
    let same = "NEW.subnets.list.exists(new, new.name == old.name && new.type == old.type && new.zone == old.zone && new.cidr == old.cidr)";
    let there = exists(&is_it);
    managed(&format!(
        "!has(OLD.subnets) || !has(OLD.subnets.list) || !has(NEW.subnets) || !has(NEW.subnets.list) || \
         OLD.subnets.list.all(old, {same} || !{there} || ({failed} && {same_role}))"
    ))
    .message(
        "entries of network.managed.subnets.list whose subnets exist cannot be changed or removed: AWS cannot move or resize \
         a subnet; add another",
    )
}

/// Whether the status says anything of the network. Until it does, nothing was created.
const KNOWN: &str = "has(oldSelf.status) && has(oldSelf.status.network)";

/// Whether the status says which ranges the VPC has.
const CIDRS_KNOWN: &str = "has(oldSelf.status) && has(oldSelf.status.network) && has(STATUS.cidrs)";

/// Whether there is a `part` of the network of which this is true: it exists, or is just being created. What is the user's
/// has an id and no `since`.
fn exists(condition: &str) -> String {
    format!(
        "({KNOWN} && ((has(STATUS.resources) && STATUS.resources.exists(part, has(part.since) && ({condition}))) || \
         (has(STATUS.intents) && STATUS.intents.exists(part, {condition}))))"
    )
}

/// How many parts there are of which this is true; of a network that is known.
fn how_many(condition: &str) -> String {
    format!(
        "((has(STATUS.resources) ? size(STATUS.resources.filter(part, has(part.since) && ({condition}))) : 0) + \
         (has(STATUS.intents) ? size(STATUS.intents.filter(part, {condition})) : 0))"
    )
}

/// Whether `part` is a subnet, of this tier if it is not empty.
fn is_subnet(tier: &str) -> String {
    format!("part.role.startsWith('subnet/{tier}')")
}

/// A rule of two managed networks, the `NEW` one and the `OLD` one, of which `STATUS` is what is known.
fn managed(condition: &str) -> Rule {
    let condition = condition
        .replace("NEW", "self.spec.network.managed")
        .replace("OLD", "oldSelf.spec.network.managed")
        .replace("STATUS", "oldSelf.status.network");
    Rule::new(format!(
        "!has(self.spec.network.managed) || !has(oldSelf.spec.network.managed) || ({condition})"
    ))
}
