//! Counts the objects that this manager reconciles by their conditions, as their statuses show them, and measures how
//! long deletions take, those of the Machines of our pools included.
//!
//! It reads the caches of the controllers at each scrape. So an object counts from the first list on, also while its
//! passes fail or hang. Not here: names of objects; [`crate::debug`] and kube-state-metrics have them.

use crate::clock::{KubernetesClock, kube_time};
use crate::labels::{ConditionType, ReasonClass, Watched};
use foo_api::conditions::is_true;
use foo_model::Reason;
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::Resource;
use kube_runtime::reflector::Store;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// The caches whose objects are counted. Clones share them.
#[derive(Clone, Default)]
pub struct Census(Arc<Mutex<Vec<(Watched, Count)>>>);

/// Adds the objects of one cache to a tally.
type Count = Box<dyn Fn(&mut Kind) + Send + Sync>;

/// The objects of one kind.
#[derive(Debug, Default)]
pub struct Kind {
    /// Their number; `None` for a kind of Cluster API, of which only deletions are counted.
    pub objects: Option<u32>,
    /// Their conditions.
    pub conditions: BTreeMap<Shown, Group>,
    /// The longest time since a user or controller deleted one of them that is still there.
    pub deleting: Duration,
}

/// What a condition shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shown {
    /// Its type.
    pub condition: ConditionType,
    /// `True`, `False` or `Unknown`.
    pub status: &'static str,
    /// Who has to act on its reason.
    pub class: ReasonClass,
}

/// The objects whose condition shows the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Their number.
    pub objects: u32,
    /// The longest time that the condition of one of them has had its status. Paused objects do not count, and objects
    /// that are being deleted count for `Deleting` only.
    pub oldest: Duration,
}

impl Census {
    /// Counts the objects of this cache from now on. `conditions` is `None` for an object that another controller
    /// reconciles.
    pub fn adds<K>(
        &self,
        kind: Watched,
        clock: KubernetesClock,
        store: Store<K>,
        conditions: impl for<'o> Fn(&'o K) -> Option<&'o [Condition]> + Send + Sync + 'static,
    ) where
        K: Resource<DynamicType = ()> + Clone + Send + Sync + 'static,
    {
        let count = move |counted: &mut Kind| {
            let now = kube_time(&clock);
            counted.objects.get_or_insert_default();
            for object in store.state() {
                if let Some(conditions) = conditions(&object) {
                    counted.add(object.as_ref(), conditions, now);
                }
            }
        };
        self.push(kind, Box::new(count));
    }

    /// Measures how long ago the first object of this cache was deleted that is still there, from now on: of Cluster
    /// API's objects, whose conditions are of others. `is_ours` is asked about objects that are being deleted, and no
    /// other.
    pub fn adds_deletions<K>(
        &self,
        kind: Watched,
        clock: KubernetesClock,
        store: Store<K>,
        is_ours: impl Fn(&K) -> bool + Send + Sync + 'static,
    ) where
        K: Resource<DynamicType = ()> + Clone + Send + Sync + 'static,
    {
        let count = move |counted: &mut Kind| {
            let now = kube_time(&clock);
            for object in store.state() {
                if object.meta().deletion_timestamp.is_some() && is_ours(&object) {
                    counted.add_deletion(object.as_ref(), now);
                }
            }
        };
        self.push(kind, Box::new(count));
    }

    fn push(&self, kind: Watched, count: Count) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((kind, count));
    }

    /// The objects by kind, at this moment.
    pub fn kinds(&self) -> BTreeMap<Watched, Kind> {
        let mut kinds = BTreeMap::<Watched, Kind>::new();
        for (kind, count) in &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            count(kinds.entry(*kind).or_default());
        }
        kinds
    }
}

impl Kind {
    fn add(&mut self, object: &impl Resource, conditions: &[Condition], now: Timestamp) {
        self.objects = Some(self.objects.unwrap_or_default().saturating_add(1));
        self.add_deletion(object, now);
        // Nothing is done about a paused object, and of one that is being deleted only that counts.
        let paused = is_true(conditions, "Paused");
        let deleted = object.meta().deletion_timestamp.is_some();
        for condition in conditions {
            let shown = Shown::of(condition);
            let group = self.conditions.entry(shown).or_default();
            group.objects = group.objects.saturating_add(1);
            if !paused && (!deleted || shown.condition == ConditionType::Deleting) {
                group.oldest = group.oldest.max(age(condition.last_transition_time.0, now));
            }
        }
    }

    fn add_deletion(&mut self, object: &impl Resource, now: Timestamp) {
        if let Some(deleted) = &object.meta().deletion_timestamp {
            self.deleting = self.deleting.max(age(deleted.0, now));
        }
    }
}

/// Both by the API server's clock, which may be known a moment too late: an age is never negative.
fn age(since: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(since)).unwrap_or_default()
}

impl Shown {
    fn of(condition: &Condition) -> Self {
        Self {
            condition: condition.type_.parse().unwrap_or(ConditionType::Other),
            status: match condition.status.as_str() {
                "True" => "True",
                "False" => "False",
                _ => "Unknown",
            },
            class: class_of(&condition.reason),
        }
    }
}

