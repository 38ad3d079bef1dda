//! What Describe calls see: the region as it was [`Settings::read_lag`](super::Settings) ago.

use super::ec2::instances::Ec2Instance;
use super::ec2::templates::Template;
use super::group::model::Group;
use super::region::Region;
use foo_cloud::model::{GroupName, InstanceId, LaunchTemplateId};

impl Region {
    /// Groups by name, behind a name.
    pub fn groups_seen(&self, after: Option<&GroupName>) -> impl Iterator<Item = &Group> {
        self.groups.seen_after(after).map(|(_, group)| group)
    }

    /// A group.
    pub fn group_seen(&self, name: &GroupName) -> Option<&Group> {
        self.groups.seen(name)
    }

    /// Instances by id, behind an id.
    pub fn instances_seen(&self, after: Option<&InstanceId>) -> impl Iterator<Item = &Ec2Instance> {
        self.instances.seen_after(after).map(|(_, instance)| instance)
    }

    /// An instance.
    pub fn instance_seen(&self, id: &InstanceId) -> Option<&Ec2Instance> {
        self.instances.seen(id)
    }

    /// Launch templates by id, behind an id.
    pub fn templates_seen(&self, after: Option<&LaunchTemplateId>) -> impl Iterator<Item = &Template> {
        self.templates.by_id.seen_after(after).map(|(_, template)| template)
    }
}
