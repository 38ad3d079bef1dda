//! What the newest reads show together, and what of it is the network's.

use super::effects;
use super::part::{Part, for_each_kind};
use crate::Desired;
use crate::memory::Memory;
use crate::observed::Observed;
use crate::tags;
use foo_model::Timestamp;
use foo_model::names::TAG_INSTALLATION;
use foo_model::network::{Interface, Kind, LoadBalancer, NatState, Parts, TargetGroup};
use std::collections::{BTreeMap, BTreeSet};

/// What the newest reads show.
#[derive(Default)]
pub(crate) struct Shown {
    /// What carries the network's tag, with the effects of our calls that reads may not show yet.
    pub(crate) own: Parts,
    /// The rest.
    pub(crate) others: Parts,
    /// Ids of the network that a read showed, not only a response.
    pub(crate) seen: BTreeMap<String, Kind>,
}

impl Shown {
    pub(crate) fn new(desired: &Desired, observed: &Observed, memory: &Memory) -> Self {
        let mut shown = Self::default();
        for_each_kind!(sort(desired, observed, &mut shown));
        sort::<Interface>(desired, observed, &mut shown);
        sort::<LoadBalancer>(desired, observed, &mut shown);
        sort::<TargetGroup>(desired, observed, &mut shown);
        for (id, attributes) in &observed.attributes {
            if let Some(vpc) = shown.own.vpcs.get_mut(id).or_else(|| shown.others.vpcs.get_mut(id)) {
                vpc.dns_support = Some(attributes.support);
                vpc.dns_hostnames = Some(attributes.hostnames);
            }
        }
        for effect in &memory.calls.effects {
            effects::apply(&effect.action.change, &effect.response, &mut shown.own);
            effects::delete(&effect.action.change, &mut shown.others);
            effects::apply_to_rules(&effect.action.change, &mut shown.others);
        }
        shown.leave_out_deleted();
        shown
    }

    /// EC2 shows NAT gateways and endpoints for a while after they are deleted.
    fn leave_out_deleted(&mut self) {
        self.own.nat_gateways.retain(|_, it| it.state != NatState::Deleted);
        self.own.endpoints.retain(|_, it| it.state != foo_model::network::EndpointState::Deleted);
    }
}

/// Sorts the parts of one kind by whose they are. Of each the newest version counts; a read that covers a part and does not show it
/// says that it is not there.
fn sort<P: Part>(desired: &Desired, observed: &Observed, shown: &mut Shown) {
    let mut newest: BTreeMap<P::Id, (Timestamp, Option<P>)> = BTreeMap::new();
    let mut see = |id: &P::Id, at: Timestamp, part: Option<&P>| {
        let fresher = newest.get(id).is_none_or(|(before, _)| *before < at);
        if fresher {
            newest.insert(id.clone(), (at, part.cloned()));
        }
    };
    if let Some(at) = observed.tagged.begun.get(&P::KIND) {
        for (id, part) in P::map(&observed.tagged.parts) {
            see(id, *at, Some(part));
        }
    }
    for (id, at) in observed.by_id.begun.get(&P::KIND).into_iter().flatten() {
        let id = P::Id::from(id.clone());
        see(&id, *at, P::map(&observed.by_id.parts).get(&id));
    }
    for read in observed.in_vpc.values() {
        let Some(at) = read.begun.get(&P::KIND) else { continue };
        for (id, part) in P::map(&read.parts) {
            see(id, *at, Some(part));
        }
    }
    for (id, (at, part)) in newest {
        let Some(part) = part else { continue };
        let own = tags::are_own(desired, part.tags());
        if is_hidden_since(&id, &part, at, own, observed) {
            continue;
        }
        if own {
            shown.seen.insert(id.to_string(), P::KIND);
            P::map_mut(&mut shown.own).insert(id, part);
        } else {
            P::map_mut(&mut shown.others).insert(id, part);
        }
    }
}

/// Whether a later read that covers the part does not show it. An internet gateway that is no longer in the VPC may be detached.
fn is_hidden_since<P: Part>(id: &P::Id, part: &P, at: Timestamp, own: bool, observed: &Observed) -> bool {
    let tagged = observed.tagged.begun.get(&P::KIND).is_some_and(|begun| *begun > at);
    let by_vpc = part.vpc().and_then(|vpc| observed.in_vpc.get(vpc)).is_some_and(|read| {
        P::KIND != Kind::InternetGateway
            && read.begun.get(&P::KIND).is_some_and(|begun| *begun > at)
            && !P::map(&read.parts).contains_key(id)
    });
    (tagged && own && !P::map(&observed.tagged.parts).contains_key(id)) || by_vpc
}

/// A part of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tagged {
    pub(crate) kind: Kind,
    pub(crate) id: String,
    pub(crate) tags: foo_model::network::Tags,
}

/// All parts of the network.
pub(crate) fn tagged(parts: &Parts) -> Vec<Tagged> {
    let mut all = Vec::new();
    for_each_kind!(list(parts, &mut all));
    all
}

/// The management clusters that the parts of a network name in their tags, as far as the shared read shows them.
pub fn installations(desired: &Desired, observed: &Observed) -> BTreeSet<String> {
    let own = tagged(&observed.tagged.parts).into_iter().filter(|it| tags::are_own(desired, &it.tags));
    own.filter_map(|it| it.tags.get(TAG_INSTALLATION).cloned()).collect()
}

fn list<P: Part>(parts: &Parts, all: &mut Vec<Tagged>) {
    for (id, part) in P::map(parts) {
        all.push(Tagged { kind: P::KIND, id: id.to_string(), tags: part.tags().clone() });
    }
}
