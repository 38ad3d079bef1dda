//! Families of metrics whose members exist from the start, and how metrics are declared.
//!
//! `increase()` of Prometheus compares samples of one series. A series that begins with its first event begins at 1,
//! and that event is not seen. So every series that an alert counts has to be there, as 0, before anything happens
//! (Prometheus, "Instrumentation", section "Avoid missing metrics").

#![expect(clippy::disallowed_types, reason = "this is what is used instead")]

use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::registry::Metric;
pub use prometheus_client::registry::Registry;
use std::fmt::{self, Debug};
use std::hash::Hash;
use std::ops::Deref;
use strum::IntoEnumIterator;

/// The labels of a family, with the values that exist from the start.
pub trait InitialLabels: Clone + Debug + Eq + Hash + Send + Sync + EncodeLabelSet + 'static {
    /// These values: all of them, unless the type shows which are left out and why.
    fn initial() -> Vec<Self>;
}

/// A family whose members exist from the start. Clones share the same numbers.
#[derive(Clone, Debug)]
pub struct Initialized<L, M, C = fn() -> M>(Family<L, M, C>);

impl<L: InitialLabels, M: Default> Initialized<L, M> {
    /// Every member as the metric's default.
    pub fn new() -> Self {
        Self::fill(Family::default())
    }
}

impl<L: InitialLabels, M: Default> Default for Initialized<L, M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<L: InitialLabels, M, C: MetricConstructor<M>> Initialized<L, M, C> {
    /// Every member as `constructor` builds it.
    pub fn with(constructor: C) -> Self {
        Self::fill(Family::new_with_constructor(constructor))
    }

    fn fill(family: Family<L, M, C>) -> Self {
        for labels in L::initial() {
            drop(family.get_or_create(&labels));
        }
        Self(family)
    }

    /// The member with these labels.
    pub fn of(&self, labels: &L) -> impl Deref<Target = M> {
        self.0.get_or_create(labels)
    }
}

impl<L, M, C> EncodeMetric for Initialized<L, M, C>
where
    Family<L, M, C>: EncodeMetric,
{
    fn encode(&self, encoder: MetricEncoder<'_>) -> fmt::Result {
        self.0.encode(encoder)
    }

    fn metric_type(&self) -> MetricType {
        self.0.metric_type()
    }

    // Without members not even its name is shown.
    fn is_empty(&self) -> bool {
        EncodeMetric::is_empty(&self.0)
    }
}

/// Registers a metric; once per process.
pub fn registered<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register(name, help, metric.clone());
    metric
}

/// Declares a struct of metrics, each with its name, what it is, and if it has no default how it is created.
#[macro_export]
macro_rules! metric_set {
    (
        $(#[$about:meta])*
        $visibility:vis struct $all:ident {
            $($(#[$doc:meta])* $field:ident: $metric:ty $(= $create:expr)?, $name:literal, $help:literal;)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        $visibility struct $all {
            $($(#[$doc])* $field: $metric,)*
        }

        impl $all {
            /// Creates the metrics and registers them; once per process.
            $visibility fn register(registry: &mut $crate::initialized::Registry) -> Self {
                use $crate::initialized::registered;
                Self { $($field: registered(registry, $name, $help, $crate::metric_set!(@create $($create)?)),)* }
            }
        }
    };
    (@create) => { Default::default() };
    (@create $create:expr) => { $create };
}

/// A family whose members appear with their first event. Who uses it shows why no alert counts its members.
pub type OnDemand<L, M> = Family<L, M>;

/// One label set for each value.
pub fn each<A: IntoEnumIterator, L>(make: impl Fn(A) -> L) -> Vec<L> {
    A::iter().map(make).collect()
}

/// One label set for each pair of values.
pub fn each_pair<A: IntoEnumIterator + Copy, B: IntoEnumIterator, L>(make: impl Fn(A, B) -> L) -> Vec<L> {
    A::iter().flat_map(|a| B::iter().map(move |b| (a, b))).map(|(a, b)| make(a, b)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::EncodeLabelValue;
    use prometheus_client::metrics::counter::Counter;
    use strum::{EnumIter, IntoStaticStr};

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
    enum Fruit {
        Apple,
        Pear,
    }

    impl EncodeLabelValue for Fruit {
        fn encode(
            &self,
            encoder: &mut prometheus_client::encoding::LabelValueEncoder<'_>,
        ) -> Result<(), std::fmt::Error> {
            EncodeLabelValue::encode(&<&str>::from(self), encoder)
        }
    }

    #[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
    struct Labels {
        fruit: Fruit,
        other: Fruit,
    }

    impl InitialLabels for Labels {
        fn initial() -> Vec<Self> {
            each_pair(|fruit, other| Self { fruit, other })
        }
    }

    #[test]
    fn every_member_is_zero_before_anything_happens() {
        let mut registry = Registry::default();
        let family = registered(&mut registry, "eaten", "Fruit", Initialized::<Labels, Counter>::new());
        family.of(&Labels { fruit: Fruit::Pear, other: Fruit::Apple }).inc();
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        let mut samples: Vec<&str> = text.lines().filter(|line| line.starts_with("eaten_total")).collect();
        samples.sort_unstable();
        assert_eq!(
            samples,
            [
                r#"eaten_total{fruit="Apple",other="Apple"} 0"#,
                r#"eaten_total{fruit="Apple",other="Pear"} 0"#,
                r#"eaten_total{fruit="Pear",other="Apple"} 1"#,
                r#"eaten_total{fruit="Pear",other="Pear"} 0"#,
            ]
        );
    }
}
