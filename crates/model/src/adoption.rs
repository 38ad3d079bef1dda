//! Whether what exists in AWS without an owner may be adopted.

use serde::{Deserialize, Serialize};

/// Whether what exists under the name in the spec and has no owner is adopted. The tag `infrastructure.foo.com/adoptable` has to allow it
/// as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Adoption {
    /// The spec does not request it.
    #[default]
    NotRequested,
    /// The spec requests it, and the FooClusterIdentity does not allow it.
    NotAllowed,
    /// The spec requests it, and the FooClusterIdentity allows it.
    Allowed,
}

impl Adoption {
    /// By what the spec requests and the FooClusterIdentity allows.
    pub fn of(requested: bool, allowed: bool) -> Self {
        match (requested, allowed) {
            (false, _) => Self::NotRequested,
            (true, false) => Self::NotAllowed,
            (true, true) => Self::Allowed,
        }
    }

    /// Whether the spec requests it.
    pub fn is_requested(self) -> bool {
        self != Self::NotRequested
    }
}
