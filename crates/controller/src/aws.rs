//! The real cloud: the only file that names the crate that links the AWS SDK.

use crate::clouds::{CloudFactory, CloudKey, ConnectError, Metering};
use async_trait::async_trait;
use foo_cloud::Cloud;
use foo_cloud_adapter::{AwsCloud, AwsSettings};
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
}

#[async_trait]
impl CloudFactory for Aws {
    async fn connect(&self, key: &CloudKey, metering: &Metering) -> Result<Arc<dyn Cloud>, ConnectError> {
        let settings =
            AwsSettings { endpoint_url: self.endpoint_url.clone(), ..AwsSettings::new(key.region.as_str()) };
        let cloud = AwsCloud::connect(settings)
            .await
            .map_err(|error| ConnectError { key: key.clone(), source: Box::new(error) })?;
        Ok(metering.around(cloud))
    }
}
