//! All observers of a manager, for its metrics and its readiness: a stalled observer reports nothing by itself.
//!
//! | metric | meaning |
//! |---|---|
//! | `foo_observations_oldest_seconds` | age of the oldest of the newest reads of all groups, at the moment of the scrape |
//! | `foo_groups_unseen` | groups that have not been observed for two periods, at the moment of the scrape |

use crate::observer::{Observer, Unseen};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// All observers; asked at each scrape.
#[derive(Clone, Debug, Default)]
pub struct Observers(Arc<Mutex<Vec<Weak<Observer>>>>);

impl Observers {
    /// No observers yet; registers their metrics under their full names, once per process.
    pub fn register(registry: &mut Registry) -> Self {
        let observers = Self::default();
        registry.register_collector(Box::new(observers.clone()));
        observers
    }

    /// Adds an observer.
    pub fn asks(&self, observer: &Arc<Observer>) {
        let mut observers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        observers.retain(|observer| observer.strong_count() > 0);
        observers.push(Arc::downgrade(observer));
    }

    /// Groups of all observers that have not been observed for longer than two periods.
    pub fn unseen(&self) -> Unseen {
        self.all().iter().map(|observer| observer.unseen()).fold(Unseen::default(), |sum, it| Unseen {
            groups: sum.groups.saturating_add(it.groups),
            unexplained: sum.unexplained.saturating_add(it.unexplained),
        })
    }

    fn all(&self) -> Vec<Arc<Observer>> {
        let observers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        observers.iter().filter_map(Weak::upgrade).collect()
    }
}

impl Collector for Observers {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let all = self.all();
        let oldest = all.iter().filter_map(|observer| observer.oldest()).max().unwrap_or_default();
        let unseen: usize = all.iter().map(|observer| observer.unseen().groups).sum();
        ConstGauge::new(oldest.as_secs_f64()).encode(encoder.encode_descriptor(
            "foo_observations_oldest_seconds",
            "Age of the oldest observation among all groups; each group's newest one counts",
            None,
            MetricType::Gauge,
        )?)?;
        ConstGauge::new(i64::try_from(unseen).unwrap_or(i64::MAX)).encode(encoder.encode_descriptor(
            "foo_groups_unseen",
            "Groups that the manager could not describe for longer than two periods",
            None,
            MetricType::Gauge,
        )?)
    }
}
