//! Client tokens, and hashes of what is sent.

use crate::role::Role;
use foo_model::hash;
pub(crate) use foo_model::hash::content;

/// The client token of an attempt to create a part: 32 hexadecimal digits, at most 64 characters are allowed. The same attempt
/// has the same token in every process; another attempt, role, network or
/// object (by its uid) has another.
pub(crate) fn token(network_id: &str, uid: &str, role: &Role, attempt: u32) -> String {
    hash::token(&format!("{network_id}|{uid}|{role}|{attempt}"))
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
