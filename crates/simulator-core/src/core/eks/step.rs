//! What EKS does to clusters a while after a call.

use foo_model::eks::Minor;

/// Something that happens at its time. A cluster is named by its ARN and id: one of the same name made later is another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EksStep {
    /// CREATING → ACTIVE or FAILED.
    Created(ClusterRef),
    /// ACTIVE → UPDATING, for the update of this id.
    UpdateShows(ClusterRef, String),
    /// The update of this id is over.
    UpdateOver(ClusterRef, String),
    /// The cluster is gone.
    Deleted(ClusterRef),
    /// The add-on of this name is gone.
    AddonDeleted(ClusterRef, String),
    /// Support of this version ends.
    SupportEnds(ClusterRef, Minor),
}

/// A cluster by name, and by the id that only it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ClusterRef {
    /// Its name.
    pub(crate) name: String,
    /// Its id.
    pub(crate) id: String,
}

impl EksStep {
    pub(in crate::core) fn cluster(&self) -> &ClusterRef {
        match self {
            Self::Created(it)
            | Self::UpdateShows(it, _)
            | Self::UpdateOver(it, _)
            | Self::Deleted(it)
            | Self::AddonDeleted(it, _)
            | Self::SupportEnds(it, _) => it,
        }
    }
}
