//! Does a launch template version with the desired content exist?
//!
//! One stage at a time: what was created is read before anything depends on it.

use crate::action::{ReadAction, TemplateAction};
use crate::desired::{Template, Wanted};
use crate::draft::{Draft, Stage};
use crate::memory::RAISE_WAITS;
use crate::report::EventTrigger;
use crate::situation::{AdoptionState, Situation, TemplateState, View, adoption, is_unfit, template_state};
use crate::steps::objects;
use crate::steps::own::may_create;
use foo_model::group::TemplateChoice;
use foo_model::{
    EventReason, LaunchTemplate, Reason, SpecHash, TemplateHashes, TemplateRecord, TemplateVersion,
};
use std::collections::BTreeSet;
use std::time::Duration;

/// Remembers since when a version has been due.
pub(crate) fn update_timers(situation: &Situation<'_>, draft: &mut Draft) {
    let since = draft.memory.template_due_since.unwrap_or(situation.observed.now);
    draft.memory.foreign_since = match (template_state(situation), situation.observed.template.seen_at()) {
        (TemplateState::Foreign(_), Some(at)) => draft.memory.foreign_since.or(Some(at)),
        (TemplateState::Unknown | TemplateState::Failed { .. }, _) => draft.memory.foreign_since,
        (_, _) => None,
    };
    draft.memory.template_due_since = match template_state(situation) {
        TemplateState::Unknown
        | TemplateState::Absent(_)
        | TemplateState::VersionMissing(..)
        | TemplateState::UserDataOutdated(..) => Some(since),
        TemplateState::Blocked(_)
        | TemplateState::Failed { .. }
        | TemplateState::Foreign(_)
        | TemplateState::Ready(..) => None,
    };
}

/// Whether raising capacity waits for a template version.
pub(crate) fn postpones_raise(situation: &Situation<'_>, draft: &mut Draft) -> bool {
    let Some(until) = draft.memory.template_due_since.map(|since| since.plus(RAISE_WAITS)) else {
        return false;
    };
    let holds = situation.observed.now < until;
    if holds {
        draft.wake_at(until);
    }
    holds
}

/// Reads the template, creates it, or creates a version, whichever comes next.
pub(crate) fn provide(situation: &Situation<'_>, draft: &mut Draft) {
    // What a group is adopted for has to be known before.
    let awaited = matches!(adoption(situation), Some(AdoptionState::AwaitsTemplate));
    if !awaited && (matches!(situation.view, View::Foreign(_)) || !may_create(situation)) {
        return;
    }
    // Until the group is observed, the template may belong to another management cluster: its own tags do not
    // say.
    let seen = situation.observed.group.seen().is_some();
    let state = template_state(situation);
    if matches!(state, TemplateState::Failed { reason: Reason::NotYetObserved, .. }) {
        // The group, or the list of all templates, is under way.
        return;
    }
    match state {
        TemplateState::Unknown | TemplateState::Failed { .. } => {
            draft.act(Stage::Read, ReadAction::DescribeLaunchTemplate);
        }
        TemplateState::Absent(_)
        | TemplateState::VersionMissing(..)
        | TemplateState::UserDataOutdated(..)
            if !seen => {}
        TemplateState::Absent(wanted) => {
            objects::store(wanted, draft);
            draft.act(Stage::Template, create(situation, wanted));
        }
        TemplateState::VersionMissing(template, wanted) => add_version(template, wanted, draft),
        TemplateState::UserDataOutdated(template, from, hashes) => {
            copy_version(situation, template, from, hashes, draft);
        }
        TemplateState::Foreign(_) => read_again(situation, draft),
        TemplateState::Blocked(_) | TemplateState::Ready(..) => {}
    }
}

/// How soon a template without our tags is read again, and the longest pause. EC2 shows a new template before
/// its tags, and a user may restore tags that were removed.
const FOREIGN_AGAIN: Duration = Duration::from_secs(10);
const FOREIGN_AT_LAST: Duration = Duration::from_mins(10);

/// Reads a template without our tags again, after pauses that double.
fn read_again(situation: &Situation<'_>, draft: &mut Draft) {
    let Some(at) = situation.observed.template.seen_at() else { return };
    let since = draft.memory.foreign_since.unwrap_or(at);
    let due = at.plus(since.until(at).clamp(FOREIGN_AGAIN, FOREIGN_AT_LAST));
    if situation.observed.now >= due {
        draft.act(Stage::Read, ReadAction::DescribeLaunchTemplate);
    } else {
        draft.wake_at(due);
    }
}

fn create(situation: &Situation<'_>, wanted: &Template) -> TemplateAction {
    let identity = &situation.desired.identity;
    let mut tags = situation.desired.group.tags.clone();
    tags.extend(identity.template_tags());
    TemplateAction::CreateTemplate {
        name: identity.template.clone(),
        content: Box::new(wanted.content.clone()),
        hashes: wanted.hashes(),
        tags,
    }
}

