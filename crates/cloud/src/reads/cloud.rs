//! Shared reads together with the cloud that they ask. What is asked is in the file of each domain.

use super::shared::SharedReads;
use crate::{Clock, Cloud};
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

/// The shared reads of one type of question, for one set of credentials and region.
pub struct CloudReads<Q, T> {
    pub(crate) cloud: Arc<dyn Cloud>,
    pub(crate) shared: SharedReads<Q, T>,
}

impl<Q: Clone + Eq + Hash, T> CloudReads<Q, T> {
    /// Nothing was read yet.
    pub fn new(cloud: Arc<dyn Cloud>, clock: Arc<dyn Clock>) -> Self {
        Self { cloud, shared: SharedReads::new(clock) }
    }
}

impl<Q, T> fmt::Debug for CloudReads<Q, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CloudReads").finish_non_exhaustive()
    }
}
