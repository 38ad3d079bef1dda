//! Brings record and memory up to date with what reads show, and finds the part of each role.

use super::effects;
use super::known::{Held, Situation, Standing};
use super::part::{Part, for_each_kind};
use super::shown::{Shown, Tagged, tagged};
use super::wanted::Wanted;
use crate::desired::Desired;
use crate::memory::{Effect, IntentReads, Memory};
use crate::observed::Observed;
use crate::recorded::{Deletion, Intent, Origin, Recorded, RecordedPart};
use crate::role::Role;
use crate::tags;
use crate::timing::{CONFIRM, PATIENCE, UNSEEN, later};
use foo_model::Timestamp;
use foo_model::network::{Change, Kind, Parts, Tags};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn situation<'a>(
    desired: &'a Desired,
    observed: &'a Observed,
    recorded: &Recorded,
    memory: &Memory,
) -> Situation<'a> {
    let mut memory = memory.clone();
    let now = observed.now;
    let first = memory.calls.started.is_none();
    let mut record = memory.calls.begin(recorded, now);
    if desired.being_deleted {
        memory.deleting_since.get_or_insert(now);
    } else {
        memory.deleting_since = None;
        memory.linked.clear();
    }
    leave_used_tokens(&mut record, &memory, observed);
    see_deleted(&mut record, &memory);
    forget(&mut memory, observed, now);
    drop_refused_intents(&mut record, &memory);
    let shown = Shown::new(desired, observed, &memory);
    if first && record == Recorded::default() && desired.begun_before {
        assume(desired, &mut record, now);
    }
    if first {
        inherit(&mut record, now);
    }
    let (mut held, extra) = hold(&shown, &mut record, now);
    see_ipv6(&shown, &mut held, &mut record, now);
    find_hidden(&mut held, &shown, &mut record, &mut memory, observed);
    resolve_intents(&mut record, &mut memory, observed);
    let wanted = Wanted::new(desired, &|role| held.contains_key(role) || record.intents.contains_key(role));
    let Shown { own, others, .. } = shown;
    if !desired.being_deleted {
        keep_wanted(&wanted, &held, &own, &mut record);
    }
    Situation { desired, observed, now, own, others, held, extra, wanted, record, memory }
}

/// AWS knew the parts whose deletion it accepted, even if no read ever showed them.
fn see_deleted(record: &mut Recorded, memory: &Memory) {
    let deleted: BTreeSet<&str> =
        memory.calls.effects.iter().flat_map(|it| it.action.change.deleted()).collect();
    for part in record.parts.values_mut().filter(|it| deleted.contains(it.id.as_str())) {
        part.seen = true;
    }
}

/// Forgets effects that reads show, or would show by now, and failures of more than an hour ago.
fn forget(memory: &mut Memory, observed: &Observed, now: Timestamp) {
    let is_over =
        |effect: &Effect| read_at(effect, observed).is_some_and(|read_at| read_at >= effect.visible_at());
    let deleted = memory.calls.effects.iter().filter_map(|it| it.action.change.deleted_at_once());
    let mut deleted: BTreeSet<String> = deleted.map(str::to_owned).collect();
    let over = memory.calls.effects.iter().filter(|it| is_over(it));
    deleted.extend(over.flat_map(|it| it.action.change.deleted()).map(str::to_owned));
    memory.calls.effects.retain(|effect| {
        if effect.action.change.tags().is_some() {
            let ids = tagged(&effect.response);
            let alive = ids.iter().all(|it| !deleted.contains(&it.id));
            let seen = ids.iter().all(|it| shows(observed, it));
            return alive && !seen && effect.at.plus(UNSEEN) > now;
        }
        !is_over(effect)
    });
    memory.calls.forget_failures(now);
}

