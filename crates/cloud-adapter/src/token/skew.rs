//! How far AWS's clock is from the local one, by the `Date` of its responses.

use super::millis;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::{
    BeforeTransmitInterceptorContextRef, FinalizerInterceptorContextRef,
};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::{ConfigBag, Storable, StoreReplace};
use aws_smithy_types::date_time::{DateTime, Format};
use foo_cloud::AwsClock;
use foo_model::AwsTime;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// Milliseconds that AWS's clock is ahead of the local one, as the last response showed. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skew {
    ahead: Arc<AtomicI64>,
    /// Records all responses, for ages of what AWS dates.
    compared: Option<AwsClock>,
}

/// When a request was sent, by the local clock, in milliseconds since 1970, and by the monotonic one.
#[derive(Debug)]
struct Sent(i64, Instant);

impl Storable for Sent {
    type Storer = StoreReplace<Self>;
}

impl Skew {
    /// Records responses in `compared`, too.
    pub(crate) fn noted_in(compared: Option<AwsClock>) -> Self {
        Self { compared, ..Self::default() }
    }

    /// The present time by AWS's clock.
    pub(super) fn now(&self) -> SystemTime {
        let here = SystemTime::now();
        let skew = self.ahead.load(Ordering::Relaxed);
        let by = Duration::from_millis(skew.unsigned_abs());
        let awss = if skew < 0 { here.checked_sub(by) } else { here.checked_add(by) };
        awss.unwrap_or(here)
    }

    /// Records a response with this date of AWS.
    pub(super) fn note(&self, sent: i64, received: i64, date: i64) {
        self.ahead.store(ahead(sent, received, date), Ordering::Relaxed);
    }
}

/// How far a clock is ahead of the local one, if it showed this whole second between two local times. Zero if they may be
/// equal, otherwise the least difference: a signature may be a little behind AWS's time, but not ahead of it.
fn ahead(sent: i64, received: i64, date: i64) -> i64 {
    let least = date.saturating_sub(received);
    let most = date.saturating_add(999).saturating_sub(sent);
    if least <= 0 && most >= 0 { 0 } else { least }
}

impl Intercept for Skew {
    fn name(&self) -> &'static str {
        "Skew"
    }

    fn read_before_transmit(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        config.interceptor_state().store_put(Sent(millis(SystemTime::now()), Instant::now()));
        Ok(())
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let date = context.response().and_then(|response| response.headers().get("date"));
        let date = date.and_then(|text| DateTime::from_str(text, Format::HttpDate).ok()?.to_millis().ok());
        if let (Some(date), Some(Sent(sent, moment))) = (date, config.load::<Sent>()) {
            self.note(*sent, millis(SystemTime::now()), date);
            if let Some(compared) = &self.compared {
                compared.responded(*moment, Instant::now(), AwsTime::from_millis(date));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_may_be_right_is_left_alone() {
        for (sent, received, date) in [(10_200, 10_300, 10_000), (10_900, 11_100, 11_000), (0, 20_000, 5_000)]
        {
            assert_eq!(ahead(sent, received, date), 0, "{sent} {received} {date}");
        }
    }

    #[test]
    fn a_signature_is_never_made_ahead_of_awss_clock() {
        for skew in [-400_000, -3_000, 3_000, 400_000_i64] {
            // AWS dates the response in the middle of a call of 400 ms.
            let (sent, received) = (1_000_000_300, 1_000_000_700);
            let date = (1_000_000_500 + skew) / 1_000 * 1_000;
            let found = ahead(sent, received, date);
            assert!(found <= skew && skew - found <= 1_400, "{skew}: {found}");
        }
    }

    #[test]
    fn the_last_response_counts() {
        let skew = Skew::default();
        let off = |skew: &Skew| {
            let here = millis(SystemTime::now());
            millis(skew.now()) - here
        };
        let about = |skew: &Skew, by: i64| assert!((by..by + 1_000).contains(&off(skew)), "{}", off(skew));
        about(&skew, 0);
        skew.note(1_000, 1_100, 601_000);
        about(&skew, 599_900);
        skew.note(1_000, 1_100, 1_000);
        about(&skew, 0);
    }
}
