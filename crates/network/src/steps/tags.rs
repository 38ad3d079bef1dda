//! Tags: the planner adds those that are missing or differ, and removes those of the user that the spec no longer requests. It leaves
//! tags of others alone.

use crate::draft::Draft;
use crate::recorded::Recorded;
use crate::role::Role;
use crate::situation::{Situation, Standing, tagged};
use crate::tags;
use foo_model::Timestamp;
use foo_model::network::{Change, Kind, Tags};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft) {
    let parts = parts(situation);
    let mut removed: BTreeMap<BTreeSet<String>, (Role, BTreeSet<String>)> = BTreeMap::new();
    for part in &parts {
        draft.content(part.role, &part.wanted);
        let lacking = part.lacking();
        if !lacking.is_empty() {
            draft.fix_tags(part.role, part.id, lacking);
        }
        let over = part.over(&situation.record);
        if !over.is_empty() {
            let (_, ids) = removed.entry(over).or_insert_with(|| (part.role.clone(), BTreeSet::new()));
            ids.insert(part.id.to_owned());
        }
    }
    record_for_all(situation, draft, &parts);
    record_for_each(situation, draft, &parts);
    for (keys, (role, ids)) in removed {
        draft.send(situation, &role, Change::DeleteTags { ids, keys }, "tags are no longer requested");
    }
}

/// A requested part whose tags are known.
struct Part<'a> {
    role: &'a Role,
    id: &'a str,
    has: Tags,
    wanted: Tags,
}

impl Part<'_> {
    /// Tags that it is to have and has not.
    fn lacking(&self) -> Tags {
        let differs = |(key, value): &(&String, &String)| self.has.get(*key) != Some(*value);
        self.wanted.iter().filter(differs).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Keys of the user's tags that it has, and that the spec no longer requests for it.
    fn over(&self, record: &Recorded) -> BTreeSet<String> {
        let of_the_role = record.own_tag_keys.get(self.role).into_iter().flatten();
        record.tag_keys.iter().chain(of_the_role).filter(|key| self.is_over(key)).cloned().collect()
    }

    fn is_over(&self, key: &str) -> bool {
        self.has.contains_key(key) && !self.wanted.contains_key(key)
    }
}

fn parts<'a>(situation: &'a Situation<'_>) -> Vec<Part<'a>> {
    let there: BTreeMap<String, Tags> =
        tagged(&situation.own).into_iter().map(|it| (it.id, it.tags)).collect();
    let mut parts = Vec::new();
    for (role, held) in &situation.held {
        let has = there.get(&held.id).filter(|_| held.standing == Standing::Shown);
        if let (Some(has), true) = (has, situation.wanted.roles.contains(role)) {
            let wanted = tags::of(situation.desired, role);
            parts.push(Part { role, id: &held.id, has: has.clone(), wanted });
        }
    }
    parts
}

/// The keys of tags of all parts: one that is no longer requested stays on record until reads show all parts without it.
fn record_for_all(situation: &Situation<'_>, draft: &mut Draft, parts: &[Part<'_>]) {
    let requested = &situation.desired.tags;
    draft.record.tag_keys.extend(requested.keys().cloned());
    let are_known = situation.held.values().all(|it| it.standing == Standing::Shown);
    let is_over = |key: &String| {
        are_known && !requested.contains_key(key) && !parts.iter().any(|part| part.is_over(key))
    };
    let oldest = Kind::OF_A_NETWORK.into_iter().map(|kind| begun(situation, kind)).min().flatten();
    if let Some(from) = situation.memory.calls.forget(oldest, &mut draft.record.tag_keys, is_over) {
        let older = Kind::OF_A_NETWORK.into_iter().filter(|kind| begun(situation, *kind) < Some(from));
        older.for_each(|kind| draft.request_read(kind, from));
    }
}

/// The keys of tags of one part: one that is no longer requested stays on record until a read shows the part without it.
fn record_for_each(situation: &Situation<'_>, draft: &mut Draft, parts: &[Part<'_>]) {
    let requested = tags::own_keys(situation.desired);
    draft.record.own_tag_keys.retain(|role, _| situation.wanted.roles.contains(role));
    for (role, keys) in &requested {
        draft.record.own_tag_keys.entry(role.clone()).or_default().extend(keys.iter().cloned());
    }
    for part in parts {
        let Some(keys) = draft.record.own_tag_keys.get_mut(part.role) else { continue };
        let requested = requested.get(part.role);
        let is_over = |key: &String| requested.is_none_or(|keys| !keys.contains(key)) && !part.is_over(key);
        let kind = part.role.kind();
        if let Some(from) = situation.memory.calls.forget(begun(situation, kind), keys, is_over) {
            draft.request_read(kind, from);
        }
    }
    draft.record.own_tag_keys.retain(|_, keys| !keys.is_empty());
}

/// When the newest shared read of this kind began.
fn begun(situation: &Situation<'_>, kind: Kind) -> Option<Timestamp> {
    situation.observed.tagged.begun.get(&kind).copied()
}
