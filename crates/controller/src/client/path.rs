//! Which requests are sent at all: those for paths that consist of names, and with a query only where there is to be
//! one.
//!
//! kube puts names into paths as they are. A name that a user wrote into a spec, `?watch=true&x=` or
//! `../../kube-system/secrets/x`, would turn a request for one Secret into one for all Secrets, or for those of others.
//! client-go refuses such names (`IsValidPathSegmentName`); kube does not. The code that reads names validates them
//! first; this is for the one that was forgotten.

use http::{Method, Uri};

/// Whether the path and query are those of a request for objects, or of the few other things that are asked.
pub(super) fn is_sound(method: &Method, uri: &Uri) -> bool {
    let has_query = uri.query().is_some_and(|query| !query.is_empty());
    let Some(path) = uri.path().strip_prefix('/') else { return false };
    let segments: Vec<&str> = path.split('/').collect();
    if !segments.iter().all(|segment| is_name(segment)) {
        return false;
    }
    let (plain, rest) = match segments.as_slice() {
        ["api", _, rest @ ..] | ["apis", _, _, rest @ ..] => (false, rest),
        ["version" | "api" | "apis"] => (true, [].as_slice()),
        _ => return false,
    };
    let may_have_query = match rest {
        [] => plain && !has_query,
        // All objects of a kind: selectors, pages, watches.
        ["namespaces", _, _] | [_] => true,
        // One object, or its status: only a write has more segments.
        ["namespaces", _, _, _] | ["namespaces", _, _, _, "status"] | [_, _] | [_, _, "status"] => {
            *method != Method::GET
        }
        _ => return false,
    };
    !has_query || may_have_query
}

/// Letters, digits and what else stands in names: `IsValidPathSegmentName` of client-go and stricter. Names of some
/// built-in kinds have colons.
fn is_name(segment: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':');
    !segment.is_empty() && !matches!(segment, "." | "..") && segment.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::Request;
    use kube::core::params::{GetParams, ListParams, PatchParams, WatchParams};

    const SECRETS: &str = "/api/v1/namespaces/ns/secrets";

    fn get(name: &str) -> bool {
        let request = Request::new(SECRETS).get(name, &GetParams::default());
        // What is no URI at all is not sent, either.
        request.is_ok_and(|request| is_sound(request.method(), request.uri()))
    }

    #[test]
    fn names_that_would_change_the_path_are_not_sent() {
        for name in ["boot", "a.b-c", "system:node", "0"] {
            assert!(get(name), "{name}");
        }
        for name in [
            "?x=",
            "?watch=true&x=",
            "a?watch=true",
            "a/b",
            "a/",
            "/",
            "..",
            ".",
            "../../kube-system/secrets/x",
            "a/status/x",
            "%2e%2e",
            "a%2fb",
            "a b",
            "ä",
        ] {
            assert!(!get(name), "{name}");
        }
    }

    #[test]
    fn paths_that_the_manager_requests_are_sent() {
        let foos = Request::new("/apis/x.io/v1/foos");
        let patch = kube::api::Patch::Merge(serde_json::json!({}));
        let by = PatchParams::apply("x");
        let node = Request::new("/api/v1/nodes");
        for request in [
            Request::new(SECRETS).list(&ListParams::default().limit(5).labels("a=b")).unwrap(),
            foos.list(&ListParams::default()).unwrap(),
            foos.watch(&WatchParams::default(), "7").unwrap(),
            Request::new("/apis/x.io/v1/namespaces/ns/foos")
                .patch_subresource("status", "a", &by, &patch)
                .unwrap(),
            node.patch("ip-10-0-0-1.ec2.internal", &by, &patch).unwrap(),
            foos.patch_subresource("status", "of-no-namespace", &by, &patch).unwrap(),
            http::Request::get("/version").body(Vec::new()).unwrap(),
        ] {
            assert!(is_sound(request.method(), request.uri()), "{}", request.uri());
        }
        let elsewhere = http::Request::get("/version?x=y").body(()).unwrap();
        assert!(!is_sound(elsewhere.method(), elsewhere.uri()));
    }
}
