//! Certificates that are read again when their files change.
//!
//! cert-manager renews a certificate by swapping a link in the mounted folder; the process is not notified. So the
//! files are read every [`PERIOD`] and used if they changed and fit together. If they do not, the ones before stay in
//! use.

use crate::metrics::Metrics;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{RootCertStore, ServerConfig};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// How often the files are read. A renewed certificate overlaps the one before by days.
pub const PERIOD: Duration = Duration::from_secs(10);

/// Where certificates are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// The certificate and its chain, PEM.
    pub certificate: PathBuf,
    /// Its private key, PEM.
    pub key: PathBuf,
    /// Who signs clients' certificates, PEM. If given, a client without one is refused. Read once.
    pub client_authorities: Option<PathBuf>,
}

/// Certificates that cannot be used. The key's content is never in the text.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {why}")]
pub struct TlsError {
    what: String,
    why: String,
}

/// What went wrong, for `map_err`.
fn failed<E: Display>(what: impl Display) -> impl FnOnce(E) -> TlsError {
    move |error| TlsError { what: what.to_string(), why: error.to_string() }
}

/// The certificate that is in use.
#[derive(Debug)]
pub(super) struct Current {
    files: Files,
    bytes: RwLock<(Vec<u8>, Vec<u8>)>,
    key: RwLock<Arc<CertifiedKey>>,
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.key.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Current {
    pub(super) fn read(files: Files) -> Result<Self, TlsError> {
        let bytes = read(&files)?;
        let key = RwLock::new(Arc::new(certified(&bytes.0, &bytes.1)?));
        Ok(Self { files, bytes: RwLock::new(bytes), key })
    }

    /// Reads the files; whether they changed and are in use now.
    pub(super) fn renew(&self) -> Result<bool, TlsError> {
        let bytes = read(&self.files)?;
        if *self.bytes.read().unwrap_or_else(PoisonError::into_inner) == bytes {
            return Ok(false);
        }
        let key = Arc::new(certified(&bytes.0, &bytes.1)?);
        *self.key.write().unwrap_or_else(PoisonError::into_inner) = key;
        *self.bytes.write().unwrap_or_else(PoisonError::into_inner) = bytes;
        Ok(true)
    }

    /// [`renew`](Self::renew), for ever.
    pub(super) async fn keep(self: Arc<Self>, metrics: Arc<Metrics>) {
        let mut ticks = tokio::time::interval(PERIOD);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            match self.renew() {
                Ok(true) => tracing::info!("loaded a renewed certificate"),
                Ok(false) => {}
                Err(error) => {
                    metrics.certificate_failed();
                    tracing::warn!(%error, "could not load the certificate files; the previous ones stay in use");
                }
            }
        }
    }
}

fn read(files: &Files) -> Result<(Vec<u8>, Vec<u8>), TlsError> {
    let file =
        |path: &PathBuf| std::fs::read(path).map_err(failed(format_args!("reading {}", path.display())));
    Ok((file(&files.certificate)?, file(&files.key)?))
}

fn certified(certificate: &[u8], key: &[u8]) -> Result<CertifiedKey, TlsError> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(certificate)
        .collect::<Result<_, _>>()
        .map_err(failed("reading the certificate"))?;
    let key = PrivateKeyDer::from_pem_slice(key).map_err(failed("reading the private key"))?;
    // Also refuses a key that belongs to another certificate: files are swapped one after the other.
    CertifiedKey::from_der(chain, key, &provider()).map_err(failed("using certificate and key"))
}

fn provider() -> rustls::crypto::CryptoProvider {
    rustls::crypto::aws_lc_rs::default_provider()
}

/// What TLS does here: 1.2 and 1.3, HTTP/1.1.
pub(super) fn config(current: Arc<Current>) -> Result<ServerConfig, TlsError> {
    let provider = Arc::new(provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(failed("choosing versions of TLS"))?;
    let builder = match &current.files.client_authorities {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            let what = format!("reading {}", path.display());
            for certificate in CertificateDer::pem_file_iter(path).map_err(failed(&what))? {
                roots.add(certificate.map_err(failed(&what))?).map_err(failed(&what))?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .build()
                .map_err(failed("checking clients' certificates"))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder.with_cert_resolver(current);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
