//! EKS (EKS User Guide, EKS API Reference).

mod access;
mod addons;
mod clusters;
mod scene;
mod updates;
