//! Certificates of one API server and of everything that serves it webhooks. Keys never leave the rig's folder.

use anyhow::{Context as _, Result};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use std::path::Path;

/// A certificate and its private key, both PEM (the key is PKCS #8).
#[derive(Clone, Debug)]
pub struct KeyAndCertificate {
    /// The certificate alone, without its issuer.
    pub certificate_pem: String,
    /// The private key.
    pub key_pem: String,
}

impl KeyAndCertificate {
    /// Writes `tls.crt` and `tls.key`, the names a controller-runtime webhook server reads, into an existing folder.
    pub fn write_to(&self, folder: &Path) -> Result<()> {
        write(&folder.join("tls.crt"), &self.certificate_pem)?;
        write(&folder.join("tls.key"), &self.key_pem)
    }
}

/// A certificate authority.
#[derive(Debug)]
pub struct Pki {
    ca_pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Pki {
    /// A new authority with a key of its own.
    pub fn new() -> Result<Self> {
        let key = KeyPair::generate().context("generating the CA key")?;
        let mut params = named("foo-testbed", None);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let ca_pem = params.self_signed(&key).context("signing the CA certificate")?.pem();
        Ok(Self { ca_pem, issuer: Issuer::new(params, key) })
    }

    /// The authority's certificate, PEM.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// A certificate for a server reached under these host names and IP addresses.
    pub fn serving(&self, hosts: &[&str]) -> Result<KeyAndCertificate> {
        let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
        let mut params = CertificateParams::new(hosts).context("host names")?;
        params.distinguished_name.push(DnType::CommonName, "foo-testbed-server");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(params)
    }

    /// A client certificate; kube-apiserver takes the user and the group from it.
    pub fn client(&self, user: &str, group: &str) -> Result<KeyAndCertificate> {
        let mut params = named(user, Some(group));
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(params)
    }

    fn sign(&self, mut params: CertificateParams) -> Result<KeyAndCertificate> {
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().context("generating a key")?;
        let certificate = params.signed_by(&key, &self.issuer).context("signing a certificate")?;
        Ok(KeyAndCertificate { certificate_pem: certificate.pem(), key_pem: key.serialize_pem() })
    }
}

/// A key that kube-apiserver signs service account tokens with.
pub(crate) fn token_key() -> Result<(String, String)> {
    let key = KeyPair::generate().context("generating the service account key")?;
    Ok((key.serialize_pem(), key.public_key_pem()))
}

pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

fn named(name: &str, organization: Option<&str>) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    if let Some(organization) = organization {
        params.distinguished_name.push(DnType::OrganizationName, organization);
    }
    params
}
