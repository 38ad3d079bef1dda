//! The warm pool of the spec.

use foo_api::pool as api;
use foo_api::shared::unsigned;
use foo_model::{WarmPoolSettings, WarmState};

/// Its settings.
pub(super) fn settings(warm_pool: api::WarmPool) -> WarmPoolSettings {
    let api::WarmPool { min_size, max_prepared_capacity, state } = warm_pool;
    WarmPoolSettings {
        min_size: unsigned(min_size),
        max_prepared: max_prepared_capacity.map(unsigned),
        state: match state {
            api::WarmPoolState::Stopped => WarmState::Stopped,
            api::WarmPoolState::Running => WarmState::Running,
        },
        // What was a Node would come back as another one.
        reuse: false,
    }
}
