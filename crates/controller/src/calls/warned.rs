//! Warnings are not repeated with every pass.

use crate::Context;
use foo_model::{EventReason, Timestamp};
use kube::Resource;
use std::collections::BTreeMap;
use std::time::Duration;

/// A failure that stays the same is in an event again after this long.
const AGAIN: Duration = Duration::from_hours(1);

/// Failures that were in events of one object, and since when.
#[derive(Debug, Default)]
pub(crate) struct Warned(BTreeMap<String, Timestamp>);

impl Warned {
    /// An event about what is wrong, unless there was the same one not long ago.
    pub(crate) async fn warn(
        &mut self,
        context: &Context,
        object: &impl Resource<DynamicType = ()>,
        reason: impl Into<EventReason>,
        note: &str,
    ) {
        let now = context.clock.now();
        self.0.retain(|_, since| since.until(now) < AGAIN);
        if self.0.insert(note.to_owned(), now).is_none() {
            context.events.publish(&object.object_ref(&()), reason, note).await;
        }
    }
}
