//! Client tokens, and hashes of what is sent.

use foo_model::hash;

/// A client request token. The same parts give the same token in every process.
pub(crate) fn token(parts: &[&str]) -> String {
    hash::token(&parts.join("|"))
}

/// Hash of content, to know it again.
pub(crate) fn content(content: &impl std::fmt::Debug) -> String {
    hash::content(&format!("{content:?}"))
}
