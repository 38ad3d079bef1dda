//! Roles and their sessions, which are temporary credentials (AWS STS API Reference, AssumeRole and
//! AssumeRoleWithWebIdentity).

use super::policy::Policy;
use crate::core::error::{AwsError, AwsResult};
use foo_model::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Shortest duration of a session, in seconds (API Reference, AssumeRole).
pub(crate) const SHORTEST: u64 = 900;
/// Duration of a session if the request has none, and the maximum for chained roles.
pub(crate) const HOUR: u64 = 3_600;
/// Longest duration that a role can allow, in seconds.
const LONGEST: u64 = 43_200;

/// A role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// What it allows; everything if absent.
    #[serde(default)]
    pub policy: Option<Policy>,
    /// Its path.
    #[serde(default = "root")]
    pub path: String,
    /// Service principals that may assume it (`eks.amazonaws.com`); `*` stands for all.
    #[serde(default = "every_service")]
    pub services: Vec<String>,
    /// Who may assume it: access key ids and names of roles; `*` allows every caller.
    #[serde(default)]
    pub trusts: Vec<String>,
    /// The ExternalId that AssumeRole must contain.
    #[serde(default)]
    pub external_id: Option<String>,
    /// Whose tokens AssumeRoleWithWebIdentity accepts.
    #[serde(default)]
    pub web_identity: Option<WebIdentityTrust>,
    /// MaxSessionDuration in seconds, 3,600-43,200.
    #[serde(default = "hour")]
    pub max_session_seconds: u64,
    /// Actual duration of its sessions, in seconds, instead of the requested one. May be shorter than AWS allows, so
    /// that tests see the expiry.
    #[serde(default)]
    pub session_seconds: Option<u64>,
}

/// Which web identity tokens a role trusts: OpenID Connect claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebIdentityTrust {
    /// `iss`.
    pub issuer: String,
    /// `aud`.
    pub audience: String,
    /// `sub`; `*` matches any text.
    pub subject: String,
}

/// A session of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Name of its role.
    pub role: String,
    /// RoleSessionName.
    pub(crate) name: String,
    /// Session token, which every call must carry.
    pub token: String,
    /// When it expires, in real time, because callers compare that with their own clocks.
    pub expires: Timestamp,
}

fn root() -> String {
    "/".to_owned()
}

fn every_service() -> Vec<String> {
    vec!["*".to_owned()]
}

fn hour() -> u64 {
    HOUR
}

impl Role {
    /// The role that exists under any name while no key is known.
    pub(crate) fn unknown(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            policy: None,
            path: root(),
            services: every_service(),
            trusts: vec!["*".to_owned()],
            external_id: None,
            web_identity: None,
            max_session_seconds: LONGEST,
            session_seconds: None,
        }
    }

    /// Its ARN.
    pub fn arn(&self, account: &str) -> String {
        format!("arn:aws:iam::{account}:role{}{}", self.path, self.name)
    }

    /// Whether a caller may assume it.
    pub fn trusts(&self, caller: &str) -> bool {
        self.trusts.iter().any(|it| it == "*" || it == caller)
    }

    /// The duration of a new session; `chained` if the caller is itself a session of a role.
    pub fn session(&self, asked: Option<u32>, chained: bool) -> AwsResult<Duration> {
        let longest = if chained { HOUR } else { self.max_session_seconds.clamp(HOUR, LONGEST) };
        let seconds = asked.map_or(HOUR, u64::from);
        if seconds < SHORTEST {
            return Err(AwsError::validation(format!(
                "1 validation error detected: Value '{seconds}' at 'durationSeconds' failed to satisfy constraint: Member \
                 must have value greater than or equal to {SHORTEST}"
            )));
        }
        if seconds > longest {
            let why = if chained {
                "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining"
            } else {
                "The requested DurationSeconds exceeds the MaxSessionDuration set for this role."
            };
            return Err(AwsError::validation(why));
        }
        Ok(Duration::from_secs(self.session_seconds.unwrap_or(seconds)))
    }
}
