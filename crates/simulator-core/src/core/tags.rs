//! What EC2 demands of tags.

use super::error::{AwsError, AwsResult};
use foo_model::network::{Change, Tags};
use std::collections::BTreeMap;

/// Most tags of a resource (EC2 User Guide, "Tag restrictions").
const TAG_LIMIT: usize = 50;

/// Validates the tags of a creation as CreateTags does.
pub(crate) fn check_creation(change: &Change) -> AwsResult<()> {
    let Some(tags) = change.tags() else { return Ok(()) };
    check(tags)?;
    check_reserved(tags)?;
    if tags.len() > TAG_LIMIT {
        return Err(AwsError::new(
            "TagLimitExceeded",
            format!("A resource can have at most {TAG_LIMIT} tags."),
        ));
    }
    Ok(())
}

fn check_reserved(tags: &Tags) -> AwsResult<()> {
    if tags.keys().any(|key| key.to_ascii_lowercase().starts_with("aws:")) {
        return Err(AwsError::invalid_value("Tag keys starting with 'aws:' are reserved for internal use"));
    }
    Ok(())
}

/// Keys have 1–128 characters, values up to 256, all of them valid in XML (EC2 User Guide, "Tag restrictions").
pub(crate) fn check(tags: &BTreeMap<String, String>) -> AwsResult<()> {
    let wrong = |what: &str, text: &str| {
        Err(AwsError::invalid_value(format!("Tag {what} is not valid: {}", text.escape_debug())))
    };
    for (key, value) in tags {
        if !(1..=128).contains(&key.chars().count()) || !is_xml_string(key) {
            return wrong("key", key);
        }
        if value.chars().count() > 256 || !is_xml_string(value) {
            return wrong("value", value);
        }
    }
    Ok(())
}

/// Characters that texts of Auto Scaling may have: those that XML can hold (API Reference, Tag: pattern).
pub(crate) fn is_xml_string(text: &str) -> bool {
    text.chars().all(|c| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..))
}

/// Finds the tags of a resource.
type TagsOf<T> = for<'a> fn(&'a mut T, &str) -> AwsResult<&'a mut Tags>;

/// CreateTags: all or nothing. `tags_of` finds the tags of a resource.
pub(super) fn create<T>(all: &mut T, tags_of: TagsOf<T>, resources: &[String], tags: &Tags) -> AwsResult<()> {
    if tags.is_empty() {
        return Err(AwsError::missing("Tag"));
    }
    check(tags)?;
    check_reserved(tags)?;
    change(all, tags_of, resources, |of| of.extend(tags.clone()))
}

/// DeleteTags. A tag with a value in the request is removed only if the value matches; without keys all tags except AWS's own are
/// removed.
pub(super) fn delete<T>(
    all: &mut T,
    tags_of: TagsOf<T>,
    resources: &[String],
    tags: &BTreeMap<String, Option<String>>,
) -> AwsResult<()> {
    change(all, tags_of, resources, |of| {
        of.retain(|key, value| {
            let named = match tags.get(key) {
                Some(Some(wanted)) => wanted == value,
                Some(None) => true,
                None => tags.is_empty(),
            };
            !named || key.starts_with("aws:")
        });
    })
}

fn change<T>(
    all: &mut T,
    tags_of: TagsOf<T>,
    resources: &[String],
    change: impl Fn(&mut Tags),
) -> AwsResult<()> {
    if resources.is_empty() {
        return Err(AwsError::missing("ResourceId"));
    }
    // First on copies: if one resource is unknown or would have too many tags, none is changed.
    for id in resources {
        let mut copy = tags_of(all, id)?.clone();
        change(&mut copy);
        if copy.keys().filter(|key| !key.starts_with("aws:")).count() > TAG_LIMIT {
            return Err(AwsError::new(
                "TagLimitExceeded",
                format!("{id} can have at most {TAG_LIMIT} tags."),
            ));
        }
    }
    for id in resources {
        change(tags_of(all, id)?);
    }
    Ok(())
}
