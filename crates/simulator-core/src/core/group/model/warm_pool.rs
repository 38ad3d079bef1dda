//! Warm pools.

use serde::Serialize;

/// State of the waiting instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, strum::IntoStaticStr, strum::EnumString)]
#[expect(missing_docs, reason = "the names are AWS's own (API Reference, WarmPoolConfiguration)")]
pub enum PoolState {
    #[default]
    Stopped,
    Running,
    Hibernated,
}

/// A warm pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WarmPool {
    /// State of its waiting instances.
    pub state: PoolState,
    /// MinSize.
    pub min_size: u32,
    /// MaxGroupPreparedCapacity; the group's maximum if absent.
    pub max_prepared: Option<u32>,
    /// ReuseOnScaleIn.
    pub reuse: bool,
    /// Whether it is being deleted (`PendingDelete`).
    pub deleting: bool,
}

/// Parameters of PutWarmPool. An absent one keeps its value; a new pool gets AWS's default.
#[derive(Clone, Copy, Debug, Default)]
pub struct WarmPoolChange {
    /// PoolState.
    pub state: Option<PoolState>,
    /// MinSize.
    pub min_size: Option<u32>,
    /// MaxGroupPreparedCapacity; `Some(None)` removes the limit.
    pub max_prepared: Option<Option<u32>>,
    /// ReuseOnScaleIn.
    pub reuse: Option<bool>,
}
