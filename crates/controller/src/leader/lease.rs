//! Reads, creates and replaces the Lease on the API server. It is never patched: every write is a whole
//! object with the resourceVersion that it is based on.

use super::state::{Change, Record, Write, Written};
use crate::apply::{is_conflict, is_not_found};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::Api;
use kube::api::PostParams;
use std::time::Duration;

/// Identifies the Lease, and keeps the times in it that only users read.
#[derive(Clone, Debug)]
pub(super) struct LeaseObject {
    pub(super) api: Api<Lease>,
    pub(super) name: String,
    /// When the present holder acquired it.
    pub(super) acquired: Option<MicroTime>,
}

impl LeaseObject {
    pub(super) async fn read(&mut self) -> kube::Result<Option<Record>> {
        let lease = self.api.get_opt(&self.name).await?;
        Ok(lease.map(|lease| self.noted(lease)))
    }

    pub(super) async fn write(&mut self, write: &Write, wall: jiff::Timestamp) -> kube::Result<Written> {
        let acquired = match write.change {
            Change::Acquire => Some(MicroTime(wall)),
            Change::Renew => self.acquired.clone(),
        };
        let lease = Lease {
            metadata: ObjectMeta {
                name: Some(self.name.clone()),
                resource_version: write.replaces.clone(),
                ..ObjectMeta::default()
            },
            spec: Some(LeaseSpec {
                holder_identity: Some(write.holder.clone().unwrap_or_default()),
                lease_duration_seconds: Some(i32::try_from(write.duration.as_secs()).unwrap_or(i32::MAX)),
                acquire_time: acquired,
                renew_time: Some(MicroTime(wall)),
                lease_transitions: Some(write.transitions),
                ..LeaseSpec::default()
            }),
        };
        let params = PostParams::default();
        let response = match write.replaces {
            Some(_) => self.api.replace(&self.name, &params, &lease).await,
            None => self.api.create(&params, &lease).await,
        };
        match response {
            Ok(lease) => Ok(Written::Done(self.noted(lease))),
            // A Lease that was deleted meanwhile must be read again, like one that was changed.
            Err(error) if is_conflict(&error) || is_not_found(&error) => Ok(Written::Conflict),
            Err(error) => Err(error),
        }
    }

    fn noted(&mut self, lease: Lease) -> Record {
        let spec = lease.spec.unwrap_or_default();
        self.acquired = spec.acquire_time;
        Record {
            holder: spec.holder_identity.filter(|holder| !holder.is_empty()),
            duration: spec
                .lease_duration_seconds
                .and_then(|seconds| u64::try_from(seconds).ok())
                .map_or(Duration::ZERO, Duration::from_secs),
            transitions: spec.lease_transitions.unwrap_or(0),
            version: lease.metadata.resource_version.unwrap_or_default(),
        }
    }
}
