//! What an ExtensionConfig, or a reference to a handler in a ClusterClass, may set. A setting that is not known is a
//! failure of every call: mistyped, it would switch off what a user relies on.

use foo_runtime_sdk::Failure;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The settings, as typed values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switches one hook on, and is written as true or false"
)]
pub struct Settings {
    /// Which FooClusterIdentities may be used to read AWS, and how. Topologies with any other identity are not checked
    /// against AWS.
    pub identities: Vec<Identity>,
    /// What ValidateTopology does with what AWS would refuse.
    pub checks: Checks,
    /// BeforeClusterCreate: hold a Cluster until the credentials work, and its network, images and instance profiles
    /// exist.
    pub preflight: bool,
    /// BeforeWorkersUpgrade: hold the workers until the images of the new version exist.
    pub wait_for_images: bool,
    /// AfterControlPlaneUpgrade: hold the workers of Clusters with the annotation
    /// [`PAUSE_WORKERS_ANNOTATION`](foo_api::names::PAUSE_WORKERS_ANNOTATION).
    pub pause_workers: bool,
    /// BeforeClusterDelete: find load balancers and volumes that the Cluster's workloads leave in AWS.
    pub leftovers: bool,
    /// Kubernetes versions that an upgrade may pass through, in addition to those of the variable `images`.
    pub versions: Vec<String>,
}

/// What happens with findings in AWS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Checks {
    /// The topology is refused.
    #[default]
    Enforce,
    /// They are logged.
    Warn,
    /// AWS is not asked.
    Off,
}

/// Which credentials stand for a FooClusterIdentity: `<name>=own` or `<name>=<ARN of a role>`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Identity {
    /// Name of the FooClusterIdentity.
    pub name: String,
    /// Which credentials.
    pub access: Access,
}

/// Which credentials AWS is called with.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Access {
    /// The pod's own.
    Own,
    /// Those of a role that the pod's own assume.
    Role(String),
}

impl TryFrom<String> for Identity {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("identities has {text:?}, which is not <name>=own or <name>=<ARN of a role>");
        let (name, access) = text.split_once('=').ok_or_else(wrong)?;
        if !foo_api::patterns::is_object_name(name) {
            return Err(wrong());
        }
        let access = match access {
            "own" => Access::Own,
            arn if arn.starts_with("arn:") && arn.contains(":role/") => Access::Role(arn.to_owned()),
            _ => return Err(wrong()),
        };
        Ok(Self { name: name.to_owned(), access })
    }
}

impl Settings {
    /// The settings of a request.
    ///
    /// # Errors
    ///
    /// When one is unknown or its value does not fit.
    pub fn of(settings: &foo_runtime_sdk::Settings) -> Result<Self, Failure> {
        let settings: Self = settings.decode()?;
        let mut names = BTreeMap::new();
        for Identity { name, access } in &settings.identities {
            if names.insert(name, access).is_some() {
                return Err(Failure::new(format!(
                    "the extension's settings are wrong: identities has {name:?} twice"
                )));
            }
        }
        Ok(settings)
    }

    /// The credentials that stand for an identity.
    pub fn access(&self, identity: &str) -> Option<&Access> {
        self.identities.iter().find(|known| known.name == identity).map(|known| &known.access)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> Result<Settings, String> {
        let pairs = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Settings::of(&foo_runtime_sdk::Settings(pairs)).map_err(|failure| failure.message().to_owned())
    }

    #[test]
    fn nothing_is_switched_on_unless_it_is_set() {
        let none = settings(&[]).unwrap();
        assert_eq!(none, Settings::default());
        assert!(!none.preflight && !none.wait_for_images && !none.pause_workers && !none.leftovers);
        assert_eq!(none.access("default"), None);
    }

    #[test]
    fn identities_name_credentials() {
        let role = "arn:aws:iam::123456789012:role/team=a";
        let found = settings(&[("identities", &format!("default=own, team-a={role}"))]).unwrap();
        assert_eq!(found.access("default"), Some(&Access::Own));
        assert_eq!(found.access("team-a"), Some(&Access::Role(role.to_owned())));
        assert_eq!(found.access("team-b"), None);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (key, value, problem) in [
            ("preflights", "true", "unknown field `preflights`"),
            ("preflight", "yes", "preflight is \"yes\", which is not true or false"),
            ("checks", "Maybe", "unknown variant `Maybe`"),
            ("identities", "default", "identities has \"default\", which is not <name>=own"),
            ("identities", "default=key", "which is not <name>=own"),
            ("identities", "Default=own", "which is not <name>=own"),
            ("identities", "a=own,a=own", "identities has \"a\" twice"),
        ] {
            let problem_found = settings(&[(key, value)]).unwrap_err();
            assert!(
                problem_found.starts_with("the extension's settings are wrong: ")
                    && problem_found.contains(problem),
                "{problem_found}"
            );
        }
    }
}
