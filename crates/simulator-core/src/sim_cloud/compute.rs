//! `foo_cloud::Compute` on the simulated EC2.

use super::{SimCloud, convert};
use crate::core::Region;
use crate::core::catalogue::{Image, InterfaceLimits, TypeInfo};
use crate::core::document::Document;
use crate::core::ec2::launch_data::LaunchData;
use crate::core::ec2::templates::{NewTemplate, NewVersion, Template, TemplateKey};
use crate::core::ec2::workload_volumes::WorkloadVolume;
use crate::core::error::AwsError;
use crate::core::lookup::View;
use crate::core::wildcard::matches;
use async_trait::async_trait;
use foo_cloud::error::stable_text;
use foo_cloud::{
    AddressLimits, CloudError, Compute, Described, ErrorKind, ImageInfo, ImageQuery, InstanceTypeInfo, Made,
    NetworkQuery, Operation, Result, SecurityGroupInfo, SubnetInfo, TemplateSummary, VcpuQuota, VersionCopy,
    VolumeInfo,
};
use foo_model::network::{SecurityGroup, Subnet};
use foo_model::{
    AwsTime, FoundReservation, ImageId, InstanceId, InstanceType, LaunchTemplate, LaunchTemplateId,
    TemplateContent, TemplateRecord, TemplateVersion,
};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Templates and versions of one Describe page.
const TEMPLATE_PAGE: usize = 200;
/// Ids of one DescribeInstances.
const INSTANCE_PAGE: usize = 1_000;

/// Whether a resource has all these tags; an empty value matches any.
fn has_tags(tags: &BTreeMap<String, String>, wanted: &BTreeMap<String, String>) -> bool {
    wanted.iter().all(|(key, value)| tags.get(key).is_some_and(|it| value.is_empty() || it == value))
}

/// Whether a query needs a call. A query for everything in the account is a mistake of the caller.
fn asks_something(query: &NetworkQuery, operation: Operation) -> Result<bool> {
    match query {
        NetworkQuery::Ids(ids) => Ok(!ids.is_empty()),
        NetworkQuery::Tags { vpc: None, tags } if tags.is_empty() => {
            let everything = "a query without tags and VPC would mean the whole account";
            Err(CloudError::new(operation, ErrorKind::Invalid, None, everything))
        }
        NetworkQuery::Tags { .. } => Ok(true),
    }
}

impl SimCloud {
    async fn add_version(
        &self,
        id: &LaunchTemplateId,
        data: Document,
        source: Option<String>,
        description: &str,
        token: &str,
    ) -> Result<Made<TemplateVersion>> {
        let caller = self.arn();
        self.call_on_template(
            Operation::CreateLaunchTemplateVersion,
            id,
            format!("{id} {description}"),
            |region| {
                let new = NewVersion {
                    template: TemplateKey::Id(id.clone()),
                    data: LaunchData::new(data)?,
                    source,
                    description: Some(description.to_owned()),
                    token: Some(token.to_owned()).filter(|token| !token.is_empty()),
                    caller,
                };
                let (_, version) = region.create_template_version(new)?;
                Ok(Made { made: version.number, warning: warning(region, &version.data) })
            },
        )
        .await
    }

    /// The tags of network interfaces of a version, if EC2 shows it already.
    async fn interface_tags(&self, id: &LaunchTemplateId, version: &str) -> Result<BTreeMap<String, String>> {
        let key = TemplateKey::Id(id.clone());
        let operation = Operation::DescribeLaunchTemplateVersions;
        self.call(operation, format!("{id} {version}"), |region| {
            Ok(convert::interface_tags(&region.template_seen(&key)?.version(version)?.data))
        })
        .await
    }
}

