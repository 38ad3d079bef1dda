//! The certificate of the diagnostics: either from files, which are read again when they change, or
//! self-signed at the start, so that clients cannot verify it (scrapers skip that, as for Cluster API's own
//! providers).

use anyhow::Context as _;
use rcgen::{CertificateParams, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

/// Minimum time between two checks of the files. Renewed certificates overlap their predecessors by days.
const PERIOD: Duration = Duration::from_secs(10);

/// Paths of certificate and key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The certificate and its chain, PEM.
    pub certificate: PathBuf,
    /// Its private key, PEM.
    pub key: PathBuf,
}

/// The certificate in use.
pub struct Certificate {
    files: Option<Files>,
    used: Mutex<Used>,
}

struct Used {
    pem: Pem,
    config: Arc<ServerConfig>,
    read_at: Instant,
}

/// Certificate and key with the state of their files.
type Pem = (Vec<u8>, Vec<u8>);

impl Certificate {
    /// A new self-signed one that only this process has. It is valid as long as the process runs.
    pub fn self_signed() -> anyhow::Result<Self> {
        let key = KeyPair::generate().context("making a key")?;
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
        let certificate = CertificateParams::new(names)?.self_signed(&key).context("making a certificate")?;
        let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(anyhow::Error::msg)?;
        let config = config(vec![certificate.der().clone()], key)?;
        Ok(Self {
            files: None,
            used: Mutex::new(Used { pem: Pem::default(), config, read_at: Instant::now() }),
        })
    }

    /// The certificate of these files, which must exist and belong together.
    pub async fn of_files(files: Files) -> anyhow::Result<Self> {
        let pem = read(&files).await?;
        let config = parse(&pem)?;
        Ok(Self { files: Some(files), used: Mutex::new(Used { pem, config, read_at: Instant::now() }) })
    }

    /// The configuration for the next connection. Checks the files first if the last check was long ago; if
    /// they cannot be used the present certificate stays.
    pub async fn acceptor(&self) -> TlsAcceptor {
        if let Some(files) = self.files.as_ref().filter(|_| self.is_due())
            && let Err(error) = self.renew(files).await
        {
            tracing::warn!(%error, "could not load the certificate files; the previous certificate stays in use");
        }
        TlsAcceptor::from(Arc::clone(&self.used().config))
    }

    /// Whether a check is due; true for one of several concurrent callers.
    fn is_due(&self) -> bool {
        let mut used = self.used();
        let due = used.read_at.elapsed() >= PERIOD;
        if due {
            used.read_at = Instant::now();
        }
        due
    }

    async fn renew(&self, files: &Files) -> anyhow::Result<()> {
        let pem = read(files).await?;
        if self.used().pem == pem {
            return Ok(());
        }
        let config = parse(&pem)?;
        let mut used = self.used();
        used.pem = pem;
        used.config = config;
        tracing::info!("loaded a renewed certificate");
        Ok(())
    }

    /// The next connection checks the files.
    #[cfg(test)]
    pub(super) fn is_due_now(&self) {
        let mut used = self.used();
        used.read_at = used.read_at.checked_sub(PERIOD).unwrap();
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn read(files: &Files) -> anyhow::Result<Pem> {
    let file = async |path: &PathBuf| {
        tokio::fs::read(path).await.with_context(|| format!("reading {}", path.display()))
    };
    Ok((file(&files.certificate).await?, file(&files.key).await?))
}

fn parse((certificate, key): &Pem) -> anyhow::Result<Arc<ServerConfig>> {
    let chain = CertificateDer::pem_slice_iter(certificate)
        .collect::<Result<Vec<_>, _>>()
        .context("reading the certificate")?;
    let key = PrivateKeyDer::from_pem_slice(key).context("reading the private key")?;
    config(chain, key)
}

/// TLS 1.2 and 1.3, HTTP/1.1. Fails if the key belongs to another certificate: files change one after the
/// other.
fn config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> anyhow::Result<Arc<ServerConfig>> {
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .context("using certificate and key")?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

impl fmt::Debug for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Certificate").field("files", &self.files).finish_non_exhaustive()
    }
}
