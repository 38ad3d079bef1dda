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
    /// What the keys of the objects of all pools of a namespace begin with. An IAM policy can name it: S3 has no condition on tags
    /// for deletions, so that the folder is what keeps the role of one tenant away from the objects of another.
    pub fn namespace_folder(&self, namespace: &str) -> String {
        let parts = [self.prefix.as_str(), OBJECTS_FOLDER, namespace];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("{}/", parts.join("/"))
    }

    /// What the keys of all objects of a pool begin with.
    ///
    /// The folders of two pools are the same only if their namespaces and groups are, and names of groups are unique in an account
    /// and region, which the bucket is in, too. A move to another management cluster changes neither.
    pub fn folder(&self, namespace: &str, group: &GroupName) -> String {
        format!("{}{}/", self.namespace_folder(namespace), as_segment(group.as_str()))
    }

    /// The name of an object that its key shows to be an object of this pool: the pool's folder, and then nothing but a name as
    /// [`ObjectPlace::name`] has it. Of any other key the provider deletes nothing, whatever it begins with.
    pub fn name_in<'k>(&self, namespace: &str, group: &GroupName, key: &'k str) -> Option<&'k str> {
        key.strip_prefix(&self.folder(namespace, group)).filter(|name| is_name(name))
    }
}

/// A name as one segment of a key: different names are different segments, and none of them contains a slash or is a dot or two, which
/// clients of HTTP remove from paths. `!` and two hexadecimal digits stand for a byte (Amazon S3 User Guide, "Object key naming
/// guidelines": `!` is a safe character).
fn as_segment(name: &str) -> String {
    let keeps = |at: usize, byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || (byte == b'.' && at > 0)
    };
    let part = |(at, byte): (usize, u8)| {
        if keeps(at, byte) { char::from(byte).to_string() } else { format!("!{byte:02X}") }
    };
    name.bytes().enumerate().map(part).collect()
}

/// Whether this is the last part of a key that the provider wrote.
fn is_name(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
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
    pub fn key(&self, namespace: &str, group: &GroupName) -> String {
        format!("{}{}", self.storage.folder(namespace, group), self.name)
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

/// The text does not name an object of the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoObject;

impl FromStr for ObjectPlace {
    type Err = NoObject;

    fn from_str(text: &str) -> Result<Self, NoObject> {
        let (bucket, rest) = text.split_once('/').ok_or(NoObject)?;
        let (prefix, name) = rest.rsplit_once('/').unwrap_or(("", rest));
        if bucket.is_empty() || !is_name(name) {
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
    use proptest::prelude::*;

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
    fn a_folder_has_the_namespace_and_the_group_each_as_one_segment() {
        let folder = |prefix: &str, group: &str| place(prefix).storage.folder("ns", &group.into());
        assert_eq!(folder("a", "ns-c-pool"), "a/foo-user-data/ns/ns-c-pool/");
        assert_eq!(folder("", "prod/web"), "foo-user-data/ns/prod!2Fweb/");
        assert_eq!(folder("", "pool_(1.0)"), "foo-user-data/ns/pool_!281.0!29/");
        assert_eq!(folder("", ".."), "foo-user-data/ns/!2E./");
    }

    /// Names of groups as the CRD allows them, and worse: names that other tools gave.
    fn group() -> impl Strategy<Value = String> {
        prop_oneof!["[A-Za-z0-9][A-Za-z0-9_./()-]{0,8}", "[a./!2F-]{1,6}", "\\PC{1,8}"]
    }

    fn prefix() -> impl Strategy<Value = String> {
        prop_oneof![
            Just(String::new()),
            "[a-c](/[a-c]){0,2}",
            Just("foo-user-data".to_owned()),
            "foo-user-data/[ab]",
            "foo-user-data/[ab]/[ab](/foo-user-data)?"
        ]
    }

    proptest! {
        #[test]
        fn no_pool_takes_an_object_of_another_for_its_own(
            one in (prefix(), "[ab]|foo-user-data", group()),
            other in (prefix(), "[ab]|foo-user-data", group()),
        ) {
            prop_assume!((&one.1, &one.2) != (&other.1, &other.2));
            let key = place(&other.0).key(&other.1, &GroupName::new(&other.2));
            let taken = place(&one.0).storage.name_in(&one.1, &GroupName::new(&one.2), &key).is_some();
            prop_assert!(!taken, "{key}");
        }

        #[test]
        fn a_pool_knows_its_own_objects(prefix in prefix(), namespace in "[ab]", group in group()) {
            let (place, group) = (place(&prefix), GroupName::new(&group));
            let key = place.key(&namespace, &group);
            prop_assert_eq!(place.storage.name_in(&namespace, &group, &key), Some(place.name.as_str()));
        }
    }

    #[test]
    fn what_the_provider_did_not_write_is_not_its_own() {
        let own = |rest: &str| {
            place("").storage.name_in("ns", &"g".into(), &format!("foo-user-data/ns/g/{rest}")).is_some()
        };
        assert!(own(&"0f".repeat(32)));
        for rest in ["", "notes.txt", &"0F".repeat(32), &"0f".repeat(31), &format!("web/{}", "0f".repeat(32))]
        {
            assert!(!own(rest), "{rest}");
        }
    }

    #[test]
    fn not_every_role_can_be_a_tag() {
        assert!(fits_tag("arn:aws:iam::123456789012:role/path/w.nodes+a=b@c_d-e"));
        assert!(!fits_tag("arn:aws:iam::123456789012:role/a,b"));
        assert!(!fits_tag(&format!("arn:aws:iam::123456789012:role/{}", "a".repeat(256))));
    }
}
