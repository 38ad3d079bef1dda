//! DescribeClusterVersions.

use super::{page, render};
use crate::core::eks::versions::{Offer, day};
use crate::core::error::AwsResult;
use crate::core::region::Region;
use crate::request::call::Call;
use foo_model::eks::Support;
use serde_json::{Value, json};

/// Versions without support are shown only if they are asked for.
pub(super) fn describe(region: &mut Region, call: &Call<'_>) -> AwsResult<Value> {
    let now = region.now();
    let (named, all) = (call.queries("clusterVersions"), call.query("includeAll") == Some("true"));
    let status = call.query("versionStatus").map(str::to_owned);
    let status = status.or_else(|| call.query("status").map(|old| old.to_uppercase().replace('-', "_")));
    let wanted = |offer: &&Offer| {
        let support = offer.support(now);
        let shown = match &status {
            Some(status) => status == <&str>::from(support),
            None => all || support != Support::Unsupported || !named.is_empty(),
        };
        shown
            && (named.is_empty() || named.contains(&offer.version.to_string()))
            && (call.query("defaultOnly") != Some("true") || offer.default)
    };
    let offers = region.settings.eks.versions.iter().filter(wanted);
    let key = |offer: &&Offer| format!("{:05}", offer.version.0);
    page::of(call, "clusterVersions", offers, key, |offer| {
        let support: &str = offer.support(now).into();
        json!({
            "clusterVersion": offer.version,
            "clusterType": "eks",
            "defaultPlatformVersion": format!("eks.{}", offer.platform),
            "defaultVersion": offer.default,
            "releaseDate": render::time(day(offer.released)),
            "endOfStandardSupportDate": render::time(day(offer.standard_until)),
            "endOfExtendedSupportDate": render::time(day(offer.extended_until)),
            "status": support.to_lowercase().replace('_', "-"),
            "versionStatus": support,
            "kubernetesPatchVersion": format!("{}.{}", offer.version, offer.patch),
        })
    })
}