/// When the newest read began that can show the effect of a change; of those in VPCs the newest of any VPC.
fn read_at(effect: &Effect, observed: &Observed) -> Option<Timestamp> {
    let in_vpc = |kind: Kind| {
        let reads = observed.in_vpc.values();
        reads.filter_map(|read| read.begun.get(&kind)).max().copied()
    };
    let begun = |kind: Kind| observed.tagged.begun.get(&kind).copied();
    match &effect.action.change {
        Change::ModifyVpcAttribute { vpc, .. } => observed.attributes.get(vpc).map(|it| it.begun),
        // Parts of several kinds.
        Change::CreateTags { .. } | Change::DeleteTags { .. } => {
            observed.tagged.begun.values().min().copied()
        }
        Change::DeleteLoadBalancer { .. } => in_vpc(Kind::LoadBalancer),
        // The network's are in both reads, those of others only in that at the VPC.
        Change::DeleteVpcEndpoints { .. } => {
            let tagged = begun(Kind::Endpoint);
            in_vpc(Kind::Endpoint).map_or(tagged, |in_vpc| tagged.min(Some(in_vpc)))
        }
        Change::DeleteTargetGroup { .. } => in_vpc(Kind::TargetGroup),
        Change::DeleteNetworkInterface { .. } => in_vpc(Kind::Interface),
        // Left-overs, and what names them.
        Change::DeleteSecurityGroup { .. }
        | Change::RevokeSecurityGroupIngress { .. }
        | Change::RevokeSecurityGroupEgress { .. }
            if effect.action.role == Role::Vpc =>
        {
            in_vpc(Kind::SecurityGroup)
        }
        Change::DeleteSecurityGroup { .. } => begun(Kind::SecurityGroup).max(in_vpc(Kind::SecurityGroup)),
        // Of EKS.
        Change::AuthorizeSecurityGroupIngress { group, .. }
        | Change::RevokeSecurityGroupIngress { group, .. }
            if observed.foreign_group_read(group).is_some() =>
        {
            observed.foreign_group_read(group)
        }
        _ => begun(effect.action.role.kind()),
    }
}

fn shows(observed: &Observed, part: &Tagged) -> bool {
    fn find<P: Part>(observed: &Observed, part: &Tagged, found: &mut bool) {
        let id = P::Id::from(part.id.clone());
        *found |= P::KIND == part.kind && P::map(&observed.tagged.parts).contains_key(&id);
    }
    let mut found = false;
    for_each_kind!(find(observed, part, &mut found));
    found
}

/// Removes intents whose call AWS refused: their part was not created. If AWS knows the token with other parameters, it carried out an
/// earlier call with it.
fn drop_refused_intents(record: &mut Recorded, memory: &Memory) {
    for failure in memory.calls.failures.iter().filter(|it| is_creation(&it.action.change)) {
        let Some(intent) = record.intents.get_mut(&failure.action.role) else { continue };
        if failure.at < intent.since || failure.lost {
            continue;
        }
        // AWS knows the token, or the name of the security group, which no other group of the VPC has.
        let exists = matches!(
            failure.refusal.code.as_deref(),
            Some("IdempotentParameterMismatch" | "InvalidGroup.Duplicate")
        );
        if exists {
            if intent.origin == Origin::Decided {
                *intent = Intent { since: failure.at, origin: Origin::Assumed, ..intent.clone() };
            }
        } else {
            record.intents.remove(&failure.action.role);
        }
    }
}

/// For a token that AWS knows it returns what was created with it, even if that is deleted by now: an attempt of before the status was
/// lost. The next attempt has another token.
fn leave_used_tokens(record: &mut Recorded, memory: &Memory, observed: &Observed) {
    for effect in memory.calls.effects.iter().filter(|it| it.action.change.tags().is_some()) {
        let role = &effect.action.role;
        let over =
            tagged(&effect.response).iter().any(|it| is_deleted_nat_or_endpoint(observed, role, &it.id));
        if let Some(intent) = record.intents.get(role).filter(|_| over) {
            let next = intent.attempt.saturating_add(1);
            let attempt = record.attempts.entry(role.clone()).or_default();
            *attempt = (*attempt).max(next);
            record.intents.remove(role);
        }
    }
}

fn is_creation(change: &Change) -> bool {
    change.tags().is_some() || matches!(change, Change::AssociateVpcIpv6 { .. })
}

/// The status was lost: every part that is desired may exist.
fn assume(desired: &Desired, record: &mut Recorded, now: Timestamp) {
    let mut roles = Wanted::new(desired, &|_| false).roles;
    if roles.contains(&Role::Vpc) && desired.ipv6 {
        roles.insert(Role::VpcIpv6);
    }
    for role in roles {
        record.intents.insert(role, Intent { since: now, attempt: 0, origin: Origin::Assumed });
    }
}

