//! The simulated S3 behind the trait of objects.

use super::SimCloud;
use super::convert::dated;
use crate::core::objects::Overwrite;
use async_trait::async_trait;
use foo_cloud::{BucketOf, ErrorKind, NewObject, ObjectInfo, Objects, Operation, Result, Written};

/// Objects of one page of a list (Amazon S3 API Reference, ListObjectsV2).
const PAGE: usize = 1_000;

#[async_trait]
impl Objects for SimCloud {
    async fn put_object(&self, bucket: BucketOf<'_>, object: NewObject<'_>) -> Result<Written> {
        let owned = (bucket.name, Some(bucket.owner));
        let parameters = format!("{}/{}", bucket.name, object.key);
        let sent = self.call(Operation::PutObject, parameters, |region| {
            region.put_object(owned, object.key, (object.content, object.tags), Overwrite::Refused)
        });
        match sent.await {
            Ok(()) => Ok(Written::New),
            Err(error) if error.kind == ErrorKind::AlreadyExists => Ok(Written::Existed),
            Err(other) => Err(other),
        }
    }

    async fn list_objects(&self, bucket: BucketOf<'_>, prefix: &str) -> Result<Vec<ObjectInfo>> {
        let mut pages = 0;
        loop {
            let parameters = format!("{}/{prefix}", bucket.name);
            let found = self
                .call(Operation::ListObjectsV2, parameters, |region| {
                    region.list_objects(bucket.name, Some(bucket.owner), prefix)
                })
                .await?;
            pages += 1;
            if found.len() <= pages * PAGE {
                let info = |(key, object): (String, crate::core::objects::Object)| ObjectInfo {
                    key,
                    modified: dated(object.modified),
                };
                return Ok(found.into_iter().map(info).collect());
            }
        }
    }

    async fn delete_object(&self, bucket: BucketOf<'_>, key: &str) -> Result<()> {
        let parameters = format!("{}/{key}", bucket.name);
        self.call(Operation::DeleteObject, parameters, |region| {
            region.delete_object(bucket.name, Some(bucket.owner), key)
        })
        .await
    }
}
