//! Construction of an [`Ask`]: an action on a resource, with its condition keys.

use super::policy::Ask;
use crate::core::Region;
use crate::request::params::Params;
use crate::service::Service;
use foo_model::Timestamp;
use std::collections::BTreeMap;

/// An action on a resource, without any condition key.
pub(super) fn ask(action: String, resource: impl Into<String>) -> Ask {
    Ask { action, resource: resource.into(), context: BTreeMap::new() }
}

impl Ask {
    pub(super) fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        self.context.insert(key.to_owned(), value.into());
        self
    }

    pub(super) fn with_tags<'a>(
        mut self,
        prefix: &str,
        tags: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) -> Self {
        self.context.extend(tags.into_iter().map(|(key, value)| (format!("{prefix}/{key}"), value.clone())));
        self
    }

    pub(super) fn on_resource<'a>(
        self,
        service: Service,
        tags: impl IntoIterator<Item = (&'a String, &'a String)> + Clone,
    ) -> Self {
        self.with_tags("aws:ResourceTag", tags.clone())
            .with_tags(&format!("{}:ResourceTag", service.name()), tags)
    }
}

/// Whether conditions see the tags of a resource that was created then: authorization is eventually consistent, too.
pub(crate) fn knows_tags(region: &Region, made: Timestamp) -> bool {
    !region.is_younger(made, region.settings.rights_appear_after)
}

/// An ARN in EC2. Those of images contain no account.
pub(crate) fn arn(region: &Region, kind: &str, id: &str) -> String {
    let account = if kind == "image" { "" } else { &region.account };
    format!("arn:aws:ec2:{}:{account}:{kind}/{id}", region.name)
}

pub(super) fn tags_of(items: Vec<&Params>) -> BTreeMap<String, String> {
    items
        .into_iter()
        .filter_map(|tag| {
            let value = tag.text("Value").unwrap_or_default();
            tag.text("Key").map(|key| (key.to_owned(), value.to_owned()))
        })
        .collect()
}
