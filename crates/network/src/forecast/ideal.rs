//! An EC2 in which every call succeeds, as far as the planner observes it.

use super::created::{amazons, created};
use crate::action::Action;
use crate::desired::Desired;
use crate::observed::{DnsAttributes, KindReads, Observed};
use crate::situation::Situation;
use crate::situation::effects::apply;
use crate::situation::part::{Part, for_each_kind};
use crate::{Network, Report};
use foo_calls::forecast::{Counts, Works};
use foo_model::names::TAG_NETWORK;
use foo_model::network::{
    Change, CidrState, EndpointState, Interface, Kind, LoadBalancer, NatState, Parts, Quotas, Scope, Tags,
    TargetGroup,
};
use foo_model::{Timestamp, VpcId};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How long EC2 creates a NAT gateway. An assumption, like the next ones: EC2 documents none of them.
pub const NAT: Duration = Duration::from_mins(2);
/// How long it creates a VPC endpoint with interfaces.
pub const ENDPOINT: Duration = Duration::from_mins(2);
/// How long it deletes either.
const DELETION: Duration = Duration::from_mins(1);
/// How long it takes for everything else.
const MOMENT: Duration = Duration::from_secs(10);

/// A read that a report asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// Of parts.
    Parts(Kind, Scope),
    /// Of the quotas.
    Quotas,
}

/// Something that EC2 is working on, and then is done.
#[derive(Clone, Debug)]
pub(super) enum Work {
    /// NAT gateways and endpoints of these ids, which are being created or deleted.
    Parts(BTreeSet<String>),
    /// VPCs, their ranges and subnets.
    Rest,
}

/// EC2, and what reads of it show.
pub(super) struct Ideal<'a> {
    desired: &'a Desired,
    truth: Parts,
    works: Works<Work>,
    /// Kinds whose parts in a VPC were read.
    in_vpc: BTreeMap<VpcId, BTreeSet<Kind>>,
    /// Whether all parts of a kind that carry the network's tag are known.
    tagged: BTreeSet<Kind>,
    /// Ids of parts that are known not to exist.
    deleted: BTreeSet<String>,
    quotas: Option<Quotas>,
    ids: u32,
}

/// What the ids of parts begin with that a forecast creates.
pub const PLANNED: &str = "planned-";

impl<'a> Ideal<'a> {
    /// EC2 as it is observed, with what it is working on.
    pub(super) fn new(situation: &Situation<'a>) -> Self {
        let observed = situation.observed;
        let mut truth = situation.own.clone();
        for_each_kind!(merge(&situation.others, &mut truth));
        merge::<Interface>(&situation.others, &mut truth);
        merge::<LoadBalancer>(&situation.others, &mut truth);
        merge::<TargetGroup>(&situation.others, &mut truth);
        let kinds = |(vpc, read): (&VpcId, &KindReads)| (vpc.clone(), read.begun.keys().copied().collect());
        let mut ideal = Self {
            desired: situation.desired,
            truth,
            works: Works::new(situation.now),
            in_vpc: observed.in_vpc.iter().map(kinds).collect(),
            tagged: observed.tagged.begun.keys().copied().collect(),
            deleted: observed.by_id.begun.values().flat_map(BTreeMap::keys).cloned().collect(),
            quotas: observed.quotas.clone(),
            ids: 0,
        };
        for effect in &situation.memory.calls.effects {
            ideal.complete(&effect.action.change, &effect.response, PLANNED);
        }
        ideal.resume(situation.now);
        ideal
    }

    /// EC2 assigns a range of IPv6 addresses, which no response contains.
    fn complete(&mut self, change: &Change, response: &Parts, id: &str) {
        if let Change::CreateVpc { ipv6: true, .. } | Change::AssociateVpcIpv6 { .. } = change {
            for vpc in response.vpcs.keys() {
                if let Some(vpc) = self.truth.vpcs.get_mut(vpc).filter(|vpc| vpc.ipv6.is_empty()) {
                    vpc.ipv6.push(amazons(id));
                }
            }
        }
    }

