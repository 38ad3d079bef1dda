//! Maintenance windows: when the provider may begin what it does by its own choice. The fields that have them say what that is.

use crate::patterns;
use jiff::civil::{Date, Time};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Span, Timestamp};
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// A time that recurs every week or every day, in which the provider may begin what it does by its own choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct MaintenanceWindow {
    /// Days on which the window opens, in its time zone. Default: every day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 7))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub days: Vec<Weekday>,
    /// When the window opens, `HH:MM`, from `00:00` to `23:59` in its time zone. On a day on which clocks are set forward past
    /// that time it opens as much later as the clocks are set forward; on a day that has the time twice it opens the first
    /// time.
    #[schemars(length(min = 5, max = 5), regex(pattern = patterns::TIME_OF_DAY))]
    pub start: String,
    /// How many seconds the window stays open. What begins in that time may end later. Range: 900 to 604800.
    #[schemars(range(min = 900, max = 604_800))]
    pub duration_seconds: i32,
    /// IANA name of the time zone, for example `Europe/Berlin`. Default: `UTC`.
    #[serde(default = "utc")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::TIME_ZONE))]
    pub time_zone: String,
}

fn utc() -> String {
    "UTC".to_owned()
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Weekday {
    /// Monday.
    Monday,
    /// Tuesday.
    Tuesday,
    /// Wednesday.
    Wednesday,
    /// Thursday.
    Thursday,
    /// Friday.
    Friday,
    /// Saturday.
    Saturday,
    /// Sunday.
    Sunday,
}

impl Weekday {
    fn is(self, day: jiff::civil::Weekday) -> bool {
        day == match self {
            Self::Monday => jiff::civil::Weekday::Monday,
            Self::Tuesday => jiff::civil::Weekday::Tuesday,
            Self::Wednesday => jiff::civil::Weekday::Wednesday,
            Self::Thursday => jiff::civil::Weekday::Thursday,
            Self::Friday => jiff::civil::Weekday::Friday,
            Self::Saturday => jiff::civil::Weekday::Saturday,
            Self::Sunday => jiff::civil::Weekday::Sunday,
        }
    }
}

/// From when until when windows are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Opening {
    /// Since when, or from when on.
    pub opens: Timestamp,
    /// Until when.
    pub closes: Timestamp,
}

/// So many days before and after today have the present opening and the next one: a window recurs every week, and stays
/// open for at most one.
const DAYS: i64 = 8;

/// The time zones that this build knows: the image has none of its own, and the time zones of all managers have to be the
/// same.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// When these windows are open: now, or the next time. Windows that overlap or follow each other are one opening. `None`
/// without windows.
///
/// # Errors
///
/// A clause that says which window cannot be used, and why: an unknown time zone.
pub fn opening(windows: &[MaintenanceWindow], now: Timestamp) -> Result<Option<Opening>, String> {
    let mut all = Vec::new();
    for window in windows {
        all.extend(openings(window, now)?);
    }
    all.sort_unstable();
    let mut whole: Option<Opening> = None;
    for next in all {
        whole = match whole {
            Some(before) if next.opens <= before.closes => {
                Some(Opening { closes: before.closes.max(next.closes), ..before })
            }
            Some(before) if before.closes > now => return Ok(Some(before)),
            Some(_) | None => Some(next),
        };
    }
    Ok(whole)
}

/// Why these windows cannot be used, in a clause; `None` if they can.
pub fn unusable(windows: &[MaintenanceWindow]) -> Option<String> {
    opening(windows, Timestamp::UNIX_EPOCH).err()
}

/// The openings of one window in the days around now.
fn openings(window: &MaintenanceWindow, now: Timestamp) -> Result<Vec<Opening>, String> {
    let zone = zone(&window.time_zone)?;
    let start = Time::strptime("%H:%M", &window.start)
        .map_err(|_| format!("{:?} is no time of day, HH:MM", window.start))?;
    let today = now.to_zoned(zone.clone()).date();
    let days = (-DAYS..=DAYS).filter_map(|days| today.checked_add(Span::new().try_days(days).ok()?).ok());
    let opens_on =
        |day: &Date| window.days.is_empty() || window.days.iter().any(|weekday| weekday.is(day.weekday()));
    let opening = |day: Date| {
        // A time that clocks skip is as much later, one that a day has twice is the first one.
        let opens = zone.to_ambiguous_zoned(day.to_datetime(start)).compatible().ok()?.timestamp();
        let length = jiff::SignedDuration::from_secs(window.duration_seconds.into());
        Some(Opening { opens, closes: opens.checked_add(length).ok()? })
    };
    Ok(days.filter(opens_on).filter_map(opening).collect())
}

