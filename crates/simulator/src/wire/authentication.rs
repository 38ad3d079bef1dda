//! Authentication of requests by their signatures.

use super::sigv4::{self, SignedRequest};
use crate::core::error::AwsResult;
use crate::iam::{TEMPORARY, refusals};
use crate::service::Service;
use crate::signing::Scope;
use crate::world::World;

/// Verifies a request's signature: always for sessions of roles, for others only if any access key is known.
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
        // Only the simulator creates ids of temporary credentials: an unknown one has expired.
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
