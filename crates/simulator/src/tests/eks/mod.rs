//! EKS, by requests as callers send them (EKS User Guide, EKS API Reference).

mod access;
mod addons;
mod clusters;
mod fuzz;
mod providers;
mod scene;
mod sim_cloud;
mod tokens;
mod updates;
mod wire;
