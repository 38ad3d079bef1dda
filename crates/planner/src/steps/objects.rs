//! Which user data is in S3? What a launch template version fetches is there before the version, and stays as long as a version
//! fetches it: an instance may be launched from any of them, also in a rollback.

use crate::action::ObjectAction;
use crate::desired::Template;
use crate::draft::{Draft, Stage};
use crate::report::EventTrigger;
use crate::situation::{MissingObject, Situation, View, missing_object};
use crate::steps::own::may_create;
use foo_model::{EventReason, LaunchTemplate, ObjectPlace, Storage, TemplateVersion};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Younger objects stay: their version may have been created a moment ago, perhaps by another manager, without being visible yet.
const PRUNE_AGE: Duration = Duration::from_mins(15);

/// Stores what the desired content fetches. Precedes the version; if it is there already, nothing is written.
pub(crate) fn store(wanted: &Template, draft: &mut Draft) {
    if let Some(object) = &wanted.object {
        draft.act(Stage::Template, ObjectAction::StoreUserData { object: object.clone() });
    }
}

/// Writes what new instances fetch again after a user deleted it.
pub(crate) fn restore(situation: &Situation<'_>, draft: &mut Draft) {
    let Some(MissingObject { version, place, content: Some(object) }) = missing_object(situation) else {
        return;
    };
    let may_write = situation.writable_group().is_some() || matches!(situation.view, View::Absent);
    if !may_write || !may_create(situation) {
        return;
    }
    draft.event(
        EventTrigger::UserData,
        EventReason::UserDataRestored,
        format!("Writing {place} again, which launch template version {version} fetches: the object was deleted outside this provider"),
    );
    draft.act(Stage::Template, ObjectAction::StoreUserData { object: Box::new(object.clone()) });
}

/// Whether new instances would find no user data: launches wait.
pub(crate) fn holds_launches(situation: &Situation<'_>) -> bool {
    missing_object(situation).is_some()
}

/// Deletes what only these versions fetch. Precedes their deletion: they say where it is.
pub(crate) fn prune(
    situation: &Situation<'_>,
    template: &LaunchTemplate,
    pruned: &[TemplateVersion],
    draft: &mut Draft,
) {
    let (gone, stays): (Vec<_>, Vec<_>) =
        template.versions.iter().partition(|record| pruned.contains(&record.version));
    let mut keep = by_storage(stays.into_iter().filter_map(|record| record.object.as_ref()));
    for place in gone.into_iter().filter_map(|record| record.object.as_ref()) {
        keep.entry(place.storage.clone()).or_default();
    }
    // The versions have an age, so the clocks agree.
    let before = situation.observed.aws_clock.remote(situation.observed.now.minus(PRUNE_AGE));
    for (storage, keep) in keep {
        let prunes = |record: &&foo_model::TemplateRecord| {
            let place = record.object.as_ref().filter(|place| place.storage == storage);
            pruned.contains(&record.version) && place.is_some_and(|place| !keep.contains(&place.name))
        };
        if template.versions.iter().any(|record| prunes(&record)) {
            let before = Some(before);
            draft.act(Stage::Template, ObjectAction::DeleteUserData { storage, keep, before });
        }
    }
}

/// Deletes everything that the pool stored, where its spec says and wherever versions fetch it from. Precedes the deletion of the
/// template.
pub(crate) fn remove(situation: &Situation<'_>, template: Option<&LaunchTemplate>, draft: &mut Draft) {
    let versions = template.map(|template| template.versions.as_slice()).unwrap_or_default();
    let mut all: BTreeSet<&Storage> =
        versions.iter().filter_map(|record| Some(&record.object.as_ref()?.storage)).collect();
    all.extend(&situation.desired.group.storage);
    for storage in all {
        let (storage, keep) = (storage.clone(), BTreeSet::new());
        draft.act(Stage::Finish, ObjectAction::DeleteUserData { storage, keep, before: None });
    }
}

fn by_storage<'a>(places: impl Iterator<Item = &'a ObjectPlace>) -> BTreeMap<Storage, BTreeSet<String>> {
    let mut all: BTreeMap<Storage, BTreeSet<String>> = BTreeMap::new();
    for place in places {
        all.entry(place.storage.clone()).or_default().insert(place.name.clone());
    }
    all
}
