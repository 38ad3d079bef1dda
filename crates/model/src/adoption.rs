//! Whether what exists in AWS without an owner may be adopted.

use crate::names::TAG_ADOPTABLE;
use crate::{Blocked, Reason};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

    /// Why `what`, which exists with these tags and has no owner, may not be adopted, if the FooClusterIdentity or the owner of the AWS
    /// account does not consent. The tag names the `adopter`.
    pub fn refusal(self, what: &str, tags: &BTreeMap<String, String>, adopter: &str) -> Option<Blocked> {
        let why = if self == Self::NotAllowed {
            "the FooClusterIdentity does not allow its adoption (allowAdoption); without an identityRef it is the one named \"default\""
                .to_owned()
        } else if tags.get(TAG_ADOPTABLE).is_none_or(|named| named != adopter) {
            format!("AWS does not allow its adoption: it does not have the tag {TAG_ADOPTABLE}={adopter}")
        } else {
            return None;
        };
        Some(Blocked::new(Reason::AdoptionNotAllowed, format!("{what} exists, and {why}")))
    }
}