fn class_of(reason: &str) -> ReasonClass {
    static CLASSES: LazyLock<HashMap<&'static str, ReasonClass>> = LazyLock::new(|| {
        Reason::ALL.iter().map(|reason| (reason.as_str(), reason.entry().class.into())).collect()
    });
    // A reason that another version of the manager wrote.
    CLASSES.get(reason).copied().unwrap_or(ReasonClass::Unknown)
}

impl fmt::Debug for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Census").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_api::conditions::{NewCondition, merge};
    use foo_api::{FooNodeConfig, FooNodeConfigSpec, FooNodeConfigStatus};
    use foo_model::{KubernetesTime, Timestamp as Moment};
    use kube::runtime::reflector;
    use kube::runtime::watcher::Event;

    const MINUTE: i64 = 60_000;

    fn config(name: &str, since: i64, conditions: &[(&str, &'static str, Reason)]) -> FooNodeConfig {
        let new: Vec<NewCondition> = conditions
            .iter()
            .map(|(kind, status, reason)| NewCondition {
                kind: (*kind).to_owned(),
                status,
                reason: reason.as_str().to_owned(),
                message: String::new(),
            })
            .collect();
        let since = crate::clock::to_kube(KubernetesTime::from_millis(since));
        let mut config = FooNodeConfig::new(name, FooNodeConfigSpec::default());
        config.metadata.namespace = Some("default".to_owned());
        config.status = Some(FooNodeConfigStatus {
            conditions: merge(&[], &new, None, since),
            ..FooNodeConfigStatus::default()
        });
        config
    }

    fn counted(objects: Vec<FooNodeConfig>, now: i64) -> Kind {
        let (store, mut writer) = reflector::store();
        for object in objects {
            writer.apply_watcher_event(&Event::Apply(object));
        }
        let census = Census::default();
        let clock = KubernetesClock::with(Arc::new(move || Moment(now)));
        census.adds(Watched::FooNodeConfig, clock, store, |config: &FooNodeConfig| {
            config.status.as_ref().map(|status| status.conditions.as_slice())
        });
        census.kinds().remove(&Watched::FooNodeConfig).unwrap()
    }

    fn group(kind: &Kind, status: &str, class: ReasonClass) -> Option<Group> {
        let shown = |shown: &&Shown| {
            shown.condition == ConditionType::Ready && shown.status == status && shown.class == class
        };
        kind.conditions.iter().find(|(it, _)| shown(it)).map(|(_, group)| *group)
    }

    #[test]
    fn the_age_is_that_of_the_object_that_waits_longest() {
        let waits = [("Ready", "False", Reason::WaitingForClusterInfrastructure)];
        let counted = counted(
            vec![
                config("a", 0, &waits),
                config("b", 2 * MINUTE, &waits),
                config("c", 0, &[("Ready", "True", Reason::UserDataReady)]),
            ],
            5 * MINUTE,
        );
        assert_eq!(counted.objects, Some(3));
        let minutes = Duration::from_mins;
        assert_eq!(
            group(&counted, "False", ReasonClass::Waiting),
            Some(Group { objects: 2, oldest: minutes(5) })
        );
        assert_eq!(
            group(&counted, "True", ReasonClass::Good),
            Some(Group { objects: 1, oldest: minutes(5) })
        );
    }

    #[test]
    fn paused_objects_do_not_age() {
        let conditions = [("Ready", "False", Reason::KubeconfigExpired), ("Paused", "True", Reason::Paused)];
        let counted = counted(vec![config("a", 0, &conditions)], 5 * MINUTE);
        assert_eq!(
            group(&counted, "False", ReasonClass::NeedsUser),
            Some(Group { objects: 1, oldest: Duration::ZERO })
        );
    }

    #[test]
    fn an_object_under_deletion_has_only_the_age_of_its_deletion() {
        let conditions =
            [("Ready", "False", Reason::Deleting), ("Deleting", "True", Reason::WaitingForFinalizers)];
        let mut config = config("a", 0, &conditions);
        config.metadata.deletion_timestamp = Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(
            crate::clock::to_kube(KubernetesTime::from_millis(0)),
        ));
        let counted = counted(vec![config], 5 * MINUTE);
        let ages: Vec<_> =
            counted.conditions.into_iter().map(|(it, group)| (it.condition, group.oldest)).collect();
        assert_eq!(
            ages,
            [(ConditionType::Ready, Duration::ZERO), (ConditionType::Deleting, Duration::from_mins(5))]
        );
    }

    #[test]
    fn an_object_that_is_still_there_has_the_age_of_its_deletion() {
        let mut config = config("a", 0, &[]);
        let deleted = crate::clock::to_kube(KubernetesTime::from_millis(MINUTE));
        config.metadata.deletion_timestamp =
            Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(deleted));
        assert_eq!(counted(vec![config.clone()], 4 * MINUTE).deleting, Duration::from_mins(3));
        assert_eq!(counted(vec![config], 0).deleting, Duration::ZERO, "by a clock that is behind");
    }

    #[test]
    fn reasons_of_other_versions_and_conditions_of_others_are_counted() {
        let mut config = config("a", 0, &[("Their", "Odd", Reason::Deleting)]);
        config.status.as_mut().unwrap().conditions[0].reason = "OfAnotherVersion".to_owned();
        let counted = counted(vec![config], 0);
        assert_eq!(
            counted.conditions.into_keys().collect::<Vec<_>>(),
            [Shown { condition: ConditionType::Other, status: "Unknown", class: ReasonClass::Unknown }]
        );
    }
}
