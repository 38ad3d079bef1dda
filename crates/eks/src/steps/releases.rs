//! Which version of an add-on is meant, and whether its configuration fits.

use crate::desired::{AddonVersion, DesiredAddon};
use crate::draft::{Draft, Weight};
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::timing::MISSING;
use foo_model::Reason;
use foo_model::eks::{Addon, AddonRelease, Cluster, Query, QueryResult};
use serde_json::Value;

const KIND: ConditionKind = ConditionKind::AddonsReady;

/// The add-on that is updated one minor version at a time (EKS User Guide, "Amazon VPC CNI": "You can only update one minor version at a
/// time").
const STEPWISE: &str = "vpc-cni";

/// How many versions a message lists.
const LISTED: usize = 5;

/// The version that is requested. `Latest` is EKS's default, read up once per Kubernetes version of the cluster and recorded, and again if
/// EKS no longer offers what an add-on is still to be updated to.
/// `None`: not known yet, or there is none, which is said.
pub(crate) fn version(
    situation: &Situation<'_>,
    draft: &mut Draft,
    cluster: &Cluster,
    name: &str,
    wanted: &DesiredAddon,
    shown: Option<&Addon>,
) -> Option<String> {
    let recorded =
        draft.record.addon_versions.get(name).filter(|(minor, _)| *minor == cluster.version).cloned();
    match &wanted.version {
        AddonVersion::Latest => {
            let is_stepwise = name == STEPWISE && shown.is_some();
            if let Some((_, version)) = recorded.clone()
                && (shown.is_some_and(|it| it.version == version)
                    || !(is_stepwise || is_withdrawn(situation, cluster, name, &version)))
            {
                return Some(version);
            }
        }
        AddonVersion::Exactly(version) => {
            if shown.is_some_and(|it| it.version == *version) {
                return Some(version.clone());
            }
        }
    }
    let releases = releases(situation, draft, cluster, name)?;
    let version = match &wanted.version {
        AddonVersion::Latest => {
            let recorded = recorded.and_then(|(_, version)| releases.iter().find(|it| it.version == version));
            recorded.or_else(|| latest(releases, shown))
        }
        AddonVersion::Exactly(version) => releases.iter().find(|it| it.version == *version),
    };
    let Some(version) = version else {
        say_not_offered(situation, draft, cluster, name, wanted, releases);
        return None;
    };
    if wanted.version == AddonVersion::Latest {
        let recorded = (cluster.version, version.version.clone());
        draft.record.addon_versions.insert(name.to_owned(), recorded);
    }
    if version.requires_configuration && wanted.settings.configuration.is_none() {
        let message = format!("{name} {} cannot be created without configuration", version.version);
        draft.note(KIND, Weight::Failed, Reason::AddonConfigurationInvalid, message);
        return None;
    }
    let next =
        if name == STEPWISE { shown.and_then(|shown| next_minor(releases, shown, version)) } else { None };
    Some(next.unwrap_or(version).version.clone())
}

/// The release between what is there and what is requested, if the two are more than a minor version apart: the newest one of the next
/// minor version that EKS offers.
fn next_minor<'r>(
    releases: &'r [AddonRelease],
    shown: &Addon,
    requested: &AddonRelease,
) -> Option<&'r AddonRelease> {
    let (present, last) = (minor(&shown.version)?, minor(&requested.version)?);
    let between = |it: &&AddonRelease| minor(&it.version).is_some_and(|it| present < it && it < last);
    let next = releases.iter().filter(between).filter_map(|it| minor(&it.version)).min()?;
    // Releases come newest first.
    releases.iter().find(|it| minor(&it.version) == Some(next))
}

/// The first two numbers of `v1.19.2-eksbuild.1`.
fn minor(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.trim_start_matches('v').split(['.', '-']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn releases<'s>(
    situation: &'s Situation<'_>,
    draft: &mut Draft,
    cluster: &Cluster,
    name: &str,
) -> Option<&'s [AddonRelease]> {
    let query = query(cluster, name);
    let response = draft.read(situation, KIND, &query);
    draft.read.remove(&query);
    let Some(QueryResult::AddonReleases(releases)) = response else { return None };
    Some(releases)
}

