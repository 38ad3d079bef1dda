//! A shared cloud is a cloud.

use crate::{
    Compute, Described, Ended, Groups, ImageInfo, InstanceTypeInfo, Looked, Made, NetworkQuery, Result,
    SecurityGroupInfo, SubnetInfo, TemplateSummary, VersionCopy,
};
use async_trait::async_trait;
use foo_model::hook::HookConfig;
use foo_model::{
    Activity, Decrement, Group, GroupChange, GroupName, ImageId, InstanceId, InstanceType, LaunchTemplate,
    LaunchTemplateId, NewGroup, Process, TemplateContent, TemplateVersion,
};
use std::collections::BTreeMap;
use std::sync::Arc;

#[async_trait]
impl<T: Groups + ?Sized> Groups for Arc<T> {
    async fn account(&self) -> Result<String> {
        T::account(self).await
    }
    async fn describe_groups(&self, names: &[GroupName]) -> Result<Looked> {
        T::describe_groups(self, names).await
    }
    async fn describe_groups_tagged(&self, tag_key: &str) -> Result<Vec<Group>> {
        T::describe_groups_tagged(self, tag_key).await
    }
    async fn create_group(&self, spec: &NewGroup) -> Result<()> {
        T::create_group(self, spec).await
    }
    async fn update_group(&self, name: &GroupName, change: &GroupChange) -> Result<()> {
        T::update_group(self, name, change).await
    }
    async fn tag_group(&self, name: &GroupName, tags: &BTreeMap<String, String>) -> Result<()> {
        T::tag_group(self, name, tags).await
    }
    async fn untag_group(&self, name: &GroupName, keys: &[String]) -> Result<()> {
        T::untag_group(self, name, keys).await
    }
    async fn suspend_processes(&self, name: &GroupName, processes: &[Process]) -> Result<()> {
        T::suspend_processes(self, name, processes).await
    }
    async fn resume_processes(&self, name: &GroupName, processes: &[Process]) -> Result<()> {
        T::resume_processes(self, name, processes).await
    }
    async fn protect_instances(&self, name: &GroupName, ids: &[InstanceId]) -> Result<()> {
        T::protect_instances(self, name, ids).await
    }
    async fn terminate_instance(&self, id: &InstanceId, decrement: Decrement) -> Result<()> {
        T::terminate_instance(self, id, decrement).await
    }
    async fn terminate_instances(
        &self,
        group: &GroupName,
        ids: &[InstanceId],
        decrement: Decrement,
    ) -> Result<Ended> {
        T::terminate_instances(self, group, ids, decrement).await
    }
    async fn drain_hook(&self, name: &GroupName) -> Result<Option<HookConfig>> {
        T::drain_hook(self, name).await
    }
    async fn put_drain_hook(&self, name: &GroupName, terms: HookConfig) -> Result<()> {
        T::put_drain_hook(self, name, terms).await
    }
    async fn beat_drain_hook(&self, name: &GroupName, id: &InstanceId) -> Result<()> {
        T::beat_drain_hook(self, name, id).await
    }
    async fn complete_drain_hook(&self, name: &GroupName, id: &InstanceId) -> Result<()> {
        T::complete_drain_hook(self, name, id).await
    }
    async fn delete_group(&self, name: &GroupName) -> Result<()> {
        T::delete_group(self, name).await
    }
    async fn describe_activities(&self, name: &GroupName, limit: u32) -> Result<Vec<Activity>> {
        T::describe_activities(self, name, limit).await
    }
}

#[async_trait]
impl<T: Compute + ?Sized> Compute for Arc<T> {
    async fn create_template(
        &self,
        name: &str,
        content: &TemplateContent,
        description: &str,
        tags: &BTreeMap<String, String>,
        token: &str,
    ) -> Result<Made<(LaunchTemplateId, TemplateVersion)>> {
        T::create_template(self, name, content, description, tags, token).await
    }
    async fn create_template_version(
        &self,
        id: &LaunchTemplateId,
        content: &TemplateContent,
        description: &str,
        token: &str,
    ) -> Result<Made<TemplateVersion>> {
        T::create_template_version(self, id, content, description, token).await
    }
    async fn copy_template_version(
        &self,
        id: &LaunchTemplateId,
        copy: VersionCopy<'_>,
        description: &str,
        token: &str,
    ) -> Result<Made<TemplateVersion>> {
        T::copy_template_version(self, id, copy, description, token).await
    }
    async fn describe_template(&self, name: &str) -> Result<Option<LaunchTemplate>> {
        T::describe_template(self, name).await
    }
    async fn describe_templates_tagged(&self, tag_key: &str) -> Result<Vec<TemplateSummary>> {
        T::describe_templates_tagged(self, tag_key).await
    }
    async fn delete_template_versions(
        &self,
        id: &LaunchTemplateId,
        versions: &[TemplateVersion],
    ) -> Result<()> {
        T::delete_template_versions(self, id, versions).await
    }
    async fn delete_template(&self, id: &LaunchTemplateId) -> Result<()> {
        T::delete_template(self, id).await
    }
    async fn describe_instances(&self, ids: &[InstanceId]) -> Result<BTreeMap<InstanceId, Described>> {
        T::describe_instances(self, ids).await
    }
    async fn describe_instance_types(&self, types: &[InstanceType]) -> Result<Vec<InstanceTypeInfo>> {
        T::describe_instance_types(self, types).await
    }
    async fn describe_images(&self, ids: &[ImageId]) -> Result<Vec<ImageInfo>> {
        T::describe_images(self, ids).await
    }
    async fn describe_subnets(&self, query: &NetworkQuery) -> Result<Vec<SubnetInfo>> {
        T::describe_subnets(self, query).await
    }
    async fn describe_security_groups(&self, query: &NetworkQuery) -> Result<Vec<SecurityGroupInfo>> {
        T::describe_security_groups(self, query).await
    }
}
