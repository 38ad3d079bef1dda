//! Buckets of S3 and their objects, as far as user data needs them (Amazon S3 User Guide). Keys and writes are strongly
//! consistent; there are no versions of objects and no parts.

use super::error::{AwsError, AwsResult};
use foo_model::Timestamp;
use std::collections::BTreeMap;

/// Most bytes of a key (User Guide, "Naming Amazon S3 objects").
pub(super) const KEY_LIMIT: usize = 1_024;
/// Most tags of an object, and most characters of their keys and values (User Guide, "Categorizing your storage using tags").
const TAGS: usize = 10;
const TAG_KEY_LIMIT: usize = 128;
const TAG_VALUE_LIMIT: usize = 256;

/// The buckets of a region, by name.
pub type Buckets = BTreeMap<String, Bucket>;

/// A bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Its objects by key, in the order in which a list shows them.
    pub objects: BTreeMap<String, Object>,
    /// The tag that has to be the ARN of the reader's role, if the policy of the bucket says so.
    pub reader_tag: Option<String>,
}

/// An object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its content.
    pub content: Vec<u8>,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// When it was written.
    pub modified: Timestamp,
}

/// Whether a write may replace an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// It may.
    Allowed,
    /// `If-None-Match: *`.
    Refused,
}

pub(super) fn check_tags(tags: &BTreeMap<String, String>) -> AwsResult<()> {
    let allowed = |c: char| c.is_alphanumeric() || " +-=._:/@".contains(c);
    let fits = |text: &str, limit: usize| text.chars().count() <= limit && text.chars().all(allowed);
    let fine = tags
        .iter()
        .all(|(key, value)| !key.is_empty() && fits(key, TAG_KEY_LIMIT) && fits(value, TAG_VALUE_LIMIT));
    match (tags.len() > TAGS, fine) {
        (true, _) => Err(AwsError::new("BadRequest", "Object tags cannot be greater than 10")),
        (false, false) => Err(AwsError::new("InvalidTag", "The TagValue you have provided is invalid")),
        (false, true) => Ok(()),
    }
}
