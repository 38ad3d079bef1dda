//! Construction of an [`Ask`]: an action on a resource, with its condition keys.

use super::policy::Ask;
use crate::core::Region;
use crate::service::Service;
use foo_model::Timestamp;
use std::collections::BTreeMap;

/// An action on a resource, without any condition key.
pub fn ask(action: String, resource: impl Into<String>) -> Ask {
    Ask { action, resource: resource.into(), context: BTreeMap::new() }
}

impl Ask {
    /// The same with a condition key.
    pub fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        self.context.insert(key.to_owned(), value.into());
        self
    }

    /// The same with condition keys for tags: `<prefix>/<key>`.
    pub fn with_tags<'a>(
        mut self,
        prefix: &str,
        tags: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) -> Self {
        self.context.extend(tags.into_iter().map(|(key, value)| (format!("{prefix}/{key}"), value.clone())));
        self
    }

    /// The same on a resource with these tags.
    pub fn on_resource<'a>(
        self,
        service: Service,
        tags: impl IntoIterator<Item = (&'a String, &'a String)> + Clone,
    ) -> Self {
        self.with_tags("aws:ResourceTag", tags.clone())
            .with_tags(&format!("{}:ResourceTag", service.name()), tags)
    }
}

/// Whether conditions see the tags of a resource that was created then: authorization is eventually consistent, too.
pub fn knows_tags(region: &Region, made: Timestamp) -> bool {
    !region.is_younger(made, region.settings.rights_appear_after)
}

/// An ARN in EC2. Those of images contain no account.
pub fn arn(region: &Region, kind: &str, id: &str) -> String {
    let account = if matches!(kind, "image" | "snapshot") { "" } else { &region.account };
    format!("arn:aws:ec2:{}:{account}:{kind}/{id}", region.name)
}
