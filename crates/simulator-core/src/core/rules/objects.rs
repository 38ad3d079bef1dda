//! Calls of S3.

use crate::core::error::{AwsError, AwsResult};
use crate::core::objects::{Bucket, KEY_LIMIT, Object, Overwrite, check_tags};
use crate::core::region::Region;
use foo_model::Timestamp;
use std::collections::BTreeMap;

impl Region {
    /// Creates a bucket, or keeps the one that is there.
    pub fn create_bucket(&mut self, name: &str) -> &mut Bucket {
        self.buckets.entry(name.to_owned()).or_default()
    }

    /// A bucket that this account is expected to own.
    pub(crate) fn bucket(&mut self, name: &str, expected_owner: Option<&str>) -> AwsResult<&mut Bucket> {
        if expected_owner.is_some_and(|owner| owner != self.account) {
            return Err(AwsError::new("AccessDenied", "Access Denied").status(403));
        }
        let absent = || AwsError::new("NoSuchBucket", "The specified bucket does not exist").status(404);
        self.buckets.get_mut(name).ok_or_else(absent)
    }

    /// PutObject, with the owner that the caller expects the bucket to have.
    ///
    /// # Errors
    /// S3's codes: `NoSuchBucket`, `AccessDenied`, `KeyTooLongError`, `PreconditionFailed`, and those for tags.
    pub fn put_object(
        &mut self,
        (bucket, expected_owner): (&str, Option<&str>),
        key: &str,
        (content, tags): (&[u8], &BTreeMap<String, String>),
        overwrite: Overwrite,
    ) -> AwsResult<()> {
        let modified = Timestamp(self.now.0.div_euclid(1_000) * 1_000);
        let bucket = self.bucket(bucket, expected_owner)?;
        if key.len() > KEY_LIMIT {
            return Err(AwsError::new("KeyTooLongError", "Your key is too long"));
        }
        check_tags(tags)?;
        if overwrite == Overwrite::Refused && bucket.objects.contains_key(key) {
            let text = "At least one of the pre-conditions you specified did not hold";
            return Err(AwsError::new("PreconditionFailed", text).status(412));
        }
        let object = Object { content: content.to_vec(), tags: tags.clone(), modified };
        bucket.objects.insert(key.to_owned(), object);
        Ok(())
    }

    /// ListObjectsV2: the objects whose keys begin with a prefix.
    ///
    /// # Errors
    /// `NoSuchBucket`, `AccessDenied`.
    pub fn list_objects(
        &mut self,
        bucket: &str,
        expected_owner: Option<&str>,
        prefix: &str,
    ) -> AwsResult<Vec<(String, Object)>> {
        let bucket = self.bucket(bucket, expected_owner)?;
        let fits = |(key, _): &(&String, &Object)| key.starts_with(prefix);
        Ok(bucket.objects.iter().filter(fits).map(|(key, object)| (key.clone(), object.clone())).collect())
    }

    /// DeleteObject: one that does not exist is no error.
    ///
    /// # Errors
    /// `NoSuchBucket`, `AccessDenied`.
    pub fn delete_object(&mut self, bucket: &str, expected_owner: Option<&str>, key: &str) -> AwsResult<()> {
        self.bucket(bucket, expected_owner)?.objects.remove(key);
        Ok(())
    }

    /// The content of an object for a reader with this role, if it has one.
    ///
    /// # Errors
    /// `NoSuchBucket`, `NoSuchKey`, and `AccessDenied` if the policy of the bucket gives the object to another role.
    pub fn object_for(&mut self, bucket: &str, key: &str, role: Option<&str>) -> AwsResult<Vec<u8>> {
        let bucket = self.bucket(bucket, None)?;
        let absent = || AwsError::new("NoSuchKey", "The specified key does not exist.").status(404);
        let object = bucket.objects.get(key).ok_or_else(absent)?;
        let reads = |tag: &String| role.is_some() && object.tags.get(tag).map(String::as_str) == role;
        if bucket.reader_tag.as_ref().is_none_or(reads) {
            Ok(object.content.clone())
        } else {
            Err(AwsError::new("AccessDenied", "Access Denied").status(403))
        }
    }
}
