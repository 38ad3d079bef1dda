//! Reasons for which there are no credentials. All begin alike: the planner knows them by it.

/// It does not exist, or a source of it.
pub const NOT_FOUND: &str = "IdentityNotFound";
/// No identity has been read yet.
pub const NOT_YET_KNOWN: &str = "IdentityNotYetKnown";
/// There is none, and the manager is told that each cluster needs one.
pub const REQUIRED: &str = "IdentityRequired";
/// The namespace may not use it, or not in this region.
pub const NOT_ALLOWED: &str = "IdentityNotAllowed";
/// Its sources go in a circle or are too many, or it cannot be read.
pub const INVALID: &str = "IdentityInvalid";
/// Its Secret does not exist.
pub const SECRET_NOT_FOUND: &str = "IdentitySecretNotFound";
/// Its Secret lacks a key.
pub const SECRET_INVALID: &str = "IdentitySecretInvalid";
/// The API server does not give its Secret.
pub const SECRET_UNREADABLE: &str = "IdentitySecretUnreadable";
