//! When the provider may begin what it does by its own choice: at any time, or in maintenance windows.

use crate::{Agreement, Blocked, Reason, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// After what time to decide again while it is not known when a window opens, because the clocks differ or the one that is known is
/// over: the next window is found before the next decision, and what waits is not urgent.
const AGAIN: Duration = Duration::from_secs(30);

/// When the provider may begin what it does by its own choice. What that is, the object's kind decides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Maintenance {
    /// At any time.
    #[default]
    Always,
    /// In windows. This is the one that is open, or the next one.
    Window {
        /// Since when, or from when on it is open.
        opens: Timestamp,
        /// Until when.
        closes: Timestamp,
    },
    /// In windows that cannot be used: never.
    Unusable(Blocked),
}

/// Why the provider begins nothing by its own choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowHold<'a> {
    /// No maintenance window is open before this moment.
    Opens(Timestamp),
    /// The maintenance window that is known is over.
    Over,
    /// The clocks do not agree, so it is not known whether a window is open.
    Clocks,
    /// The spec's windows cannot be used.
    Unusable(&'a Blocked),
}

impl Maintenance {
    /// Why the provider begins nothing by its own choice at this moment; `None` if it may. `clocks`: those of the manager and of the
    /// API server.
    pub fn hold(&self, now: Timestamp, clocks: Agreement) -> Option<WindowHold<'_>> {
        let (opens, closes) = match self {
            Self::Always => return None,
            Self::Unusable(blocked) => return Some(WindowHold::Unusable(blocked)),
            Self::Window { opens, closes } => (*opens, *closes),
        };
        if !clocks.proves_ages() {
            Some(WindowHold::Clocks)
        } else if now < opens {
            Some(WindowHold::Opens(opens))
        } else {
            (closes <= now).then_some(WindowHold::Over)
        }
    }

    /// When a window opens or closes next, as far as that is known.
    pub fn changes(&self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Window { opens, closes } => [*opens, *closes].into_iter().find(|at| *at > now),
            Self::Always | Self::Unusable(_) => None,
        }
    }
}

impl WindowHold<'_> {
    /// Words of the text of each hold that ends by itself. They show that a message of several texts has one.
    pub const WORDS: &'static str = "maintenance window";

    /// Whether a window is still to come, or none can come.
    pub fn reason(self) -> Reason {
        match self {
            Self::Unusable(blocked) => blocked.reason,
            Self::Opens(_) | Self::Over | Self::Clocks => Reason::AwaitingMaintenanceWindow,
        }
    }

    /// When to decide again, as the hold may have ended; `None` if it does not end by itself.
    pub fn again_at(self, now: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Opens(at) => Some(at),
            Self::Over | Self::Clocks => Some(now.plus(AGAIN)),
            Self::Unusable(_) => None,
        }
    }
}

/// What is waited for. The text stays the same until the window opens.
impl fmt::Display for WindowHold<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opens(at) => {
                write!(f, "waiting for the maintenance window that opens at {}", at.to_the_minute())
            }
            Self::Over => f.write_str("waiting for the next maintenance window"),
            Self::Clocks => f.write_str(
                "waiting until the clocks agree, so that it is known when a maintenance window is open",
            ),
            Self::Unusable(blocked) => f.write_str(&blocked.message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENS: Timestamp = Timestamp(60_000);
    const CLOSES: Timestamp = Timestamp(120_000);

    fn window() -> Maintenance {
        Maintenance::Window { opens: OPENS, closes: CLOSES }
    }

    #[test]
    fn a_window_is_open_from_its_first_moment_until_its_last() {
        let hold = |now: i64| window().hold(Timestamp(now), Agreement::Agree).map(|it| it.to_string());
        let waits = "waiting for the maintenance window that opens at 1970-01-01 00:01 UTC";
        assert_eq!(hold(59_999).as_deref(), Some(waits));
        assert_eq!((hold(60_000), hold(119_999)), (None, None));
        assert_eq!(hold(120_000).as_deref(), Some("waiting for the next maintenance window"));
        let again = |now: i64| window().hold(Timestamp(now), Agreement::Agree)?.again_at(Timestamp(now));
        assert_eq!((again(0), again(60_000)), (Some(OPENS), None));
        assert_eq!(again(120_000), Some(CLOSES.plus(AGAIN)));
        assert_eq!(window().changes(Timestamp(0)), Some(OPENS));
        assert_eq!(window().changes(OPENS), Some(CLOSES));
        assert_eq!(window().changes(CLOSES), None);
    }

    #[test]
    fn no_window_is_open_while_the_clocks_may_differ() {
        for clocks in [Agreement::Unknown, Agreement::Differ] {
            assert_eq!(window().hold(OPENS, clocks), Some(WindowHold::Clocks));
            assert_eq!(WindowHold::Clocks.again_at(OPENS), Some(OPENS.plus(AGAIN)));
            assert_eq!(Maintenance::Always.hold(OPENS, clocks), None);
        }
    }

    #[test]
    fn each_hold_that_ends_by_itself_has_the_words_that_show_it() {
        for hold in [WindowHold::Opens(OPENS), WindowHold::Over, WindowHold::Clocks] {
            assert!(hold.to_string().contains(WindowHold::WORDS), "{hold}");
        }
    }

    #[test]
    fn windows_that_cannot_be_used_never_open() {
        let blocked = Blocked::new(Reason::MaintenanceWindowsUnusable, "no such time zone");
        let never = Maintenance::Unusable(blocked.clone());
        let hold = never.hold(OPENS, Agreement::Agree).unwrap();
        assert_eq!((hold.reason(), hold.to_string()), (blocked.reason, blocked.message.clone()));
        assert_eq!((never.changes(OPENS), hold.again_at(OPENS)), (None, None));
    }
}
