//! EKS (EKS User Guide, EKS API Reference).

mod access;
mod addons;
mod clusters;
mod fuzz;
mod scene;
mod updates;
mod wire;
