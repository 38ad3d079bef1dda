//! Writes and deletes the user data that is in S3. Only keys of the pool's own folder that look exactly as those that
//! it writes are ever deleted.

use foo_cloud::{BucketOf, Cloud, CloudError, ErrorKind, NewObject};
use foo_model::object::TAG_READER;
use foo_planner::action::ObjectAction;
use foo_planner::desired::Identity;
use std::collections::BTreeMap;

/// Carries out one action. The account is asked for first: a bucket of another one gets nothing.
pub(super) async fn change(
    cloud: &dyn Cloud,
    identity: &Identity,
    action: &ObjectAction,
) -> Result<(), CloudError> {
    let account = cloud.account().await?;
    let bucket_of = |name| BucketOf { name, owner: &account };
    match action {
        ObjectAction::StoreUserData { object } => {
            let tags: BTreeMap<String, String> = identity
                .ownership_tags()
                .into_iter()
                .chain([(TAG_READER.to_owned(), object.reader.clone())])
                .collect();
            let key = object.place.key(&identity.namespace, &identity.group);
            let new = NewObject { key: &key, content: &object.user_data.0, tags: &tags };
            cloud.put_object(bucket_of(&object.place.storage.bucket), new).await?;
        }
        ObjectAction::DeleteUserData { storage, keep, before } => {
            let (namespace, group) = (&identity.namespace, &identity.group);
            let (bucket, folder) = (bucket_of(&storage.bucket), storage.folder(namespace, group));
            let found = match cloud.list_objects(bucket, &folder).await {
                // With the bucket its objects are deleted.
                Err(error) if error.kind == ErrorKind::NotFound => return Ok(()),
                found => found?,
            };
            for object in found {
                let Some(name) = storage.name_in(namespace, group, &object.key) else { continue };
                let is_old = before.is_none_or(|before| object.modified < before);
                if is_old && !keep.contains(name) {
                    cloud.delete_object(bucket, &object.key).await?;
                }
            }
        }
    }
    Ok(())
}
