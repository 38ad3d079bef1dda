//! Archives whose bytes depend on their content only: files belong to root and have no time.

use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use tar::{Builder, EntryType, Header};

/// An archive that is being written.
pub(crate) struct Archive(Builder<Vec<u8>>);

impl Default for Archive {
    fn default() -> Self {
        Self(Builder::new(Vec::new()))
    }
}

impl Archive {
    /// Adds a folder.
    pub(crate) fn folder(&mut self, path: &str, mode: u32) -> Result<()> {
        self.add(EntryType::Directory, &format!("{path}/"), mode, &[])
    }

    /// Adds a file.
    pub(crate) fn file(&mut self, path: &str, mode: u32, content: &[u8]) -> Result<()> {
        self.add(EntryType::Regular, path, mode, content)
    }

    fn add(&mut self, kind: EntryType, path: &str, mode: u32, content: &[u8]) -> Result<()> {
        let mut header = Header::new_ustar();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_size(u64::try_from(content.len())?);
        self.0.append_data(&mut header, path, content).with_context(|| format!("archiving {path}"))
    }

    /// The archive.
    pub(crate) fn bytes(self) -> Result<Vec<u8>> {
        self.0.into_inner().context("archiving")
    }
}

/// The same bytes, compressed by gzip. Neither a name nor a time is in the header.
pub(crate) fn compressed(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).context("compressing")?;
    encoder.finish().context("compressing")
}
