//! Hashes that are the same in every version and process, which `std`'s are not. Names, client tokens and records in AWS and in
//! Kubernetes are made of them: changing anything here needs a migration.

/// Where FNV-1a begins.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
/// Another beginning, for the second half of a token.
const ANOTHER: u64 = 0x9e37_79b9_7f4a_7c15;

/// FNV-1a, 64 bits (draft-eastlake-fnv).
pub fn fnv1a(text: &str) -> u64 {
    from(text, OFFSET)
}

fn from(text: &str, start: u64) -> u64 {
    text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// A client request token: 32 hexadecimal digits (AWS allows 64 characters). The same text gives the same token.
pub fn token(text: &str) -> String {
    format!("{:016x}{:016x}", fnv1a(text), from(text, ANOTHER))
}

/// Hash of content, to know it again: 16 hexadecimal digits.
pub fn content(text: &str) -> String {
    format!("{:016x}", fnv1a(text))
}
