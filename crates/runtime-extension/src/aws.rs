//! The real cloud: the only file that names the crate that links the AWS SDK.

use crate::clouds::Connect;
use crate::settings::Access;
use async_trait::async_trait;
use foo_cloud::Cloud;
use foo_cloud_adapter::{AssumedRole, AwsCloud, AwsSettings};
use std::sync::Arc;

/// The session's name in CloudTrail.
const SESSION: &str = "foo-extension";

/// Connects to AWS, or to what stands in for it.
#[derive(Debug)]
pub struct Aws {
    /// Where all services are asked, if not at AWS.
    pub endpoint_url: Option<String>,
}

#[async_trait]
impl Connect for Aws {
    async fn connect(&self, access: &Access, region: &str) -> anyhow::Result<Arc<dyn Cloud>> {
        let roles = match access {
            Access::Own => Vec::new(),
            Access::Role(arn) => {
                vec![AssumedRole { arn: arn.clone(), external_id: None, session_name: SESSION.to_owned() }]
            }
        };
        let settings =
            AwsSettings { endpoint_url: self.endpoint_url.clone(), roles, ..AwsSettings::new(region) };
        Ok(Arc::new(AwsCloud::connect(settings).await?))
    }
}
