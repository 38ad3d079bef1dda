//! A collector of traces that accepts everything.

use anyhow::{Context as _, Result};
use foo_testbed::world::SOON;
use foo_testbed::{Probe, wait_until};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Ends when it is dropped.
pub(crate) struct Collector {
    address: SocketAddr,
    received: Arc<Mutex<Vec<u8>>>,
    task: JoinHandle<()>,
}

impl Collector {
    pub(crate) async fn start() -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let received = Arc::<Mutex<Vec<u8>>>::default();
        let all = Arc::clone(&received);
        let task = tokio::spawn(async move {
            // A connection that ends is one that the manager does not need any more.
            while let Ok((stream, _)) = listener.accept().await {
                let _end = serve(stream, &all).await;
            }
        });
        Ok(Self { address, received, task })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1/traces", self.address)
    }

    /// Waits until it has received all of these texts, as the encoding has them.
    pub(crate) async fn receives(&self, texts: &[&str]) -> Result<()> {
        wait_until("traces", SOON, async || {
            let received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
            let has = |text: &&&str| received.windows(text.len()).any(|part| part == text.as_bytes());
            let missing: Vec<_> = texts.iter().filter(|text| !has(text)).collect();
            Ok(Probe::when(missing.is_empty(), || format!("{} bytes without {missing:?}", received.len())))
        })
        .await
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Responds to the requests of a connection, one after the other.
async fn serve(stream: TcpStream, received: &Mutex<Vec<u8>>) -> Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut length = 0;
        let mut line = String::new();
        while stream.read_line(&mut line).await? > 2 {
            if let Some((_, value)) = line.to_ascii_lowercase().split_once("content-length:") {
                length = value.trim().parse().context("a length")?;
            }
            line.clear();
        }
        anyhow::ensure!(!line.is_empty(), "the connection has ended");
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        received.lock().unwrap_or_else(PoisonError::into_inner).extend(body);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await?;
    }
}
