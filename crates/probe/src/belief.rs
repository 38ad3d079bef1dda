//! A belief about AWS, and how it is checked.

use crate::scene::Scene;
use foo_cloud::{CloudError, ErrorKind, Operation, Result};
use futures::future::LocalBoxFuture;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Something that this project believes of AWS.
pub struct Belief {
    /// Its id, `<subject>/<rule>`, which never changes: recordings and reports name it.
    pub id: &'static str,
    /// The rule, in a sentence.
    pub rule: &'static str,
    /// Where the project has it.
    pub source: Source,
    /// When it is checked.
    pub stage: Stage,
    /// What a check costs at most.
    pub price: Price,
    /// Its calls, without repeated reads that wait for a change to show.
    pub calls: Calls,
    /// How it is checked.
    pub check: Check,
}

/// Operations, and how often a check calls each.
pub(crate) type Calls = &'static [(Operation, u32)];

impl Belief {
    /// A belief that only reads.
    pub(crate) fn read_only(
        id: &'static str,
        rule: &'static str,
        source: Source,
        calls: Calls,
        check: Check,
    ) -> Self {
        Self { id, rule, source, stage: Stage::ReadOnly, price: Price::default(), calls, check }
    }

    /// A belief about what AWS does not charge for.
    pub(crate) fn free(
        id: &'static str,
        rule: &'static str,
        source: Source,
        calls: Calls,
        check: Check,
    ) -> Self {
        Self { id, rule, source, stage: Stage::Free, price: Price::default(), calls, check }
    }
}

/// Where the project has a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The rule of docs/simulator-rules.md that this test checks (`sizes::a_name_can_be_used_once`).
    Simulator(&'static str),
    /// A file of the repository, by its path, and what it contains about the rule.
    File(&'static str, &'static str),
}

/// Stages of a run. Each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, clap::ValueEnum)]
pub enum Stage {
    /// Reads only.
    ReadOnly,
    /// Creates and deletes what AWS does not charge for: no instance, address, NAT gateway or control plane.
    Free,
}

impl Stage {
    /// Whether its checks need the resources that [`Scene`] prepares.
    pub(crate) fn creates(self) -> bool {
        match self {
            Self::ReadOnly => false,
            Self::Free => true,
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadOnly => "read-only",
            Self::Free => "free of charge",
        })
    }
}

/// A price in US cents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Price(pub u32);

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:02}", self.0 / 100, self.0 % 100)
    }
}

impl FromStr for Price {
    type Err = String;

    /// Dollars, with at most two decimals: `2.50`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (dollars, decimals) = text.split_once('.').unwrap_or((text, ""));
        let wrong = || format!("{text:?} is no amount of dollars, such as 2.50");
        if decimals.len() > 2 || !decimals.chars().all(|c| c.is_ascii_digit()) {
            return Err(wrong());
        }
        let dollars: u32 = dollars.parse().map_err(|_| wrong())?;
        let cents: u32 = format!("{decimals:0<2}").parse().map_err(|_| wrong())?;
        dollars.checked_mul(100).and_then(|it| it.checked_add(cents)).map(Self).ok_or_else(wrong)
    }
}

/// Something that a check does.
pub(crate) type Step<T> = for<'a> fn(&'a Scene) -> LocalBoxFuture<'a, Result<T>>;

/// How a belief is checked.
#[derive(Clone, Copy)]
pub enum Check {
    /// AWS refuses the last call with this code.
    Refused {
        /// AWS's code.
        code: &'static str,
        /// All calls.
        call: Step<()>,
    },
    /// The step decides.
    Holds(Step<Seen>),
    /// A change shows in reads within this time, each time that it is tried.
    Shows {
        /// The longest time that is believed.
        within: Duration,
        /// One change: how long it took to show; `None` if it did not show within the patience of the run.
        round: Step<Option<Duration>>,
    },
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// What is believed.
    AsBelieved(String),
    /// Something else.
    Otherwise(String),
    /// Nothing that says anything about the belief: a call failed for another reason, or was not sent.
    Unknown(String),
}

