//! How the real API server treats the provider's objects, before any of its programs sees them: every rule of the CRDs
//! with its message, the admission policies, and what `kubectl get` shows. Neither the provider nor Cluster API runs
//! here.

mod before;
mod capacity;
mod columns;
mod documents;
mod edits;
mod eks;
mod flows;
mod namespaced;
mod networks;
mod node_configs;
mod policies;
mod rules;
mod server;
mod tenants;