/// An earlier process may have sent what is recorded until this one began. From now on it is not sent before reads show its effect,
/// which the record says: the wait does not begin again with the next process.
fn inherit(record: &mut Recorded, now: Timestamp) {
    let waiting = record
        .intents
        .iter_mut()
        .filter(|(role, intent)| intent.origin == Origin::Decided && !effects::may_be_sent_again(role));
    for (_, intent) in waiting {
        *intent = Intent { since: now, origin: Origin::Assumed, ..intent.clone() };
    }
}

/// The part of each role that reads show, and those that are too many. Records the former.
fn hold(shown: &Shown, record: &mut Recorded, now: Timestamp) -> (BTreeMap<Role, Held>, Vec<Tagged>) {
    let by_id: BTreeMap<String, Role> =
        record.parts.iter().map(|(role, part)| (part.id.clone(), role.clone())).collect();
    let mut candidates: BTreeMap<Role, Vec<Tagged>> = BTreeMap::new();
    let mut extra = Vec::new();
    for part in tagged(&shown.own) {
        let role = by_id.get(&part.id).cloned().or_else(|| tags::role(&part.tags));
        match role.filter(|role| role.kind() == part.kind) {
            Some(role) => candidates.entry(role).or_default().push(part),
            None => extra.push(part),
        }
    }
    let mut held = BTreeMap::new();
    for (role, parts) in candidates {
        let recorded = record.parts.get(&role).map(|it| it.id.clone());
        let kept = match &recorded {
            Some(id) => parts.iter().find(|it| it.id == *id),
            None => parts.iter().find(|it| is_used(shown, &it.id)).or_else(|| parts.first()),
        };
        if let Some(kept) = kept {
            let seen = shown.seen.contains_key(&kept.id);
            let entry = record.parts.entry(role.clone());
            let part = entry.or_insert_with(|| RecordedPart {
                id: kept.id.clone(),
                since: now,
                seen,
                deletion: Deletion::NotSent,
            });
            part.seen |= seen;
            record.intents.remove(&role);
            held.insert(role, Held { id: kept.id.clone(), standing: Standing::Shown });
        }
        let kept = kept.map(|it| it.id.clone());
        extra.extend(parts.into_iter().filter(|it| Some(&it.id) != kept.as_ref()));
    }
    (held, extra)
}

/// Whether another part of the network uses it.
fn is_used(shown: &Shown, id: &str) -> bool {
    let parts = &shown.own;
    let is = |other: &str| other == id;
    parts.internet_gateways.values().any(|it| is(it.id.as_str()) && it.vpc.is_some())
        || parts.route_tables.values().flat_map(|it| &it.associations).any(|it| is(it.subnet.as_str()))
        || is_used_group(parts, id)
        || parts.subnets.values().any(|it| is(it.vpc.as_str()))
        || parts.nat_gateways.values().any(|nat| {
            is(nat.subnet.as_str()) || nat.allocations.iter().any(|address| is(address.as_str()))
        })
        || parts.route_tables.values().any(|it| is(it.id.as_str()) && !it.associations.is_empty())
        || parts.route_tables.values().flat_map(|it| &it.routes).any(|route| {
            matches!(&route.target, foo_model::network::RouteTarget::NatGateway(nat) if is(nat.as_str()))
        })
}

/// Whether rules of another group of the network name the group, or an endpoint of the network has it.
fn is_used_group(parts: &Parts, id: &str) -> bool {
    use foo_model::network::{EndpointKind, Peer};
    let others = parts.security_groups.values().filter(|it| it.id.as_str() != id);
    let mut rules = others.flat_map(|it| it.ingress.iter().chain(&it.egress));
    let mut endpoints = parts.endpoints.values();
    rules.any(|rule| matches!(&rule.peer, Peer::Group(peer) if peer.as_str() == id))
        || endpoints.any(|it| match &it.kind {
            EndpointKind::Interface { groups, .. } => groups.contains(&id.into()),
            EndpointKind::Gateway { .. } | EndpointKind::Other(_) => false,
        })
}

