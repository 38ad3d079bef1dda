//! Descriptions of AWS credentials: values only. [`crate::identities`] decides which ones a cluster uses, and
//! the [`crate::clouds::CloudFactory`] creates sessions from them.

use sha2::{Digest as _, Sha256};
use std::fmt;

/// The name of the manager's own credentials.
const OWN: &str = "default";

/// The source of a credential chain and the roles that are assumed one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The source.
    pub source: Source,
    /// Roles, in the order in which they are assumed.
    pub roles: Vec<Role>,
}

/// Where credentials come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The manager's own: IAM role of its ServiceAccount, instance profile, environment.
    #[default]
    Manager,
    /// Static keys.
    Keys(Keys),
}

/// Static keys.
#[derive(Clone, PartialEq, Eq)]
pub struct Keys {
    /// Access key id; not a secret.
    pub access_key_id: String,
    /// Secret access key.
    pub secret_access_key: String,
    /// Session token, of temporary keys.
    pub session_token: Option<String>,
}

/// A role to assume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// Its ARN.
    pub arn: String,
    /// The external id that its trust policy asks for.
    pub external_id: Option<String>,
    /// The session's name in CloudTrail.
    pub session_name: String,
}

impl Credentials {
    /// A name for these credentials: the same for the same content, different for any other, and safe in
    /// logs. Users of the same name share a connection, so a rotated key gets a new one.
    pub fn name(&self) -> String {
        let mut name = match &self.source {
            Source::Manager => OWN.to_owned(),
            Source::Keys(keys) => keys.access_key_id.clone(),
        };
        for role in &self.roles {
            name = format!("{name} > {}", role.arn);
        }
        if *self == Self::default() { name } else { format!("{name} #{}", self.digest()) }
    }

    /// Reveals no secret access key: 240 random bits cannot be guessed.
    fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        let mut add = |text: Option<&str>| {
            hasher.update([u8::from(text.is_some())]);
            hasher.update(text.map_or(0, str::len).to_be_bytes());
            hasher.update(text.unwrap_or_default());
        };
        if let Source::Keys(keys) = &self.source {
            add(Some(&keys.access_key_id));
            add(Some(&keys.secret_access_key));
            add(keys.session_token.as_deref());
        }
        for role in &self.roles {
            add(Some(&role.arn));
            add(role.external_id.as_deref());
            add(Some(&role.session_name));
        }
        let digest = hasher.finalize();
        // Enough characters to distinguish keys.
        format!("{:016x}", u64::from_be_bytes(digest.first_chunk().copied().unwrap_or_default()))
    }
}

impl fmt::Debug for Keys {
    /// Without the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("access_key_id", &self.access_key_id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(secret: &str, token: Option<&str>) -> Credentials {
        let source = Source::Keys(Keys {
            access_key_id: "AKIA1".into(),
            secret_access_key: secret.into(),
            session_token: token.map(str::to_owned),
        });
        Credentials { source, roles: Vec::new() }
    }

    fn role(arn: &str, external_id: Option<&str>) -> Role {
        Role {
            arn: arn.into(),
            external_id: external_id.map(str::to_owned),
            session_name: "foo-manager".into(),
        }
    }

    #[test]
    fn every_difference_gives_another_name_and_no_name_shows_a_secret() {
        let own = Credentials::default();
        let with = |roles: &[Role]| Credentials { roles: roles.to_vec(), ..own.clone() };
        let all = [
            own.clone(),
            keys("hush", None),
            keys("hushed", None),
            keys("hush", Some("token")),
            with(&[role("arn:a", None)]),
            with(&[role("arn:a", Some("x"))]),
            with(&[role("arn:b", None), role("arn:a", None)]),
            with(&[role("arn:a", None), role("arn:b", None)]),
        ];
        let names: std::collections::BTreeSet<String> = all.iter().map(Credentials::name).collect();
        assert_eq!(names.len(), all.len(), "{names:?}");
        assert_eq!(keys("hush", None).name(), keys("hush", None).name());
        let shown = format!("{names:?} {all:?}");
        assert!(!shown.contains("hush") && !shown.contains("token\""), "{shown}");
        assert_eq!(own.name(), "default");
    }
}
