//! Images, and the SSM parameters that name them.

use crate::error::{self, Gap};
use crate::filters::filter;
use crate::instances::missing;
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types as aws;
use aws_smithy_types::date_time::{DateTime, Format};
use foo_cloud::{ErrorKind, ImageInfo, ImageQuery, Operation, Result};
use foo_model::{AwsTime, ImageId};

const OPERATION: Operation = Operation::DescribeImages;

pub(crate) async fn describe(client: &Client, ids: &[ImageId]) -> Result<Vec<ImageInfo>> {
    if ids.is_empty() {
        return Ok(Vec::new()); // To EC2, no ids means all public images.
    }
    let names = ids.iter().map(|id| id.as_str().to_owned()).collect();
    let response = client.describe_images().set_image_ids(Some(names)).send().await;
    let response = response.map_err(|failed| error::of(OPERATION, &failed))?;
    let all = response.images().iter().map(image).collect::<Result<Vec<_>, Gap>>();
    let all = all.map_err(|gap| gap.during(OPERATION))?;
    match ids.iter().find(|id| all.iter().all(|image| image.id != **id)) {
        Some(unknown) => Err(missing(OPERATION, unknown)),
        None => Ok(all),
    }
}

/// By page: EC2 recommends it, because an owner can have tens of thousands of images.
pub(crate) async fn find(client: &Client, query: &ImageQuery) -> Result<Vec<ImageInfo>> {
    let call = client
        .describe_images()
        .owners(&query.owner)
        .filters(filter("name", &query.name))
        .filters(filter("architecture", &query.architecture))
        .filters(filter("state", "available"));
    let found = call.into_paginator().page_size(1000).items().send().collect::<Result<Vec<_>, _>>().await;
    let found = found.map_err(|failed| error::of(OPERATION, &failed))?;
    found.iter().map(|one| image(one).map_err(|gap| gap.during(OPERATION))).collect()
}

fn image(image: &aws::Image) -> Result<ImageInfo, Gap> {
    Ok(ImageInfo {
        id: image.image_id().ok_or(Gap("imageId"))?.into(),
        name: image.name().unwrap_or_default().to_owned(),
        architecture: image
            .architecture()
            .map(aws::ArchitectureValues::as_str)
            .unwrap_or_default()
            .to_owned(),
        root_device: image.root_device_name().unwrap_or_default().to_owned(),
        available: image.state() == Some(&aws::ImageState::Available),
        created: image.creation_date().and_then(time).unwrap_or_default(),
        deprecated_from: image.deprecation_time().and_then(time),
    })
}

/// A time as EC2 writes it, `2026-02-02T09:00:00.000Z`.
fn time(text: &str) -> Option<AwsTime> {
    DateTime::from_str(text, Format::DateTime).ok()?.to_millis().ok().map(AwsTime::from_millis)
}

pub(crate) async fn parameter(client: &aws_sdk_ssm::Client, name: &str) -> Result<Option<String>> {
    match client.get_parameter().name(name).send().await {
        Ok(response) => Ok(response.parameter.and_then(|parameter| parameter.value)),
        Err(failed) => match error::of(Operation::GetParameter, &failed) {
            error if error.kind == ErrorKind::NotFound => Ok(None),
            error => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_without_dates_is_the_oldest_and_not_deprecated() {
        let plain = aws::Image::builder().image_id("ami-1").state(aws::ImageState::Available);
        let dated = plain
            .clone()
            .creation_date("2026-02-02T09:00:00.000Z")
            .deprecation_time("2028-02-02T09:00:00.000Z")
            .build();
        let (plain, dated) = (image(&plain.build()).unwrap(), image(&dated).unwrap());
        assert_eq!((plain.created, plain.deprecated_from), (AwsTime::from_millis(0), None));
        assert_eq!(dated.created, AwsTime::from_millis(1_770_022_800_000));
        assert_eq!(dated.deprecated_from, Some(AwsTime::from_millis(1_833_094_800_000)));
    }
}
