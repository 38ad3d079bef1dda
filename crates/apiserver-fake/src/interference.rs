//! What tests do to watches: suspend them, close them, expire them. [`crate::watch`] carries it out.

use crate::request::Request;

/// What a test did to watches.
#[derive(Clone, Debug)]
pub(crate) struct Interference {
    pub(crate) id: u64,
    pub(crate) kind: String,
    pub(crate) client: String,
    pub(crate) what: What,
}

/// Ways to interfere with watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Changes after this one are kept back.
    Hold(u64),
    /// Watches that began before are closed.
    Close,
    /// Watches that began before get the error that they are too old.
    Expire,
}

impl Interference {
    pub(crate) fn concerns(&self, request: &Request) -> bool {
        crate::faults::matches(&self.kind, &request.kind.kind)
            && crate::faults::matches(&self.client, &request.client)
    }
}
