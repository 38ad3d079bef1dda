//! Creates tokens of clusters, as `aws eks get-token` does: for the stand-in kubelets of a test bed, and for tests.
//! aws-iam-authenticator verifies them with STS; nothing here does.

use crate::signing::{Scope, Signed, encode, signature, text_of};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foo_model::Timestamp;

/// The header that names the cluster that a token is for. It is signed and not part of the token.
const CLUSTER: &str = "x-k8s-aws-id";
/// How a token begins.
const PREFIX: &str = "k8s-aws-v1.";

/// What a request is signed with: an access key, or temporary credentials.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKey {
    /// Access key id.
    pub id: String,
    /// Secret access key.
    pub secret: String,
    /// Session token of temporary credentials.
    pub session_token: Option<String>,
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl SigningKey {
    /// A token for a cluster, presigned at this time for a base URL of STS (`https://sts.eu-central-1.amazonaws.com`) in a region.
    pub fn cluster_token(&self, cluster: &str, sts: &str, region: &str, now: Timestamp) -> String {
        self.token_with(cluster, sts, region, now, &[("X-Amz-Expires", "60")])
    }

    /// The same with other parameters: `X-Amz-Expires` at least.
    pub fn token_with(
        &self,
        cluster: &str,
        sts: &str,
        region: &str,
        now: Timestamp,
        parameters: &[(&str, &str)],
    ) -> String {
        let at = text_of(now);
        let scope = Scope { caller: self.id.clone(), region: region.to_owned(), service: "sts".to_owned() };
        let date = at.get(..8).unwrap_or_default();
        let credential = format!("{}/{date}/{region}/sts/aws4_request", self.id);
        let signed_headers = format!("host;{CLUSTER}");
        let mut all = vec![
            ("Action", "GetCallerIdentity"),
            ("Version", "2011-06-15"),
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
            ("X-Amz-Credential", &credential),
            ("X-Amz-Date", &at),
            ("X-Amz-SignedHeaders", &signed_headers),
        ];
        all.extend_from_slice(parameters);
        all.extend(self.session_token.iter().map(|token| ("X-Amz-Security-Token", token.as_str())));
        let pairs =
            all.into_iter().map(|(name, value)| format!("{}={}", encode(name, false), encode(value, false)));
        let query = pairs.collect::<Vec<_>>().join("&");
        let host = sts.split_once("://").map_or(sts, |(_, host)| host).trim_end_matches('/');
        let headers = [("host", host.to_owned()), (CLUSTER, cluster.to_owned())];
        let request = Signed { method: "GET", path: "/", query: &query, headers: &headers, body: b"" };
        let signed = signature(&request, &scope, &self.secret, &at);
        let url = format!("{}/?{query}&X-Amz-Signature={signed}", sts.trim_end_matches('/'));
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(url))
    }
}