/// The time zone of that name.
fn zone(name: &str) -> Result<TimeZone, String> {
    let found = ZONES.get(name).ok().filter(|zone| !zone.is_unknown());
    found.ok_or_else(|| format!("the IANA time zone database has no time zone {name:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(days: &[Weekday], start: &str, hours: i32, zone: &str) -> MaintenanceWindow {
        MaintenanceWindow {
            days: days.to_vec(),
            start: start.to_owned(),
            duration_seconds: hours * 3_600,
            time_zone: zone.to_owned(),
        }
    }

    /// When these windows are open, from a moment on.
    fn open(windows: &[MaintenanceWindow], now: &str) -> Option<(String, String)> {
        let found = opening(windows, now.parse().unwrap()).unwrap();
        found.map(|opening| (opening.opens.to_string(), opening.closes.to_string()))
    }

    fn check(windows: &[MaintenanceWindow], now: &str, opens: &str, closes: &str) {
        assert_eq!(open(windows, now), Some((opens.to_owned(), closes.to_owned())), "at {now}");
    }

    const NIGHT: (&str, i32) = ("02:00", 3);

    #[test]
    fn without_windows_there_is_no_opening() {
        assert_eq!(open(&[], "2026-11-29T00:00:00Z"), None);
    }

    #[test]
    fn a_window_is_open_from_its_start_until_its_end() {
        let every_day = [window(&[], NIGHT.0, NIGHT.1, "UTC")];
        check(&every_day, "2026-11-29T01:59:59Z", "2026-11-29T02:00:00Z", "2026-11-29T05:00:00Z");
        check(&every_day, "2026-11-29T02:00:00Z", "2026-11-29T02:00:00Z", "2026-11-29T05:00:00Z");
        check(&every_day, "2026-11-29T04:59:59Z", "2026-11-29T02:00:00Z", "2026-11-29T05:00:00Z");
        check(&every_day, "2026-11-29T05:00:00Z", "2026-11-30T02:00:00Z", "2026-11-30T05:00:00Z");
    }

    #[test]
    fn days_are_those_of_the_time_zone() {
        // 2026-11-30 is a Monday. In Auckland, 13 hours ahead, it begins on Sunday noon.
        let monday = [window(&[Weekday::Monday], "00:30", 2, "Pacific/Auckland")];
        check(&monday, "2026-11-25T00:00:00Z", "2026-11-29T11:30:00Z", "2026-11-29T13:30:00Z");
        let weekend = [window(&[Weekday::Sunday, Weekday::Saturday], "22:00", 1, "America/New_York")];
        check(&weekend, "2026-11-30T04:00:00Z", "2026-12-06T03:00:00Z", "2026-12-06T04:00:00Z");
    }

    #[test]
    fn windows_that_overlap_or_touch_are_one() {
        let two = [window(&[], "02:00", 2, "UTC"), window(&[], "04:00", 1, "UTC")];
        check(&two, "2026-11-29T03:30:00Z", "2026-11-29T02:00:00Z", "2026-11-29T05:00:00Z");
        let apart = [window(&[], "04:01", 1, "UTC"), window(&[], "02:00", 2, "UTC")];
        check(&apart, "2026-11-29T03:30:00Z", "2026-11-29T02:00:00Z", "2026-11-29T04:00:00Z");
        check(&apart, "2026-11-29T04:00:00Z", "2026-11-29T04:01:00Z", "2026-11-29T05:01:00Z");
        let always = [window(&[], "00:00", 24, "UTC")];
        let (opens, closes) = open(&always, "2026-11-29T13:00:00Z").unwrap();
        assert!(opens.as_str() < "2026-11-29" && closes.as_str() > "2026-12-05", "{opens} {closes}");
    }

    #[test]
    fn a_window_may_last_a_whole_week() {
        let week = [window(&[Weekday::Tuesday], "12:00", 7 * 24 - 1, "UTC")];
        check(&week, "2026-12-01T10:59:59Z", "2026-11-24T12:00:00Z", "2026-12-01T11:00:00Z");
        check(&week, "2026-12-01T11:00:00Z", "2026-12-01T12:00:00Z", "2026-12-08T11:00:00Z");
    }

    #[test]
    fn a_start_that_the_clocks_skip_is_later_and_one_that_comes_twice_is_the_first() {
        let night = [window(&[], "02:30", 1, "Europe/Berlin")];
        // 02:00 CET became 03:00 CEST at 01:00 UTC.
        check(&night, "2026-03-29T00:00:00Z", "2026-03-29T01:30:00Z", "2026-03-29T02:30:00Z");
        // 03:00 CEST became 02:00 CET at 01:00 UTC.
        check(&night, "2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z");
        check(&night, "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z", "2026-10-26T02:30:00Z");
    }

    #[test]
    fn a_window_stays_open_for_its_seconds_also_while_clocks_change() {
        let night = [window(&[], "01:00", 4, "Europe/Berlin")];
        check(&night, "2026-03-29T01:30:00Z", "2026-03-29T00:00:00Z", "2026-03-29T04:00:00Z");
    }

    #[test]
    fn a_time_zone_has_to_exist() {
        for name in ["Mars/Base", "Etc/Unknown", "Local"] {
            let refused = opening(&[window(&[], "02:00", 1, name)], Timestamp::UNIX_EPOCH).unwrap_err();
            let said = format!("the IANA time zone database has no time zone {name:?}");
            assert_eq!(refused, said);
            assert_eq!(unusable(&[window(&[], "02:00", 1, name)]), Some(said));
        }
        let late = opening(&[window(&[], "25:00", 1, "UTC")], Timestamp::UNIX_EPOCH).unwrap_err();
        assert_eq!(late, "\"25:00\" is no time of day, HH:MM");
        assert!(
            opening(&[window(&[], "02:00", 1, "America/Argentina/Buenos_Aires")], Timestamp::MAX).is_ok()
        );
    }
}
