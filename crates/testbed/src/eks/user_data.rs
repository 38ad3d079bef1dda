//! What the user data of instances says of clusters.
//!
//! The family is guessed from the user data, because the simulated images have none: a NodeConfig is read by nodeadm, settings
//! in TOML by Bottlerocket.

use crate::lock;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foo_bootstrap::{Family, Seen};
use foo_model::InstanceId;
use foo_simulator::NodeInstance;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// What an instance's user data says of a cluster.
#[derive(Debug)]
pub(crate) enum UserData {
    /// Nothing: it is not for nodes of EKS, or there is none.
    Other,
    /// It is for a node of EKS, and the node does not start with it.
    Broken(String),
    /// It is for a node of this cluster.
    Node(Box<Seen>),
}

impl UserData {
    /// What an instance with this user data, in base64, would do.
    pub(super) fn read(encoded: Option<&str>) -> Self {
        let Some(bytes) = encoded.and_then(|text| BASE64.decode(text).ok()) else { return Self::Other };
        let text = String::from_utf8_lossy(&bytes);
        let marked = if text.contains("node.eks.aws") {
            Some(Family::AL2023)
        } else if text.contains("settings.kubernetes") {
            Some(Family::Bottlerocket)
        } else {
            None
        };
        let families: &[Family] = match &marked {
            Some(family) => std::slice::from_ref(family),
            // Compressed, or a script of cloud-init.
            None => &[Family::AL2023, Family::CloudInit],
        };
        let mut refusal = None;
        for family in families {
            match foo_bootstrap::read(*family, &bytes) {
                Ok(seen) => return Self::Node(Box::new(seen)),
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        match (marked, refusal) {
            (Some(_), Some(error)) => Self::Broken(error.to_string()),
            (Some(_) | None, _) => Self::Other,
        }
    }
}

/// The user data of instances, read once: it never changes.
#[derive(Debug, Default)]
pub(crate) struct UserDataCache(Mutex<BTreeMap<InstanceId, Arc<UserData>>>);

impl UserDataCache {
    pub(crate) fn of(&self, instance: &NodeInstance) -> Arc<UserData> {
        let mut known = lock(&self.0);
        let read = || Arc::new(UserData::read(instance.user_data.as_deref()));
        Arc::clone(known.entry(instance.id.clone()).or_insert_with(read))
    }

    /// Whether an instance is meant for a cluster of EKS, so that it joins no other.
    pub(crate) fn is_for_eks(&self, instance: &NodeInstance) -> bool {
        match *self.of(instance) {
            UserData::Other => false,
            UserData::Broken(_) | UserData::Node(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> UserData {
        UserData::read(Some(&BASE64.encode(text)))
    }

    #[test]
    fn user_data_says_whether_it_is_for_a_cluster_of_eks() {
        let toml = "[settings.kubernetes]\n\
            api-server = \"https://127.0.0.1:6443\"\n\
            cluster-certificate = \"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJnVENDQVNlZ0F3SUJBZ0lCCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K\"\n\
            cluster-dns-ip = \"10.100.0.10\"\n\
            cluster-name = \"main\"\n";
        assert!(matches!(read(toml), UserData::Node(seen) if seen.cluster == "main"));
        let broken = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {cluster: 5}\n";
        assert!(matches!(read(broken), UserData::Broken(_)));
        assert!(matches!(read("#!/bin/sh\n/etc/eks/bootstrap.sh\n"), UserData::Other));
        assert!(matches!(UserData::read(None), UserData::Other));
    }
}
