//! Roles and the sessions made from them: temporary credentials that expire (AWS STS API Reference, AssumeRole and
//! AssumeRoleWithWebIdentity).

use super::policy::Policy;
use crate::core::error::{AwsError, AwsResult};
use foo_model::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Shortest session (API Reference, AssumeRole).
pub(crate) const SHORTEST: u64 = 900;
/// Length of a session if none is asked for, and the longest one of a session that was itself made from a role.
pub(crate) const HOUR: u64 = 3_600;
/// Longest session a role can allow.
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
    /// Who may assume it: access key ids and names of roles; `*` stands for everybody.
    #[serde(default)]
    pub trusts: Vec<String>,
    /// `sts:ExternalId` that AssumeRole must give.
    #[serde(default)]
    pub external_id: Option<String>,
    /// Whose tokens AssumeRoleWithWebIdentity accepts.
    #[serde(default)]
    pub web_identity: Option<WebIdentityTrust>,
    /// MaxSessionDuration in seconds, 3,600-43,200.
    #[serde(default = "hour")]
    pub max_session_seconds: u64,
    /// How long its sessions really last, in seconds, whatever is asked for: shorter than AWS allows, so that expiry can be
    /// watched.
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
    /// `sub`; `*` stands for any text.
    pub subject: String,
}

/// A session of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Session {
    /// Name of its role.
    pub(crate) role: String,
    /// RoleSessionName.
    pub(crate) name: String,
    /// Session token, which every call must carry.
    pub(crate) token: String,
    /// When it ends, in real time: callers judge by their own clocks.
    pub(crate) expires: Timestamp,
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
    /// A role that is not known, as long as nobody asks who may do what.
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
    pub(crate) fn arn(&self, account: &str) -> String {
        format!("arn:aws:iam::{account}:role{}{}", self.path, self.name)
    }

    /// Whether a caller may assume it.
    pub(crate) fn trusts(&self, caller: &str) -> bool {
        self.trusts.iter().any(|it| it == "*" || it == caller)
    }

    /// How long a session lasts that somebody asks for; `chained` if that is a session of a role himself.
    pub(crate) fn session(&self, asked: Option<u32>, chained: bool) -> AwsResult<Duration> {
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
