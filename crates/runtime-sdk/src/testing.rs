//! For tests of extensions.

use crate::extension::Handler;
use serde::Serialize;
use serde_json::Value;

/// Calls a handler's function with a request and returns the response, without a server.
///
/// # Panics
///
/// When the request cannot be written or the response cannot be read as JSON.
#[expect(clippy::expect_used, reason = "for tests, which it ends")]
pub async fn call(handler: &Handler, request: &impl Serialize) -> Value {
    let body = serde_json::to_vec(request).expect("a request that can be written as JSON");
    let called = handler.call(body.into()).await;
    serde_json::from_slice(&called.body).expect("a response that is JSON")
}

/// Calls a handler several times with one request: every response has to be the same to the letter. Otherwise core
/// would reconcile for ever.
///
/// # Panics
///
/// When two responses differ, with both.
pub async fn assert_deterministic(handler: &Handler, request: &impl Serialize) {
    let first = call(handler, request).await.to_string();
    for _ in 0..4 {
        // Clocks with a resolution of milliseconds shall have a chance to tick.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        let next = call(handler, request).await.to_string();
        assert!(
            first == next,
            "handler {} of {} gives two responses to one request:\n{first}\n{next}",
            handler.name(),
            handler.hook()
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::BeforeClusterCreate;
    use crate::{Decision, Failure};
    use serde_json::json;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[tokio::test]
    async fn a_constant_response_passes() {
        let handler = Handler::new(BeforeClusterCreate, "quota", |_request| async { Ok(Decision::Proceed) });
        assert_deterministic(&handler, &json!({"cluster": {}})).await;
    }

    #[tokio::test]
    #[should_panic(expected = "gives two responses to one request")]
    async fn a_counter_in_a_message_is_found() {
        let calls = AtomicU32::new(0);
        let handler = Handler::new(BeforeClusterCreate, "quota", move |_request| {
            let call = calls.fetch_add(1, Ordering::SeqCst);
            async move { Err::<Decision, _>(Failure::new(format!("try {call}"))) }
        });
        assert_deterministic(&handler, &json!({"cluster": {}})).await;
    }
}
