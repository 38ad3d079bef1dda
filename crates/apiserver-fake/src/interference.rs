//! What tests do to watches: suspend them, stall them, take their bookmarks, close them, expire them.
//! [`crate::watch`] carries it out.

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
    /// Nothing is sent, no bookmark either, and no watch ends, not even at its time limit.
    Stall,
    /// No bookmark is sent.
    NoBookmarks,
    /// Watches that began before are closed.
    Close,
    /// Watches that began before get the error that they are too old.
    Expire,
}

impl What {
    /// Whether it lasts until it is withdrawn; the others happen once, to the watches that are open.
    pub(crate) fn lasts(self) -> bool {
        match self {
            Self::Hold(_) | Self::Stall | Self::NoBookmarks => true,
            Self::Close | Self::Expire => false,
        }
    }
}

impl Interference {
    pub(crate) fn concerns(&self, request: &Request) -> bool {
        crate::faults::matches(&self.kind, &request.kind.kind)
            && crate::faults::matches(&self.client, &request.client)
    }
}
