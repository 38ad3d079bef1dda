//! For a test bed that runs the API servers of clusters: the users and roles that their authenticators accept, and
//! credentials to sign tokens with.

use super::Simulator;
use crate::core::rules::eks::AccessMapping;
use crate::iam::roles::Role;
use crate::iam::{Issued, Keys};
use crate::presign::SigningKey;
use crate::world::Inner;
use foo_model::{InstanceId, Timestamp};
use std::time::Duration;

/// How long a session lasts that was not asked for by AssumeRole (AWS STS API Reference, AssumeRole: the default).
const SESSION: Duration = Duration::from_hours(1);
/// How long the credentials of an instance last that the metadata service hands out (EC2 User Guide, "Retrieve security
/// credentials from instance metadata": they are renewed before they expire).
const INSTANCE_SESSION: Duration = Duration::from_hours(6);

impl Simulator {
    /// The users and roles that the authenticator of a cluster accepts; none if there is no such cluster.
    pub fn access_mappings(&self, region: &str, cluster: &str) -> Vec<AccessMapping> {
        let principals = self.world.lock().keys.principals(&self.world.config.account);
        self.region(region).with(|region| region.access_mappings(cluster, &principals)).unwrap_or_default()
    }

    /// Credentials of a session of a role that begins at this time of a real clock and lasts an hour, as AssumeRole gives them
    /// without the question who may. `None` if there is no such role.
    pub fn role_session(&self, role: &str, session: &str, now: Timestamp) -> Option<SigningKey> {
        self.session_of(|keys| keys.role(role), session, (now, now.plus(SESSION)))
    }

    /// The credentials that the metadata service gives an instance at this time of a real clock: a session of the role in its
    /// instance profile, named by the instance. `None` if it has none that exists.
    pub fn instance_credentials(&self, region: &str, id: &InstanceId, now: Timestamp) -> Option<SigningKey> {
        let profile = self.region(region).instance(id)?.instance_profile?;
        let name = profile.rsplit('/').next().unwrap_or(&profile);
        let role = |keys: &Keys| keys.role(&keys.instance_profile(name)?.role?);
        self.session_of(role, id.as_str(), (now, now.plus(INSTANCE_SESSION)))
    }

    fn session_of(
        &self,
        role: impl FnOnce(&Keys) -> Option<Role>,
        name: &str,
        times: (Timestamp, Timestamp),
    ) -> Option<SigningKey> {
        let mut inner = self.world.lock();
        let Inner { keys, request_ids, .. } = &mut *inner;
        let role = role(keys)?;
        let policies = role.policy.iter().cloned().collect();
        let Issued { id, secret, token } = keys.issue(request_ids, &role, name, policies, times);
        Some(SigningKey { id, secret, session_token: Some(token) })
    }
}
