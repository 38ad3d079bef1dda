//! Auto Scaling groups of this management cluster whose FooMachinePool does not exist: what the log, `/metrics` and
//! `/debug/unmanaged-groups` show. [`crate::pool`] finds them.

use foo_model::Group;
use foo_planner::desired::Identity;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The groups that were found last, by their ARNs. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct UnmanagedGroups(Arc<Mutex<BTreeMap<String, UnmanagedGroup>>>);

/// A group whose tags name this management cluster and a FooMachinePool that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmanagedGroup {
    /// The credentials and region that it was found with.
    pub cloud: String,
    /// The FooMachinePool that its tags name.
    pub owner: Identity,
    /// Its number of instances.
    pub instances: usize,
    /// How often it was found: the first time it may be about to be deleted.
    pub found: u32,
}

impl UnmanagedGroup {
    /// The group, found for the first time, if its tags name this management cluster.
    pub fn of(cloud: &str, group: &Group, installation: &str) -> Option<Self> {
        let owner = Identity::owner_by(group.name.clone(), &group.tags)?;
        let is_ours = owner.installation == installation;
        is_ours.then(|| Self { cloud: cloud.to_owned(), owner, instances: group.instances.len(), found: 1 })
    }

    /// Whether it was found again, so that it counts.
    pub fn is_confirmed(&self) -> bool {
        self.found > 1
    }

    fn to_json(&self, arn: &str) -> Value {
        json!({
            "arn": arn,
            "group": self.owner.group,
            "foundWith": self.cloud,
            "namespace": self.owner.namespace,
            "cluster": self.owner.cluster,
            "pool": self.owner.pool,
            "instances": self.instances,
        })
    }
}

impl UnmanagedGroups {
    /// Replaces what was found in all clouds but these, in which nothing could be found out. Returns whether some were
    /// found for the first time.
    pub fn replace(&self, found: BTreeMap<String, UnmanagedGroup>, unknown: &[String]) -> bool {
        let mut known = self.lock();
        let mut earlier = std::mem::take(&mut *known);
        for (arn, mut group) in found {
            let before = earlier.remove(&arn);
            group.found = before.map_or(1, |before| before.found.saturating_add(1));
            if group.found == 2 {
                tracing::warn!(
                    group = %arn, namespace = group.owner.namespace, pool = group.owner.pool, instances = group.instances,
                    "nothing manages this Auto Scaling group: the FooMachinePool that its tags name does not exist; \
                     create it again, or delete the group"
                );
            }
            known.insert(arn, group);
        }
        for (arn, group) in earlier {
            if unknown.contains(&group.cloud) {
                known.insert(arn, group);
            } else if group.is_confirmed() {
                tracing::info!(group = %arn, "this Auto Scaling group is managed again, or deleted");
            }
        }
        known.values().any(|group| !group.is_confirmed())
    }

    /// How many were found more than once.
    pub fn confirmed(&self) -> usize {
        self.lock().values().filter(|group| group.is_confirmed()).count()
    }

    /// Those that were found more than once; only those of one namespace or of pools with one name, when requested.
    pub fn to_json(&self, namespace: Option<&str>, pool: Option<&str>) -> Value {
        let known = self.lock();
        let wanted = known.iter().filter(|(_, group)| {
            group.is_confirmed()
                && namespace.is_none_or(|namespace| namespace == group.owner.namespace)
                && pool.is_none_or(|pool| pool == group.owner.pool)
        });
        wanted.map(|(arn, group)| group.to_json(arn)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, UnmanagedGroup>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(cloud: &str, pool: &str) -> UnmanagedGroup {
        let owner = Identity {
            namespace: "n".to_owned(),
            cluster: "c".to_owned(),
            pool: pool.to_owned(),
            group: pool.into(),
            template: pool.to_owned(),
            installation: "i".to_owned(),
            adopt_from: None,
        };
        UnmanagedGroup { cloud: cloud.to_owned(), owner, instances: 1, found: 1 }
    }

    #[test]
    fn a_group_counts_from_the_second_time_on_until_it_is_not_found_any_more() {
        let cloud = "credentials in r".to_owned();
        let groups = UnmanagedGroups::default();
        let found = || BTreeMap::from([("arn:p".to_owned(), group(&cloud, "p"))]);
        assert!(groups.replace(found(), &[]), "it has to be confirmed");
        assert_eq!((groups.confirmed(), groups.to_json(None, None)), (0, json!([])));
        assert!(!groups.replace(found(), &[]));
        assert_eq!(groups.confirmed(), 1);
        assert_eq!(groups.to_json(Some("n"), Some("p"))[0]["arn"], "arn:p");
        assert_eq!(groups.to_json(Some("other"), None), json!([]));
        assert!(!groups.replace(BTreeMap::new(), std::slice::from_ref(&cloud)), "AWS did not respond");
        assert_eq!(groups.confirmed(), 1);
        assert!(!groups.replace(BTreeMap::new(), &[]));
        assert_eq!(groups.confirmed(), 0);
    }
}
