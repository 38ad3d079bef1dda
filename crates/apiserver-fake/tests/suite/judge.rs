//! A real API server in place of the fake, if there is one.

use http::Uri;
use hyper_util::client::legacy::Client as Http;
use hyper_util::rt::TokioExecutor;
use kube::Client;
use kube::client::Body;

fn address() -> Option<Uri> {
    std::env::var("FOO_JUDGE").ok()?.parse().ok()
}

/// Whether the tests run on a real server, where the fake's log and clock mean nothing.
pub(crate) fn presides() -> bool {
    address().is_some()
}

/// A client of the real server.
pub(crate) fn client() -> Option<Client> {
    let judge = address()?.into_parts();
    let http = Http::builder(TokioExecutor::new()).build_http::<Body>();
    let service = tower::service_fn(move |mut request: http::Request<Body>| {
        let mut uri = request.uri().clone().into_parts();
        uri.scheme.clone_from(&judge.scheme);
        uri.authority.clone_from(&judge.authority);
        *request.uri_mut() = Uri::from_parts(uri).unwrap();
        http.request(request)
    });
    Some(Client::new(service, "default"))
}

/// Removes what an earlier test left.
pub(crate) async fn clean() {
    let Some(client) = client() else { return };
    for path in [
        "/apis/infrastructure.foo.com/v1alpha1/namespaces/default/foomachinepools",
        "/apis/cluster.x-k8s.io/v1beta2/namespaces/default/machines",
        "/apis/cluster.x-k8s.io/v1beta2/namespaces/default/machinepools",
        "/api/v1/namespaces/default/secrets",
        "/api/v1/nodes",
        "/apis/coordination.k8s.io/v1/namespaces/default/leases",
    ] {
        let list = objects(&client, path).await;
        for item in list["items"].as_array().unwrap() {
            let path = format!("{path}/{}", item["metadata"]["name"].as_str().unwrap());
            let patch = http::Request::patch(&path)
                .header("content-type", "application/merge-patch+json")
                .body(br#"{"metadata":{"finalizers":null}}"#.to_vec());
            let _: Result<serde_json::Value, _> = client.request(patch.unwrap()).await;
            let _: Result<serde_json::Value, _> =
                client.request(http::Request::delete(&path).body(Vec::new()).unwrap()).await;
        }
    }
}

/// A list; a server that has just learned of a kind responds with 429 for some seconds.
async fn objects(client: &Client, path: &str) -> serde_json::Value {
    loop {
        match client.request(http::Request::get(path).body(Vec::new()).unwrap()).await {
            Err(kube::Error::Api(status)) if status.code == 429 => {
                tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            }
            answer => return answer.unwrap(),
        }
    }
}
