//! Who signed a request, and whether that can be believed.

use super::signature::Scope;
use super::sigv4::{self, SignedRequest};
use crate::core::error::AwsResult;
use crate::iam::refusals;
use crate::service::Service;
use crate::world::World;

/// How ids of temporary credentials begin (IAM User Guide, "IAM identifiers").
pub(super) const TEMPORARY: &str = "ASIA";

/// Verifies a request's signature: as soon as an access key is known, and for sessions of roles in any case.
pub(crate) fn authenticate(
    world: &World,
    request: &SignedRequest<'_>,
    scope: &Scope,
    service: Service,
) -> AwsResult<()> {
    let (key, anybody) = {
        let inner = world.lock();
        (inner.keys.get(&scope.caller), inner.keys.is_empty())
    };
    let Some(key) = key else {
        // Ids of temporary credentials are ours: one that is not known has ended long ago.
        let temporary = scope.caller.starts_with(TEMPORARY);
        return if anybody && !temporary { Ok(()) } else { Err(refusals::unknown_key(service)) };
    };
    if let Some(session) = &key.session {
        if sigv4::security_token(request).as_deref() != Some(session.token.as_str()) {
            return Err(refusals::unknown_key(service));
        }
        if session.expires <= request.received {
            return Err(refusals::session_over(service));
        }
    }
    sigv4::verify(request, scope, &key.secret, service)
}
