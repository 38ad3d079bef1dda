//! Requests reads: the first one at each kind, one after each change, and one by id at each part that the shared read does not show.

use crate::draft::Draft;
use crate::recorded::Deletion;
use crate::role::Role;
use crate::situation::{Situation, Standing, expected_gone_since};
use crate::timing::{CONFIRM, LAG, UNSEEN, WORKING};
use foo_model::network::{Change, Kind, Scope};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn request(situation: &Situation<'_>, draft: &mut Draft) {
    for kind in Kind::OF_A_NETWORK.into_iter().filter(|kind| !situation.was_read(*kind)) {
        draft.request_read(kind, situation.now);
        draft.unsettled = true;
    }
    confirm_effects(situation, draft);
    find_hidden(situation, draft);
}

/// Requests one read after each change, at the time at which AWS shows the change at the latest.
fn confirm_effects(situation: &Situation<'_>, draft: &mut Draft) {
    for effect in &situation.memory.calls.effects {
        let from = |kind: Kind| {
            let begun = situation.observed.tagged.begun.get(&kind);
            let confirmed = effect.visible_at();
            begun.map_or(confirmed, |begun| begun.plus(LAG)).max(confirmed)
        };
        match &effect.action.change {
            Change::ModifyVpcAttribute { .. }
            | Change::DeleteLoadBalancer { .. }
            | Change::DeleteTargetGroup { .. }
            | Change::DeleteNetworkInterface { .. } => {}
            Change::CreateTags { .. } | Change::DeleteTags { .. } => {
                let reads = Kind::OF_A_NETWORK.into_iter().filter_map(|kind| {
                    let begun = situation.observed.tagged.begun.get(&kind)?;
                    (*begun < effect.visible_at()).then_some(kind)
                });
                reads.for_each(|kind| draft.request_read(kind, from(kind)));
            }
            Change::DeleteSecurityGroup { .. }
            | Change::RevokeSecurityGroupIngress { .. }
            | Change::RevokeSecurityGroupEgress { .. }
                if effect.action.role == Role::Vpc =>
            {
                // Left-overs, which the shared read does not show.
                if let Some(vpc) = situation.vpc_id() {
                    let from = effect.visible_at();
                    draft.request_read_in(Kind::SecurityGroup, Scope::Vpc(vpc), from);
                }
            }
            // Of EKS, whose group the shared read does not show either.
            Change::AuthorizeSecurityGroupIngress { group, .. }
            | Change::RevokeSecurityGroupIngress { group, .. }
                if situation.observed.foreign_group_read(group).is_some() =>
            {
                let scope = Scope::Ids(BTreeSet::from([group.to_string()]));
                draft.request_read_in(Kind::SecurityGroup, scope, effect.visible_at());
            }
            _ => draft.request_read(effect.action.role.kind(), from(effect.action.role.kind())),
        }
    }
}

/// Requests reads by id at recorded parts that the shared read does not show.
fn find_hidden(situation: &Situation<'_>, draft: &mut Draft) {
    let mut ids: BTreeMap<Kind, (BTreeSet<String>, foo_model::Timestamp)> = BTreeMap::new();
    for (role, held) in &situation.held {
        if held.standing != Standing::Hidden {
            continue;
        }
        let kind = role.kind();
        draft.unsettled = true;
        if *role == Role::VpcIpv6 {
            // It is seen on the VPC.
            let from = situation.memory.calls.shows_all_from().unwrap_or(situation.now);
            draft.request_read(kind, from);
            continue;
        }
        let part = situation.record.parts.get(role);
        if part.is_some_and(|it| it.deletion == Deletion::Sent && it.seen) {
            let since = expected_gone_since(&situation.memory, &held.id, situation.now);
            let begun = situation.observed.tagged.begun.get(&kind).filter(|begun| **begun >= since);
            draft.request_read(kind, begun.map_or(since, |begun| begun.plus(WORKING)));
        }
        let since = situation.memory.absent.get(&held.id).copied().unwrap_or(situation.now);
        let asked = situation.observed.by_id.begun.get(&kind).and_then(|ids| ids.get(&held.id)).copied();
        let earliest = part.filter(|it| !it.seen).map_or(since, |it| it.since.plus(UNSEEN)).max(since);
        let from = match asked {
            Some(asked) => asked.plus(CONFIRM).max(since.plus(CONFIRM)),
            None => since.plus(CONFIRM),
        };
        draft.wake_at(earliest);
        let entry = ids.entry(kind).or_insert((BTreeSet::new(), from));
        entry.0.insert(held.id.clone());
        entry.1 = entry.1.min(from);
        let begun = situation.observed.tagged.begun.get(&kind).copied().unwrap_or(situation.now);
        draft.request_read(kind, begun.plus(CONFIRM));
    }
    for (kind, (ids, from)) in ids {
        draft.request_read_in(kind, Scope::Ids(ids), from);
    }
}
