//! What EKS sees of IAM: which roles there are, and by which unique id.

use foo_model::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// A role as EKS sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// Its ARN, with its path.
    pub arn: String,
    /// Its unique id (`AROA…`): another one if it was deleted and created again.
    pub unique_id: String,
    /// When a caller created it; `None` for a role that exists because IAM has every role.
    pub created: Option<Timestamp>,
    /// Service principals that may assume it; `*` stands for all.
    pub services: BTreeSet<String>,
}

/// The roles of the account.
#[derive(Clone, Debug, Default)]
pub struct Principals {
    /// By name.
    pub roles: BTreeMap<String, Principal>,
    /// While IAM has every role: the unique id of a role that no caller created, by its name.
    pub anonymous: Option<fn(&str) -> String>,
    /// Names of roles that were removed, and are there no longer whatever `anonymous` says.
    pub removed: BTreeSet<String>,
    /// The account.
    pub account: String,
}

impl Principals {
    /// The role of an ARN, if IAM has it. A role that no caller created has no path.
    pub fn role(&self, arn: &str) -> Option<Principal> {
        let path = arn.strip_prefix("arn:aws:iam::")?.strip_prefix(self.account.as_str())?;
        let path = path.strip_prefix(":role/")?;
        let name = path.rsplit('/').next().filter(|name| !name.is_empty())?;
        if let Some(role) = self.roles.get(name) {
            return Some(role.clone()).filter(|role| role.arn == arn);
        }
        let unique_id = self.anonymous.filter(|_| !self.removed.contains(name))?;
        Some(Principal {
            arn: arn.to_owned(),
            unique_id: unique_id(name),
            created: None,
            services: BTreeSet::from(["*".to_owned()]),
        })
    }

    /// Whether an ARN names a user, which is not looked up: users are access keys here.
    pub fn is_user(&self, arn: &str) -> bool {
        let path =
            arn.strip_prefix("arn:aws:iam::").and_then(|rest| rest.strip_prefix(self.account.as_str()));
        path.and_then(|path| path.strip_prefix(":user/")).is_some_and(|name| !name.is_empty())
    }
}