fn add_version(template: &LaunchTemplate, wanted: &Template, draft: &mut Draft) {
    let same_spec =
        template.versions.iter().any(|record| record.spec_hash.as_ref() == Some(&wanted.spec_hash));
    let why = if same_spec {
        "the user data changed; no instance is replaced because of it"
    } else {
        "the spec changed"
    };
    draft.event(
        EventTrigger::TemplateVersion,
        EventReason::LaunchTemplateVersionCreated,
        format!("Creating a launch template version: {why}"),
    );
    objects::store(wanted, draft);
    draft.act(
        Stage::Template,
        TemplateAction::CreateTemplateVersion {
            id: template.id.clone(),
            content: Box::new(wanted.content.clone()),
            hashes: wanted.hashes(),
        },
    );
}

fn copy_version(
    situation: &Situation<'_>,
    template: &LaunchTemplate,
    from: TemplateVersion,
    hashes: TemplateHashes,
    draft: &mut Draft,
) {
    let Wanted::Ready(wanted) = &situation.desired.template else { return };
    draft.event(
        EventTrigger::TemplateVersion,
        EventReason::LaunchTemplateVersionCreated,
        format!("Creating a launch template version: version {from} with the current user data"),
    );
    objects::store(wanted, draft);
    draft.act(
        Stage::Template,
        TemplateAction::CopyTemplateVersion {
            id: template.id.clone(),
            from,
            user_data: wanted.content.user_data.clone(),
            tags: wanted.content.tags.clone(),
            hashes,
        },
    );
}

/// Versions are pruned once more than this many are unused. A template holds 10,000, so pruning is never
/// urgent; a token that rotates every few minutes then costs a call every hour or two.
const PRUNE_ABOVE: usize = 10;

/// Younger versions stay: an instance may be launching from the version that the group had a moment ago,
/// without being visible yet.
const PRUNE_AGE: Duration = Duration::from_mins(15);

/// Maximum of versions in one call (EC2 API Reference, DeleteLaunchTemplateVersions).
const PRUNE_AT_ONCE: usize = 200;

/// Deletes unused versions, rarely, and only in a pass with nothing else to do.
///
/// It keeps: versions of existing instances, the group's version (and so that of its warm pool), the default version, the desired one, the
/// last good one (the newest with another spec hash), versions that others created, and young ones.
pub(crate) fn prune(situation: &Situation<'_>, draft: &mut Draft) {
    let (Some(group), TemplateState::Ready(template, wanted)) =
        (situation.writable_group(), template_state(situation))
    else {
        return;
    };
    // Instances of an unfit warm pool may have any version.
    if !draft.is_idle() || is_unfit(situation) {
        return;
    }
    let launched = group.instances.iter().filter_map(|instance| instance.template.as_ref());
    let mut kept: BTreeSet<TemplateVersion> = launched.map(|(_, version)| *version).collect();
    kept.insert(wanted);
    match &group.template {
        Some((_, TemplateChoice::Version(version))) => {
            kept.insert(*version);
        }
        // `$Latest` and `$Default` may mean any version.
        Some((_, TemplateChoice::Floating(_))) => return,
        None => {}
    }
    kept.extend(last_good(situation, template, wanted));
    let (now, clock) = (situation.observed.now, situation.observed.aws_clock);
    let old = |record: &TemplateRecord| clock.age(record.created, now).is_some_and(|age| age >= PRUNE_AGE);
    let prunable: Vec<TemplateVersion> = template
        .versions
        .iter()
        .filter(|record| record.spec_hash.is_some() && !record.is_default && old(record))
        .map(|record| record.version)
        .filter(|version| !kept.contains(version))
        .collect();
    if prunable.len() > PRUNE_ABOVE {
        let versions: Vec<TemplateVersion> = prunable.into_iter().take(PRUNE_AT_ONCE).collect();
        objects::prune(situation, template, &versions, draft);
        draft.act(
            Stage::Template,
            TemplateAction::DeleteTemplateVersions { id: template.id.clone(), versions },
        );
    }
}

/// The newest version before the desired one with another spec hash that did not fail: the target of a
/// rollback.
fn last_good(
    situation: &Situation<'_>,
    template: &LaunchTemplate,
    wanted: TemplateVersion,
) -> Option<TemplateVersion> {
    let spec = template.record(wanted)?.spec_hash.as_ref();
    let failed = |hash: &SpecHash| situation.observed.quarantine.iter().any(|it| it.hash == *hash);
    let other = |record: &&TemplateRecord| {
        let good = record.spec_hash.as_ref().is_some_and(|hash| !failed(hash));
        record.version < wanted && good && record.spec_hash.as_ref() != spec
    };
    template.versions.iter().filter(other).map(|record| record.version).max()
}
