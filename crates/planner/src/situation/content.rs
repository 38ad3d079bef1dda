//! The content that instances were launched from, and the content that they get.

use super::view::View;
use crate::desired::{Desired, OnFailure, Wanted};
use crate::observed::{Observed, Quarantine, Verdict};
use foo_model::group::TemplateChoice;
use foo_model::{FooMachine, Instance, LaunchTemplateId, LifecycleState, SpecHash, TemplateVersion};
use std::collections::BTreeMap;

/// Whether an instance was launched from the desired content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ContentState {
    UpToDate,
    Outdated,
    Unknown,
}

/// The content of a pool, as spec hashes.
pub(crate) struct Content<'a> {
    /// The record of the failure, if the desired content failed.
    pub(crate) failed_target: Option<&'a Quarantine>,
    /// Spec hash of the content that is launched instead of failed desired content.
    pub(crate) fallback: Option<&'a SpecHash>,
    /// The spec hash that all instances get: that of the desired content, or of the content of a rollback;
    /// while the desired content is blocked, that of the content in use. `None` if unknown.
    pub(crate) target_hash: Option<&'a SpecHash>,
    known: Known<'a>,
}

/// The template with the pool's name, and the spec hashes of its versions, as far as they are known and it is the pool's.
struct Known<'a> {
    template: Option<&'a LaunchTemplateId>,
    hashes: BTreeMap<TemplateVersion, &'a SpecHash>,
    /// The template is the pool's.
    is_own: bool,
    /// The group was adopted: with instances of another template, or of none.
    adopted: bool,
}

impl<'a> Content<'a> {
    pub(super) fn of(desired: &'a Desired, observed: &'a Observed, view: View<'a>) -> Self {
        let known = Known::of(desired, observed, view);
        let failed_target = failed_target(desired, observed);
        let fallback = failed_target.and_then(|_| fallback(&known, observed, view));
        let target_hash = target_hash(desired, &known, fallback, view);
        Self { failed_target, fallback, target_hash, known }
    }

    /// The spec hash an instance was launched from: by its template version, otherwise as its FooMachine
    /// recorded it.
    pub(crate) fn spec_hash(
        &self,
        instance: &Instance,
        foo_machine: Option<&'a FooMachine>,
    ) -> Option<&'a SpecHash> {
        let recorded = || foo_machine.and_then(|foo_machine| foo_machine.spec_hash.as_ref());
        self.known.by_version(instance).or_else(recorded)
    }

    /// The recorded spec hash of a version of our template.
    pub(crate) fn hash_of_version(&self, version: TemplateVersion) -> Option<&'a SpecHash> {
        self.known.hashes.get(&version).copied()
    }

    /// Whether it may have run Pods before it had a Machine: a member of an adopted group that is not known to be launched from the
    /// pool's template.
    pub(super) fn may_be_adopted(&self, instance: &Instance, foo_machine: Option<&'a FooMachine>) -> bool {
        self.known.adopted && self.spec_hash(instance, foo_machine).is_none()
    }

    pub(super) fn state_of(&self, instance: &Instance, foo_machine: Option<&'a FooMachine>) -> ContentState {
        let Some(wanted) = self.target_hash else { return ContentState::Unknown };
        match self.spec_hash(instance, foo_machine) {
            None if self.known.is_others(instance) => ContentState::Outdated,
            None => ContentState::Unknown,
            Some(hash) if hash == wanted => ContentState::UpToDate,
            Some(_) => ContentState::Outdated,
        }
    }
}

impl<'a> Known<'a> {
    fn of(desired: &Desired, observed: &'a Observed, view: View<'_>) -> Self {
        let template = observed.template.seen().and_then(Option::as_ref);
        let own = template.filter(|template| desired.identity.owns_template(&template.tags));
        let versions = own.map_or(&[][..], |template| &template.versions);
        Self {
            template: template.map(|template| &template.id),
            hashes: versions.iter().filter_map(|it| Some((it.version, it.spec_hash.as_ref()?))).collect(),
            is_own: own.is_some(),
            adopted: matches!(view, View::Own(group) if observed.was_adopted(group)),
        }
    }

    /// Whether a member of an adopted group was not launched from the pool's template.
    fn is_others(&self, instance: &Instance) -> bool {
        let of = instance.template.as_ref().map(|(id, _)| id);
        self.adopted && self.is_own && instance.lifecycle == LifecycleState::InService && of != self.template
    }

    fn by_version(&self, instance: &Instance) -> Option<&'a SpecHash> {
        let (id, version) = instance.template.as_ref()?;
        self.hashes.get(version).copied().filter(|_| self.template == Some(id))
    }
}

/// The record that the desired content failed.
fn failed_target<'a>(desired: &Desired, observed: &'a Observed) -> Option<&'a Quarantine> {
    let Wanted::Ready(template) = &desired.template else { return None };
    let stands = |record: &&Quarantine| record.verdict != Verdict::Over && record.hash == template.spec_hash;
    observed.quarantine.iter().find(stands)
}

/// The content to launch instead of failed content: of the contents that never failed, the one with the most
/// instances; among equals, the newest.
fn fallback<'a>(known: &Known<'a>, observed: &Observed, view: View<'_>) -> Option<&'a SpecHash> {
    let failed = |hash: &SpecHash| observed.quarantine.iter().any(|record| record.hash == *hash);
    let mut uses: BTreeMap<&'a SpecHash, (usize, TemplateVersion)> = BTreeMap::new();
    for (version, hash) in known.hashes.iter().filter(|(_, hash)| !failed(hash)) {
        let (_, newest) = uses.entry(*hash).or_insert((0, *version));
        *newest = (*newest).max(*version);
    }
    for instance in view.group().iter().flat_map(|group| &group.instances) {
        let used = known.by_version(instance).and_then(|hash| uses.get_mut(hash));
        if let Some((count, _)) = used.filter(|_| instance.lifecycle.is_capacity()) {
            *count += 1;
        }
    }
    uses.into_iter().max_by_key(|(_, weight)| *weight).map(|(hash, _)| hash)
}

fn target_hash<'a>(
    desired: &'a Desired,
    known: &Known<'a>,
    fallback: Option<&'a SpecHash>,
    view: View<'a>,
) -> Option<&'a SpecHash> {
    match (&desired.template, fallback, desired.rollout.on_failure) {
        (Wanted::Blocked(_), _, _) => match view.group()?.template.as_ref()? {
            (id, TemplateChoice::Version(version)) if known.template == Some(id) => {
                known.hashes.get(version).copied()
            }
            (_, TemplateChoice::Version(_) | TemplateChoice::Floating(_)) => None,
        },
        (Wanted::Ready(_), Some(fallback), OnFailure::Rollback) => Some(fallback),
        (Wanted::Ready(template), _, _) => Some(&template.spec_hash),
    }
}