/// A part that reads show and the spec requests stays, even if its deletion was sent before, unless it is being replaced.
fn keep_wanted(wanted: &Wanted, held: &BTreeMap<Role, Held>, own: &Parts, record: &mut Recorded) {
    use foo_model::network::{EndpointState, NatState};
    for (role, held) in held.iter().filter(|(role, _)| wanted.roles.contains(role)) {
        let nat = own.nat_gateways.get(&held.id.as_str().into()).map(|it| it.state);
        let endpoint = own.endpoints.get(&held.id.as_str().into()).map(|it| it.state);
        let goes = matches!(nat, Some(NatState::Failed | NatState::Deleting | NatState::Deleted))
            || matches!(
                endpoint,
                Some(EndpointState::Failed | EndpointState::Deleting | EndpointState::Deleted)
            );
        if let Some(part) = record.parts.get_mut(role)
            && held.standing == Standing::Shown
            && !goes
        {
            part.deletion = Deletion::NotSent;
        }
    }
}

/// The IPv6 range of the VPC has no tags.
fn see_ipv6(shown: &Shown, held: &mut BTreeMap<Role, Held>, record: &mut Recorded, now: Timestamp) {
    let vpc = held.get(&Role::Vpc).and_then(|it| shown.own.vpcs.get(&it.id.as_str().into()));
    let Some(range) = vpc.and_then(|vpc| {
        use foo_model::network::CidrState::{Associated, Associating};
        vpc.ipv6.iter().find(|it| matches!(it.state, Associated | Associating))
    }) else {
        return;
    };
    let id = range.id.to_string();
    record.intents.remove(&Role::VpcIpv6);
    let part = RecordedPart { id: id.clone(), since: now, seen: true, deletion: Deletion::NotSent };
    if record.parts.get(&Role::VpcIpv6).is_none_or(|it| it.id != id) {
        record.parts.insert(Role::VpcIpv6, part);
    }
    held.insert(Role::VpcIpv6, Held { id, standing: Standing::Shown });
}

/// Recorded parts that no read shows: created lately, asked for by id, disowned, or gone.
fn find_hidden(
    held: &mut BTreeMap<Role, Held>,
    shown: &Shown,
    record: &mut Recorded,
    memory: &mut Memory,
    observed: &Observed,
) {
    let deleted: BTreeSet<&str> =
        memory.calls.effects.iter().filter_map(|it| it.action.change.deleted_at_once()).collect();
    let vpc_read = observed.tagged.begun.get(&Kind::Vpc).copied();
    let mut gone = Vec::new();
    let mut absent = BTreeMap::new();
    for (role, part) in &record.parts {
        if held.contains_key(role) {
            continue;
        }
        if deleted.contains(part.id.as_str())
            || is_deleted_nat_or_endpoint(observed, role, &part.id)
            || is_deleted_as_sent(observed, memory, role, part)
        {
            gone.push(role.clone());
            continue;
        }
        if *role == Role::VpcIpv6 {
            // It is seen on the VPC.
            if held.get(&Role::Vpc).is_some_and(|it| it.standing == Standing::Shown) {
                if memory.calls.shows_all(vpc_read) {
                    gone.push(role.clone());
                } else {
                    held.insert(role.clone(), Held { id: part.id.clone(), standing: Standing::Hidden });
                }
            }
            continue;
        }
        if is_disowned(shown, role, &part.id) {
            held.insert(role.clone(), Held { id: part.id.clone(), standing: Standing::Disowned });
            continue;
        }
        let since = *memory.absent.get(&part.id).unwrap_or(&observed.now);
        absent.insert(part.id.clone(), since);
        let unseen_yet = !part.seen && part.since.plus(UNSEEN) > observed.now;
        let asked = observed.by_id.begun.get(&role.kind()).and_then(|ids| ids.get(&part.id));
        let confirmed = asked.is_some_and(|asked| *asked >= since.plus(CONFIRM));
        if !unseen_yet && confirmed {
            gone.push(role.clone());
        } else {
            held.insert(role.clone(), Held { id: part.id.clone(), standing: Standing::Hidden });
        }
    }
    memory.absent = absent;
    for role in gone {
        record.parts.remove(&role);
        record.reached.remove(&role);
        let attempt = record.attempts.entry(role).or_default();
        *attempt = attempt.saturating_add(1);
    }
}

