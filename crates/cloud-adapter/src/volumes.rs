//! EBS volumes, by their tags.

use crate::error::{self, Gap};
use crate::filters::filter;
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types as aws;
use foo_cloud::{Operation, Result, VolumeInfo, literal};

/// The volumes that have a tag with this key, except those that are being deleted.
pub(crate) async fn describe_tagged(client: &Client, tag_key: &str) -> Result<Vec<VolumeInfo>> {
    const OPERATION: Operation = Operation::DescribeVolumes;
    let tagged = filter("tag-key", &literal(tag_key));
    let call = client.describe_volumes().filters(tagged).into_paginator().page_size(1000).items();
    let found = call.send().collect::<Result<Vec<_>, _>>().await;
    let found = found.map_err(|failed| error::of(OPERATION, &failed))?;
    let there = found.iter().filter(|volume| !is_going(volume));
    there.map(|one| volume(one).map_err(|gap| gap.during(OPERATION))).collect()
}

fn is_going(volume: &aws::Volume) -> bool {
    matches!(volume.state(), Some(aws::VolumeState::Deleting | aws::VolumeState::Deleted))
}

fn volume(volume: &aws::Volume) -> Result<VolumeInfo, Gap> {
    let attached = volume.attachments();
    Ok(VolumeInfo {
        id: volume.volume_id().ok_or(Gap("volumeId"))?.to_owned(),
        goes_with_instance: !attached.is_empty()
            && attached.iter().all(|it| it.delete_on_termination().unwrap_or_default()),
    })
}
