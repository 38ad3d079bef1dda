//! Hashes that are the same in every version and process, which `std`'s are not.

use crate::role::Role;

/// FNV-1a, 64 bits (draft-eastlake-fnv), from a start of one's own.
fn fnv1a(text: &str, start: u64) -> u64 {
    text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// The client token of an attempt to create a part: 32 hexadecimal digits, at most 64 characters are allowed. The same attempt
/// has the same token in every process; another attempt, role, network or
/// object (by its uid) has another.
pub(crate) fn token(network_id: &str, uid: &str, role: &Role, attempt: u32) -> String {
    let text = format!("{network_id}|{uid}|{role}|{attempt}");
    format!("{:016x}{:016x}", fnv1a(&text, 0xcbf2_9ce4_8422_2325), fnv1a(&text, 0x9e37_79b9_7f4a_7c15))
}

/// Hash of content, to know it again.
pub(crate) fn content(text: &str) -> String {
    format!("{:016x}", fnv1a(text, 0xcbf2_9ce4_8422_2325))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_belongs_to_one_attempt_for_one_role_of_one_network() {
        let first = token("a", "u", &Role::Nat("z".into()), 0);
        assert_eq!(first, token("a", "u", &Role::Nat("z".into()), 0));
        assert_ne!(first, token("a", "u", &Role::Nat("z".into()), 1));
        assert_ne!(first, token("b", "u", &Role::Nat("z".into()), 0));
        assert_ne!(first, token("a", "u", &Role::Address("z".into()), 0));
        assert_ne!(first, token("a", "v", &Role::Nat("z".into()), 0));
        assert!(first.len() <= 64 && first.is_ascii());
    }
}
