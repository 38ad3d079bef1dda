//! Tokens of clusters, as `aws eks get-token` makes them. They are signed at the simulator's virtual time, which is that of whoever
//! calls the cloud in this process.

use crate::presign::SigningKey;
use crate::world::World;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foo_cloud::ClusterToken;
use foo_model::Timestamp;
use std::time::Duration;

/// How long a token is valid (kubernetes-sigs/aws-iam-authenticator, "API Authorization from Outside a Cluster").
const VALID: Duration = Duration::from_mins(15);

/// A token of this caller, or one that says that it is unsigned if the simulator does not know the caller's key.
pub(super) fn of(world: &World, region: &str, caller: &str, cluster: &str) -> ClusterToken {
    let (now, key) = {
        let inner = world.lock();
        (inner.clock.now(), inner.keys.get(caller))
    };
    let Some(key) = key else { return unsigned(caller, cluster, now) };
    let session = key.session.as_ref();
    let signing = SigningKey {
        id: caller.to_owned(),
        secret: key.secret.clone(),
        session_token: session.map(|session| session.token.clone()),
    };
    let sts = format!("https://sts.{region}.amazonaws.com");
    ClusterToken {
        token: signing.cluster_token(cluster, &sts, region, now),
        lives: session.map_or(VALID, |session| now.until(session.expires).min(VALID)),
    }
}

fn unsigned(caller: &str, cluster: &str, now: Timestamp) -> ClusterToken {
    let text = format!("unsigned token of {caller} for {cluster} at {}", now.0);
    ClusterToken { token: format!("k8s-aws-v1.{}", URL_SAFE_NO_PAD.encode(text)), lives: VALID }
}
