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
    let own_keys = tags::own_keys(situation.desired);
    let former = &situation.record.own_tag_keys;
    // What a part may still have stays on record until a read shows the part without it.
    let mut own_on_record = own_keys.clone();
    let requested_roles = former.iter().filter(|(role, _)| situation.wanted.roles.contains(role));
    for (role, keys) in requested_roles {
        own_on_record.entry(role.clone()).or_default().extend(keys.iter().cloned());
    }
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
        let of_all = situation.record.tag_keys.iter();
        let mine = of_all.chain(former.get(role).into_iter().flatten());
        let over: BTreeSet<String> =
            mine.filter(|key| has.contains_key(*key) && !wanted.contains_key(*key)).cloned().collect();
        if over.is_empty() {
            own_on_record.remove(role);
            own_on_record.extend(own_keys.get(role).map(|keys| (role.clone(), keys.clone())));
        }
        if !over.is_empty() {
            let (_, ids) = removed.entry(over).or_insert_with(|| (role.clone(), BTreeSet::new()));
            ids.insert(held.id.clone());
        }
    }
    draft.record.own_tag_keys = own_on_record;
    let requested = situation.desired.tags.keys();
    if removed.is_empty() {
        draft.record.tag_keys = requested.cloned().collect();
    } else {
        draft.record.tag_keys.extend(requested.cloned());
    }
    for (keys, (role, ids)) in removed {
        draft.send(situation, &role, Change::DeleteTags { ids, keys }, "tags are no longer requested");
    }
}
