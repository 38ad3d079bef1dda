//! Our launch templates, from the last list of them. Plain data.

use crate::TemplateSummary;
use crate::error::CloudError;
use foo_model::{GroupName, LaunchTemplateId, TemplateRecord, Timestamp};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// All templates with our tag. A template has its group's name, unless the spec has another one.
#[derive(Debug, Default)]
pub(super) struct Templates {
    /// The groups of templates with another name.
    groups: BTreeMap<String, BTreeSet<GroupName>>,
    list: Option<(Timestamp, HashMap<String, TemplateSummary>)>,
    /// The latest version of each when they were listed first. A version never changes.
    latest: BTreeMap<LaunchTemplateId, TemplateRecord>,
    failure: Option<CloudError>,
}

/// The groups with news about their template.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Changed {
    /// Every watched group: the first list has arrived, or the reason why not is known.
    All,
    /// These.
    Some(Vec<GroupName>),
}

impl Templates {
    pub(super) fn get(&self, name: &str) -> Option<(Timestamp, Option<TemplateSummary>)> {
        let (at, list) = self.list.as_ref()?;
        Some((*at, list.get(name).cloned()))
    }

    /// The template of this group has this name.
    pub(super) fn belongs_to(&mut self, name: &str, group: &GroupName) {
        if name != group.as_str() {
            self.groups.entry(name.to_owned()).or_default().insert(group.clone());
        }
    }

    pub(super) fn forget(&mut self, group: &GroupName) {
        self.groups.retain(|_, groups| {
            groups.remove(group);
            !groups.is_empty()
        });
    }

    /// Whether there is a list, and a group's template is not in it.
    pub(super) fn lack(&self, group: &GroupName) -> bool {
        let Some((_, list)) = &self.list else { return false };
        let named =
            self.groups.iter().filter(|(_, groups)| groups.contains(group)).map(|(name, _)| name.as_str());
        !named.chain([group.as_str()]).any(|name| list.contains_key(name))
    }

    /// Whether the first list is still to come.
    pub(super) fn are_pending(&self) -> bool {
        self.list.is_none() && self.failure.is_none()
    }

    /// The latest versions, listed together with the first list.
    pub(super) fn latest_arrived(&mut self, latest: BTreeMap<LaunchTemplateId, TemplateRecord>) {
        self.latest = latest;
    }

    /// The latest version of a template, unless another one has been created since the versions were listed.
    pub(super) fn latest(&self, name: &str) -> Option<(Timestamp, TemplateSummary, TemplateRecord)> {
        let (at, template) = self.get(name)?;
        let template = template?;
        let record = self.latest.get(&template.id).filter(|record| record.version == template.latest)?;
        Some((at, template, record.clone()))
    }

    pub(super) fn arrived(
        &mut self,
        at: Timestamp,
        response: crate::Result<Vec<TemplateSummary>>,
    ) -> Changed {
        match response {
            Ok(found) => {
                self.failure = None;
                let list = found.into_iter().map(|template| (template.name.clone(), template)).collect();
                match self.list.replace((at, list)) {
                    Some((_, before)) => Changed::Some(self.differences(&before)),
                    None => Changed::All,
                }
            }
            Err(error) => {
                let known = self.failure.as_ref() == Some(&error);
                self.failure = Some(error);
                // An old list stays useful for a while; a failure is news only if there has never been a
                // list.
                if known || self.list.is_some() { Changed::Some(Vec::new()) } else { Changed::All }
            }
        }
    }

    fn differences(&self, before: &HashMap<String, TemplateSummary>) -> Vec<GroupName> {
        let Some((_, now)) = &self.list else { return Vec::new() };
        let new_or_other = now.iter().filter(|(name, template)| before.get(*name) != Some(*template));
        let gone = before.iter().filter(|(name, _)| !now.contains_key(*name));
        let others = |name: &String| self.groups.get(name).into_iter().flatten().cloned();
        let changed = new_or_other.chain(gone).map(|(name, _)| name);
        changed.flat_map(|name| others(name).chain([GroupName::new(name)])).collect()
    }
}
