//! One plain HTTP request to a port of this machine: not worth a client library.

use anyhow::{Context as _, Result, bail};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const TIMEOUT: Duration = Duration::from_secs(5);

/// The body of the response; an error unless its status is 200.
pub(crate) async fn get(port: u16, path: &str) -> Result<String> {
    request(port, path, format!("GET {path} HTTP/1.0\r\n\r\n")).await
}

/// The same for a request with a body.
pub(crate) async fn post(port: u16, path: &str, body: &str) -> Result<String> {
    let length = body.len();
    request(port, path, format!("POST {path} HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{body}")).await
}

async fn request(port: u16, path: &str, text: String) -> Result<String> {
    let response = tokio::time::timeout(TIMEOUT, response(port, text));
    let response = response.await.with_context(|| format!("{path}: no response"))??;
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or((&response, ""));
    match head.lines().next() {
        Some(line) if line.contains(" 200 ") => Ok(body.to_owned()),
        _ => bail!("{path}: {response}"),
    }
}

/// HTTP/1.0: the server closes the connection at the end of its response, and sends it in one piece.
async fn response(port: u16, text: String) -> Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.write_all(text.as_bytes()).await?;
    let mut response = String::new();
    stream.read_to_string(&mut response).await?;
    Ok(response)
}
