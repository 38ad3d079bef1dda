//! Who may see diagnostics: users whose bearer token the API server accepts (TokenReview) and who may use
//! this verb on this path (SubjectAccessReview). Without a response of the API server access is refused.
//!
//! Verdicts are cached for a short time, so that a scrape costs no request and an attacker's guesses cost
//! few. The cache contains only a hash of a token with a secret of this process; tokens are never logged.

use super::review::{self, Unanswered};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use kube::Client;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Timeout of both reviews together; clients wait about as long, too (Prometheus by default 10 s).
const DEADLINE: Duration = Duration::from_secs(10);
/// How long a user keeps access whose token or right was withdrawn. As long as controller-runtime trusts
/// tokens.
const ALLOWED_FOR: Duration = Duration::from_mins(1);
/// How long a user waits who has just been given a right.
const REFUSED_FOR: Duration = Duration::from_secs(10);
/// Number of cached verdicts: some scrapers and users, and an attacker's guesses, of which the client's
/// limit lets through some two hundred in [`REFUSED_FOR`].
const REMEMBERED: usize = 1024;

/// The API server's verdict on a token, a verb and a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Allowed,
    /// It does not accept the token.
    Unknown,
    /// It accepts the token, and the user may not do this.
    Forbidden,
}

/// Decides who has access. Clones share the cache.
#[derive(Clone)]
pub struct Access(Arc<Inner>);

struct Inner {
    client: Client,
    secret: [u8; 32],
    remembered: Mutex<HashMap<[u8; 32], (Verdict, Instant)>>,
    /// Whether the last review got no response: this is logged once.
    failing: AtomicBool,
}

impl Access {
    /// Sends reviews with this client, which must not depend on leadership: every replica is scraped.
    /// `secret` is random.
    pub fn new(client: Client, secret: [u8; 32]) -> Self {
        let inner = Inner { client, secret, remembered: Mutex::default(), failing: AtomicBool::new(false) };
        Self(Arc::new(inner))
    }

    async fn verdict(&self, token: &str, verb: &str, path: &str) -> Result<Verdict, Unanswered> {
        let key = self.key(token, verb, path);
        if let Some(verdict) = self.recall(&key) {
            return Ok(verdict);
        }
        let client = &self.0.client;
        let reviews = async {
            Ok(match review::user_of(client, token).await? {
                None => Verdict::Unknown,
                Some(user) if review::may(client, &user, verb, path).await? => Verdict::Allowed,
                Some(_) => Verdict::Forbidden,
            })
        };
        let verdict = timeout(DEADLINE, reviews).await.unwrap_or(Err(Unanswered::TooLate));
        self.log_change(&verdict);
        if let Ok(verdict) = verdict {
            self.remember(key, verdict);
        }
        verdict
    }

    /// Neither verbs nor paths contain a byte 0.
    fn key(&self, token: &str, verb: &str, path: &str) -> [u8; 32] {
        let hash = Sha256::new_with_prefix(self.0.secret);
        hash.chain_update(verb)
            .chain_update([0])
            .chain_update(path)
            .chain_update([0])
            .chain_update(token)
            .finalize()
            .into()
    }

    fn recall(&self, key: &[u8; 32]) -> Option<Verdict> {
        let remembered = self.0.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.get(key).filter(|(_, until)| Instant::now() < *until).map(|(verdict, _)| *verdict)
    }

    fn remember(&self, key: [u8; 32], verdict: Verdict) {
        let now = Instant::now();
        let time = if verdict == Verdict::Allowed { ALLOWED_FOR } else { REFUSED_FOR };
        let mut remembered = self.0.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.len() >= REMEMBERED {
            remembered.retain(|_, (_, until)| now < *until);
        }
        // Refusals are dropped first: no flood of guesses evicts users who have access.
        while remembered.len() >= REMEMBERED {
            let Some(first) = remembered.iter().min_by_key(|(_, (_, until))| *until).map(|(key, _)| *key)
            else {
                break;
            };
            remembered.remove(&first);
        }
        if let Some(until) = now.checked_add(time) {
            remembered.insert(key, (verdict, until));
        }
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.0.remembered.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn log_change(&self, verdict: &Result<Verdict, Unanswered>) {
        let failed = verdict.is_err();
        let failing = self.0.failing.swap(failed, Ordering::Relaxed);
        match verdict {
            Err(error) if !failing => {
                tracing::warn!(%error, "could not check who may read diagnostics; all requests are refused");
            }
            Ok(_) if failing => tracing::info!("checking who may read diagnostics works again"),
            _ => {}
        }
    }
}

/// Forwards a request, or responds with 401, 403 or 503.
pub(super) async fn guard(State(access): State<Access>, request: Request, next: Next) -> Response {
    let verb = request.method().as_str().to_ascii_lowercase();
    let path = request.uri().path();
    let verdict = match bearer(request.headers()) {
        None => Ok(Verdict::Unknown),
        Some(token) => access.verdict(token, &verb, path).await,
    };
    match verdict {
        Ok(Verdict::Allowed) => next.run(request).await,
        Ok(Verdict::Unknown) => (
            StatusCode::UNAUTHORIZED,
            [(header::WWW_AUTHENTICATE, "Bearer")],
            "a token of the cluster is needed\n",
        )
            .into_response(),
        Ok(Verdict::Forbidden) => {
            (StatusCode::FORBIDDEN, format!("the token's user may not {verb} {path}\n")).into_response()
        }
        Err(_told) => (StatusCode::SERVICE_UNAVAILABLE, "the API server did not respond to the review\n")
            .into_response(),
    }
}

/// The token of `Authorization: Bearer <token>` (RFC 6750), if there is one.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}