    /// What EC2 is working on already takes as long as if it began now.
    fn resume(&mut self, now: Timestamp) {
        let nats = self.truth.nat_gateways.values();
        let nats = nats.filter(|it| matches!(it.state, NatState::Pending | NatState::Deleting));
        let moves = |state: EndpointState| matches!(state, EndpointState::Pending | EndpointState::Deleting);
        let endpoints = self.truth.endpoints.values().filter(|it| moves(it.state));
        let ids: BTreeSet<String> =
            nats.map(|it| it.id.to_string()).chain(endpoints.map(|it| it.id.to_string())).collect();
        if !ids.is_empty() {
            self.works.begin(now, NAT.max(ENDPOINT), Work::Parts(ids), Counts::Yes);
        }
        self.works.begin(now, MOMENT, Work::Rest, Counts::No);
    }

    fn finish_part(&mut self, id: &str) {
        if let Some(nat) = self.truth.nat_gateways.get_mut(&id.into()) {
            match nat.state {
                NatState::Pending => nat.state = NatState::Available,
                NatState::Deleting => nat.state = NatState::Deleted,
                NatState::Available | NatState::Failed | NatState::Deleted => {}
            }
        }
        let Some(endpoint) = self.truth.endpoints.get_mut(&id.into()) else { return };
        match endpoint.state {
            EndpointState::Pending => endpoint.state = EndpointState::Available,
            EndpointState::Deleting => {
                self.truth.endpoints.remove(&id.into());
                self.deleted.insert(id.to_owned());
            }
            _ => {}
        }
    }

    /// Whether the response to a read is known.
    fn knows(&self, kind: Kind, scope: &Scope) -> bool {
        match scope {
            Scope::TagKey(_) | Scope::Tag(..) => self.tagged.contains(&kind),
            Scope::Vpc(vpc) => {
                vpc.as_str().starts_with(PLANNED)
                    || self.in_vpc.get(vpc).is_some_and(|kinds| kinds.contains(&kind))
            }
            Scope::Ids(ids) if kind == Kind::VpcAttributes => ids.iter().all(|id| {
                let vpc = self.truth.vpcs.get(&id.as_str().into());
                vpc.is_some_and(|vpc| vpc.dns_support.is_some() && vpc.dns_hostnames.is_some())
            }),
            Scope::Ids(ids) => {
                let mut known = BTreeSet::new();
                for_each_kind!(known_ids(&self.truth, &mut known));
                ids.iter().all(|id| known.contains(id) || self.deleted.contains(id))
            }
        }
    }

    /// Fills in what a read shows.
    fn respond(&self, kind: Kind, scope: &Scope, begun: Timestamp, observed: &mut Observed) {
        match scope {
            Scope::Ids(ids) if kind == Kind::VpcAttributes => {
                for id in ids.iter().map(|id| VpcId::from(id.as_str())) {
                    let Some(vpc) = self.truth.vpcs.get(&id) else { continue };
                    let (support, hostnames) =
                        (vpc.dns_support == Some(true), vpc.dns_hostnames == Some(true));
                    observed.attributes.insert(id, DnsAttributes { begun, support, hostnames });
                }
            }
            Scope::Ids(ids) => {
                let read = observed.by_id.begun.entry(kind).or_default();
                read.extend(ids.iter().map(|id| (id.clone(), begun)));
                let parts = &mut observed.by_id.parts;
                for_each_kind!(show(kind, &self.truth, parts, &|id, _, _| ids.contains(id)));
            }
            Scope::Vpc(vpc) => {
                let read = observed.in_vpc.entry(vpc.clone()).or_default();
                read.begun.insert(kind, begun);
                let parts = &mut read.parts;
                let is_in = |_: &str, of: Option<&VpcId>, _: &Tags| of == Some(vpc);
                for_each_kind!(show(kind, &self.truth, parts, &is_in));
                show::<Interface>(kind, &self.truth, parts, &is_in);
                show::<LoadBalancer>(kind, &self.truth, parts, &is_in);
                show::<TargetGroup>(kind, &self.truth, parts, &is_in);
            }
            Scope::TagKey(_) | Scope::Tag(..) => {
                observed.tagged.begun.insert(kind, begun);
                let parts = &mut observed.tagged.parts;
                for_each_kind!(show(kind, &self.truth, parts, &|_, _, tags| tags.contains_key(TAG_NETWORK)));
            }
        }
    }
}

