//! A release on the real components: how it is installed, what its templates generate, how it is removed. No manager
//! runs.

mod documents;
mod kustomize;
mod templates;
