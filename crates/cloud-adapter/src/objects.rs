//! Objects in S3 (Amazon S3 API Reference).
//!
//! The host of a call names the bucket, except at an endpoint that was given, which may be no more than an address.

use crate::AwsCloud;
use crate::error::{self, Gap};
use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_s3::config::{Builder, RequestChecksumCalculation};
use aws_sdk_s3::primitives::ByteStream;
use foo_cloud::{
    BucketOf, CloudError, ErrorKind, NewObject, ObjectInfo, Objects, Operation, Result, Written,
};
use foo_model::AwsTime;
use std::collections::BTreeMap;

/// The client, with what all clients of a connection have.
pub(crate) fn client(config: &SdkConfig, with: impl FnOnce(Builder) -> Builder) -> aws_sdk_s3::Client {
    // The signature covers the SHA-256 of what is sent: a second checksum finds nothing that it does not.
    let builder = Builder::from(config)
        .force_path_style(config.endpoint_url().is_some())
        .request_checksum_calculation(RequestChecksumCalculation::WhenRequired);
    aws_sdk_s3::Client::from_conf(with(builder).build())
}

#[async_trait]
impl Objects for AwsCloud {
    async fn put_object(&self, bucket: BucketOf<'_>, object: NewObject<'_>) -> Result<Written> {
        let call = self.s3.put_object().bucket(bucket.name).expected_bucket_owner(bucket.owner);
        let call = call.key(object.key).tagging(tagging(object.tags));
        // A write only if there is no object with this key (Amazon S3 User Guide, "How to prevent object overwrites with
        // conditional writes").
        let call = call.if_none_match("*").content_type("application/octet-stream");
        let sent = call.body(ByteStream::from(object.content.to_vec())).send().await;
        match sent.map_err(|failed| error::of(Operation::PutObject, &failed)) {
            Ok(_) => Ok(Written::New),
            Err(CloudError { kind: ErrorKind::AlreadyExists, .. }) => Ok(Written::Existed),
            Err(other) => Err(other),
        }
    }

    async fn list_objects(&self, bucket: BucketOf<'_>, prefix: &str) -> Result<Vec<ObjectInfo>> {
        const OPERATION: Operation = Operation::ListObjectsV2;
        let call = self.s3.list_objects_v2().bucket(bucket.name).expected_bucket_owner(bucket.owner);
        let mut pages = call.prefix(prefix).into_paginator().send();
        let mut found = Vec::new();
        while let Some(page) = pages.next().await {
            let page = page.map_err(|failed| error::of(OPERATION, &failed))?;
            for object in page.contents.unwrap_or_default() {
                let key = object.key.ok_or_else(|| Gap("Key").during(OPERATION))?;
                let modified = object.last_modified.and_then(|time| time.to_millis().ok());
                let modified = modified.ok_or_else(|| Gap("LastModified").during(OPERATION))?;
                found.push(ObjectInfo { key, modified: AwsTime::from_millis(modified) });
            }
        }
        Ok(found)
    }

    async fn delete_object(&self, bucket: BucketOf<'_>, key: &str) -> Result<()> {
        let call = self.s3.delete_object().bucket(bucket.name).expected_bucket_owner(bucket.owner).key(key);
        call.send().await.map(drop).map_err(|failed| error::of(Operation::DeleteObject, &failed))
    }
}

/// Tags as the parameters of a query (Amazon S3 API Reference, PutObject, `x-amz-tagging`).
fn tagging(tags: &BTreeMap<String, String>) -> String {
    let pairs = tags.iter().map(|(key, value)| format!("{}={}", encoded(key), encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// In percent-encoding (RFC 3986): everything but what is unreserved.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_the_parameters_of_a_query() {
        let tags = BTreeMap::from([
            ("a".to_owned(), "arn:aws:iam::1:role/p/r+=@".to_owned()),
            ("b c".to_owned(), String::new()),
        ]);
        assert_eq!(tagging(&tags), "a=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fp%2Fr%2B%3D%40&b%20c=");
    }
}
