//! What is known of AWS, and how old it may be.

use crate::Result;
use crate::error::CloudError;
use foo_model::Timestamp;
use std::sync::Arc;
use std::time::Duration;

/// How old a result may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Its read began at this moment or later.
    Since(Timestamp),
    /// Its read began no longer ago than this.
    Within(Duration),
}

impl Freshness {
    /// The earliest moment at which a read may have begun.
    pub(super) fn earliest(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Since(moment) => moment,
            Self::Within(age) => now.minus(age),
        }
    }
}

/// The result of one read.
#[derive(Debug)]
pub struct ReadResult<T> {
    /// When it began.
    pub began: Timestamp,
    /// What it returned.
    pub value: Arc<T>,
}

impl<T> Clone for ReadResult<T> {
    fn clone(&self) -> Self {
        Self { began: self.began, value: Arc::clone(&self.value) }
    }
}

/// What is known, and whether it is as new as it was asked for.
#[derive(Clone, Debug)]
pub struct Known<T> {
    /// The newest read that succeeded, however old.
    pub last_read: Option<ReadResult<T>>,
    /// Why there is no newer one, if the read is older than it was asked for, or there is none.
    pub failure: Option<CloudError>,
}

impl<T> Known<T> {
    /// What was seen if it is as new as it was asked for, or why not.
    ///
    /// # Errors
    /// Why AWS could not be read.
    pub fn fresh(self) -> Result<Option<ReadResult<T>>> {
        match self.failure {
            Some(error) => Err(error),
            None => Ok(self.last_read),
        }
    }
}
