//! An HTTP server that responds from a script and records the requests.

use foo_cloud_adapter::{AwsCloud, AwsSettings, Identity, Timeouts};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The fields of a request's form.
pub(crate) type Form = BTreeMap<String, String>;

/// What happens to a request.
pub(crate) enum Reply {
    /// This status and XML body.
    Xml(u16, String),
    /// This status and JSON body.
    Json(u16, String),
    /// An HTML page, as a proxy in trouble sends it.
    Html(u16),
    /// The connection is closed without a response.
    HangUp,
    /// The connection is closed in the middle of a successful response.
    BreakOff,
    /// Nothing, for ever.
    Silence,
}

pub(crate) struct Canned {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Form>>>,
}

impl Canned {
    /// Responds to every request as `script` says, which gets the request's form and its number, from 0.
    pub(crate) async fn start(script: impl Fn(&Form, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let script = Arc::new(script);
        let log = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (script, log) = (Arc::clone(&script), Arc::clone(&log));
                tokio::spawn(async move { serve(stream, &*script, &log).await });
            }
        });
        Self { url, asked }
    }

    /// The same response to everything.
    pub(crate) async fn always(reply: impl Fn() -> Reply + Send + Sync + 'static) -> Self {
        Self::start(move |_, _| reply()).await
    }

    /// What it was asked so far.
    pub(crate) fn asked(&self) -> Vec<Form> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) async fn cloud(&self) -> AwsCloud {
        cloud(&self.url).await
    }
}

/// A cloud at this endpoint that waits 300 ms for a response.
pub(crate) async fn cloud(url: &str) -> AwsCloud {
    AwsCloud::connect(settings(url)).await.unwrap()
}

pub(crate) fn settings(url: &str) -> AwsSettings {
    AwsSettings {
        endpoint_url: Some(url.to_owned()),
        identity: Identity::Keys {
            access_key_id: "AKIAEXAMPLE".into(),
            secret_access_key: "example".into(),
            session_token: None,
        },
        timeouts: Timeouts { attempt: Duration::from_millis(300), ..Timeouts::default() },
        ..AwsSettings::new("eu-central-1")
    }
}

/// Auto Scaling's shape of an error.
pub(crate) fn autoscaling_error(status: u16, code: &str, message: &str) -> Reply {
    let error = format!("<Error><Type>Sender</Type><Code>{code}</Code><Message>{message}</Message></Error>");
    let id = "<RequestId>7a62c49f-347e-4fc4-9331-6e8e000000aa</RequestId>";
    Reply::Xml(status, format!("<ErrorResponse>{error}{id}</ErrorResponse>"))
}

/// EC2's shape of an error.
pub(crate) fn ec2_error(status: u16, code: &str, message: &str) -> Reply {
    let error = format!("<Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>");
    let id = "<RequestID>7a62c49f-347e-4fc4-9331-6e8e000000aa</RequestID>";
    Reply::Xml(status, format!("<Response>{error}{id}</Response>"))
}

/// A successful response of Auto Scaling.
pub(crate) fn autoscaling_response(action: &str, result: &str) -> Reply {
    let result = format!("<{action}Result>{result}</{action}Result>");
    Reply::Xml(200, format!("<{action}Response>{result}</{action}Response>"))
}

/// A successful response of EC2.
pub(crate) fn ec2_response(action: &str, content: &str) -> Reply {
    Reply::Xml(200, format!("<{action}Response>{content}</{action}Response>"))
}

async fn serve(
    mut stream: TcpStream,
    script: &(dyn Fn(&Form, usize) -> Reply + Send + Sync),
    log: &Mutex<Vec<Form>>,
) {
    while let Some(form) = request(&mut stream).await {
        let number = {
            let mut log = log.lock().unwrap();
            log.push(form.clone());
            log.len() - 1
        };
        let (status, kind, body) = match script(&form, number) {
            Reply::Xml(status, body) => (status, "text/xml", body),
            Reply::Json(status, body) => (status, "application/x-amz-json-1.1", body),
            Reply::Html(status) => (status, "text/html", "<html>Something went wrong</html>".to_owned()),
            Reply::HangUp => return,
            Reply::BreakOff => {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n<Half").await;
                return;
            }
            Reply::Silence => return std::future::pending().await,
        };
        let head =
            format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
        if stream.write_all(format!("{head}{body}").as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The form of the next request on a connection.
async fn request(stream: &mut TcpStream) -> Option<Form> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Some(target(head).map_or_else(|| form(body), |target| fields(&target, body)));
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

fn form(body: &str) -> Form {
    body.split('&').filter_map(|pair| pair.split_once('=')).map(decoded).collect()
}

/// The operation of a service that speaks JSON.
fn target(head: &str) -> Option<String> {
    let value = head.lines().find_map(|line| line.strip_prefix("x-amz-target:"))?;
    Some(value.rsplit('.').next()?.trim().to_owned())
}

/// The fields of a JSON request, as if they were a form's.
fn fields(action: &str, body: &str) -> Form {
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(body).unwrap();
    let text = |value: serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let action = ("Action".to_owned(), action.to_owned());
    fields.into_iter().map(|(name, value)| (name, text(value))).chain([action]).collect()
}

fn decoded((key, value): (&str, &str)) -> (String, String) {
    (percent_decoded(key), percent_decoded(value))
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
            }
            b'+' => bytes.push(b' '),
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).unwrap()
}
