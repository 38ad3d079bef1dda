//! A release on the real components: how it is installed, what its templates generate, how it is removed. No manager
//! runs.

#[path = "install/documents.rs"]
mod documents;
#[path = "install/kustomize.rs"]
mod kustomize;
#[path = "install/templates.rs"]
mod templates;
