//! Whether a launch template version with the desired content exists, and whether the group launches from it. `steps/template.rs` and
//! `steps/group.rs` act on it.

use super::facts::Facts;
use super::view::View;
use crate::desired::{Template, Wanted};
use crate::observed::LastRead;
use foo_model::{
    Blocked, Group, InstancesMix, LaunchTemplate, ObjectPlace, Reason, SpecHash, StoredUserData,
    TemplateChoice, TemplateHashes, TemplateRecord, TemplateVersion,
};

/// The state of the launch template.
pub(crate) enum TemplateState<'a> {
    /// The desired content is blocked; existing instances keep running.
    Blocked(&'a Blocked),
    /// It was not read yet.
    Unknown,
    /// The read failed.
    Failed { reason: Reason, message: &'a str },
    /// The template with this name belongs to another pool or user.
    Foreign(&'a LaunchTemplate),
    /// It does not exist.
    Absent(&'a Template),
    /// It has no version with the desired content.
    VersionMissing(&'a LaunchTemplate, &'a Template),
    /// This version has the content of the rollback, with outdated user data.
    UserDataOutdated(&'a LaunchTemplate, TemplateVersion, TemplateHashes),
    /// This version has the content to launch.
    Ready(&'a LaunchTemplate, TemplateVersion),
}

impl<'a> TemplateState<'a> {
    /// The version that the group should launch from, if it exists.
    pub(crate) fn launchable(&self) -> Option<(&'a LaunchTemplate, TemplateVersion)> {
        match self {
            Self::Ready(template, version) | Self::UserDataOutdated(template, version, _) => {
                Some((template, *version))
            }
            Self::Blocked(_)
            | Self::Unknown
            | Self::Failed { .. }
            | Self::Foreign(_)
            | Self::Absent(_)
            | Self::VersionMissing(..) => None,
        }
    }
}

/// The state of the launch template.
pub(crate) fn template_state<'a>(facts: &Facts<'a>) -> TemplateState<'a> {
    let wanted = match &facts.desired.template {
        Wanted::Ready(wanted) => wanted,
        Wanted::Blocked(blocked) => return TemplateState::Blocked(blocked),
    };
    match &facts.observed.template {
        LastRead::Unknown => TemplateState::Unknown,
        LastRead::Failed { reason, message } => TemplateState::Failed { reason: *reason, message },
        LastRead::At { seen: None, .. } => TemplateState::Absent(wanted),
        LastRead::At { seen: Some(template), .. }
            if !facts.desired.identity.owns_template(&template.tags) =>
        {
            TemplateState::Foreign(template)
        }
        LastRead::At { seen: Some(template), .. } => match facts.content.fallback {
            None => match version_with(template, &wanted.spec_hash, &wanted.data_hash) {
                Some(version) => TemplateState::Ready(template, version),
                None => TemplateState::VersionMissing(template, wanted),
            },
            Some(fallback) => fallback_state(template, fallback, wanted),
        },
    }
}

/// Whether the group launches from another version than it should, or of other types.
pub(super) fn template_differs(facts: &Facts<'_>, group: &Group) -> bool {
    let Some((template, version)) = template_state(facts).launchable() else { return false };
    let wanted = (template.id.clone(), TemplateChoice::Version(version));
    group.template.as_ref() != Some(&wanted) || group.mix != mix(facts, Some(group), (template, version))
}

/// The mix of types is not part of a template version: while other content than the desired one is launched, the types of the
/// group, if there is one, stay, as long as one of them has an image. The images are those of the version, which records them.
pub(crate) fn mix(
    facts: &Facts<'_>,
    group: Option<&Group>,
    (template, version): (&LaunchTemplate, TemplateVersion),
) -> Option<InstancesMix> {
    let wanted = facts.desired.group.mix.as_ref();
    let record = template.record(version);
    let image = record.and_then(|record| record.arm64_image.as_ref());
    let of_version = |mix: &InstancesMix| mix.clone().with_other_image(image, wanted);
    let of_spec = wanted.map(of_version);
    let Some(group) = group.filter(|_| facts.content.fallback.is_some()) else { return of_spec };
    let of_group = of_version(group.mix.as_ref()?);
    if of_group.overrides.is_empty() { of_spec } else { Some(of_group) }
}

/// Whether the group launches instances with the content that all instances get.
pub(super) fn uses_wanted_template(facts: &Facts<'_>) -> bool {
    let View::Own(group) = facts.view else { return false };
    matches!(template_state(facts), TemplateState::Ready(..)) && !template_differs(facts, group)
}

/// User data that new instances fetch from S3 and that is not there.
pub(crate) struct MissingObject<'a> {
    /// The version that fetches it.
    pub(crate) version: TemplateVersion,
    /// Where it is missing.
    pub(crate) place: &'a ObjectPlace,
    /// What to write there, if the pool still has it: a rollback to an earlier bootstrap Secret has not.
    pub(crate) content: Option<&'a StoredUserData>,
}

/// What new instances would fetch in vain, as far as it is known: a list that is older than our last write does not show it.
pub(crate) fn missing_object<'a>(facts: &Facts<'a>) -> Option<MissingObject<'a>> {
    let TemplateState::Ready(template, version) = template_state(facts) else { return None };
    let record = template.record(version)?;
    let place =
        record.object.as_ref().filter(|it| Some(&it.storage) == facts.desired.group.storage.as_ref())?;
    let seen = facts.observed.stored.seen()?;
    if facts.memory.stored.contains_key(&place.to_string()) || seen.contains(&place.name) {
        return None;
    }
    let Wanted::Ready(wanted) = &facts.desired.template else { return None };
    let content = wanted.object.as_deref().filter(|object| object.place == *place);
    Some(MissingObject { version, place, content })
}

/// A rollback uses the present user data if it comes from the same Secret, and a version can record both its place and the image of
/// arm64: an old join token has expired.
fn fallback_state<'a>(
    template: &'a LaunchTemplate,
    spec: &SpecHash,
    wanted: &'a Template,
) -> TemplateState<'a> {
    if let Some(version) = version_with(template, spec, &wanted.data_hash) {
        return TemplateState::Ready(template, version);
    }
    let newest = template
        .versions
        .iter()
        .filter(|record| record.spec_hash.as_ref() == Some(spec))
        .max_by_key(|record| record.version);
    let Some(record) = newest else { return TemplateState::VersionMissing(template, wanted) };
    let hashes =
        TemplateHashes { spec: spec.clone(), arm64_image: record.arm64_image.clone(), ..wanted.hashes() };
    let is_of_secret = record.source_hash.as_ref() == Some(&wanted.source_hash);
    if is_of_secret && hashes.describe().len() <= TemplateHashes::LONGEST {
        TemplateState::UserDataOutdated(template, record.version, hashes)
    } else {
        TemplateState::Ready(template, record.version)
    }
}

/// The newest version with both hashes.
fn version_with(template: &LaunchTemplate, spec: &SpecHash, data: &SpecHash) -> Option<TemplateVersion> {
    let fits = |record: &&TemplateRecord| {
        record.spec_hash.as_ref() == Some(spec) && record.data_hash.as_ref() == Some(data)
    };
    template.versions.iter().filter(fits).map(|record| record.version).max()
}
