//! What another user of the AWS account creates.

use super::World;
use foo_cloud::{Compute as _, Groups as _};
use foo_model::{GroupName, GroupSettings, LaunchTemplateId, NewGroup, Protection, TemplateVersion};
use foo_simulator_core::core::network::PRIVATE_SUBNETS;
use foo_simulator_core::{DEFAULT_REGION, SimCloud, plain_content};
use std::collections::BTreeMap;
use std::time::Duration;

impl World {
    /// AWS as another user calls it.
    pub(crate) fn another_user(&self) -> SimCloud {
        self.aws.cloud(DEFAULT_REGION, "another-user")
    }

    /// Another user creates a launch template of that name.
    pub(crate) async fn another_user_creates_template(
        &self,
        name: &str,
    ) -> (LaunchTemplateId, TemplateVersion) {
        let content = plain_content(b"foreign");
        let created =
            self.another_user().create_template(name, &content, "foreign", &BTreeMap::new(), name).await;
        created.unwrap().made
    }

    /// Another user creates a group of that name with these tags, whose instances are in service a minute later.
    pub(crate) async fn another_user_creates_group(
        &self,
        name: &str,
        instances: u32,
        tags: BTreeMap<String, String>,
    ) {
        let spec = NewGroup {
            name: GroupName::from(name),
            min: 1,
            max: 5,
            desired: Some(instances),
            template: self.another_user_creates_template("foreign").await,
            mix: None,
            settings: GroupSettings {
                new_instances: Protection::Unprotected,
                ..GroupSettings::in_subnets(PRIVATE_SUBNETS.map(Into::into).into())
            },
            traffic_sources: [].into(),
            drain_hook: None,
            hooks: [].into(),
            tags,
        };
        self.another_user().create_group(&spec).await.unwrap();
        self.waits(Duration::from_mins(1)).await;
    }
}
