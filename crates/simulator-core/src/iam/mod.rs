//! Authentication and authorization of callers: access keys with secrets and policies, and in [`directory`] what IAM's own
//! API knows of roles.
//!
//! As long as no key is known every caller has all permissions, as without IAM.

pub mod ask;
pub mod directory;
pub mod policy;
pub mod refusals;
pub mod roles;

use crate::core::chance::Chance;
use crate::core::eks::{Principal, Principals};
use directory::{Directory, InstanceProfile, role_id};
use foo_model::Timestamp;
use policy::Policy;
use roles::{Role, Session};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An access key of an IAM user, whose name is the id of the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessKey {
    /// Access key id.
    pub id: String,
    /// Secret access key, which verifies signatures. No response contains it.
    #[serde(skip_serializing)]
    pub secret: String,
    /// Its policy; without one it has all permissions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
}

/// A key that can sign calls: an access key, or temporary credentials of a role.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// Secret access key.
    pub secret: String,
    /// All of them must allow a call.
    pub policies: Vec<Policy>,
    /// The session of temporary credentials.
    pub session: Option<Session>,
}

/// The known keys, roles and sessions.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    by_id: BTreeMap<String, (AccessKey, Arc<Credentials>)>,
    sessions: BTreeMap<String, Arc<Credentials>>,
    roles: BTreeMap<String, Role>,
    /// What IAM's own API knows.
    pub directory: Directory,
}

/// How ids of temporary credentials begin (IAM User Guide, "IAM identifiers").
pub const TEMPORARY: &str = "ASIA";

/// New temporary credentials.
pub struct Issued {
    /// Access key id.
    pub id: String,
    /// Secret access key.
    pub secret: String,
    /// Session token.
    pub token: String,
}

/// Most sessions: beyond that the expired ones are dropped first, then those that expire first.
const SESSIONS: usize = 10_000;

impl Keys {
    /// Whether no key is known: then only signatures of sessions are verified.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// Adds a key, or replaces the one with that id.
    pub(crate) fn put(&mut self, key: AccessKey) {
        let policies = key.policy.iter().cloned().collect();
        let credentials = Credentials { secret: key.secret.clone(), policies, session: None };
        self.by_id.insert(key.id.clone(), (key, Arc::new(credentials)));
    }

    pub(crate) fn remove(&mut self, id: &str) -> bool {
        self.by_id.remove(id).is_some() || self.sessions.remove(id).is_some()
    }

    /// The credentials with this id.
    pub fn get(&self, id: &str) -> Option<Arc<Credentials>> {
        let key = || self.by_id.get(id).map(|(_, credentials)| credentials);
        self.sessions.get(id).or_else(key).map(Arc::clone)
    }

    pub(crate) fn all(&self) -> Vec<AccessKey> {
        self.by_id.values().map(|(key, _)| key.clone()).collect()
    }

    /// Adds a role, or replaces the one with that name. Its existing sessions keep their policy and expiry.
    pub(crate) fn put_role(&mut self, role: Role, now: Timestamp) {
        if !self.roles.contains_key(&role.name) {
            self.directory.role_created(&role.name, now);
        }
        self.roles.insert(role.name.clone(), role);
    }

    pub(crate) fn remove_role(&mut self, name: &str) -> bool {
        self.roles.remove(name).is_some_and(|role| {
            self.directory.role_removed(&role.name);
            true
        })
    }

    /// What EKS sees of the roles. As long as no key is known there is every role that was not removed.
    pub fn principals(&self, account: &str) -> Principals {
        let anonymous: fn(&str) -> String = role_id;
        let principal = |role: &Role| Principal {
            arn: role.arn(account),
            unique_id: self.directory.unique_id(&role.name),
            created: self.directory.created(&role.name),
            services: role.services.iter().cloned().collect(),
        };
        let roles = self.roles.iter().map(|(name, role)| (name.clone(), principal(role))).collect();
        Principals {
            removed: self
                .directory
                .removed()
                .filter(|name| !self.roles.contains_key(*name))
                .cloned()
                .collect(),
            roles,
            anonymous: self.is_empty().then_some(anonymous),
            account: account.to_owned(),
        }
    }

    pub(crate) fn roles(&self) -> Vec<Role> {
        self.roles.values().cloned().collect()
    }

    /// A role. As long as no key is known, every role exists.
    pub fn role(&self, name: &str) -> Option<Role> {
        let known = self.roles.get(name).cloned();
        known.or_else(|| self.is_empty().then(|| Role::unknown(name)))
    }

    /// Begins a session of a role, which ends at this time. All of the policies must allow a call.
    pub fn issue(
        &mut self,
        chance: &mut Chance,
        role: &Role,
        name: &str,
        policies: Vec<Policy>,
        (now, expires): (Timestamp, Timestamp),
    ) -> Issued {
        let id = format!("{TEMPORARY}{:016X}", chance.bits());
        let secret = format!("{:016x}{:016x}{:08x}", chance.bits(), chance.bits(), chance.bits() >> 32);
        let token = format!("{}{}{}", chance.uuid(), chance.uuid(), chance.uuid());
        let session =
            Session { role: role.name.clone(), name: name.to_owned(), token: token.clone(), expires };
        let credentials = Credentials { secret: secret.clone(), policies, session: Some(session) };
        self.put_session(id.clone(), credentials, now);
        Issued { id, secret, token }
    }

    /// An instance profile. As long as no key is known, a profile that no caller created has the role of its name.
    pub fn instance_profile(&self, name: &str) -> Option<InstanceProfile> {
        let own = || InstanceProfile { name: name.to_owned(), role: Some(name.to_owned()) };
        let known = self.directory.profiles.get(name).cloned();
        known.or_else(|| self.is_empty().then(own))
    }

    fn put_session(&mut self, id: String, credentials: Credentials, now: Timestamp) {
        if self.sessions.len() >= SESSIONS {
            self.sessions.retain(|_, it| it.session.as_ref().is_some_and(|session| session.expires > now));
        }
        if self.sessions.len() >= SESSIONS {
            let expires = |it: &Arc<Credentials>| it.session.as_ref().map(|session| session.expires);
            let first = self.sessions.iter().min_by_key(|(_, it)| expires(it)).map(|(id, _)| id.clone());
            first.and_then(|first| self.sessions.remove(&first));
        }
        self.sessions.insert(id, Arc::new(credentials));
    }

    /// Ends all sessions at once, and returns how many there were.
    pub(crate) fn expire_sessions(&mut self) -> usize {
        for credentials in self.sessions.values_mut() {
            if let Some(session) = &mut Arc::make_mut(credentials).session {
                session.expires = Timestamp(0);
            }
        }
        self.sessions.len()
    }

    /// ARN and UserId of a caller. One in this process that names itself by the ARN of a role has a session of it.
    pub fn identity(&self, account: &str, caller: &str) -> (String, String) {
        let of_session = |role: &str, name: &str| {
            let arn = format!("arn:aws:sts::{account}:assumed-role/{role}/{name}");
            (arn, format!("{}:{name}", self.directory.unique_id(role)))
        };
        match self.sessions.get(caller).and_then(|it| it.session.as_ref()) {
            Some(Session { role, name, .. }) => of_session(role, name),
            None => match caller.split_once(":role/").and_then(|(_, role)| role.rsplit('/').next()) {
                Some(role) => of_session(role, "in-process"),
                None => (format!("arn:aws:iam::{account}:user/{caller}"), caller.to_owned()),
            },
        }
    }
}
