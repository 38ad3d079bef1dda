//! The folder: blobs, named by their digests, and the index that leads to them.

use crate::yaml::canonical;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};

/// Folder of layouts in a release, beside those of the programs.
pub(super) const FOLDER: &str = "image";

/// Media type of the manifest of an image.
pub(super) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
/// Media type of an index of images.
pub(super) const INDEX: &str = "application/vnd.oci.image.index.v1+json";

/// Digest of these bytes, as blobs are named.
pub(super) fn digest_of(bytes: &[u8]) -> String {
    format!("sha256:{:x}", Sha256::digest(bytes))
}

/// Where a blob with this digest is in a layout.
pub(super) fn path_of(folder: &Path, digest: &str) -> Result<PathBuf> {
    let (algorithm, sum) = digest.split_once(':').with_context(|| format!("{digest} is no digest"))?;
    Ok(folder.join("blobs").join(algorithm).join(sum))
}

/// A blob.
pub(super) struct Blob {
    pub(super) media_type: &'static str,
    pub(super) digest: String,
    pub(super) size: usize,
}

impl Blob {
    /// How others refer to it.
    pub(super) fn descriptor(&self) -> Value {
        json!({"mediaType": self.media_type, "digest": self.digest, "size": self.size})
    }
}

/// A layout that is being written.
pub(super) struct Layout(PathBuf);

impl Layout {
    /// An empty one. What an earlier run wrote there is deleted.
    pub(super) fn new(folder: &Path) -> Result<Self> {
        crate::sources::emptied(folder)?;
        let blobs = folder.join("blobs/sha256");
        std::fs::create_dir_all(&blobs).with_context(|| format!("creating {}", blobs.display()))?;
        Ok(Self(folder.to_owned()))
    }

    /// Adds a blob.
    pub(super) fn blob(&self, media_type: &'static str, bytes: &[u8]) -> Result<Blob> {
        let digest = digest_of(bytes);
        save(&path_of(&self.0, &digest)?, bytes)?;
        Ok(Blob { media_type, digest, size: bytes.len() })
    }

    /// Adds a document.
    pub(super) fn json(&self, media_type: &'static str, document: &Value) -> Result<Blob> {
        self.blob(media_type, &bytes_of(document)?)
    }

    /// Adds the index of all images, by the name that users give it.
    pub(super) fn finish(self, reference: &str, images: &[Value]) -> Result<()> {
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": images});
        let mut entry = self.json(INDEX, &index)?.descriptor();
        if let Some(fields) = entry.as_object_mut() {
            let name = json!({"org.opencontainers.image.ref.name": reference});
            fields.insert("annotations".to_owned(), name);
        }
        let index = json!({"schemaVersion": 2, "mediaType": INDEX, "manifests": [entry]});
        save(&self.0.join("index.json"), &bytes_of(&index)?)?;
        save(&self.0.join("oci-layout"), &bytes_of(&json!({"imageLayoutVersion": "1.0.0"}))?)
    }
}

fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    std::fs::write(path, bytes).with_context(|| format!("writing {}", path.display()))
}

fn bytes_of(document: &Value) -> Result<Vec<u8>> {
    serde_json::to_vec(&canonical(document)).context("writing JSON")
}
