//! When reads are due: one every half minute of what EKS works on, and in an idle cluster one every five minutes in turn.

use crate::draft::Draft;
use crate::report::ReadRequest;
use crate::situation::Situation;
use crate::timing::{ON_TIME, REST, WAITING};
use foo_model::eks::Query;
use foo_model::{Timestamp, hash};

/// Reads that the next plan needs.
pub(crate) fn reads(situation: &Situation<'_>, draft: &mut Draft) -> Vec<ReadRequest> {
    let needed = draft.reads.clone();
    if let Some((query, from)) = waiting(situation, draft).filter(|(it, _)| !needed.contains_key(it)) {
        draft.request_read(&query, from);
    }
    if let Some((query, from)) = idle(situation, draft).filter(|(it, _)| !needed.contains_key(it)) {
        draft.request_read(&query, from);
    }
    let reads = std::mem::take(&mut draft.reads);
    reads.into_iter().map(|(query, from)| ReadRequest { query, from }).collect()
}

/// Of all that EKS works on, what was asked the longest time ago.
fn waiting(situation: &Situation<'_>, draft: &Draft) -> Option<(Query, Timestamp)> {
    let next = draft.waits.iter().min_by_key(|it| situation.touched(it))?;
    let last = draft.waits.iter().map(|it| situation.touched(it)).max()?;
    Some((next.clone(), last.plus(WAITING)))
}

/// How a query is repeated in an idle cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Every second time, if anything is awaited; the others have turns in between.
    Awaited,
    /// Every second time.
    Cluster,
    /// Every fourth time one of these.
    List,
    /// Every fourth time one of these.
    Item,
}

/// `None`: not idle.
fn turn(query: &Query) -> Option<Turn> {
    match query {
        Query::Cluster(_) => Some(Turn::Cluster),
        Query::Addons(_)
        | Query::AccessEntries(_)
        | Query::PodIdentities(_)
        | Query::IdentityProviders(_) => Some(Turn::List),
        Query::Addon { .. }
        | Query::AccessEntry { .. }
        | Query::AccessPolicies { .. }
        | Query::PodIdentity { .. }
        | Query::IdentityProvider { .. }
        | Query::AddonReleases { .. }
        | Query::Role(_)
        | Query::InstanceProfile(_)
        | Query::OidcProvider(_) => Some(Turn::Item),
        Query::Updates(_)
        | Query::Update { .. }
        | Query::Insights(_)
        | Query::InsightsRefresh(_)
        | Query::Versions
        | Query::AddonSchema { .. } => None,
    }
}

/// The query whose turn it is, at least five minutes after the last one.
fn idle(situation: &Situation<'_>, draft: &Draft) -> Option<(Query, Timestamp)> {
    let asked: Vec<(Turn, &Query, Timestamp)> = draft
        .read
        .iter()
        .filter(|it| !draft.waits.contains(*it))
        .filter_map(|it| {
            let turn = turn(it)?;
            let turn = if draft.awaited.contains(it) { Turn::Awaited } else { turn };
            Some((turn, it, situation.begun(it)?))
        })
        .collect();
    let of = |turn: Turn| asked.iter().filter(move |it| it.0 == turn);
    let newest = |turn: Turn| of(turn).map(|it| it.2).max();
    let oldest = |turn: Turn| of(turn).min_by_key(|it| it.2).map(|it| it.1);
    let last = asked.iter().map(|it| it.2).max()?;
    let others = newest(Turn::List).max(newest(Turn::Item));
    let awaited =
        oldest(Turn::Awaited).filter(|_| newest(Turn::Awaited) <= newest(Turn::Cluster).max(others));
    let cluster = oldest(Turn::Cluster).filter(|_| newest(Turn::Cluster) <= others || others.is_none());
    let lists_first = newest(Turn::List) <= newest(Turn::Item);
    let list = oldest(Turn::List);
    let item = oldest(Turn::Item);
    let next = awaited.or(cluster).or_else(|| if lists_first { list.or(item) } else { item.or(list) });
    Some((next?.clone(), place_after(last, &situation.desired.id)))
}

/// When an idle cluster is read next. Each has its own place in each period, by its id: otherwise all clusters would be read in
/// the same second for ever after a manager that starts has read all of them.
fn place_after(last: Timestamp, id: &str) -> Timestamp {
    let period = i64::try_from(REST.as_millis()).unwrap_or(i64::MAX);
    let place = i64::try_from(hash::fnv1a(id) % REST.as_millis().try_into().unwrap_or(u64::MAX)).unwrap_or(0);
    let since = last.0.saturating_sub(place).rem_euclid(period);
    let present = Timestamp(last.0.saturating_sub(since));
    let is_on_time = present.until(last) <= ON_TIME;
    if is_on_time { present.plus(REST) } else { present.plus(REST * 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_reads_come_once_in_a_period_whenever_the_last_one_was() {
        let first = place_after(Timestamp(1_000_000), "a");
        assert_eq!(place_after(first, "a"), first.plus(REST));
        assert_eq!(place_after(first.plus(ON_TIME), "a"), first.plus(REST), "a pass may be late");
        for minutes in 1..5 {
            let between = first.plus(std::time::Duration::from_mins(minutes));
            let next = place_after(between, "a");
            assert_eq!(next, first.plus(REST * 2), "not sooner than a period after the last one");
        }
        assert!(place_after(Timestamp(-5), "a") > Timestamp(-5));
    }

    #[test]
    fn clusters_that_were_asked_together_are_asked_at_different_moments() {
        let mut at: Vec<i64> =
            (0..100).map(|id| place_after(Timestamp(0), &format!("cluster {id}")).0 / 60_000).collect();
        at.sort_unstable();
        let most = at.chunk_by(|a, b| a == b).map(<[i64]>::len).max();
        assert!(most <= Some(30), "{at:?}");
    }
}
