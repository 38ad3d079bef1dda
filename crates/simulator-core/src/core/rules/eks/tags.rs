//! Tags of clusters and what belongs to them (EKS API Reference, TagResource): at once, by ARN, and not passed on.

use crate::core::eks::refusal::{invalid, not_found};
use crate::core::eks::state::Eks;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use foo_model::network::Tags;

/// Most tags of a resource (EKS User Guide, "Tagging basics").
const MOST: usize = 50;

/// Whether tags have the form that EKS wants.
pub(super) fn check_tags(tags: &Tags) -> AwsResult<()> {
    let fits = |key: &str, value: &str| {
        (1..=128).contains(&key.chars().count())
            && value.chars().count() <= 256
            && !key.to_ascii_lowercase().starts_with("aws:")
    };
    if tags.len() > MOST {
        return Err(invalid(format!("A resource can have at most {MOST} tags.")));
    }
    match tags.iter().find(|(key, value)| !fits(key, value)) {
        Some((key, _)) => Err(invalid(format!("The tag {key} is invalid."))),
        None => Ok(()),
    }
}

fn tags_of<'a>(eks: &'a mut Eks, arn: &str) -> Option<&'a mut Tags> {
    let name = arn.split(':').nth(5)?.split('/').nth(1)?.to_owned();
    let cluster = eks.clusters.get_mut(&name)?;
    if cluster.arn == arn {
        return Some(&mut cluster.tags);
    }
    let addons = cluster.addons.values_mut().map(|it| (&it.arn, &mut it.tags));
    let entries = cluster.entries.values_mut().map(|it| (&it.arn, &mut it.tags));
    let pods = cluster.pod_identities.values_mut().map(|it| (&it.arn, &mut it.tags));
    let provider = cluster.identity_provider.iter_mut().map(|it| &mut it.config);
    let provider = provider.map(|it| (&it.arn, &mut it.tags));
    addons.chain(entries).chain(pods).chain(provider).find(|(own, _)| *own == arn).map(|(_, tags)| tags)
}

impl Region {
    fn eks_tags(&mut self, arn: &str) -> AwsResult<&mut Tags> {
        let absent = || AwsError {
            code: "NotFoundException".to_owned(),
            ..not_found(format!("No resource found for ARN: {arn}"))
        };
        tags_of(&mut self.eks, arn).ok_or_else(absent)
    }

    /// TagResource.
    ///
    /// # Errors
    /// `NotFoundException`, `BadRequestException`.
    pub fn tag_eks_resource(&mut self, arn: &str, tags: &Tags) -> AwsResult<()> {
        let own = self.eks_tags(arn)?;
        let mut all = own.clone();
        all.extend(tags.clone());
        check_tags(&all).map_err(|error| AwsError::new("BadRequestException", error.message))?;
        *own = all;
        Ok(())
    }

    /// UntagResource.
    ///
    /// # Errors
    /// `NotFoundException`.
    pub fn untag_eks_resource(&mut self, arn: &str, keys: &[String]) -> AwsResult<()> {
        self.eks_tags(arn)?.retain(|key, _| !keys.contains(key));
        Ok(())
    }

    /// ListTagsForResource.
    ///
    /// # Errors
    /// `NotFoundException`.
    pub fn tags_of_eks_resource(&mut self, arn: &str) -> AwsResult<Tags> {
        self.eks_tags(arn).cloned()
    }
}
