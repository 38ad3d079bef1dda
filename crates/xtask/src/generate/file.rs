//! What a generator returns.

/// One generated file.
#[derive(Clone, Debug)]
pub struct Generated {
    /// Path from the root of the repository.
    pub path: String,
    /// Its whole text.
    pub text: String,
}
