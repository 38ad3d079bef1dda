//! The tags that mark what is the provider's.

use crate::desired::Desired;
use foo_model::names::{TAG_ADOPTED, TAG_CLUSTER, TAG_CONTROL_PLANE, TAG_INSTALLATION, are_in_one_namespace};
use foo_model::network::Tags;

/// Our tags.
pub(crate) fn own(desired: &Desired) -> Tags {
    Tags::from([
        (TAG_CONTROL_PLANE.to_owned(), desired.id.clone()),
        (TAG_CLUSTER.to_owned(), desired.cluster.clone()),
        (TAG_INSTALLATION.to_owned(), desired.installation.clone()),
    ])
}

/// All tags of what the provider creates: the user's and the provider's, which win.
pub(crate) fn all(desired: &Desired) -> Tags {
    let mut tags = desired.tags.clone();
    tags.extend(own(desired));
    tags
}

/// The tags by which the provider adopts a cluster that it did not create.
pub(crate) fn adopted(desired: &Desired) -> Tags {
    let mut tags = own(desired);
    tags.insert(TAG_ADOPTED.to_owned(), "true".to_owned());
    tags
}

/// Whether the tags say that we adopted it.
pub(crate) fn were_adopted(tags: &Tags) -> bool {
    tags.contains_key(TAG_ADOPTED)
}

/// Whether the tags say that it is this control plane's: by its id, which anyone who may write the FooControlPlane can set in its
/// annotation, and by its Cluster, which only AWS shows.
pub(crate) fn are_own(desired: &Desired, tags: &Tags) -> bool {
    tags.get(TAG_CONTROL_PLANE) == Some(&desired.id)
        && tags.get(TAG_CLUSTER).is_some_and(|cluster| is_our_cluster(desired, cluster))
}

/// The Cluster of a FooControlPlane that is being deleted may not exist any more, and with it the name that the tag has: then the namespace
/// decides.
fn is_our_cluster(desired: &Desired, cluster: &str) -> bool {
    cluster == desired.cluster || (desired.being_deleted && are_in_one_namespace(cluster, &desired.cluster))
}
