//! How the real API server treats the provider's objects, before any of its programs sees them: every rule of the CRDs
//! with its message, the admission policies, and what `kubectl get` shows. Neither the provider nor Cluster API runs
//! here.

#[path = "admission/before.rs"]
mod before;
#[path = "admission/capacity.rs"]
mod capacity;
#[path = "admission/columns.rs"]
mod columns;
#[path = "admission/documents.rs"]
mod documents;
#[path = "admission/edits.rs"]
mod edits;
#[path = "admission/eks.rs"]
mod eks;
#[path = "admission/flows.rs"]
mod flows;
#[path = "admission/namespaced.rs"]
mod namespaced;
#[path = "admission/networks.rs"]
mod networks;
#[path = "admission/node_configs.rs"]
mod node_configs;
#[path = "admission/policies.rs"]
mod policies;
#[path = "admission/rules.rs"]
mod rules;
#[path = "admission/server.rs"]
mod server;
#[path = "admission/tenants.rs"]
mod tenants;
