//! Kubernetes' garbage collector, for the kinds core works with.

use crate::cluster_api::api::has_finalizer;
use crate::cluster_api::core::Core;
use crate::cluster_api::world::{KINDS, World, is_deleting};
use kube::ResourceExt;
use kube::api::Api;
use kube::core::DynamicObject;
use serde_json::json;
use std::collections::BTreeSet;

/// Deletes what has lost all its owners, and finishes foreground and orphaning deletions.
pub(crate) async fn collect(core: &Core, world: &World) -> kube::Result<()> {
    let uids: BTreeSet<String> = world.all().filter_map(ResourceExt::uid).collect();
    for object in world.all() {
        let mut gone = Vec::new();
        for owner in object.owner_references() {
            if !uids.contains(&owner.uid) && is_absent(core, object, owner).await? {
                gone.push(&owner.uid);
            }
        }
        if gone.is_empty() {
            continue;
        }
        if gone.len() == object.owner_references().len() {
            core.delete(object).await?;
        } else {
            strip(core, object, &gone).await?;
        }
    }
    for owner in world.all().filter(|object| is_deleting(object)) {
        finish(core, world, owner).await?;
    }
    Ok(())
}

type OwnerReference = k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

/// Asks the server: what was read may be older than the reference. Owners of unknown kinds count as present.
async fn is_absent(core: &Core, object: &DynamicObject, owner: &OwnerReference) -> kube::Result<bool> {
    let Some(kind) =
        KINDS.iter().find(|kind| kind.kind == owner.kind && kind.api_version() == owner.api_version)
    else {
        return Ok(false);
    };
    let namespace = object.namespace().unwrap_or_default();
    let api: Api<DynamicObject> = Api::namespaced_with(core.client.clone(), &namespace, &kind.resource());
    let found = api.get_opt(&owner.name).await?;
    Ok(found.is_none_or(|found| found.uid().as_ref() != Some(&owner.uid)))
}

async fn strip(core: &Core, object: &DynamicObject, uids: &[&String]) -> kube::Result<()> {
    let rest: Vec<_> = object.owner_references().iter().filter(|owner| !uids.contains(&&owner.uid)).collect();
    let metadata = json!({ "ownerReferences": rest, "resourceVersion": object.resource_version() });
    core.merge(object, &json!({ "metadata": metadata })).await
}

async fn finish(core: &Core, world: &World, owner: &DynamicObject) -> kube::Result<()> {
    let Some(uid) = owner.uid() else { return Ok(()) };
    let owned = |object: &&DynamicObject| object.owner_references().iter().any(|entry| entry.uid == uid);
    if has_finalizer(owner, "orphan") {
        for object in world.all().filter(owned) {
            strip(core, object, &[&uid]).await?;
        }
        return core.release(owner, "orphan").await;
    }
    if has_finalizer(owner, "foregroundDeletion") {
        let mut blocked = false;
        for object in world.all().filter(owned) {
            core.delete(object).await?;
            let blocks =
                |entry: &OwnerReference| entry.uid == uid && entry.block_owner_deletion == Some(true);
            blocked |= object.owner_references().iter().any(blocks);
        }
        if !blocked {
            return core.release(owner, "foregroundDeletion").await;
        }
    }
    Ok(())
}
