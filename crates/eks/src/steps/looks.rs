//! Which look comes when: one every half minute at what EKS works on, and at rest one every five minutes in turn.

use crate::draft::Draft;
use crate::report::LookRequest;
use crate::situation::Situation;
use crate::timing::{REST, WAITING};
use foo_model::Timestamp;
use foo_model::eks::Question;

/// Looks that the next plan needs.
pub(crate) fn looks(situation: &Situation<'_>, draft: &mut Draft) -> Vec<LookRequest> {
    let needed = draft.looks.clone();
    if let Some((question, from)) = waiting(situation, draft).filter(|(it, _)| !needed.contains_key(it)) {
        draft.look(&question, from);
    }
    if let Some((question, from)) = at_rest(situation, draft).filter(|(it, _)| !needed.contains_key(it)) {
        draft.look(&question, from);
    }
    let looks = std::mem::take(&mut draft.looks);
    looks.into_iter().map(|(question, from)| LookRequest { question, from }).collect()
}

/// Of all that EKS works on, what was asked the longest time ago.
fn waiting(situation: &Situation<'_>, draft: &Draft) -> Option<(Question, Timestamp)> {
    let next = draft.waits.iter().min_by_key(|it| situation.touched(it))?;
    let last = draft.waits.iter().map(|it| situation.touched(it)).max()?;
    Some((next.clone(), last.plus(WAITING)))
}

/// How a question is asked at rest.
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

/// `None`: not at rest.
fn turn(question: &Question) -> Option<Turn> {
    match question {
        Question::Cluster(_) => Some(Turn::Cluster),
        Question::Addons(_) | Question::AccessEntries(_) | Question::PodIdentities(_) => Some(Turn::List),
        Question::Addon { .. }
        | Question::AccessEntry { .. }
        | Question::AccessPolicies { .. }
        | Question::PodIdentity { .. }
        | Question::Role(_)
        | Question::InstanceProfile(_)
        | Question::OidcProvider(_) => Some(Turn::Item),
        Question::Updates(_)
        | Question::Update { .. }
        | Question::Insights(_)
        | Question::Versions
        | Question::AddonReleases { .. }
        | Question::AddonSchema { .. } => None,
    }
}

/// The question whose turn it is, five minutes after the last one.
fn at_rest(situation: &Situation<'_>, draft: &Draft) -> Option<(Question, Timestamp)> {
    let asked: Vec<(Turn, &Question, Timestamp)> = draft
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
    Some((next?.clone(), last.plus(REST)))
}
