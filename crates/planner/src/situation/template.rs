//! Is there a launch template version with the wanted content? What is done about it is in `steps/template.rs`.

use super::facts::Facts;
use crate::desired::{Blocked, Template, Wanted};
use crate::observed::Look;
use foo_model::{LaunchTemplate, Reason, SpecHash, TemplateHashes, TemplateRecord, TemplateVersion};

/// Where the template stands.
pub(crate) enum Stand<'a> {
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
    Lacking(&'a LaunchTemplate, &'a Template),
    /// This version has the content to go back to, with user data of another day.
    Stale(&'a LaunchTemplate, TemplateVersion, TemplateHashes),
    /// This version has the content to launch.
    Ready(&'a LaunchTemplate, TemplateVersion),
}

impl<'a> Stand<'a> {
    /// What the group shall launch from, as far as it can be had.
    pub(crate) fn launchable(&self) -> Option<(&'a LaunchTemplate, TemplateVersion)> {
        match self {
            Self::Ready(template, version) | Self::Stale(template, version, _) => Some((template, *version)),
            Self::Blocked(_)
            | Self::Unknown
            | Self::Failed { .. }
            | Self::Foreign(_)
            | Self::Absent(_)
            | Self::Lacking(..) => None,
        }
    }
}

/// Where the template stands.
pub(crate) fn stand<'a>(facts: &Facts<'a>) -> Stand<'a> {
    let wanted = match &facts.desired.template {
        Wanted::Ready(wanted) => wanted,
        Wanted::Blocked(blocked) => return Stand::Blocked(blocked),
    };
    match &facts.observed.template {
        Look::Unknown => Stand::Unknown,
        Look::Failed { reason, message } => Stand::Failed { reason: *reason, message },
        Look::At { seen: None, .. } => Stand::Absent(wanted),
        Look::At { seen: Some(template), .. } if !facts.desired.identity.owns(&template.tags) => {
            Stand::Foreign(template)
        }
        Look::At { seen: Some(template), .. } => match facts.content.fallback {
            None => match version_with(template, &wanted.spec_hash, &wanted.data_hash) {
                Some(version) => Stand::Ready(template, version),
                None => Stand::Lacking(template, wanted),
            },
            Some(fallback) => stand_of_fallback(template, fallback, wanted),
        },
    }
}

/// What is gone back to is launched with the user data of today if that came from the same Secret: a join token of
/// another day has expired.
fn stand_of_fallback<'a>(template: &'a LaunchTemplate, spec: &SpecHash, wanted: &'a Template) -> Stand<'a> {
    if let Some(version) = version_with(template, spec, &wanted.data_hash) {
        return Stand::Ready(template, version);
    }
    let newest = template
        .versions
        .iter()
        .filter(|record| record.spec_hash.as_ref() == Some(spec))
        .max_by_key(|record| record.version);
    match newest {
        None => Stand::Lacking(template, wanted),
        Some(record) if record.source_hash.as_ref() == Some(&wanted.source_hash) => {
            Stand::Stale(template, record.version, TemplateHashes { spec: spec.clone(), ..wanted.hashes() })
        }
        Some(record) => Stand::Ready(template, record.version),
    }
}

/// The newest version with both hashes.
fn version_with(template: &LaunchTemplate, spec: &SpecHash, data: &SpecHash) -> Option<TemplateVersion> {
    let fits = |record: &&TemplateRecord| {
        record.spec_hash.as_ref() == Some(spec) && record.data_hash.as_ref() == Some(data)
    };
    template.versions.iter().filter(fits).map(|record| record.version).max()
}