/// A part that reads showed, and that the shared read since its deletion was sent does not show: AWS deleted it. It
/// may have been another process that sent the call.
fn is_deleted_as_sent(observed: &Observed, memory: &Memory, role: &Role, part: &RecordedPart) -> bool {
    let read_at = || {
        let begun = observed.tagged.begun.get(&role.kind());
        begun.is_some_and(|begun| *begun >= expected_gone_since(memory, &part.id, observed.now))
    };
    let shown = || {
        let tagged = Tagged { kind: role.kind(), id: part.id.clone(), tags: Tags::new() };
        shows(observed, &tagged)
    };
    part.deletion == Deletion::Sent && part.seen && read_at() && !shown()
}

/// From when on reads show whether a part is gone whose deletion was sent: since this process began, and after the last response
/// that was no success.
pub(crate) fn expected_gone_since(memory: &Memory, id: &str, now: Timestamp) -> Timestamp {
    let failures = memory.calls.failures.iter().filter(|it| it.action.change.deleted().contains(id));
    later(memory.calls.started.unwrap_or(now), failures.map(|it| it.at).max())
}

/// EC2 shows these for a while after they are deleted: no need to wait until they are not shown.
fn is_deleted_nat_or_endpoint(observed: &Observed, role: &Role, id: &str) -> bool {
    use foo_model::network::{EndpointState, NatState};
    let reads = || [&observed.tagged.parts, &observed.by_id.parts].into_iter();
    match role.kind() {
        Kind::NatGateway => reads()
            .filter_map(|parts| parts.nat_gateways.get(&id.into()))
            .any(|it| it.state == NatState::Deleted),
        Kind::Endpoint => reads()
            .filter_map(|parts| parts.endpoints.get(&id.into()))
            .any(|it| it.state == EndpointState::Deleted),
        _ => false,
    }
}

/// Whether the part is shown without our tag.
fn is_disowned(shown: &Shown, role: &Role, id: &str) -> bool {
    fn find<P: Part>(parts: &Parts, kind: Kind, id: &str, found: &mut bool) {
        *found |= P::KIND == kind && P::map(parts).contains_key(&P::Id::from(id.to_owned()));
    }
    let mut found = false;
    for_each_kind!(find(&shown.others, role.kind(), id, &mut found));
    found
}

/// An intent is resolved by reads: what it would have created is shown ([`hold`]), or it is not for long enough.
fn resolve_intents(record: &mut Recorded, memory: &mut Memory, observed: &Observed) {
    let mut reads = BTreeMap::new();
    let mut unmade = Vec::new();
    for (role, intent) in &record.intents {
        let base = match intent.origin {
            Origin::Decided => later(intent.since, memory.calls.started),
            Origin::Assumed => intent.since,
        };
        let lost = memory
            .calls
            .failures
            .iter()
            .filter(|it| it.action.role == *role && it.lost)
            .map(|it| it.at)
            .max();
        let base = later(base, lost);
        let mut seen = memory.intent_reads.get(role).copied();
        if let Some(begun) = observed.tagged.begun.get(&role.kind()).copied()
            && begun >= base
            && seen.is_none_or(|it| it.last < begun)
        {
            let before = seen.map_or(0, |it| it.reads);
            seen = Some(IntentReads { reads: before.saturating_add(1), last: begun });
        }
        if let Some(it) = seen {
            // A process that never lives long enough for a second read believes one that begins late enough.
            let (twice, late) = (it.reads >= 2, it.last >= base.plus(PATIENCE).plus(PATIENCE));
            if (twice || late) && it.last >= base.plus(PATIENCE) {
                unmade.push((role.clone(), intent.origin));
            }
            reads.insert(role.clone(), it);
        }
    }
    memory.intent_reads = reads;
    for (role, origin) in unmade {
        record.intents.remove(&role);
        memory.intent_reads.remove(&role);
        if origin == Origin::Assumed {
            // An earlier manager may have used this attempt's token.
            let attempt = record.attempts.entry(role).or_default();
            *attempt = attempt.saturating_add(1);
        }
    }
}
