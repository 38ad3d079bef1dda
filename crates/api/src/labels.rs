//! Label values that Cluster API computes and compares character by character.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// `format.MustFormatValue` of Cluster API (`util/labels/format`): the text itself if it is a valid label
/// value, else `hash_<base64url(fnv32a(text)) without padding>_z`.
pub fn must_format_value(text: &str) -> String {
    if is_label_value(text) {
        return text.to_owned();
    }
    format!("hash_{}_z", URL_SAFE_NO_PAD.encode(fnv32a(text.as_bytes()).to_be_bytes()))
}

/// Kubernetes' rule: at most 63 characters, alphanumeric at both ends, `-`, `_`, `.` and alphanumerics
/// between; empty is fine.
fn is_label_value(text: &str) -> bool {
    let ends = |c: Option<char>| c.is_none_or(|c| c.is_ascii_alphanumeric());
    text.len() <= 63
        && ends(text.chars().next())
        && ends(text.chars().last())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

fn fnv32a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_stay_as_they_are() {
        assert_eq!(must_format_value("pool-1"), "pool-1");
        assert_eq!(must_format_value(""), "");
    }

    #[test]
    fn long_or_odd_names_become_a_hash_of_fixed_form() {
        let long = "p".repeat(64);
        let value = must_format_value(&long);
        assert!(value.starts_with("hash_") && value.ends_with("_z"), "{value}");
        assert_eq!(value.len(), "hash_".len() + 6 + "_z".len());
        assert_ne!(value, must_format_value(&"q".repeat(64)));
        assert!(must_format_value("-x").starts_with("hash_"));
    }

    #[test]
    fn the_hash_is_fnv_1a_of_32_bits() {
        // Test vectors of the FNV authors.
        assert_eq!(fnv32a(b""), 0x811c_9dc5);
        assert_eq!(fnv32a(b"foobar"), 0xbf9c_f968);
    }
}
