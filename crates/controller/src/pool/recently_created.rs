//! What the provider created in AWS a moment ago. Reads trail writes: for a while they may not show it, or
//! not its tags; rights that depend on those tags are refused, and Auto Scaling may not find a launch
//! template or its version. For a minute the response of a creation counts more than a read.

use foo_cloud::{CloudError, ErrorKind};
use foo_model::{
    AwsTime, LaunchTemplate, LaunchTemplateId, TemplateHashes, TemplateRecord, TemplateVersion, Timestamp,
};
use foo_planner::Action;
use foo_planner::action::{HookAction, ReadAction};
use foo_planner::memory::EFFECT_DEADLINE;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// The first and the longest pause before a call is repeated that was refused for something this young.
const REFUSED_AGAIN: Duration = Duration::from_secs(2);
const REFUSED_AT_LAST: Duration = Duration::from_secs(15);

/// What was created for one pool in the last minute.
#[derive(Clone, Debug, Default)]
pub(super) struct Made {
    template: Option<(Timestamp, LaunchTemplate)>,
    versions: Vec<(Timestamp, LaunchTemplateId, TemplateRecord)>,
    group: Option<Timestamp>,
}

impl Made {
    /// The launch template was created, with its first version.
    pub(super) fn template(
        &mut self,
        (id, version): (LaunchTemplateId, TemplateVersion),
        name: &str,
        tags: &BTreeMap<String, String>,
        hashes: &TemplateHashes,
        (now, dated): (Timestamp, AwsTime),
    ) {
        let versions = vec![TemplateRecord::new(version, Some(hashes.clone()), true, dated)];
        let made = LaunchTemplate { id, name: name.to_owned(), tags: tags.clone(), versions };
        *self = Self { template: Some((now, made)), ..Self::default() };
    }

    /// A version was created.
    pub(super) fn version(
        &mut self,
        id: &LaunchTemplateId,
        version: TemplateVersion,
        hashes: &TemplateHashes,
        (now, dated): (Timestamp, AwsTime),
    ) {
        let record = TemplateRecord::new(version, Some(hashes.clone()), false, dated);
        self.versions.push((now, id.clone(), record));
    }

    /// The group was created.
    pub(super) fn group(&mut self, now: Timestamp) {
        self.group = Some(now);
    }

    /// The template was deleted.
    pub(super) fn template_is_deleted(&mut self) {
        self.template = None;
        self.versions.clear();
    }

    /// The template as it was read, completed with what the read may not show yet.
    pub(super) fn completes(
        &mut self,
        read: Option<LaunchTemplate>,
        now: Timestamp,
    ) -> Option<LaunchTemplate> {
        let young = |at: &Timestamp| at.until(now) < EFFECT_DEADLINE;
        self.template.take_if(|(at, _)| !young(at));
        self.versions.retain(|(at, _, _)| young(at));
        let made = self.template.as_ref().map(|(_, made)| made);
        let mut template = match read {
            Some(read) => read,
            None => made?.clone(),
        };
        if let Some(made) = made.filter(|made| made.id == template.id) {
            for (key, value) in &made.tags {
                template.tags.entry(key.clone()).or_insert_with(|| value.clone());
            }
            add(&mut template, &made.versions);
        }
        for (_, id, record) in &self.versions {
            if *id == template.id {
                add(&mut template, std::slice::from_ref(record));
            }
        }
        Some(template)
    }

    /// When to repeat a refused call, if the refusal may pass by itself.
    pub(super) fn excuses(&self, action: &Action, error: &CloudError, now: Timestamp) -> Option<Duration> {
        let template = self.template.iter().map(|(at, _)| *at);
        let newest = if error.kind == ErrorKind::Denied && rests_on_tags(action) {
            // Rights that depend on the tags of an object apply a moment after its creation.
            template.chain(self.group).max()?
        } else if error.is_about_no_usable_template() {
            template.chain(self.versions.iter().map(|(at, _, _)| *at)).max()?
        } else {
            return None;
        };
        let age = newest.until(now);
        (age < EFFECT_DEADLINE).then(|| (age / 2).clamp(REFUSED_AGAIN, REFUSED_AT_LAST))
    }
}

/// Whether the rights for an action may depend on the tags of the group or of its launch template.
fn rests_on_tags(action: &Action) -> bool {
    match action {
        Action::Group(_)
        | Action::Instance(_)
        | Action::Template(_)
        | Action::Hook(
            HookAction::PutLifecycleHook { .. }
            | HookAction::DeleteLifecycleHook { .. }
            | HookAction::PutOtherHook { .. }
            | HookAction::DeleteOtherHook { .. }
            | HookAction::CompleteLifecycleAction { .. },
        )
        | Action::Read(ReadAction::DescribeLifecycleHook { .. }) => true,
        Action::Hook(HookAction::RecordHeartbeat { .. })
        | Action::Read(ReadAction::DescribeLaunchTemplate | ReadAction::DescribeInstances { .. })
        | Action::Pool(_)
        | Action::Machine(_)
        | Action::Object(_)
        | Action::Node(_) => false,
    }
}

fn add(template: &mut LaunchTemplate, records: &[TemplateRecord]) {
    for record in records {
        if template.versions.iter().all(|known| known.version != record.version) {
            template.versions.push(record.clone());
        }
    }
    template.versions.sort_by_key(|record| record.version);
}

