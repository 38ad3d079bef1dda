//! AWS as the authenticators of EKS's clusters reach it: a proxy (`HTTPS_PROXY`) behind which each host of AWS is the
//! simulated one.
//!
//! aws-iam-authenticator sends tokens to the hosts of STS that they name, over TLS. So the proxy shows a certificate
//! for whatever host it is asked for, of an authority that only the authenticators trust, and passes on what is inside.

use crate::pki::{Pki, write};
use anyhow::{Context as _, Result, bail, ensure};
use foo_simulator::{EksEndpoint, Simulator};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// Largest head of a request to the proxy, in bytes.
const HEAD: usize = 4 * 1024;
/// What ends it.
const END: &[u8] = b"\r\n\r\n";

/// The running proxy. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Endpoints {
    address: SocketAddr,
    authority: PathBuf,
    /// Aborted when dropped.
    _tasks: JoinSet<()>,
}

/// What its connections have in common.
#[derive(Debug)]
struct Shared {
    pki: Pki,
    aws: EksEndpoint,
}

impl Endpoints {
    /// Starts it before a simulated AWS; the certificate of its authority is in `folder`.
    pub(super) async fn start(aws: &Simulator, folder: &Path) -> Result<Self> {
        drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
        let aws = EksEndpoint::start(aws).await.context("serving AWS to authenticators")?;
        let shared = Arc::new(Shared { pki: Pki::new()?, aws });
        let authority = folder.join("aws-authority.crt");
        write(&authority, shared.pki.ca_pem())?;
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("listening for authenticators")?;
        let address = listener.local_addr()?;
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(listener, shared));
        Ok(Self { address, authority, _tasks: tasks })
    }

    /// What the environment of a program must have that shall take the simulated AWS for the real one.
    pub(super) fn env(&self) -> Vec<(&'static str, String)> {
        let authority = self.authority.display().to_string();
        vec![
            ("HTTPS_PROXY", format!("http://{}", self.address)),
            ("NO_PROXY", String::new()),
            ("no_proxy", String::new()),
            // Go reads the one, the SDK of AWS the other first.
            ("SSL_CERT_FILE", authority.clone()),
            ("AWS_CA_BUNDLE", authority),
        ]
    }
}

/// Serves until the task is aborted; open connections end with it.
async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    let shared = Arc::clone(&shared);
                    connections.spawn(async move {
                        if let Err(error) = connection(stream, &shared).await {
                            tracing::debug!("connection of an authenticator ended: {error:#}");
                        }
                    });
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(mut stream: TcpStream, shared: &Shared) -> Result<()> {
    let host = host_of(&head(&mut stream).await?)?;
    let config = tls(&shared.pki, &host)?;
    stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
    let mut inside = TlsAcceptor::from(Arc::new(config)).accept(stream).await.context("TLS")?;
    let mut aws = TcpStream::connect(shared.aws.address()).await?;
    copy_bidirectional(&mut inside, &mut aws).await?;
    Ok(())
}

/// The head of the request to the proxy: the client waits for the response before it sends more.
async fn head(stream: &mut TcpStream) -> Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(END) {
        ensure!(head.len() < HEAD, "no end of the head in {HEAD} bytes");
        ensure!(stream.read_buf(&mut head).await? > 0, "the connection ended in the head");
    }
    String::from_utf8(head).context("the head is no text")
}

/// `sts.eu-central-1.amazonaws.com` of `CONNECT sts.eu-central-1.amazonaws.com:443 HTTP/1.1`.
fn host_of(head: &str) -> Result<String> {
    let mut words = head.split_ascii_whitespace();
    match (words.next(), words.next().and_then(|target| target.strip_suffix(":443"))) {
        (Some("CONNECT"), Some(host)) => Ok(host.to_owned()),
        _ => bail!("not a request for a host of AWS: {head}"),
    }
}

fn tls(pki: &Pki, host: &str) -> Result<ServerConfig> {
    let made = pki.serving(&[host])?;
    let certificate = CertificateDer::from_pem_slice(made.certificate_pem.as_bytes())?;
    let key = PrivateKeyDer::from_pem_slice(made.key_pem.as_bytes())?;
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key);
    config.context("a certificate")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_in_the_first_line() {
        let head = "CONNECT sts.us-east-2.amazonaws.com:443 HTTP/1.1\r\nHost: sts.us-east-2.amazonaws.com:443\r\n\r\n";
        assert_eq!(host_of(head).unwrap(), "sts.us-east-2.amazonaws.com");
        for other in
            ["GET http://example.com/ HTTP/1.1\r\n\r\n", "CONNECT example.com:80 HTTP/1.1\r\n\r\n", ""]
        {
            assert!(host_of(other).is_err(), "{other}");
        }
    }
}
