//! EC2's CreateTags and DeleteTags, for all resources of the simulator that have tags.

use crate::core::error::{AwsError, AwsResult};
use crate::core::group::tags::is_xml_string;
use crate::core::network::part::Part;
use crate::core::region::Region;
use foo_model::network::{
    Address, Change, EgressOnlyGateway, Endpoint, Interface, InternetGateway, NatGateway, RouteTable,
    SecurityGroup, Subnet, Tags, Vpc,
};
use foo_model::{ImageId, InstanceId, LaunchTemplateId};
use std::collections::BTreeMap;

/// Most tags of a resource (EC2 User Guide, "Tag restrictions").
pub const TAG_LIMIT: usize = 50;

impl Region {
    /// CreateTags: all or nothing.
    pub fn create_tags(&mut self, resources: &[String], tags: &BTreeMap<String, String>) -> AwsResult<()> {
        if tags.is_empty() {
            return Err(AwsError::missing("Tag"));
        }
        check(tags)?;
        check_reserved(tags)?;
        self.change_tags(resources, |of| of.extend(tags.clone()))
    }

    /// DeleteTags. A tag with a value in the request is removed only if the value matches; without keys all tags
    /// except AWS's own are removed.
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
        // First on copies: if one resource is unknown or would have too many tags, none is changed.
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
            "ami" => (self.images.get_mut(&ImageId::new(id)).map(|it| &mut it.tags), "InvalidAMIID.NotFound"),
            _ => return self.tags_of_network(id),
        };
        tags.ok_or_else(|| AwsError::new(code, format!("The ID '{id}' does not exist")))
    }
}

impl Region {
    fn tags_of_network(&mut self, id: &str) -> AwsResult<&mut Tags> {
        match id.split('-').next().unwrap_or_default() {
            "vpc" => self.tags_of_part::<Vpc>(id),
            "subnet" => self.tags_of_part::<Subnet>(id),
            "igw" => self.tags_of_part::<InternetGateway>(id),
            "eigw" => self.tags_of_part::<EgressOnlyGateway>(id),
            "eipalloc" => self.tags_of_part::<Address>(id),
            "nat" => self.tags_of_part::<NatGateway>(id),
            "rtb" => self.tags_of_part::<RouteTable>(id),
            "sg" => self.tags_of_part::<SecurityGroup>(id),
            "vpce" => self.tags_of_part::<Endpoint>(id),
            "eni" => self.tags_of_part::<Interface>(id),
            _ => Err(AwsError::new("InvalidID", format!("The ID '{id}' does not exist"))),
        }
    }

    fn tags_of_part<T: Part>(&mut self, id: &str) -> AwsResult<&mut Tags> {
        let id = T::Id::from(id.to_owned());
        self.part::<T>(&id)?;
        self.network.get_mut::<T>(&id).map(Part::tags_mut).ok_or_else(|| T::WORDS.not_found(&id))
    }
}

/// Validates the tags of a creation as [`Region::create_tags`] does.
pub(crate) fn check_creation(change: &Change) -> AwsResult<()> {
    let Some(tags) = change.tags() else { return Ok(()) };
    check(tags)?;
    check_reserved(tags)?;
    if tags.len() > TAG_LIMIT {
        return Err(AwsError::new(
            "TagLimitExceeded",
            format!("A resource can have at most {TAG_LIMIT} tags."),
        ));
    }
    Ok(())
}

fn check_reserved(tags: &Tags) -> AwsResult<()> {
    if tags.keys().any(|key| key.to_ascii_lowercase().starts_with("aws:")) {
        return Err(AwsError::invalid_value("Tag keys starting with 'aws:' are reserved for internal use"));
    }
    Ok(())
}

/// Keys have 1–128 characters, values up to 256, all of them valid in XML (EC2 User Guide, "Tag restrictions").
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
