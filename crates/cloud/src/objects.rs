//! Objects in S3 (Amazon S3 API Reference). Buckets are the users': nothing here creates, changes or deletes one.

use crate::Result;
use async_trait::async_trait;
use foo_model::AwsTime;
use std::collections::BTreeMap;

/// A bucket of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketOf<'a> {
    /// Its name, without dots.
    pub name: &'a str,
    /// The account that it has to belong to, 12 digits: S3 refuses calls about a bucket of another one (Amazon S3 User
    /// Guide, "Verifying bucket ownership with bucket owner condition").
    pub owner: &'a str,
}

/// An object to write.
#[derive(Clone, Copy, Debug)]
pub struct NewObject<'a> {
    /// Its key, at most 1024 bytes.
    pub key: &'a str,
    /// Its content.
    pub content: &'a [u8],
    /// Its tags, at most 10.
    pub tags: &'a BTreeMap<String, String>,
}

/// What a write did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The object is new.
    New,
    /// There was an object with this key; it stays as it is.
    Existed,
}

/// An object, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    /// Its key.
    pub key: String,
    /// When it was written, in whole seconds.
    pub modified: AwsTime,
}

/// Objects of one set of credentials in one region; the bucket must be in that region.
///
/// `NotFound` of every call: the bucket does not exist. `Invalid`: it is in another region. `Denied`: no right, or it
/// belongs to another account.
#[async_trait]
pub trait Objects: Send + Sync {
    /// Writes an object if there is none with its key, with the bucket's encryption (S3 encrypts all of them). May be
    /// repeated.
    async fn put_object(&self, bucket: BucketOf<'_>, object: NewObject<'_>) -> Result<Written>;
    /// All objects whose keys begin like this; one call per 1000. A list after a write shows it (Amazon S3 User Guide,
    /// "Amazon S3 data consistency model").
    async fn list_objects(&self, bucket: BucketOf<'_>, prefix: &str) -> Result<Vec<ObjectInfo>>;
    /// Deletes an object; one that does not exist is no error. May be repeated.
    async fn delete_object(&self, bucket: BucketOf<'_>, key: &str) -> Result<()>;
}