/// Whether EKS is known to offer this version of an add-on for the cluster's Kubernetes version, and not the one that the add-on has,
/// which need not work with it. An idle cluster reads what EKS offers in turn for as long as this is asked.
pub(crate) fn replaces_withdrawn(
    situation: &Situation<'_>,
    draft: &mut Draft,
    cluster: &Cluster,
    shown: &Addon,
    version: &str,
) -> bool {
    let releases = releases(situation, draft, cluster, &shown.name);
    draft.read.insert(query(cluster, &shown.name));
    releases.is_some_and(|all| offers(all, version) && !offers(all, &shown.version))
}

/// Whether what EKS is known to offer lacks a version. A list of nothing proves nothing about one version.
fn is_withdrawn(situation: &Situation<'_>, cluster: &Cluster, name: &str, version: &str) -> bool {
    let known = situation.shown.get(&query(cluster, name));
    matches!(known, Some(QueryResult::AddonReleases(all)) if !all.is_empty() && !offers(all, version))
}

fn offers(releases: &[AddonRelease], version: &str) -> bool {
    releases.iter().any(|it| it.version == version)
}

fn query(cluster: &Cluster, name: &str) -> Query {
    Query::AddonReleases { addon: name.to_owned(), kubernetes: cluster.version }
}

/// EKS's default; or what is there, if that is newer and fits: nothing is downgraded. Releases come newest first.
fn latest<'r>(releases: &'r [AddonRelease], shown: Option<&Addon>) -> Option<&'r AddonRelease> {
    let default = releases.iter().position(|it| it.default).unwrap_or(0);
    let present = shown.and_then(|shown| releases.iter().position(|it| it.version == shown.version));
    releases.get(present.map_or(default, |present| present.min(default)))
}

fn say_not_offered(
    situation: &Situation<'_>,
    draft: &mut Draft,
    cluster: &Cluster,
    name: &str,
    wanted: &DesiredAddon,
    releases: &[AddonRelease],
) {
    let kubernetes = cluster.version;
    let message = match &wanted.version {
        AddonVersion::Exactly(version) if !releases.is_empty() => {
            let some: Vec<&str> = releases.iter().take(LISTED).map(|it| it.version.as_str()).collect();
            format!("EKS has no {name} {version} for Kubernetes {kubernetes}; it has {}", some.join(", "))
        }
        AddonVersion::Exactly(_) | AddonVersion::Latest => {
            format!("EKS has no add-on {name} for Kubernetes {kubernetes}")
        }
    };
    draft.note(KIND, Weight::Failed, Reason::AddonNotOffered, message);
    let query = query(cluster, name);
    draft.request_read(&query, situation.touched(&query).plus(MISSING));
}

/// Whether two configurations say the same, whatever their spaces and order of keys.
pub(crate) fn is_same_configuration(one: Option<&str>, other: Option<&str>) -> bool {
    canonical_configuration(one) == canonical_configuration(other)
}

/// The configuration of an add-on in the one form that all that say the same have: no spaces, sorted keys, and nothing if it is
/// empty. What is no JSON stays as it is.
pub fn canonical_configuration(text: Option<&str>) -> Option<String> {
    let text = text?;
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(map)) if map.is_empty() => None,
        Ok(value) => Some(value.to_string()),
        Err(_) => Some(text.to_owned()).filter(|text| !text.trim().is_empty()),
    }
}

/// Whether the top of the configuration fits the add-on's schema: its keys are known, and those that must be there are. Deeper down
/// EKS says what does not fit.
pub(crate) fn fits_schema(
    situation: &Situation<'_>,
    draft: &mut Draft,
    name: &str,
    version: &str,
    wanted: &DesiredAddon,
) -> bool {
    let Some(configuration) = &wanted.settings.configuration else { return true };
    let query = Query::AddonSchema { addon: name.to_owned(), version: version.to_owned() };
    let response = draft.read(situation, KIND, &query);
    draft.read.remove(&query);
    let Some(QueryResult::Schema(schema)) = response else { return false };
    match misfit(configuration, schema.as_deref()) {
        None => true,
        Some(misfit) => {
            let message = format!("the configuration of {name} {version}: {misfit}");
            draft.note(KIND, Weight::Failed, Reason::AddonConfigurationInvalid, message);
            false
        }
    }
}

