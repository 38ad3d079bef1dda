//! Which cluster the user data of instances names, and when they join it.
//!
//! The family is guessed from the user data, because the simulated images have none: a NodeConfig is read by nodeadm,
//! settings in TOML by Bottlerocket.

use crate::lock;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foo_bootstrap::{Family, Seen, Stored};
use foo_model::InstanceId;
use foo_simulator::{NodeInstance, RegionHandle};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Which cluster an instance's user data names.
#[derive(Debug)]
pub(crate) enum UserData {
    /// Nothing: it is not for nodes of EKS, or there is none.
    Other(Joins),
    /// It is for a node of EKS, and the node does not start with it.
    Broken(String),
    /// It is for a node of this cluster.
    Node(Box<Seen>),
}

/// When an instance joins its cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joins {
    /// When it has booted.
    Booted,
    /// When it has booted and is in no warm pool.
    InService,
}

/// What user data reads from instance metadata if it waits for the end of the warm pool.
const TARGET_STATE: &str = "autoscaling/target-lifecycle-state";

impl UserData {
    /// What an instance with this user data, in base64, would do. What it does not have itself, it fetches. As long as that
    /// fails, it does nothing. (A real one of AL2023 joins without its files and commands after about five minutes.)
    pub(super) fn read(
        encoded: Option<&str>,
        fetch: impl FnOnce(&Stored) -> Result<Vec<u8>, String>,
    ) -> Result<Self, String> {
        let Some(bytes) = encoded.and_then(|text| BASE64.decode(text).ok()) else {
            return Ok(Self::Other(Joins::Booted));
        };
        let stored = match foo_bootstrap::stored(&bytes) {
            Ok(stored) => stored,
            Err(error) => return Ok(Self::Broken(error.to_string())),
        };
        let Some(stored) = stored else { return Ok(Self::of(&bytes)) };
        let object = fetch(&stored)?;
        Ok(match foo_bootstrap::fetched(&bytes, &object) {
            Ok(whole) => Self::of(&whole),
            Err(error) => Self::Broken(error.to_string()),
        })
    }

    fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
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
            match foo_bootstrap::read(*family, bytes) {
                Ok(seen) => return Self::Node(Box::new(seen)),
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        if let (Some(_), Some(error)) = (marked, refusal) {
            return Self::Broken(error.to_string());
        }
        Self::Other(if text.contains(TARGET_STATE) { Joins::InService } else { Joins::Booted })
    }

    fn joins(&self) -> Joins {
        match self {
            Self::Other(joins) => *joins,
            Self::Node(seen) if seen.join_when_in_service => Joins::InService,
            Self::Broken(_) | Self::Node(_) => Joins::Booted,
        }
    }
}

/// The user data of instances, read once: it never changes.
#[derive(Debug, Default)]
pub(crate) struct UserDataCache(Mutex<BTreeMap<InstanceId, Arc<UserData>>>);

impl UserDataCache {
    /// The content of the user data of an instance of this region.
    pub(crate) fn of(&self, instance: &NodeInstance, region: &RegionHandle) -> Arc<UserData> {
        if let Some(known) = lock(&self.0).get(&instance.id) {
            return Arc::clone(known);
        }
        let fetch = |stored: &Stored| fetch(region, instance, stored);
        match UserData::read(instance.user_data.as_deref(), fetch) {
            Ok(read) => {
                Arc::clone(lock(&self.0).entry(instance.id.clone()).or_insert_with(|| Arc::new(read)))
            }
            Err(why) => Arc::new(UserData::Broken(why)),
        }
    }

    /// Whether an instance is meant for a cluster of EKS, so that it joins no other.
    pub(crate) fn is_for_eks(&self, instance: &NodeInstance, region: &RegionHandle) -> bool {
        match *self.of(instance, region) {
            UserData::Other(_) => false,
            UserData::Broken(_) | UserData::Node(_) => true,
        }
    }

    /// Whether an instance that has booted does not join yet: its user data waits, and it is in a warm pool or on the way
    /// into one.
    pub(crate) fn waits(&self, instance: &NodeInstance, region: &RegionHandle) -> bool {
        match self.of(instance, region).joins() {
            Joins::Booted => false,
            Joins::InService => {
                let target = region.target_lifecycle_state(&instance.id);
                target.is_some_and(|target| target.starts_with("Warmed:"))
            }
        }
    }
}