/// The client token of a creation: the same for the same creation within a minute, so that a creation whose
/// response was lost, or that is not visible yet, is not repeated. A longer life would return the response
/// for a template that was deleted meanwhile.
pub(super) fn token(uid: &str, what: impl Hash, now: Timestamp) -> String {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    let minute = now.0.div_euclid(60_000);
    format!("{uid}-{:016x}-{minute}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_cloud::Operation;
    use foo_model::GroupChange;
    use foo_model::names::TAG_POOL;
    use foo_planner::action::{GroupAction, PoolAction};

    fn dated(second: u64) -> (Timestamp, AwsTime) {
        (at(second), AwsTime::from_millis(at(second).0))
    }

    fn at(second: u64) -> Timestamp {
        Timestamp(1_000_000).plus(Duration::from_secs(second))
    }

    fn hashes(spec: &str) -> TemplateHashes {
        let arm64_image = Some("ami-2".into());
        TemplateHashes { spec: spec.into(), data: "d".into(), source: None, object: None, arm64_image }
    }

    fn made() -> (Made, LaunchTemplate) {
        let mut made = Made::default();
        let tags = BTreeMap::from([(TAG_POOL.to_owned(), "p".to_owned())]);
        made.template(("lt-1".into(), TemplateVersion(1)), "g", &tags, &hashes("v1"), dated(0));
        made.version(&"lt-1".into(), TemplateVersion(2), &hashes("v2"), dated(10));
        let whole = made.completes(None, at(11)).unwrap();
        (made, whole)
    }

    #[test]
    fn a_just_created_resource_exists_whatever_a_read_returns() {
        let (mut made, whole) = made();
        assert_eq!(whole.versions.iter().map(|it| it.version.0).collect::<Vec<_>>(), [1, 2]);
        let late = LaunchTemplate { tags: BTreeMap::new(), versions: Vec::new(), ..whole.clone() };
        assert_eq!(made.completes(Some(late.clone()), at(50)), Some(whole.clone()));
        assert_eq!(made.completes(Some(whole.clone()), at(50)), Some(whole), "nothing twice");
        let bare = made.completes(Some(late), at(65)).unwrap();
        assert_eq!((bare.tags.len(), bare.versions.len()), (0, 1), "only the second version is young");
        assert_eq!(made.completes(None, at(66)), None, "after a minute reads are believed");
    }

    #[test]
    fn a_template_recreated_by_another_user_is_used_as_it_is() {
        let (mut made, whole) = made();
        let other =
            LaunchTemplate { id: "lt-2".into(), tags: BTreeMap::new(), versions: Vec::new(), ..whole };
        assert_eq!(made.completes(Some(other.clone()), at(12)), Some(other));
        made.template_is_deleted();
        assert_eq!(made.completes(None, at(13)), None);
    }

    #[test]
    fn a_denial_passes_only_while_what_it_is_about_is_young() {
        let (mut made, _) = made();
        made.group(at(20));
        let denied = CloudError::new(Operation::PutLifecycleHook, ErrorKind::Denied, None, "no");
        let hook = Action::Read(ReadAction::DescribeLifecycleHook { group: "g".into() });
        assert_eq!(made.excuses(&hook, &denied, at(21)), Some(REFUSED_AGAIN));
        assert_eq!(made.excuses(&hook, &denied, at(81)), None);
        let throttled = CloudError { kind: ErrorKind::Throttled, ..denied.clone() };
        assert_eq!(made.excuses(&hook, &throttled, at(21)), None);
        assert_eq!(made.excuses(&Action::Pool(PoolAction::AddFinalizer), &denied, at(21)), None);
        assert_eq!(Made::default().excuses(&hook, &denied, at(21)), None);
    }

    #[test]
    fn a_version_that_auto_scaling_does_not_find_is_no_failure_while_it_is_young() {
        let (mut made, _) = made();
        let update = Action::Group(GroupAction::UpdateGroup {
            name: "g".into(),
            change: GroupChange::default(),
            why: String::new(),
        });
        let refused = |operation, kind, words| CloudError::new(operation, kind, None, words);
        let missing =
            "You must use a valid fully-formed launch template. Could not find the specified version 2";
        let unknown = refused(Operation::UpdateAutoScalingGroup, ErrorKind::Invalid, missing);
        assert_eq!(made.excuses(&update, &unknown, at(11)), Some(REFUSED_AGAIN));
        assert!(
            made.excuses(&update, &unknown, at(69)).is_some(),
            "the second version is younger than the first"
        );
        assert_eq!(made.excuses(&update, &unknown, at(70)), None, "it stays so, and is named");
        let subnet = refused(
            Operation::UpdateAutoScalingGroup,
            ErrorKind::Invalid,
            "The subnet ID 's' does not exist",
        );
        assert_eq!(made.excuses(&update, &subnet, at(11)), None, "that is another matter");
        made.template_is_deleted();
        assert_eq!(made.excuses(&update, &unknown, at(11)), None);
    }

    #[test]
    fn a_creation_keeps_its_token_for_a_minute_and_no_other_shares_it() {
        let now = Timestamp(60_000 * 7);
        assert_eq!(token("u", "a", now), token("u", "a", now.plus(Duration::from_secs(59))));
        assert_ne!(token("u", "a", now), token("u", "a", now.plus(EFFECT_DEADLINE)));
        assert_ne!(token("u", "a", now), token("u", "b", now));
        assert!(token("0d9f3a77-5c3b-4d6e-8d5e-3c2f1a0b9c8d", "a", Timestamp(i64::MAX)).len() <= 128);
    }
}