impl Seen {
    /// As believed, if `holds`.
    pub(crate) fn that(holds: bool, found: impl Into<String>) -> Self {
        if holds { Self::AsBelieved(found.into()) } else { Self::Otherwise(found.into()) }
    }

    /// The result of a call that is to be refused with this code.
    pub(crate) fn refusal(code: &str, last: Option<Operation>, result: Result<()>) -> Self {
        match result {
            Ok(()) => Self::Otherwise("accepted".to_owned()),
            Err(error) if last.is_some_and(|last| last != error.operation) => Self::failure(&error),
            Err(error) if error.code.as_deref() == Some(code) => Self::AsBelieved(shown(&error)),
            Err(error) if is_about_the_request(&error) => Self::Otherwise(shown(&error)),
            Err(error) => Self::failure(&error),
        }
    }

    /// What follows from a call that failed although it was to succeed. A quota of the account that is used up says nothing about a
    /// rule.
    pub(crate) fn unexpected(error: &CloudError) -> Self {
        if is_about_the_request(error) && error.kind != ErrorKind::LimitExceeded {
            Self::Otherwise(format!("refused: {}", shown(error)))
        } else {
            Self::failure(error)
        }
    }

    fn failure(error: &CloudError) -> Self {
        Self::Unknown(format!("{} failed: {}", error.operation.name(), shown(error)))
    }
}

/// Whether AWS refused the request itself: missing rights, and failures that pass, say nothing about a rule.
fn is_about_the_request(error: &CloudError) -> bool {
    error.is_refusal() && error.kind != ErrorKind::Denied
}

fn shown(error: &CloudError) -> String {
    match &error.code {
        Some(code) => format!("{code}: {}", error.message),
        None => error.message.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_dollars_with_two_decimals() {
        for (text, cents) in
            [("0", Some(0)), ("2.5", Some(250)), ("1.05", Some(105)), ("1.005", None), ("-1", None)]
        {
            assert_eq!(text.parse::<Price>().ok().map(|it| it.0), cents, "{text}");
        }
        assert_eq!(Price(105).to_string(), "$1.05");
    }

    #[test]
    fn a_call_that_was_to_succeed_contradicts_a_belief_unless_a_right_or_a_quota_is_missing() {
        let failed = |kind| {
            let error = CloudError::new(Operation::CreateVpc, kind, None, "no");
            Seen::unexpected(&error)
        };
        assert!(matches!(failed(ErrorKind::Invalid), Seen::Otherwise(_)));
        for kind in [ErrorKind::LimitExceeded, ErrorKind::Denied, ErrorKind::Throttled] {
            assert!(matches!(failed(kind), Seen::Unknown(_)), "{kind:?}");
        }
    }

    #[test]
    fn only_a_refusal_of_the_call_itself_contradicts_a_belief() {
        let refused = |operation, kind, code: Option<&str>| {
            let error = CloudError::new(operation, kind, code.map(str::to_owned), "no");
            Seen::refusal("ResourceInUse", Some(Operation::DeleteAutoScalingGroup), Err(error))
        };
        let deletion = Operation::DeleteAutoScalingGroup;
        assert!(matches!(refused(deletion, ErrorKind::InUse, Some("ResourceInUse")), Seen::AsBelieved(_)));
        assert!(matches!(refused(deletion, ErrorKind::Invalid, Some("ValidationError")), Seen::Otherwise(_)));
        let create = Operation::CreateAutoScalingGroup;
        for (operation, kind) in [
            (create, ErrorKind::Invalid),
            (deletion, ErrorKind::Denied),
            (deletion, ErrorKind::Throttled),
            (deletion, ErrorKind::Unreachable),
        ] {
            assert!(matches!(refused(operation, kind, None), Seen::Unknown(_)), "{operation:?} {kind:?}");
        }
    }
}
