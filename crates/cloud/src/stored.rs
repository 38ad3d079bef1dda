//! Lists of objects, shared by all pools of one set of credentials and region that keep user data in one folder
//! ([`crate::reads`]): however many pools there are, an object that a user deleted is noticed for a call per thousand
//! objects.

use crate::reads::{Freshness, Known, SharedReads};
use crate::{BucketOf, Clock, Cloud, ErrorKind};
use foo_model::Operation;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

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
pub struct ObjectReads {
    cloud: Arc<dyn Cloud>,
    keys: SharedReads<Folder, BTreeSet<String>>,
}

impl ObjectReads {
    /// Nothing was listed yet.
    pub fn new(cloud: Arc<dyn Cloud>, clock: Arc<dyn Clock>) -> Self {
        Self { cloud, keys: SharedReads::new(clock) }
    }

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
        self.keys.ask(Operation::ListObjectsV2, folder, freshness, call).await
    }
}

impl fmt::Debug for ObjectReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectReads").finish_non_exhaustive()
    }
}
