//! The tags by which we know what is ours.

use crate::desired::Desired;
use foo_model::names::{TAG_CLUSTER, TAG_CONTROL_PLANE, TAG_INSTALLATION};
use foo_model::network::Tags;

/// Our tags.
pub(crate) fn ours(desired: &Desired) -> Tags {
    Tags::from([
        (TAG_CONTROL_PLANE.to_owned(), desired.id.clone()),
        (TAG_CLUSTER.to_owned(), desired.cluster.clone()),
        (TAG_INSTALLATION.to_owned(), desired.installation.clone()),
    ])
}

/// All tags of what we create: the user's and ours, which win.
pub(crate) fn all(desired: &Desired) -> Tags {
    let mut tags = desired.tags.clone();
    tags.extend(ours(desired));
    tags
}

/// Whether the tags say that it is this control plane's.
pub(crate) fn are_ours(desired: &Desired, tags: &Tags) -> bool {
    tags.get(TAG_CONTROL_PLANE) == Some(&desired.id)
}
