//! Tags of the cluster: the user's and the provider's. Tags of others stay.

use crate::draft::Draft;
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::tags;
use foo_model::eks::{Change, Cluster, TagChange};
use foo_model::network::Tags;
use std::collections::BTreeSet;

const KIND: ConditionKind = ConditionKind::ClusterReady;

pub(crate) fn ensure(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster) {
    let query = situation.query();
    if situation.distrusted(&query).is_some() {
        return;
    }
    let mut wanted = tags::all(situation.desired);
    if draft.record.adopted {
        wanted.extend(tags::adopted(situation.desired));
    }
    let lacking: Tags = wanted
        .iter()
        .filter(|(key, value)| cluster.tags.get(*key) != Some(*value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let former = draft.record.tag_keys.iter().filter(|key| !wanted.contains_key(*key));
    let extra: BTreeSet<String> = former.filter(|key| cluster.tags.contains_key(*key)).cloned().collect();
    // What is to be removed stays on record until no read shows it.
    let requested = &situation.desired.tags;
    draft.record.tag_keys.extend(requested.keys().cloned());
    let is_over = |key: &String| !requested.contains_key(key) && !extra.contains(key);
    draft.forget(situation, &query, |record| &mut record.tag_keys, is_over);
    let arn = cluster.arn.clone();
    if !lacking.is_empty() {
        let change = Change::Tags { arn: arn.clone(), change: TagChange::Tag(lacking) };
        draft.send(situation, KIND, &change, "tags are missing or differ");
    }
    if !extra.is_empty() {
        let change = Change::Tags { arn, change: TagChange::Untag(extra) };
        draft.send(situation, KIND, &change, "tags are no longer requested");
    }
}
