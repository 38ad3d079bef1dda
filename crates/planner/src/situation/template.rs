//! Is there a launch template version with the wanted content? What is done about it is in `steps/template.rs`.

use super::facts::Facts;
use crate::desired::{Blocked, Template, Wanted};
use crate::observed::Look;
use foo_model::{LaunchTemplate, Reason, SpecHash, TemplateHashes, TemplateRecord, TemplateVersion};

/// Where the template stands.
pub(crate) enum TemplateState<'a> {
    /// The wanted content cannot be made; what exists keeps running.
    Blocked(&'a Blocked),
    /// Nobody looked yet.
    Unknown,
    /// Looking failed.
    Failed { reason: Reason, message: &'a str },
    /// Somebody else's template has the name.
    Foreign(&'a LaunchTemplate),
    /// There is none yet.
    Absent(&'a Template),
    /// It lacks a version with the wanted content.
    VersionMissing(&'a LaunchTemplate, &'a Template),
    /// This version has the content to go back to, with user data of another day.
    UserDataOutdated(&'a LaunchTemplate, TemplateVersion, TemplateHashes),
    /// This version has the content to launch.
    Ready(&'a LaunchTemplate, TemplateVersion),
}

impl<'a> TemplateState<'a> {
    /// What the group shall launch from, as far as it can be had.
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

/// Where the template stands.
pub(crate) fn template_state<'a>(facts: &Facts<'a>) -> TemplateState<'a> {
    let wanted = match &facts.desired.template {
        Wanted::Ready(wanted) => wanted,
        Wanted::Blocked(blocked) => return TemplateState::Blocked(blocked),
    };
    match &facts.observed.template {
        Look::Unknown => TemplateState::Unknown,
        Look::Failed { reason, message } => TemplateState::Failed { reason: *reason, message },
        Look::At { seen: None, .. } => TemplateState::Absent(wanted),
        Look::At { seen: Some(template), .. } if !facts.desired.identity.owns(&template.tags) => {
            TemplateState::Foreign(template)
        }
        Look::At { seen: Some(template), .. } => match facts.content.fallback {
            None => match version_with(template, &wanted.spec_hash, &wanted.data_hash) {
                Some(version) => TemplateState::Ready(template, version),
                None => TemplateState::VersionMissing(template, wanted),
            },
            Some(fallback) => fallback_state(template, fallback, wanted),
        },
    }
}

/// What is gone back to is launched with the user data of today if that came from the same Secret: a join token of
/// another day has expired.
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
    match newest {
        None => TemplateState::VersionMissing(template, wanted),
        Some(record) if record.source_hash.as_ref() == Some(&wanted.source_hash) => {
            TemplateState::UserDataOutdated(
                template,
                record.version,
                TemplateHashes { spec: spec.clone(), ..wanted.hashes() },
            )
        }
        Some(record) => TemplateState::Ready(template, record.version),
    }
}

/// The newest version with both hashes.
fn version_with(template: &LaunchTemplate, spec: &SpecHash, data: &SpecHash) -> Option<TemplateVersion> {
    let fits = |record: &&TemplateRecord| {
        record.spec_hash.as_ref() == Some(spec) && record.data_hash.as_ref() == Some(data)
    };
    template.versions.iter().filter(fits).map(|record| record.version).max()
}
