//! What the controller does at the API server of an EKS cluster: it publishes the endpoint, and uses the kubeconfig's
//! own credentials there. EKS lists access entries and policies before API servers know them, so that only such a
//! request shows whether they work.

use super::control_planes::EksControlPlanes;
use super::kubeconfig::{Kept, Server, renewal};
use super::state::{AskedApiServer, EksState};
use crate::apply;
use crate::clouds::CloudRegion;
use crate::control_plane::pace::{TRY_AGAIN, healthy_period};
use crate::kubeconfig::{self, Problem, Usable};
use foo_api::FooControlPlane;
use foo_api::names::managers;
use foo_model::{Blocked, Reason, Timestamp};
use kube::ResourceExt;
use serde_json::json;
use std::time::Duration;

/// Retry interval before the API server responded for the first time: Cluster API and the nodes wait for that.
const FIRST: Duration = Duration::from_secs(5);

fn blocked(failure: Problem) -> Blocked {
    match failure {
        Problem::Unreachable(message) => Blocked::new(Reason::ApiServerUnreachable, message),
        Problem::Refused(message) => {
            let message =
                format!("{message}: waiting for EKS to apply the manager's access entry and its policy");
            Blocked::new(Reason::WaitingForAccess, message)
        }
    }
}

/// What is known of the API server after a pass.
#[derive(Default)]
pub(super) struct ApiServer {
    /// Whether the kubeconfigs are as they must be; `None`: there is no API server yet.
    pub(super) kubeconfig: Option<Result<(), Blocked>>,
    /// The version that it reports to credentials that work, or why they do not; `None`: it was not asked.
    pub(super) version: Option<Result<String, Blocked>>,
    /// Whether anything was written.
    pub(super) worked: bool,
}

impl EksControlPlanes {
    /// Keeps kubeconfigs and endpoint, and asks the API server if that is due. `server` is what EKS shows, `None` while
    /// it does not respond.
    pub(super) async fn keep_api_server(
        &self,
        control_plane: &FooControlPlane,
        server: Option<Server>,
        region: &CloudRegion,
        state: &mut EksState,
    ) -> Result<ApiServer, apply::Error> {
        let endpoint = server.as_ref().map(|server| server.endpoint.clone());
        let Kept { usable, wrong, mut worked } =
            self.keep_kubeconfigs(control_plane, server, region, state).await?;
        if let Some(endpoint) = endpoint.filter(|_| control_plane.spec.control_plane_endpoint.is_none()) {
            let spec = json!({
                "metadata": {"uid": control_plane.uid()},
                "spec": {"controlPlaneEndpoint": endpoint}
            });
            let (api, name) = (self.api(control_plane), control_plane.name_any());
            apply::apply(&api, &name, managers::CONTROL_PLANE_ENDPOINT, spec).await?;
            worked = true;
        }
        let version = match &usable {
            Some(usable) => Some(self.version(usable, state).await),
            None => wrong.clone().map(Err),
        };
        let kubeconfig = match (wrong, usable) {
            (Some(wrong), _) => Some(Err(wrong)),
            (None, Some(_)) => Some(Ok(())),
            (None, None) => None,
        };
        Ok(ApiServer { kubeconfig, version, worked })
    }

    /// The same while AWS may not be called: Cluster API uses what there is until it expires.
    pub(super) async fn watch_api_server(
        &self,
        control_plane: &FooControlPlane,
        blocked: &Blocked,
        state: &mut EksState,
    ) -> Result<ApiServer, apply::Error> {
        let Some(usable) = self.present_kubeconfig(control_plane).await? else {
            return Ok(ApiServer::default());
        };
        let message = format!("its token cannot be renewed: {}", blocked.message);
        let kubeconfig = Some(Err(Blocked::new(blocked.reason, message)));
        let version = Some(self.version(&usable, state).await);
        Ok(ApiServer { kubeconfig, version, worked: false })
    }

    /// The last response to the credentials of this kubeconfig, or a new one if that is due.
    async fn version(&self, usable: &Usable, state: &mut EksState) -> Result<String, Blocked> {
        let now = self.context.clock.now();
        let is_due = self.next_request(state, now).is_none_or(|wait| wait.is_zero());
        let last = state.asked.as_ref().filter(|asked| !is_due && asked.kubeconfig == usable.text);
        if let Some(asked) = last {
            return asked.version.clone();
        }
        let version = kubeconfig::try_out(usable, &self.context.workloads).await.map_err(blocked);
        state.process.record.initialized |= version.is_ok();
        state.asked =
            Some(AskedApiServer { at: now, kubeconfig: usable.text.clone(), version: version.clone() });
        version
    }

    /// How soon the API server is to be asked again; `None` if it never was.
    fn next_request(&self, state: &EksState, now: Timestamp) -> Option<Duration> {
        let asked = state.asked.as_ref()?;
        let period = match &asked.version {
            Ok(_) => healthy_period(self.own.len(), self.context.settings.sync_period),
            Err(_) if state.process.record.initialized => TRY_AGAIN,
            Err(_) => FIRST,
        };
        Some(now.until(asked.at.plus(period)))
    }

    /// How soon kubeconfig or API server need a pass.
    pub(super) fn next_upkeep(
        &self,
        state: &EksState,
        known: &ApiServer,
        now: Timestamp,
    ) -> Option<Duration> {
        let again = match &known.kubeconfig {
            // It tries to renew what it could not.
            Some(Err(_)) => Some(TRY_AGAIN),
            Some(Ok(())) => renewal(state.token_ends, now),
            None => return None,
        };
        again.into_iter().chain(self.next_request(state, now)).min()
    }
}
