//! The calendar of Kubernetes versions (EKS User Guide, "Understand the Kubernetes version lifecycle on EKS").

use super::refusal::invalid;
use crate::core::error::{AwsError, AwsResult};
use foo_model::Timestamp;
use foo_model::eks::{Minor, Support};
use serde::{Deserialize, Serialize};

/// A version that EKS offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// The version.
    pub version: Minor,
    /// The patch version that control planes run.
    pub patch: u16,
    /// Release at EKS, as a date.
    pub released: jiff::civil::Date,
    /// End of standard support.
    pub standard_until: jiff::civil::Date,
    /// End of extended support.
    pub extended_until: jiff::civil::Date,
    /// Whether clusters that name no version have it.
    pub default: bool,
    /// Latest platform version (`eks.N`).
    pub platform: u16,
}

/// Midnight (UTC) at the beginning of a day.
pub fn day(date: jiff::civil::Date) -> Timestamp {
    let zoned = date.to_zoned(jiff::tz::TimeZone::UTC);
    Timestamp(zoned.map_or(i64::MAX, |zoned| zoned.timestamp().as_millisecond()))
}

impl Offer {
    /// How far the version is in its life.
    pub fn support(&self, now: Timestamp) -> Support {
        if now < day(self.standard_until) {
            Support::StandardSupport
        } else if now < day(self.extended_until) {
            Support::ExtendedSupport
        } else {
            Support::Unsupported
        }
    }
}

/// The dates of a version: release, end of standard support, end of extended support.
type Dates = [(i16, i8, i8); 3];

/// The calendar: minor and patch version, platform version, dates (EKS User Guide, "Amazon EKS Kubernetes release calendar",
/// "View Amazon EKS platform versions for each Kubernetes version"). Both ends of support of 1.30 to 1.35 were compared with the guide and
/// with endoflife.date; those of 1.36 follow from the guide's 14 and 12 months after the release. Patch and platform versions change every
/// few weeks at EKS.
const CALENDAR: [(u16, u16, u16, Dates); 7] = [
    (30, 14, 40, [(2024, 5, 23), (2025, 7, 23), (2026, 7, 23)]),
    (31, 13, 36, [(2024, 9, 26), (2025, 11, 26), (2026, 11, 26)]),
    (32, 9, 29, [(2025, 1, 23), (2026, 3, 23), (2027, 3, 23)]),
    (33, 5, 22, [(2025, 5, 29), (2026, 7, 29), (2027, 7, 29)]),
    (34, 7, 23, [(2025, 10, 2), (2026, 12, 2), (2027, 12, 2)]),
    (35, 4, 13, [(2026, 1, 27), (2027, 3, 27), (2028, 3, 27)]),
    (36, 1, 3, [(2026, 6, 2), (2027, 8, 2), (2028, 8, 2)]),
];

/// The version of clusters that name none: the newest **(A)**.
const DEFAULT: u16 = 36;

/// The versions of the calendar.
pub(crate) fn offers() -> Vec<Offer> {
    let date = |(year, month, day): (i16, i8, i8)| jiff::civil::date(year, month, day);
    let offer = |(minor, patch, platform, [released, standard, extended]): (u16, u16, u16, Dates)| Offer {
        version: Minor(minor),
        patch,
        released: date(released),
        standard_until: date(standard),
        extended_until: date(extended),
        default: minor == DEFAULT,
        platform,
    };
    CALENDAR.into_iter().map(offer).collect()
}

/// The offer of a version that clusters can have.
pub(in crate::core) fn offered(offers: &[Offer], version: Option<Minor>, now: Timestamp) -> AwsResult<Offer> {
    let wanted = |offer: &&Offer| version.map_or(offer.default, |version| offer.version == version);
    let found = offers.iter().find(wanted).filter(|offer| offer.support(now) != Support::Unsupported);
    found.cloned().ok_or_else(not_offered)
}

/// The refusal of a version that EKS does not offer.
pub fn not_offered() -> AwsError {
    invalid("unsupported Kubernetes version")
}
