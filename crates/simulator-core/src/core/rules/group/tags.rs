//! Tags of groups (Auto Scaling User Guide, "Tag Auto Scaling groups and instances").

use crate::core::error::{AwsError, AwsResult};
use crate::core::group::model::GroupTag;
use crate::core::region::Region;
use crate::core::tags::is_xml_string;
use foo_model::GroupName;
use std::collections::BTreeMap;

/// Tags a group can have (Auto Scaling User Guide, "Quotas").
pub const TAG_LIMIT: usize = 50;

/// Refuses tags that AWS refuses.
pub(crate) fn check_tags(tags: &BTreeMap<String, GroupTag>) -> AwsResult<()> {
    if tags.len() > TAG_LIMIT {
        return Err(AwsError::validation(format!("A group can have at most {TAG_LIMIT} tags.")));
    }
    for (key, tag) in tags {
        if !(1..=128).contains(&key.chars().count()) || tag.value.chars().count() > 256 {
            return Err(AwsError::validation(format!(
                "The tag '{key}' is too long: keys have 1-128, values up to 256 characters."
            )));
        }
        for (field, text) in [("key", key), ("value", &tag.value)] {
            if !is_xml_string(text) {
                return Err(AwsError::validation(format!(
                    "1 validation error detected: Value at 'tags.1.member.{field}' failed to satisfy constraint: Member must \
                     satisfy regular expression pattern: [\\u0020-\\uD7FF\\uE000-\\uFFFD\\uD800\\uDC00-\\uDBFF\\uDFFF\\r\\n\\t]*"
                )));
            }
        }
        if key.to_ascii_lowercase().starts_with("aws:") {
            return Err(AwsError::validation(
                "Caller is not allowed to create, update, or delete tags that begin with the \"aws:\" prefix.",
            ));
        }
    }
    Ok(())
}

impl Region {
    /// CreateOrUpdateTags for one group. Running instances do not get them.
    pub fn tag_group(&mut self, name: &GroupName, tags: BTreeMap<String, GroupTag>) -> AwsResult<()> {
        let mut all = self.living_group(name)?.tags.clone();
        all.extend(tags);
        check_tags(&all)?;
        if let Some(group) = self.groups.get_mut(name) {
            group.tags = all;
        }
        Ok(())
    }

    /// DeleteTags for one group. Unknown keys are not an error.
    pub fn untag_group<'a>(
        &mut self,
        name: &GroupName,
        keys: impl Iterator<Item = &'a str>,
    ) -> AwsResult<()> {
        self.living_group(name)?;
        if let Some(group) = self.groups.get_mut(name) {
            for key in keys {
                group.tags.remove(key);
            }
        }
        Ok(())
    }
}
