//! EC2's CreateTags and DeleteTags, for all resources of the simulator that have tags.

use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::core::tags;
use foo_model::network::Tags;
use foo_model::{ImageId, InstanceId, LaunchTemplateId};
use std::collections::BTreeMap;

impl Region {
    /// CreateTags: all or nothing.
    ///
    /// # Errors
    /// EC2's codes for tags and for ids that it does not know.
    pub fn create_tags(&mut self, resources: &[String], tags: &Tags) -> AwsResult<()> {
        tags::create(self, Self::tags_of, resources, tags)
    }

    /// DeleteTags. A tag with a value in the request is removed only if the value matches; without keys all tags
    /// except AWS's own are removed.
    ///
    /// # Errors
    /// EC2's codes for ids that it does not know.
    pub fn delete_tags(
        &mut self,
        resources: &[String],
        tags: &BTreeMap<String, Option<String>>,
    ) -> AwsResult<()> {
        tags::delete(self, Self::tags_of, resources, tags)
    }

    fn tags_of(&mut self, id: &str) -> AwsResult<&mut Tags> {
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
            "pg" => {
                let mut groups = self.capacity.placement_groups.values_mut();
                (groups.find(|it| it.id == id).map(|it| &mut it.tags), "InvalidPlacementGroup.Unknown")
            }
            "cr" => (
                self.capacity.reservations.get_mut(id).map(|it| &mut it.tags),
                "InvalidCapacityReservationId.NotFound",
            ),
            "snap" => {
                (self.capacity.snapshots.get_mut(id).map(|it| &mut it.tags), "InvalidSnapshot.NotFound")
            }
            _ => return self.networking().into_tags_of(id),
        };
        tags.ok_or_else(|| AwsError::new(code, format!("The ID '{id}' does not exist")))
    }
}
