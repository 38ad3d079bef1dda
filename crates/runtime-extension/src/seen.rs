//! What ValidateTopology has shown of pools whose images are looked up. Hooks on the way of an upgrade get the Cluster
//! only, and its variables do not show what its templates look up.
//!
//! Core computes a topology, and so shows it, many times before the workers take a version. A replica that was started
//! in between may not have seen it: then it does not know.

use foo_api::pool::{Ami, SmallestInstance};
use foo_preflight::topology::{Pool, Topology};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Clusters at a time; beyond this all are forgotten, and those that are computed again are known again.
const MOST: usize = 1000;

/// What was seen, by Cluster and name of the pool.
#[derive(Debug, Default)]
pub(crate) struct Seen(Mutex<BTreeMap<String, BTreeMap<String, Template>>>);

/// What the template of a pool reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    /// Where its image is from.
    pub(crate) ami: Ami,
    /// Its instance types.
    pub(crate) types: Vec<String>,
    /// What those have at least that are chosen by their attributes.
    pub(crate) described: Vec<SmallestInstance>,
}

impl Seen {
    /// Remembers the pools of a topology whose images are looked up.
    pub(crate) fn note(&self, topology: &Topology) {
        let template = |pool: &Pool| {
            let looked_up = pool.looked_up.as_ref()?;
            let (ami, types, described) = (looked_up.ami.clone(), pool.types.clone(), pool.described.clone());
            let template = Template { ami, types, described };
            Some((pool.name.clone(), template))
        };
        let pools: BTreeMap<String, Template> = topology.pools.iter().filter_map(template).collect();
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pools.is_empty() {
            seen.remove(&topology.cluster);
            return;
        }
        if seen.len() >= MOST && !seen.contains_key(&topology.cluster) {
            seen.clear();
        }
        seen.insert(topology.cluster.clone(), pools);
    }

    /// The template of a pool.
    pub(crate) fn template(&self, cluster: &str, pool: &str) -> Option<Template> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(cluster)?.get(pool).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_preflight::topology::LookedUp;

    fn topology(cluster: &str, looked_up: Option<LookedUp>) -> Topology {
        let pool = Pool { name: "workers".to_owned(), looked_up, ..Pool::default() };
        Topology { cluster: cluster.to_owned(), pools: vec![pool], ..Topology::default() }
    }

    #[test]
    fn the_last_template_counts_and_memory_is_bounded() {
        let seen = Seen::default();
        seen.note(&topology("n/c", Some(LookedUp::default())));
        assert!(seen.template("n/c", "workers").is_some());
        assert_eq!(seen.template("n/c", "others"), None);
        seen.note(&topology("n/c", None));
        assert_eq!(seen.template("n/c", "workers"), None, "it names its image now");
        for number in 0..=MOST {
            seen.note(&topology(&number.to_string(), Some(LookedUp::default())));
        }
        assert_eq!(seen.0.lock().unwrap().len(), 1);
    }
}
