//! User data as EC2 stores it: as it is, or with gzip.

use crate::input::{Compression, Family};
use crate::refusal::{InputRefusal, RefusalKind};
use flate2::bufread::GzDecoder;
use flate2::{Compression as Level, GzBuilder};
use std::io::{Read as _, Write as _};

/// Most bytes of user data before EC2 puts it into base64 (Amazon EC2 User Guide, "Run commands when you launch an EC2
/// instance").
pub const LIMIT: usize = 16 * 1024;

/// Most bytes of user data that is an object in S3: half of what the Secret of it may have in base64, so that its
/// metadata fit (Kubernetes, "Secrets").
pub const STORED_LIMIT: usize = 512 * 1024;

/// Most bytes that packed user data may unpack to when it is read: more is not user data of the provider.
const UNPACKED_LIMIT: u64 = 16 * 1024 * 1024;

/// The bytes, if nodes of this family can get this many: those that run cloud-init fetch them from S3.
pub(crate) fn pack(
    document: &str,
    compression: Compression,
    family: Family,
) -> Result<Vec<u8>, InputRefusal> {
    let bytes = match compression {
        Compression::None => document.as_bytes().to_vec(),
        Compression::Gzip => gzip(document.as_bytes()),
    };
    let (limit, why) = match family {
        Family::Bottlerocket => (LIMIT, "EC2 accepts 16384, and Bottlerocket fetches none from S3"),
        Family::AL2023 | Family::CloudInit => (STORED_LIMIT, "at most 524288 are stored"),
    };
    if bytes.len() <= limit {
        return Ok(bytes);
    }
    let instead = match (compression, family) {
        (Compression::None, _) => "set compression to Gzip, or shorten it",
        (Compression::Gzip, Family::Bottlerocket) => "shorten it",
        (Compression::Gzip, Family::AL2023 | Family::CloudInit) => "fetch large files when the node starts",
    };
    let message = format!("the user data has {} bytes; {why}: {instead}", bytes.len());
    Err(InputRefusal { field: "compression".into(), kind: RefusalKind::TooLong, message })
}

/// Without a time, a name and the name of an operating system, with which each process would write other bytes.
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