impl foo_calls::forecast::Ideal for Ideal<'_> {
    type Domain = Network;
    type Read = Read;
    type Work = Work;
    type Contents = Parts;

    fn contents(&self) -> Parts {
        self.truth.clone()
    }

    fn carry_out(&mut self, action: &Action, now: Timestamp) -> Parts {
        self.ids += 1;
        let id = format!("{PLANNED}{}", self.ids);
        let response = created(&action.change, &id, self.desired, &self.truth);
        apply(&action.change, &response, &mut self.truth);
        self.complete(&action.change, &response, &id);
        self.deleted.extend(action.change.deleted_at_once().map(str::to_owned));
        if let Some((takes, work)) = work_of(&action.change, &response) {
            self.works.begin(now, takes, work, Counts::Yes);
        }
        response
    }

    fn works(&mut self) -> &mut Works<Work> {
        &mut self.works
    }

    fn finish(&mut self, work: Work) {
        match work {
            Work::Parts(ids) => {
                for id in ids {
                    self.finish_part(&id);
                }
            }
            Work::Rest => {
                for vpc in self.truth.vpcs.values_mut() {
                    vpc.available = true;
                    vpc.cidrs.iter_mut().for_each(|it| settle(&mut it.state));
                    vpc.ipv6.iter_mut().for_each(|it| settle(&mut it.state));
                }
                for subnet in self.truth.subnets.values_mut() {
                    subnet.ipv6.iter_mut().for_each(|it| settle(&mut it.state));
                    if subnet.state == "pending" {
                        "available".clone_into(&mut subnet.state);
                    }
                }
            }
        }
    }

    fn reads(report: &Report, observed: &Observed) -> Vec<(Read, Timestamp)> {
        let quotas = report.wants_quotas && observed.quotas.is_none();
        let parts = report.reads.iter().map(|read| (Read::Parts(read.kind, read.scope.clone()), read.from));
        parts.chain(quotas.then_some((Read::Quotas, observed.now))).collect()
    }

    fn read(&self, read: &Read, now: Timestamp, observed: &mut Observed) -> bool {
        match read {
            Read::Parts(kind, scope) => {
                let known = self.knows(*kind, scope);
                if known {
                    self.respond(*kind, scope, now, observed);
                }
                known
            }
            Read::Quotas => {
                observed.quotas.clone_from(&self.quotas);
                self.quotas.is_some()
            }
        }
    }

    fn set_now(observed: &mut Observed, now: Timestamp) {
        observed.now = now;
    }

    fn again_at(report: &Report) -> Option<Timestamp> {
        report.again_at
    }

    fn is_settled(report: &Report) -> bool {
        report.settled
    }

    fn is_step(_: &Action) -> bool {
        true
    }
}

/// What EC2 then works on, and for how long.
fn work_of(change: &Change, response: &Parts) -> Option<(Duration, Work)> {
    let parts = |ids: BTreeSet<String>| Work::Parts(ids);
    match change {
        Change::CreateNatGateway { .. } => {
            Some((NAT, parts(response.nat_gateways.keys().map(ToString::to_string).collect())))
        }
        Change::CreateVpcEndpoint { .. } => {
            Some((ENDPOINT, parts(response.endpoints.keys().map(ToString::to_string).collect())))
        }
        Change::DeleteNatGateway { gateway } => {
            Some((DELETION, parts(BTreeSet::from([gateway.to_string()]))))
        }
        Change::DeleteVpcEndpoints { endpoints } => {
            Some((DELETION, parts(endpoints.iter().map(ToString::to_string).collect())))
        }
        _ => None,
    }
}

fn settle(state: &mut CidrState) {
    if *state == CidrState::Associating {
        *state = CidrState::Associated;
    }
}

fn merge<P: Part>(from: &Parts, into: &mut Parts) {
    P::map_mut(into).extend(P::map(from).iter().map(|(id, part)| (id.clone(), part.clone())));
}

fn known_ids<P: Part>(parts: &Parts, known: &mut BTreeSet<String>) {
    known.extend(P::map(parts).keys().map(ToString::to_string));
}

/// Parts of this kind that fit are shown as they are; others that were shown before are gone.
fn show<P: Part>(
    kind: Kind,
    from: &Parts,
    into: &mut Parts,
    fits: &dyn Fn(&str, Option<&VpcId>, &Tags) -> bool,
) {
    if P::KIND != kind {
        return;
    }
    let shown = P::map(from).iter().filter(|(id, part)| fits(&id.to_string(), part.vpc(), part.tags()));
    *P::map_mut(into) = shown.map(|(id, part)| (id.clone(), part.clone())).collect();
}
