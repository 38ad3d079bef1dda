//! The real cloud: the only file that names the crate that links the AWS SDK.

use crate::clouds::{CloudFactory, CloudKey, ConnectError, Metering, QueueAddress};
use crate::credentials::{Credentials, Role, Source};
use async_trait::async_trait;
use foo_cloud::{Cloud, Queue};
use foo_cloud_adapter::{AssumedRole, AwsCloud, AwsQueue, AwsSettings, Identity};
use std::sync::Arc;

/// Connects to AWS, or to an endpoint used in its place.
#[derive(Debug)]
pub struct Aws {
    endpoint_url: Option<String>,
}

impl Aws {
    /// `endpoint_url` replaces the endpoints of all AWS services.
    pub fn new(endpoint_url: Option<String>) -> Self {
        Self { endpoint_url }
    }

    fn settings(&self, credentials: &Credentials, region: &str, metering: &Metering) -> AwsSettings {
        let identity = match &credentials.source {
            Source::Manager => Identity::DefaultChain,
            Source::Keys(keys) => Identity::Keys {
                access_key_id: keys.access_key_id.clone(),
                secret_access_key: keys.secret_access_key.clone(),
                session_token: keys.session_token.clone(),
            },
        };
        let role = |role: &Role| AssumedRole {
            arn: role.arn.clone(),
            external_id: role.external_id.clone(),
            session_name: role.session_name.clone(),
        };
        AwsSettings {
            endpoint_url: self.endpoint_url.clone(),
            identity,
            roles: credentials.roles.iter().map(role).collect(),
            clock: Some(metering.clock.clone()),
            ..AwsSettings::new(region)
        }
    }
}

#[async_trait]
impl CloudFactory for Aws {
    async fn connect(
        &self,
        credentials: &Credentials,
        region: &str,
        metering: &Metering,
    ) -> Result<Arc<dyn Cloud>, ConnectError> {
        let cloud =
            AwsCloud::connect(self.settings(credentials, region, metering)).await.map_err(|error| {
                ConnectError { key: CloudKey::of(credentials, region), source: Box::new(error) }
            })?;
        Ok(metering.around(cloud))
    }

    async fn connect_queue(
        &self,
        queue: &QueueAddress,
        metering: &Metering,
    ) -> Result<Arc<dyn Queue>, ConnectError> {
        let own = Credentials::default();
        let key = CloudKey::of(&own, queue.region.as_str());
        let queue = AwsQueue::connect(self.settings(&own, &queue.region, metering), &queue.url)
            .await
            .map_err(|error| ConnectError { key, source: Box::new(error) })?;
        Ok(metering.around_queue(queue))
    }
}
