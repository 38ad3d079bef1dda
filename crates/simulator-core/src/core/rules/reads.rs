//! What Describe calls see: the region as it was [`Settings::read_lag`](crate::core::Settings) ago, without what is not
//! visible yet of new resources.

use crate::core::ec2::instances::Ec2Instance;
use crate::core::ec2::templates::{Template, TemplateKey};
use crate::core::error::AwsResult;
use crate::core::group::model::Group;
use crate::core::region::Region;
use crate::core::settings::ReadOrder;
use foo_model::{GroupName, InstanceId, LaunchTemplateId, Timestamp};
use std::borrow::Cow;
use std::time::Duration;

impl Region {
    /// Decides how old the reads of the next call are; with [`ReadOrder::AnyOrder`](crate::core::settings::ReadOrder),
    /// separately for each service.
    pub fn begin_reads(&mut self) {
        let lag = self.settings.read_lag;
        if lag.is_zero() || self.settings.read_order == ReadOrder::InOrder {
            return;
        }
        let most = u64::try_from(lag.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
        let mut age = || Duration::from_millis(self.read_chance.below(most));
        let (groups, ec2) = (age(), age());
        self.groups.read_at_age(groups);
        self.instances.read_at_age(ec2);
        self.templates.by_id.read_at_age(ec2);
        self.network.read_at_age(ec2);
        self.eks.clusters.read_at_age(ec2);
    }

    /// Reads by `work` show the present, whatever the read lag.
    pub(crate) fn without_lag<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.read_at_age(Duration::ZERO);
        let result = work(self);
        self.read_at_age(self.settings.read_lag);
        result
    }

    fn read_at_age(&mut self, age: Duration) {
        self.groups.read_at_age(age);
        self.instances.read_at_age(age);
        self.templates.by_id.read_at_age(age);
        self.network.read_at_age(age);
        self.eks.clusters.read_at_age(age);
    }

    /// Keeps as much history as the read lag of the settings needs.
    pub(crate) fn apply_read_lag(&mut self) {
        let lag = self.settings.read_lag;
        self.groups.set_lag(lag);
        self.instances.set_lag(lag);
        self.templates.by_id.set_lag(lag);
        self.network.set_lag(lag);
        self.eks.clusters.set_lag(lag);
    }

    /// Groups by name, after a name.
    pub fn groups_seen(&self, after: Option<&GroupName>) -> impl Iterator<Item = Cow<'_, Group>> {
        self.groups.seen_after(after).map(|(_, group)| self.group_as_read(group))
    }

    /// A group.
    pub fn group_seen(&self, name: &GroupName) -> Option<Cow<'_, Group>> {
        self.groups.seen(name).map(|group| self.group_as_read(group))
    }

    /// The instances that EC2 shows, by id, after an id.
    pub fn instances_seen(&self, after: Option<&InstanceId>) -> impl Iterator<Item = Cow<'_, Ec2Instance>> {
        let shown = |instance: &&Ec2Instance| self.knows(instance) && !self.leaves_out(instance);
        let all = self.instances.seen_after(after).map(|(_, instance)| instance);
        all.filter(shown).map(|instance| self.instance_as_read(instance))
    }

    /// An instance that EC2 knows, whether or not it shows it.
    pub fn instance_seen(&self, id: &InstanceId) -> Option<Cow<'_, Ec2Instance>> {
        let found = self.instances.seen(id).filter(|instance| self.knows(instance));
        found.map(|instance| self.instance_as_read(instance))
    }

    /// Launch templates by id, after an id.
    pub fn templates_seen(
        &self,
        after: Option<&LaunchTemplateId>,
    ) -> impl Iterator<Item = Cow<'_, Template>> {
        self.templates.by_id.seen_after(after).map(|(_, template)| self.template_as_read(template))
    }

    /// A launch template.
    pub fn template_seen(&self, key: &TemplateKey) -> AwsResult<Cow<'_, Template>> {
        self.templates.seen(key).map(|template| self.template_as_read(template))
    }

    /// Whether something was created less than `than` ago.
    pub(crate) fn is_younger(&self, made: Timestamp, than: Duration) -> bool {
        self.now < made.plus(than)
    }

    fn knows(&self, instance: &Ec2Instance) -> bool {
        !self.is_younger(instance.launched, self.settings.instances_appear_after)
    }

    /// Whether successful responses of EC2 lack this instance, because they lack all of its zone.
    pub(crate) fn leaves_out(&self, instance: &Ec2Instance) -> bool {
        self.mishaps.left_out.get(&instance.zone).is_some_and(|until| self.now < *until)
    }

    fn group_as_read<'a>(&self, group: &'a Group) -> Cow<'a, Group> {
        if group.tags.is_empty() || !self.is_younger(group.created, self.settings.tags_appear_after) {
            return Cow::Borrowed(group);
        }
        let mut copy = group.clone();
        copy.tags.clear();
        Cow::Owned(copy)
    }

    fn instance_as_read<'a>(&self, instance: &'a Ec2Instance) -> Cow<'a, Ec2Instance> {
        if !self.is_younger(instance.launched, self.settings.tags_appear_after) {
            return Cow::Borrowed(instance);
        }
        let mut copy = instance.clone();
        copy.tags.clear();
        Cow::Owned(copy)
    }

    /// A template without the tags and versions that are not visible yet.
    pub(crate) fn template_as_read<'a>(&self, template: &'a Template) -> Cow<'a, Template> {
        let (tags, versions) = (self.settings.tags_appear_after, self.settings.versions_appear_after);
        let hides_tags = !template.tags.is_empty() && self.is_younger(template.created, tags);
        let newest = template.versions.values().next_back();
        let hides_versions = newest.is_some_and(|version| self.is_younger(version.created, versions));
        if !hides_tags && !hides_versions {
            return Cow::Borrowed(template);
        }
        let mut copy = template.clone();
        if hides_tags {
            copy.tags.clear();
        }
        copy.versions.retain(|_, version| !self.is_younger(version.created, versions));
        Cow::Owned(copy)
    }
}
