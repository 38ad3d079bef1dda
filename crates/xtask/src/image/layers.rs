//! Layers of the image.

use super::layout::digest_of;
use crate::archive::{Archive, compressed};
use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The user of the programs, as the Deployments name it: `uid:gid`.
pub(crate) const USER: &str = "65532:65532";

/// A program of the image.
pub(super) struct Program {
    /// Its name in a release.
    pub(super) name: &'static str,
    /// Its path in the image.
    pub(super) path: &'static str,
}

/// All programs; the first is the one that runs unless a Deployment names another.
pub(super) const PROGRAMS: [Program; 2] =
    [Program { name: "foo-manager", path: "manager" }, Program { name: "foo-extension", path: "extension" }];

/// A layer.
pub(super) struct Layer {
    /// What it has, for people.
    pub(super) what: String,
    /// The compressed archive.
    pub(super) bytes: Vec<u8>,
    /// Digest of the archive before compression.
    pub(super) diff_id: String,
}

/// What the programs need beside themselves: certificate authorities, the user that they run as, and a folder for
/// temporary files.
pub(super) fn base() -> Result<Layer> {
    let mut archive = Archive::default();
    archive.folder("etc", 0o755)?;
    archive.file("etc/group", 0o644, b"root:x:0:\nnonroot:x:65532:\n")?;
    let user = format!("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:{USER}:nonroot:/:/sbin/nologin\n");
    archive.file("etc/passwd", 0o644, user.as_bytes())?;
    archive.folder("etc/ssl", 0o755)?;
    archive.folder("etc/ssl/certs", 0o755)?;
    archive.file("etc/ssl/certs/ca-certificates.crt", 0o644, authorities()?.as_bytes())?;
    archive.folder("tmp", 0o1777)?;
    layer("certificate authorities and user", archive)
}

/// A program, in the root of the image.
pub(super) fn program(path: &str, content: &[u8]) -> Result<Layer> {
    let mut archive = Archive::default();
    archive.file(path, 0o755, content)?;
    layer(&format!("/{path}"), archive)
}

fn layer(what: &str, archive: Archive) -> Result<Layer> {
    let archive = archive.bytes()?;
    Ok(Layer { what: what.to_owned(), bytes: compressed(&archive)?, diff_id: digest_of(&archive) })
}

/// The certificate authorities that Mozilla trusts for servers, as PEM.
fn authorities() -> Result<String> {
    const COLUMNS: usize = 64;
    let mut pem = String::new();
    for certificate in webpki_root_certs::TLS_SERVER_ROOT_CERTS {
        pem.push_str("-----BEGIN CERTIFICATE-----\n");
        let text = STANDARD.encode(certificate);
        for line in text.as_bytes().chunks(COLUMNS) {
            pem.push_str(std::str::from_utf8(line).context("base64 is ASCII")?);
            pem.push('\n');
        }
        pem.push_str("-----END CERTIFICATE-----\n");
    }
    Ok(pem)
}
