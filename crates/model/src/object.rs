//! Objects in S3 that user data are kept in: where they are, and who may read them.

use super::ids::GroupName;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The folder that every object of the provider is in, so that policies can name them whatever the bucket and its prefix.
pub const OBJECTS_FOLDER: &str = "foo-user-data";

/// The tag of an object with the ARN of the role that may read it. The policy of the bucket compares it with the ARN of whoever
/// reads. Without a `/`: it is a part of a condition key.
pub const TAG_READER: &str = "foo-node-role";

/// Most characters of the value of an object's tag (Amazon S3 User Guide, "Categorizing your storage using tags").
const TAG_LIMIT: usize = 256;

/// A prefix in a bucket, below which pools keep user data.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Storage {
    /// Name of the bucket, without dots.
    pub bucket: String,
    /// Segments of a path without a slash at either end; may be empty.
    pub prefix: String,
}

impl Storage {
    /// What the keys of all objects of a group's pool begin with, and no other object's: names of groups are unique in an
    /// account and region, and a move to another management cluster does not change them.
    pub fn folder(&self, group: &GroupName) -> String {
        let parts = [self.prefix.as_str(), OBJECTS_FOLDER, group.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("{}/", parts.join("/"))
    }
}

/// Which object of a pool.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectPlace {
    /// Where the pool keeps its user data.
    pub storage: Storage,
    /// SHA-256 of the role that may read it and of its content, 64 hexadecimal digits: the last part of its key.
    pub name: String,
}

impl ObjectPlace {
    /// Its key in the bucket.
    pub fn key(&self, group: &GroupName) -> String {
        format!("{}{}", self.storage.folder(group), self.name)
    }
}

/// As one word: `<bucket>/<prefix>/<name>`. A launch template version has it in its description.
impl fmt::Display for ObjectPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Storage { bucket, prefix } = &self.storage;
        let separator = if prefix.is_empty() { "" } else { "/" };
        write!(f, "{bucket}/{prefix}{separator}{}", self.name)
    }
}

/// The text does not name an object of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoObject;

impl FromStr for ObjectPlace {
    type Err = NoObject;

    fn from_str(text: &str) -> Result<Self, NoObject> {
        let (bucket, rest) = text.split_once('/').ok_or(NoObject)?;
        let (prefix, name) = rest.rsplit_once('/').unwrap_or(("", rest));
        let is_hash = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if bucket.is_empty() || !is_hash {
            return Err(NoObject);
        }
        let storage = Storage { bucket: bucket.to_owned(), prefix: prefix.to_owned() };
        Ok(Self { storage, name: name.to_owned() })
    }
}

/// Whether a role's ARN can be the value of an object's tag: letters, digits, spaces and `+-=._:/@`, at most 256 of them (Amazon
/// S3 User Guide, "Categorizing your storage using tags"). Names of roles may have a comma, and paths of roles any character.
pub fn fits_tag(arn: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || " +-=._:/@".contains(c);
    arn.chars().count() <= TAG_LIMIT && arn.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(prefix: &str) -> ObjectPlace {
        let storage = Storage { bucket: "nodes".into(), prefix: prefix.into() };
        ObjectPlace { storage, name: "0f".repeat(32) }
    }

    #[test]
    fn a_place_reads_back() {
        for prefix in ["", "clusters", "clusters/team-a"] {
            assert_eq!(place(prefix).to_string().parse(), Ok(place(prefix)));
        }
        for text in ["", "nodes", "nodes/short", "/clusters/0", &format!("/{}", "0f".repeat(32))] {
            assert_eq!(text.parse::<ObjectPlace>(), Err(NoObject), "{text}");
        }
    }

    #[test]
    fn the_folder_of_a_group_contains_no_object_of_another() {
        let folder = |group: &str| place("a").storage.folder(&group.into());
        assert_eq!(folder("ns-c-pool"), "a/foo-user-data/ns-c-pool/");
        assert!(!folder("ns-c-pool-2").starts_with(&folder("ns-c-pool")));
        assert_eq!(place("").storage.folder(&"g".into()), "foo-user-data/g/");
    }

    #[test]
    fn not_every_role_can_be_a_tag() {
        assert!(fits_tag("arn:aws:iam::123456789012:role/path/w.nodes+a=b@c_d-e"));
        assert!(!fits_tag("arn:aws:iam::123456789012:role/a,b"));
        assert!(!fits_tag(&format!("arn:aws:iam::123456789012:role/{}", "a".repeat(256))));
    }
}
