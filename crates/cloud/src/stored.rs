//! Lists of objects, shared by all pools of one set of credentials and region that keep user data in one folder
//! ([`crate::reads`]): however many pools there are, an object that a user deleted is noticed for a call per thousand
//! objects.

use crate::reads::{CloudReads, Freshness, Known};
use crate::{BucketOf, ErrorKind};
use foo_model::Operation;
use std::collections::BTreeSet;

/// A bucket and what the keys in it begin with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Folder {
    /// Name of the bucket.
    pub bucket: String,
    /// The account that it has to belong to.
    pub owner: String,
    /// What keys begin with.
    pub prefix: String,
}

/// The shared lists, one per (credentials, region).
pub type ObjectReads = CloudReads<Folder, BTreeSet<String>>;

impl ObjectReads {
    /// The keys of all objects in a folder; none if the bucket does not exist.
    pub async fn keys(&self, folder: &Folder, freshness: Freshness) -> Known<BTreeSet<String>> {
        let call = async || {
            let bucket = BucketOf { name: &folder.bucket, owner: &folder.owner };
            match self.cloud.list_objects(bucket, &folder.prefix).await {
                Ok(found) => Ok(found.into_iter().map(|object| object.key).collect()),
                Err(error) if error.kind == ErrorKind::NotFound => Ok(BTreeSet::new()),
                Err(error) => Err(error),
            }
        };
        self.shared.ask(Operation::ListObjectsV2, folder, freshness, call).await
    }
}
