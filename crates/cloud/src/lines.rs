//! What programs that call AWS write into their logs, and the spans of their requests.

use tracing::{Level, Metadata};

/// What the targets of the project's own crates begin with.
pub const OWN: &str = "foo_";
/// Target of the spans of requests, which are for traces and never part of a log line.
pub const TRACES: &str = "foo_traces";

/// What no filter adds: of kube's client anything, and of other crates whatever is below info. This keeps Secrets, tokens and
/// user data out of the log. kube logs the whole of every response that it cannot decode (and each failed request, which the
/// caller logs with more context), the AWS SDK bodies of requests and responses.
pub fn is_harmless(metadata: &Metadata<'_>) -> bool {
    let target = metadata.target();
    if target.starts_with(OWN) {
        return target != TRACES;
    }
    !target.starts_with("kube_client") && *metadata.level() <= Level::INFO
}