/// EC2's warnings in the adapter's format.
fn warning(region: &Region, data: &LaunchData) -> Option<String> {
    let one = |error: AwsError| stable_text(&format!("{}: {}", error.code, error.message));
    let all: Vec<String> = region.template_warnings(data).into_iter().map(one).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

#[async_trait]
impl Compute for SimCloud {
    async fn create_template(
        &self,
        name: &str,
        content: &TemplateContent,
        description: &str,
        tags: &BTreeMap<String, String>,
        token: &str,
    ) -> Result<Made<(LaunchTemplateId, TemplateVersion)>> {
        let caller = self.arn();
        self.call(Operation::CreateLaunchTemplate, format!("{name} {description}"), |region| {
            let new = NewTemplate {
                name: name.to_owned(),
                data: LaunchData::new(convert::document_of(content))?,
                description: Some(description.to_owned()),
                tags: tags.clone(),
                token: Some(token.to_owned()).filter(|token| !token.is_empty()),
                caller,
            };
            let warning = warning(region, &new.data);
            let template = region.create_template(new)?;
            Ok(Made { made: (template.id.clone(), TemplateVersion(1)), warning })
        })
        .await
    }

    async fn create_template_version(
        &self,
        id: &LaunchTemplateId,
        content: &TemplateContent,
        description: &str,
        token: &str,
    ) -> Result<Made<TemplateVersion>> {
        self.add_version(id, convert::document_of(content), None, description, token).await
    }

    async fn copy_template_version(
        &self,
        id: &LaunchTemplateId,
        copy: VersionCopy<'_>,
        description: &str,
        token: &str,
    ) -> Result<Made<TemplateVersion>> {
        let source = copy.from.to_string();
        let interface_tags = self.interface_tags(id, &source).await?;
        let data = convert::document_of_copy(&copy, &interface_tags);
        self.add_version(id, data, Some(source), description, token).await
    }

    async fn describe_template(&self, name: &str) -> Result<Option<LaunchTemplate>> {
        let key = TemplateKey::Name(name.to_owned());
        let found = self
            .call(Operation::DescribeLaunchTemplates, name.to_owned(), |region| {
                region.template_seen(&key).map(|template| convert::template_of(&template))
            })
            .await;
        let template = match found {
            Ok(template) => template,
            Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let id = TemplateKey::Id(template.id.clone());
        let mut newest: Option<LaunchTemplate> = None;
        for _ in 0..template.versions.len().div_ceil(TEMPLATE_PAGE).max(1) {
            let page = self
                .call(Operation::DescribeLaunchTemplateVersions, template.id.to_string(), |region| {
                    region.template_seen(&id).map(|template| convert::template_of(&template))
                })
                .await;
            match page {
                Ok(page) => newest = Some(page),
                Err(error) if error.kind == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(newest)
    }

    async fn describe_templates_tagged(&self, tag_key: &str) -> Result<Vec<TemplateSummary>> {
        let mut templates: Vec<TemplateSummary> = Vec::new();
        loop {
            let after = templates.last().map(|template| template.id.clone());
            let (page, more) = self
                .call(Operation::DescribeLaunchTemplates, tag_key.to_owned(), |region| {
                    let fits = |template: &Cow<'_, Template>| template.tags.contains_key(tag_key);
                    let mut found = region.templates_seen(after.as_ref()).filter(fits);
                    let page: Vec<TemplateSummary> = found
                        .by_ref()
                        .take(TEMPLATE_PAGE)
                        .map(|template| TemplateSummary {
                            id: template.id.clone(),
                            name: template.name.clone(),
                            latest: template.latest(),
                            tags: template.tags.clone(),
                        })
                        .collect();
                    Ok((page, found.next().is_some()))
                })
                .await?;
            templates.extend(page);
            if !more {
                return Ok(templates);
            }
        }
    }

    async fn describe_latest_versions(
        &self,
        ids: &BTreeSet<LaunchTemplateId>,
    ) -> Result<BTreeMap<LaunchTemplateId, TemplateRecord>> {
        let (mut latest, mut after) = (BTreeMap::new(), None);
        for _ in 0..ids.len() {
            let (page, more) = self
                .call(Operation::DescribeLaunchTemplateVersions, "$Latest".to_owned(), |region| {
                    let mut seen = region.templates_seen(after.as_ref());
                    let page: Vec<LaunchTemplate> =
                        seen.by_ref().take(TEMPLATE_PAGE).map(|it| convert::template_of(&it)).collect();
                    Ok((page, seen.next().is_some()))
                })
                .await?;
            after = page.last().map(|template| template.id.clone());
            let ours = page.into_iter().filter(|template| ids.contains(&template.id));
            latest.extend(ours.filter_map(|mut template| Some((template.id, template.versions.pop()?))));
            if !more || latest.len() == ids.len() {
                break;
            }
        }
        Ok(latest)
    }

    async fn delete_template_versions(
        &self,
        id: &LaunchTemplateId,
        versions: &[TemplateVersion],
    ) -> Result<()> {
        if versions.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = versions.iter().map(ToString::to_string).collect();
        self.call_on_template(
            Operation::DeleteLaunchTemplateVersions,
            id,
            format!("{id} {texts:?}"),
            |region| {
                let (_, _, results) =
                    region.templates.delete_versions(&TemplateKey::Id(id.clone()), &texts)?;
                let failure = results
                    .into_iter()
                    .filter_map(|result| result.failure)
                    .find(|(code, _)| *code != "launchTemplateVersionDoesNotExist");
                failure.map_or(Ok(()), |(code, message)| Err(AwsError::new(code, message)))
            },
        )
        .await
    }

    async fn delete_template(&self, id: &LaunchTemplateId) -> Result<()> {
        self.call_on_template(Operation::DeleteLaunchTemplate, id, id.to_string(), |region| {
            region.templates.delete(&TemplateKey::Id(id.clone())).map(drop)
        })
        .await
    }

    async fn describe_instances(&self, ids: &[InstanceId]) -> Result<BTreeMap<InstanceId, Described>> {
        let mut responses = BTreeMap::new();
        for batch in ids.chunks(INSTANCE_PAGE) {
            let mut wanted: Vec<InstanceId> = batch.to_vec();
            while !wanted.is_empty() {
                let (mut found, mut known) = (Vec::new(), Vec::new());
                let response = self
                    .call(Operation::DescribeInstances, format!("{wanted:?}"), |region| {
                        known =
                            wanted.iter().filter(|id| region.instance_seen(id).is_some()).cloned().collect();
                        let instances = region.instances_by_id(&wanted, View::Lagging)?;
                        found = instances.iter().map(|it| convert::details_of(it)).collect::<Vec<_>>();
                        Ok(())
                    })
                    .await;
                match response {
                    Ok(()) => {
                        let known = found.drain(..).map(|it| (it.id.clone(), Described::Known(it)));
                        responses.extend(known);
                        break;
                    }
                    // EC2 refuses the whole batch and names the unknown ids: once more without them.
                    Err(error) if error.kind == ErrorKind::NotFound && known.len() < wanted.len() => {
                        let unknown = wanted.into_iter().filter(|id| !known.contains(id));
                        responses.extend(unknown.map(|id| (id, Described::NotFound)));
                        wanted = known;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(responses)
    }

    async fn describe_instance_types(&self, types: &[InstanceType]) -> Result<Vec<InstanceTypeInfo>> {
        if types.is_empty() {
            return Ok(Vec::new());
        }
        self.call(Operation::DescribeInstanceTypes, format!("{types:?}"), |region| {
            Ok(region.types_by_name(types)?.into_iter().map(type_info).collect())
        })
        .await
    }

    async fn vcpu_quota(&self, quota: VcpuQuota) -> Result<Option<u32>> {
        let read = |region: &mut Region| Ok(region.vcpu_quota(quota));
        match self.call(Operation::GetServiceQuota, quota.code().to_owned(), read).await {
            Err(error)
                if matches!(error.kind, ErrorKind::Denied | ErrorKind::NotFound | ErrorKind::Invalid) =>
            {
                Ok(None)
            }
            response => response,
        }
    }

    async fn describe_volumes_tagged(&self, tag_key: &str) -> Result<Vec<VolumeInfo>> {
        self.call(Operation::DescribeVolumes, tag_key.to_owned(), |region| {
            let tagged = region.volumes.iter().filter(|(_, volume)| volume.tags.contains_key(tag_key));
            let volume = |(id, volume): (&String, &WorkloadVolume)| VolumeInfo {
                id: id.clone(),
                goes_with_instance: volume.attached.as_ref().is_some_and(|(_, goes_with_it)| *goes_with_it),
            };
            Ok(tagged.map(volume).collect())
        })
        .await
    }

    async fn describe_capacity_reservation(&self, id: &str) -> Result<Option<FoundReservation>> {
        self.call(Operation::DescribeCapacityReservations, id.to_owned(), |region| {
            let now = region.now();
            Ok(region.capacity.reservations.get(id).map(|it| convert::reservation(it, now)))
        })
        .await
    }

    async fn describe_images(&self, ids: &[ImageId]) -> Result<Vec<ImageInfo>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.call(Operation::DescribeImages, format!("{ids:?}"), |region| {
            Ok(region.images_by_id(ids)?.into_iter().map(image_info).collect())
        })
        .await
    }

    async fn find_images(&self, query: &ImageQuery) -> Result<Vec<ImageInfo>> {
        self.call(Operation::DescribeImages, format!("{query:?}"), |region| {
            let of_owner = |image: &&Image| {
                query.owner == image.owner || matches!(query.owner.as_str(), "self" | "amazon")
            };
            let found = region.images.values().filter(of_owner).filter(|image| {
                image.available
                    && image.architecture == query.architecture
                    && matches(&query.name, &image.name)
            });
            Ok(found.map(image_info).collect())
        })
        .await
    }

    async fn parameter(&self, name: &str) -> Result<Option<String>> {
        let found = self
            .call(Operation::GetParameter, name.to_owned(), |region| {
                region.parameters.find(name).map(|version| version.value.to_owned())
            })
            .await;
        match found {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn describe_subnets(&self, query: &NetworkQuery) -> Result<Vec<SubnetInfo>> {
        if !asks_something(query, Operation::DescribeSubnets)? {
            return Ok(Vec::new());
        }
        self.call(Operation::DescribeSubnets, format!("{query:?}"), |region| match query {
            NetworkQuery::Ids(ids) => {
                Ok(region.parts_by_id::<Subnet>(ids)?.iter().map(|it| subnet_info(it)).collect())
            }
            NetworkQuery::Tags { vpc, tags } => Ok(region
                .parts_seen::<Subnet>()
                .filter(|subnet| vpc.as_ref().is_none_or(|vpc| vpc == subnet.vpc.as_str()))
                .filter(|subnet| has_tags(&subnet.tags, tags))
                .map(|it| subnet_info(&it))
                .collect()),
        })
        .await
    }

    async fn describe_security_groups(&self, query: &NetworkQuery) -> Result<Vec<SecurityGroupInfo>> {
        if !asks_something(query, Operation::DescribeSecurityGroups)? {
            return Ok(Vec::new());
        }
        self.call(Operation::DescribeSecurityGroups, format!("{query:?}"), |region| match query {
            NetworkQuery::Ids(ids) => {
                let groups = region.parts_by_id::<SecurityGroup>(ids)?;
                Ok(groups.iter().map(|it| security_group_info(it)).collect())
            }
            NetworkQuery::Tags { vpc, tags } => Ok(region
                .parts_seen::<SecurityGroup>()
                .filter(|group| vpc.as_ref().is_none_or(|vpc| vpc == group.vpc.as_str()))
                .filter(|group| has_tags(&group.tags, tags))
                .map(|it| security_group_info(&it))
                .collect()),
        })
        .await
    }
}

fn type_info(info: &TypeInfo) -> InstanceTypeInfo {
    let cards = 0..info.network_cards;
    InstanceTypeInfo {
        instance_type: info.name.clone(),
        vcpus: info.vcpus,
        memory_mib: info.memory_mib,
        nvidia_gpus: info.gpu.as_ref().filter(|gpu| gpu.manufacturer == "NVIDIA").map_or(0, |gpu| gpu.count),
        neuron_devices: info.gpu.as_ref().filter(|gpu| gpu.manufacturer == "AWS").map_or(0, |gpu| gpu.count),
        architecture: info.architecture.clone(),
        network_cards: info.network_cards,
        efa_interfaces: info.efa_interfaces,
        bandwidth_weightings: info.bandwidth_weightings.clone(),
        addresses: info.interfaces.map(|InterfaceLimits { per_card, ipv4_addresses }| AddressLimits {
            interfaces: per_card,
            ipv4_per_interface: ipv4_addresses,
            // All types are on the Nitro System.
            prefixes: true,
        }),
        interfaces_per_card: info
            .interfaces
            .map(|it| cards.map(|card| (card, it.per_card)).collect())
            .unwrap_or_default(),
    }
}

fn image_info(image: &Image) -> ImageInfo {
    ImageInfo {
        id: image.id.clone(),
        name: image.name.clone(),
        architecture: image.architecture.clone(),
        root_device: image.root_device.clone(),
        available: image.available,
        created: image
            .created
            .parse::<jiff::Timestamp>()
            .map(|time| AwsTime::from_millis(time.as_millisecond()))
            .unwrap_or_default(),
        // The simulator's images do not get deprecated.
        deprecated_from: None,
    }
}

fn subnet_info(subnet: &Subnet) -> SubnetInfo {
    SubnetInfo {
        id: subnet.id.clone(),
        zone: subnet.zone.clone(),
        vpc: subnet.vpc.to_string(),
        public: subnet.public_ip_on_launch,
        free_addresses: subnet.free_addresses,
    }
}

fn security_group_info(group: &SecurityGroup) -> SecurityGroupInfo {
    SecurityGroupInfo { id: group.id.clone(), vpc: group.vpc.to_string() }
}
