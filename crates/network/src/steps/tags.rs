//! Tags: the planner adds those that are missing or differ, and removes those of the user that the spec no longer requests. It leaves
//! tags of others alone.

use crate::draft::Draft;
use crate::role::Role;
use crate::situation::{Situation, Standing, tagged};
use crate::tags;
use foo_model::network::{Change, Tags};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft) {
    let there: BTreeMap<String, Tags> =
        tagged(&situation.own).into_iter().map(|it| (it.id, it.tags)).collect();
    let mut removed: BTreeMap<BTreeSet<String>, (Role, BTreeSet<String>)> = BTreeMap::new();
    for (role, held) in &situation.held {
        let has = there.get(&held.id).filter(|_| held.standing == Standing::Shown);
        let (Some(has), true) = (has, situation.wanted.roles.contains(role)) else { continue };
        let wanted = tags::of(situation.desired, role);
        draft.content(role, &wanted);
        let differs = |(key, value): &(&String, &String)| has.get(*key) != Some(*value);
        let lacking: Tags =
            wanted.iter().filter(differs).map(|(key, value)| (key.clone(), value.clone())).collect();
        if !lacking.is_empty() {
            draft.fix_tags(role, &held.id, lacking);
        }
        let mine = situation.record.tag_keys.iter();
        let over: BTreeSet<String> =
            mine.filter(|key| has.contains_key(*key) && !wanted.contains_key(*key)).cloned().collect();
        if !over.is_empty() {
            let (_, ids) = removed.entry(over).or_insert_with(|| (role.clone(), BTreeSet::new()));
            ids.insert(held.id.clone());
        }
    }
    let requested = situation.desired.tags.keys();
    let requested = requested.chain(situation.desired.subnets.iter().flat_map(|it| it.tags.keys()));
    if removed.is_empty() {
        draft.record.tag_keys = requested.cloned().collect();
    } else {
        draft.record.tag_keys.extend(requested.cloned());
    }
    for (keys, (role, ids)) in removed {
        draft.send(situation, &role, Change::DeleteTags { ids, keys }, "tags are no longer requested");
    }
}