/// The object, as the role of the instance gets it, if it is the one that the user data names.
fn fetch(region: &RegionHandle, instance: &NodeInstance, stored: &Stored) -> Result<Vec<u8>, String> {
    let (bucket, key) = bucket_and_key(&stored.url).ok_or_else(|| format!("{}: no URL of S3", stored.url))?;
    let object = region.object_for_instance(&instance.id, &bucket, &key);
    let object = object.map_err(|error| format!("{}: {error}", stored.url))?;
    let digest = Sha256::digest(&object);
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    let hash: String = digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect();
    if hash == stored.sha256 { Ok(object) } else { Err("the object has another SHA-256".to_owned()) }
}

/// Of a URL whose host names the bucket.
fn bucket_and_key(url: &str) -> Option<(String, String)> {
    let url = url::Url::parse(url).ok()?;
    let (bucket, rest) = url.host_str()?.split_once('.')?;
    let key = url.path().trim_start_matches('/').replace("%28", "(").replace("%29", ")");
    rest.starts_with("s3.").then(|| (bucket.to_owned(), key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_bootstrap::{ClusterInput, NodeInput};

    fn read(text: &str) -> UserData {
        UserData::read(Some(&BASE64.encode(text)), |_| Err("nothing to fetch".to_owned())).unwrap()
    }

    #[test]
    fn user_data_in_s3_are_fetched_before_they_are_read() {
        let whole = "[settings]\n";
        let stored = Stored {
            url: "https://nodes.s3.eu-central-1.amazonaws.com/a/foo-user-data/ns_%281%29/0f".into(),
            region: "eu-central-1".into(),
            sha256: String::new(),
        };
        let small = BASE64.encode(foo_bootstrap::store(b"#cloud-config\n", &stored).unwrap());
        let failed = UserData::read(Some(&small), |_| Err("AccessDenied".to_owned()));
        assert_eq!(failed.unwrap_err(), "AccessDenied");
        let got = UserData::read(Some(&small), |stored| {
            assert_eq!(
                bucket_and_key(&stored.url),
                Some(("nodes".to_owned(), "a/foo-user-data/ns_(1)/0f".to_owned()))
            );
            Ok(whole.as_bytes().to_vec())
        });
        assert!(matches!(got, Ok(UserData::Other(_))));
    }

    #[test]
    fn user_data_show_whether_they_are_for_an_eks_cluster() {
        let toml = "[settings.kubernetes]\n\
            api-server = \"https://127.0.0.1:6443\"\n\
            cluster-certificate = \"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJnVENDQVNlZ0F3SUJBZ0lCCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K\"\n\
            cluster-dns-ip = \"10.100.0.10\"\n\
            cluster-name = \"main\"\n";
        assert!(matches!(read(toml), UserData::Node(seen) if seen.cluster == "main"));
        let broken = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {cluster: 5}\n";
        assert!(matches!(read(broken), UserData::Broken(_)));
        assert!(matches!(read("#!/bin/sh\n/etc/eks/bootstrap.sh\n"), UserData::Other(_)));
        assert!(matches!(UserData::read(None, |_| Ok(Vec::new())), Ok(UserData::Other(_))));
    }

    #[test]
    fn user_data_show_whether_they_wait_in_a_warm_pool() {
        let cluster = ClusterInput {
            name: "main".into(),
            endpoint: "https://127.0.0.1:6443".into(),
            certificate_authority: BASE64
                .encode("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"),
            service_range: "10.100.0.0/16".into(),
            dns: None,
        };
        for family in [Family::AL2023, Family::Bottlerocket, Family::CloudInit] {
            for (join_when_in_service, joins) in [(false, Joins::Booted), (true, Joins::InService)] {
                let node = NodeInput { family, join_when_in_service, ..NodeInput::default() };
                let bytes = foo_bootstrap::render(&cluster, &node).unwrap();
                assert_eq!(UserData::of(&bytes).joins(), joins, "{family:?}");
            }
        }
        let script = format!(
            "#!/bin/sh\nuntil curl -s http://169.254.169.254/latest/meta-data/{TARGET_STATE}; do sleep 1; done\n"
        );
        assert_eq!(read(&script).joins(), Joins::InService);
        assert_eq!(read("#!/bin/sh\nkubeadm join\n").joins(), Joins::Booted);
    }
}