/// What does not fit.
fn misfit(configuration: &str, schema: Option<&str>) -> Option<String> {
    let configuration: Value = match serde_json::from_str(configuration) {
        Ok(value) => value,
        Err(error) => return Some(format!("it is no JSON: {error}")),
    };
    let Value::Object(configuration) = configuration else { return Some("it is no object".to_owned()) };
    let schema: Value = schema.and_then(|text| serde_json::from_str(text).ok())?;
    // EKS's schemas name their root by a reference into their own definitions.
    let root = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|path| schema.pointer(path.trim_start_matches('#')));
    let root = root.unwrap_or(&schema);
    let properties = root.get("properties").and_then(Value::as_object);
    let required = root.get("required").and_then(Value::as_array).into_iter().flatten();
    let missing = required.filter_map(Value::as_str).find(|key| !configuration.contains_key(*key));
    if let Some(missing) = missing {
        return Some(format!("{missing} is missing"));
    }
    let closed = root.get("additionalProperties") == Some(&Value::Bool(false));
    let properties = properties.filter(|_| closed)?;
    let unknown = configuration.keys().find(|key| !properties.contains_key(*key))?;
    let known: Vec<&str> = properties.keys().map(String::as_str).collect();
    Some(format!("there is no {unknown}; there are {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_are_compared_by_what_they_say() {
        for (one, other, same) in [
            (None, None, true),
            (None, Some("{}"), true),
            (Some(""), None, true),
            (Some("{\"a\": 1, \"b\": 2}"), Some("{\"b\":2,\"a\":1}"), true),
            (Some("{\"a\": 1}"), Some("{\"a\": 2}"), false),
            (Some("a: 1"), Some("{\"a\": 1}"), false),
            (Some("a: 1"), Some("a: 1"), true),
        ] {
            assert_eq!(is_same_configuration(one, other), same, "{one:?} {other:?}");
        }
    }

    #[test]
    fn minor_versions_of_an_addon_are_not_passed_over() {
        let release = |version: &str| AddonRelease {
            version: version.to_owned(),
            default: false,
            requires_configuration: false,
            requires_iam: false,
        };
        let releases = [
            "v1.19.3-eksbuild.1",
            "v1.18.6-eksbuild.1",
            "v1.18.1-eksbuild.2",
            "v1.16.4-eksbuild.2",
            "v1.15.5-eksbuild.1",
        ]
        .map(release);
        let addon = |version: &str| Addon {
            name: "vpc-cni".to_owned(),
            arn: String::new(),
            version: version.to_owned(),
            status: foo_model::eks::AddonStatus::Active,
            issues: Vec::new(),
            settings: foo_model::eks::AddonSettings::default(),
            pod_identities: std::collections::BTreeSet::new(),
            tags: foo_model::network::Tags::new(),
        };
        for (present, next) in [
            ("v1.15.5-eksbuild.1", Some("v1.16.4-eksbuild.2")),
            ("v1.16.0-eksbuild.1", Some("v1.18.6-eksbuild.1")),
            ("v1.18.1-eksbuild.2", None),
            ("v1.19.0-eksbuild.1", None),
            ("unknown", None),
        ] {
            let found = next_minor(&releases, &addon(present), &releases[0]);
            assert_eq!(found.map(|it| it.version.as_str()), next, "{present}");
        }
    }

    #[test]
    fn a_configuration_is_compared_with_the_top_of_its_schema() {
        let closed = r##"{"$ref": "#/definitions/Cni", "definitions": {"Cni": {"additionalProperties": false,
            "properties": {"env": {}, "tier": {}}, "required": ["tier"]}}}"##;
        for (configuration, schema, misfits) in [
            ("{\"tier\": 1}", Some(closed), None),
            ("{\"env\": 1}", Some(closed), Some("tier is missing")),
            ("{\"tier\": 1, \"enf\": 2}", Some(closed), Some("there is no enf; there are env, tier")),
            ("[]", Some(closed), Some("it is no object")),
            ("{\"anything\": 1}", None, None),
            ("{\"anything\": 1}", Some("{\"properties\": {}}"), None),
        ] {
            assert_eq!(misfit(configuration, schema).as_deref(), misfits, "{configuration}");
        }
        assert!(misfit("{", None).unwrap().starts_with("it is no JSON"));
    }
}
