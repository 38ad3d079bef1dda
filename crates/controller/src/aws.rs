//! The real cloud: the only file that names the crate that links the AWS SDK.

use crate::clouds::{CloudFactory, CloudKey, ConnectError, Metering, QueueAddress};
use async_trait::async_trait;
use foo_cloud::{Cloud, Queue};
use foo_cloud_adapter::{AwsCloud, AwsQueue, AwsSettings};
use std::sync::Arc;

/// Connects to AWS, or to what stands in for it.
#[derive(Debug)]
pub struct Aws {
    endpoint_url: Option<String>,
}

impl Aws {
    /// With `endpoint_url` all services are asked there instead of at AWS.
    pub fn new(endpoint_url: Option<String>) -> Self {
        Self { endpoint_url }
    }

    fn settings(&self, region: &str) -> AwsSettings {
        AwsSettings { endpoint_url: self.endpoint_url.clone(), ..AwsSettings::new(region) }
    }
}

#[async_trait]
impl CloudFactory for Aws {
    async fn connect(&self, key: &CloudKey, metering: &Metering) -> Result<Arc<dyn Cloud>, ConnectError> {
        let cloud = AwsCloud::connect(self.settings(&key.region))
            .await
            .map_err(|error| ConnectError { key: key.clone(), source: Box::new(error) })?;
        Ok(metering.around(cloud))
    }

    async fn connect_queue(
        &self,
        queue: &QueueAddress,
        metering: &Metering,
    ) -> Result<Arc<dyn Queue>, ConnectError> {
        let key = CloudKey::default_in(queue.region.as_str());
        let queue = AwsQueue::connect(self.settings(&queue.region), &queue.url)
            .await
            .map_err(|error| ConnectError { key, source: Box::new(error) })?;
        Ok(metering.around_queue(queue))
    }
}
