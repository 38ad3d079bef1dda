//! Calls through an HTTP proxy, and past it. The proxy is given as a setting: environments belong to the whole process.

use crate::canned::settings;
use foo_cloud::{ErrorKind, Groups};
use foo_cloud_adapter::{AwsCloud, AwsSettings, ConnectError, Proxy};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Whom a proxy was asked for, and what came through the tunnel first.
pub(crate) type Seen = (String, Vec<u8>);

/// A proxy that responds to every CONNECT with one line, and records the requested host and the first bytes in the tunnel.
pub(crate) struct Tunnel {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Tunnel {
    pub(crate) async fn start(response: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if let Some(one) = serve(stream, response).await {
                    log.lock().unwrap().push(one);
                }
            }
        });
        Self { url, seen }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Asks for a group at this endpoint, or the region's own, with everything through the proxy but this; says how it went.
    async fn ask(&self, endpoint: Option<&str>, except: &str) -> ErrorKind {
        let proxy = Proxy::Https { url: self.url.clone(), except: except.to_owned() };
        let asked = AwsSettings { endpoint_url: endpoint.map(str::to_owned), proxy, ..settings("") };
        let cloud = AwsCloud::connect(asked).await.unwrap();
        cloud.describe_groups(&["g".into()]).await.unwrap_err().kind
    }
}

async fn serve(mut stream: TcpStream, response: &str) -> Option<Seen> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let line = String::from_utf8_lossy(&head).lines().next()?.to_owned();
    stream.write_all(format!("HTTP/1.1 {response}\r\n\r\n").as_bytes()).await.ok()?;
    let mut first = vec![0; 4_096];
    let read = stream.read(&mut first).await.unwrap_or_default();
    first.truncate(read);
    Some((line, first))
}

#[tokio::test]
async fn calls_go_through_a_tunnel_of_the_proxy() {
    let proxy = Tunnel::start("200 Connection established").await;
    // Behind the tunnel is no server.
    assert_eq!(proxy.ask(None, "169.254.169.254,10.0.0.0/8").await, ErrorKind::Unreachable);
    let host = "autoscaling.eu-central-1.amazonaws.com";
    let seen = proxy.seen();
    assert!(!seen.is_empty());
    for (line, first) in seen {
        assert_eq!(line, format!("CONNECT {host}:443 HTTP/1.1"));
        // A TLS handshake that names the host: the proxy reads nothing of the call.
        assert_eq!(first.first(), Some(&0x16));
        assert!(first.windows(host.len()).any(|part| part == host.as_bytes()));
    }
}

#[tokio::test]
async fn a_proxy_that_refuses_is_a_missing_response() {
    let proxy = Tunnel::start("407 Proxy Authentication Required").await;
    assert_eq!(proxy.ask(None, "").await, ErrorKind::Unreachable);
    assert!(!proxy.seen().is_empty());
}

#[tokio::test]
async fn what_no_proxy_names_is_reached_without_it() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("https://{}", closed.local_addr().unwrap());
    drop(closed);
    let proxy = Tunnel::start("200 Connection established").await;
    for except in ["127.0.0.1", "localhost,127.0.0.0/8"] {
        assert_eq!(proxy.ask(Some(&endpoint), except).await, ErrorKind::Unreachable);
        assert_eq!(proxy.seen(), [], "{except}");
    }
    assert_eq!(proxy.ask(Some(&endpoint), "10.0.0.0/8").await, ErrorKind::Unreachable);
    assert!(!proxy.seen().is_empty(), "what is not named goes through it");
}

#[tokio::test]
async fn a_proxy_that_is_no_url_is_refused_without_repeating_it() {
    let proxy = Proxy::Https { url: "http://user:hush@ not a host".to_owned(), except: String::new() };
    let refused =
        AwsCloud::connect(AwsSettings { proxy, ..AwsSettings::new("eu-central-1") }).await.map(drop);
    assert_eq!(refused, Err(ConnectError::BadProxy));
    assert!(!ConnectError::BadProxy.to_string().contains("hush"));
}
