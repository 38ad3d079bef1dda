//! Tokens of clusters, for a test bed that runs their API servers.

use super::Simulator;
use crate::authenticator::{self, ClusterUser, SigningKey, StsHosts, TokenRefusal};
use crate::iam::roles::Role;
use crate::iam::{Issued, Keys};
use crate::world::Inner;
use foo_model::{InstanceId, Timestamp};
use std::time::Duration;

/// How long a session lasts that was not asked for by AssumeRole (AWS STS API Reference, AssumeRole: the default).
const SESSION: Duration = Duration::from_hours(1);
/// How long the credentials of an instance last that the metadata service hands out (EC2 User Guide, "Retrieve security
/// credentials from instance metadata": they are renewed before they expire).
const INSTANCE_SESSION: Duration = Duration::from_hours(6);

impl Simulator {
    /// Who the bearer of a token is in a cluster, as its authenticator finds at this time of a real clock.
    ///
    /// # Errors
    /// The token is refused, or there is no such cluster.
    pub fn review_token(
        &self,
        region: &str,
        cluster: &str,
        token: &str,
        hosts: &StsHosts<'_>,
        now: Timestamp,
    ) -> Result<ClusterUser, TokenRefusal> {
        authenticator::review(&self.world, region, cluster, token, hosts, now)
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
