//! Hashes that are the same in every version and process, which `std`'s are not.

/// FNV-1a, 64 bits (draft-eastlake-fnv), from a start of one's own.
fn fnv1a(text: &str, start: u64) -> u64 {
    text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// A client request token: 32 hexadecimal digits. The same parts give the same token in every process.
pub(crate) fn token(parts: &[&str]) -> String {
    let text = parts.join("|");
    format!("{:016x}{:016x}", fnv1a(&text, 0xcbf2_9ce4_8422_2325), fnv1a(&text, 0x9e37_79b9_7f4a_7c15))
}

/// Hash of content, to know it again.
pub(crate) fn content(content: &impl std::fmt::Debug) -> String {
    format!("{:016x}", fnv1a(&format!("{content:?}"), 0xcbf2_9ce4_8422_2325))
}
