//! User data as EC2 stores it: as it is, or with gzip.

use crate::input::Compression;
use crate::refusal::{Refusal, RefusalKind};
use flate2::bufread::GzDecoder;
use flate2::{Compression as Level, GzBuilder};
use std::io::{Read as _, Write as _};

/// Most bytes of user data before EC2 puts it into base64 (Amazon EC2 User Guide, "Run commands when you launch an EC2 instance").
pub const LIMIT: usize = 16 * 1024;

/// Most bytes that packed user data may unpack to when it is read: more is not user data of ours.
const UNPACKED_LIMIT: u64 = 16 * 1024 * 1024;

/// The bytes, if EC2 accepts as many.
pub(crate) fn pack(document: &str, compression: Compression) -> Result<Vec<u8>, Refusal> {
    let bytes = match compression {
        Compression::None => document.as_bytes().to_vec(),
        Compression::Gzip => gzip(document.as_bytes()),
    };
    if bytes.len() <= LIMIT {
        return Ok(bytes);
    }
    let instead = match compression {
        Compression::None => "set compression to Gzip, or make files and commands shorter",
        Compression::Gzip => {
            "make files and commands shorter, for example by fetching large files when the node starts"
        }
    };
    Err(Refusal {
        field: "compression".into(),
        kind: RefusalKind::TooLong,
        message: format!("the user data has {} bytes, and EC2 accepts {LIMIT}: {instead}", bytes.len()),
    })
}

/// Without a time, a name and the name of an operating system, which would make each process write other bytes.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    const UNKNOWN_SYSTEM: u8 = 255;
    let mut encoder = GzBuilder::new().operating_system(UNKNOWN_SYSTEM).write(Vec::new(), Level::best());
    // Into memory, which does not fail.
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.unwrap_or_default()
}

/// The bytes, unpacked if they begin as gzip does.
pub(crate) fn unpack(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes.to_vec());
    }
    let mut unpacked = Vec::new();
    GzDecoder::new(bytes).take(UNPACKED_LIMIT).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}
