//! What Cluster API and its clusterctl expect, compared with upstream's own files and programs.

mod capi_views;
mod common;
mod labels;
mod our_crds;
mod release;
mod runtime_sdk;
