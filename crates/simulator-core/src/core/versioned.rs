//! A map that can be read in an earlier state, because AWS's reads are eventually consistent.
//!
//! Without a lag there is no history and no copying. With one, the first change of an entry keeps the former value
//! until it is older than the lag.

use foo_model::Timestamp;
use serde::{Serialize, Serializer};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

/// Former values, oldest first, each with the moment until which it was current; `None` where there was no value.
type Past<V> = VecDeque<(Timestamp, Option<Arc<V>>)>;

/// Values by key, with their recent past.
#[derive(Clone, Debug)]
pub struct Versioned<K, V> {
    current: BTreeMap<K, Arc<V>>,
    past: BTreeMap<K, Past<V>>,
    lag: Duration,
    /// How old the next reads are, at most `lag`.
    age: Duration,
    now: Timestamp,
}

impl<K: Ord + Clone, V: Clone> Versioned<K, V> {
    pub(crate) fn new(lag: Duration) -> Self {
        Self { current: BTreeMap::new(), past: BTreeMap::new(), lag, age: lag, now: Timestamp(0) }
    }

    /// From now on keeps the history that reads of this age need.
    pub(crate) fn set_lag(&mut self, lag: Duration) {
        (self.lag, self.age) = (lag, lag);
        self.advance(self.now);
    }

    /// Sets the age of the next reads, at most the lag.
    pub(crate) fn read_at_age(&mut self, age: Duration) {
        self.age = age.min(self.lag);
    }

    /// Sets the present time, and drops the history that no read can see any more.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        self.now = now;
        let lag = self.lag;
        self.past.retain(|_, values| {
            values.retain(|(until, _)| until.until(now) < lag);
            !values.is_empty()
        });
    }

    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.current.get(key).map(AsRef::as_ref)
    }

    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        if !self.lag.is_zero()
            && let Some(former) = self.current.get(key)
        {
            let former = Some(Arc::clone(former));
            Self::record_former(&mut self.past, self.now, key, former);
        }
        self.current.get_mut(key).map(Arc::make_mut)
    }

    pub(crate) fn insert(&mut self, key: K, value: V) {
        if !self.lag.is_zero() {
            let former = self.current.get(&key).map(Arc::clone);
            Self::record_former(&mut self.past, self.now, &key, former);
        }
        self.current.insert(key, Arc::new(value));
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<Arc<V>> {
        let former = self.current.remove(key)?;
        if !self.lag.is_zero() {
            Self::record_former(&mut self.past, self.now, key, Some(Arc::clone(&former)));
        }
        Some(former)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.current.iter().map(|(key, value)| (key, value.as_ref()))
    }

    pub(crate) fn len(&self) -> usize {
        self.current.len()
    }

    /// The value as a reader sees it: as it was `age` ago.
    pub fn seen(&self, key: &K) -> Option<&V> {
        let held_then = |(until, _): &&(Timestamp, Option<Arc<V>>)| until.until(self.now) < self.age;
        match self.past.get(key).and_then(|past| past.iter().find(held_then)) {
            Some((_, former)) => former.as_deref(),
            None => self.get(key),
        }
    }

    /// All entries as a reader sees them, after the key `after`.
    pub fn seen_after<'a>(&'a self, after: Option<&K>) -> Box<dyn Iterator<Item = (&'a K, &'a V)> + 'a> {
        let start = after.cloned().map_or(Bound::Unbounded, Bound::Excluded);
        if self.past.is_empty() {
            return Box::new(
                self.current.range((start, Bound::Unbounded)).map(|(key, value)| (key, value.as_ref())),
            );
        }
        let keys: BTreeSet<&K> = self
            .current
            .range((start.clone(), Bound::Unbounded))
            .map(|(key, _)| key)
            .chain(self.past.range((start, Bound::Unbounded)).map(|(key, _)| key))
            .collect();
        Box::new(keys.into_iter().filter_map(|key| self.seen(key).map(|value| (key, value))))
    }

    /// Records a former value. Of several within one moment only the oldest is kept: readers see changes of one
    /// moment together.
    fn record_former(past: &mut BTreeMap<K, Past<V>>, now: Timestamp, key: &K, former: Option<Arc<V>>) {
        let values = past.entry(key.clone()).or_default();
        if values.back().is_none_or(|(until, _)| *until < now) {
            values.push_back((now, former));
        }
    }
}

/// The present entries, without the history.
impl<K: Ord + Serialize, V: Serialize> Serialize for Versioned<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.current.iter().map(|(key, value)| (key, value.as_ref())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_sees_changes_only_after_the_lag() {
        let mut map: Versioned<&str, i32> = Versioned::new(Duration::from_secs(2));
        map.advance(Timestamp(1_000));
        map.insert("a", 1);
        assert_eq!(map.get("a"), Some(&1));
        assert_eq!(map.seen(&"a"), None);
        map.advance(Timestamp(2_000));
        *map.get_mut(&"a").expect("it is there") = 2;
        assert_eq!(map.seen(&"a"), None);
        map.advance(Timestamp(3_000));
        assert_eq!(map.seen(&"a"), Some(&1));
        map.advance(Timestamp(4_000));
        assert_eq!(map.seen(&"a"), Some(&2));
        map.remove(&"a");
        assert_eq!(map.seen_after(None).collect::<Vec<_>>(), [(&"a", &2)]);
        map.advance(Timestamp(6_000));
        assert_eq!(map.seen_after(None).count(), 0);
    }

    #[test]
    fn a_later_read_can_be_older_than_an_earlier_one() {
        let mut map: Versioned<&str, i32> = Versioned::new(Duration::from_secs(10));
        map.advance(Timestamp(0));
        map.insert("a", 1);
        map.advance(Timestamp(5_000));
        map.insert("a", 2);
        map.advance(Timestamp(8_000));
        for (age, value) in [(0, Some(2)), (4, Some(1)), (3, Some(2)), (9, None), (99, None)] {
            map.read_at_age(Duration::from_secs(age));
            assert_eq!(map.seen(&"a").copied(), value, "{age}");
        }
    }

    #[test]
    fn without_a_lag_reads_are_current() {
        let mut map: Versioned<&str, i32> = Versioned::new(Duration::ZERO);
        map.insert("a", 1);
        map.insert("b", 2);
        assert_eq!(map.seen(&"a"), Some(&1));
        assert_eq!(map.seen_after(Some(&"a")).collect::<Vec<_>>(), [(&"b", &2)]);
    }
}
