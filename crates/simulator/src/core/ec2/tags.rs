//! EC2's CreateTags and DeleteTags, on everything that has tags here.

use crate::core::error::{AwsError, AwsResult};
use crate::core::group::tags::is_xml_string;
use crate::core::region::Region;
use foo_model::{ImageId, InstanceId, LaunchTemplateId, SecurityGroupId, SubnetId, VpcId};
use std::collections::BTreeMap;

/// Tags a resource can have (EC2 User Guide, "Tag restrictions").
pub const TAG_LIMIT: usize = 50;

impl Region {
    /// CreateTags: all or nothing.
    pub fn create_tags(&mut self, resources: &[String], tags: &BTreeMap<String, String>) -> AwsResult<()> {
        if tags.is_empty() {
            return Err(AwsError::missing("Tag"));
        }
        check(tags)?;
        if tags.keys().any(|key| key.to_ascii_lowercase().starts_with("aws:")) {
            return Err(AwsError::invalid_value(
                "Tag keys starting with 'aws:' are reserved for internal use",
            ));
        }
        self.change_tags(resources, |of| of.extend(tags.clone()))
    }

    /// DeleteTags. A value that is given must match; without keys all tags of one's own go.
    pub fn delete_tags(
        &mut self,
        resources: &[String],
        tags: &BTreeMap<String, Option<String>>,
    ) -> AwsResult<()> {
        self.change_tags(resources, |of| {
            of.retain(|key, value| {
                let named = match tags.get(key) {
                    Some(Some(wanted)) => wanted == value,
                    Some(None) => true,
                    None => tags.is_empty(),
                };
                !named || key.starts_with("aws:")
            });
        })
    }

    fn change_tags(
        &mut self,
        resources: &[String],
        change: impl Fn(&mut BTreeMap<String, String>),
    ) -> AwsResult<()> {
        if resources.is_empty() {
            return Err(AwsError::missing("ResourceId"));
        }
        // First on copies: one resource that is unknown or would have too many tags leaves all as they are.
        for id in resources {
            let mut copy = self.tags_of(id)?.clone();
            change(&mut copy);
            if copy.keys().filter(|key| !key.starts_with("aws:")).count() > TAG_LIMIT {
                return Err(AwsError::new(
                    "TagLimitExceeded",
                    format!("{id} can have at most {TAG_LIMIT} tags."),
                ));
            }
        }
        for id in resources {
            change(self.tags_of(id)?);
        }
        Ok(())
    }

    fn tags_of(&mut self, id: &str) -> AwsResult<&mut BTreeMap<String, String>> {
        let (tags, code) = match id.split('-').next().unwrap_or_default() {
            "i" => (
                self.instances.get_mut(&InstanceId::new(id)).map(|it| &mut it.tags),
                "InvalidInstanceID.NotFound",
            ),
            "lt" => (
                self.templates.by_id.get_mut(&LaunchTemplateId::new(id)).map(|it| &mut it.tags),
                "InvalidLaunchTemplateId.NotFound",
            ),
            "subnet" => (
                self.network.subnets.get_mut(&SubnetId::new(id)).map(|it| &mut it.tags),
                "InvalidSubnetID.NotFound",
            ),
            "sg" => (
                self.network.security_groups.get_mut(&SecurityGroupId::new(id)).map(|it| &mut it.tags),
                "InvalidGroup.NotFound",
            ),
            "vpc" => {
                (self.network.vpcs.get_mut(&VpcId::new(id)).map(|it| &mut it.tags), "InvalidVpcID.NotFound")
            }
            "ami" => (self.images.get_mut(&ImageId::new(id)).map(|it| &mut it.tags), "InvalidAMIID.NotFound"),
            _ => (None, "InvalidID"),
        };
        tags.ok_or_else(|| AwsError::new(code, format!("The ID '{id}' does not exist")))
    }
}

/// Keys have 1–128 characters, values up to 256, all of which XML can hold (EC2 User Guide, "Tag restrictions").
pub(crate) fn check(tags: &BTreeMap<String, String>) -> AwsResult<()> {
    let wrong = |what: &str, text: &str| {
        Err(AwsError::invalid_value(format!("Tag {what} is not valid: {}", text.escape_debug())))
    };
    for (key, value) in tags {
        if !(1..=128).contains(&key.chars().count()) || !is_xml_string(key) {
            return wrong("key", key);
        }
        if value.chars().count() > 256 || !is_xml_string(value) {
            return wrong("value", value);
        }
    }
    Ok(())
}
