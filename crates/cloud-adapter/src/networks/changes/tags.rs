//! Tags of existing resources.

use super::calls::done;
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types as aws;
use foo_cloud::{Operation, Result};
use foo_model::network::{Parts, Tags};
use std::collections::BTreeSet;

pub(super) async fn create(client: &Client, ids: &BTreeSet<String>, tags: &Tags) -> Result<Parts> {
    let tags = tags.iter().map(|(key, value)| aws::Tag::builder().key(key).value(value).build()).collect();
    let call = client.create_tags().set_resources(Some(ids.iter().cloned().collect())).set_tags(Some(tags));
    done(Operation::CreateTags, call.send().await)
}

/// Sends nothing without keys, which would mean all tags to EC2.
pub(super) async fn delete(
    client: &Client,
    ids: &BTreeSet<String>,
    keys: &BTreeSet<String>,
) -> Result<Parts> {
    if keys.is_empty() {
        return Ok(Parts::default());
    }
    // A tag without a value matches any value.
    let tags = keys.iter().map(|key| aws::Tag::builder().key(key).build()).collect();
    let call = client.delete_tags().set_resources(Some(ids.iter().cloned().collect())).set_tags(Some(tags));
    done(Operation::DeleteTags, call.send().await)
}
