//! What a forecast says is what then happens.

use crate::aws::role_arn;
use crate::world::*;
use foo_eks::desired::{AddonVersion, DesiredAddon};
use foo_eks::forecast::{CREATION, End, Forecast, VERSION_UPDATE, remaining};
use foo_eks::report::ConditionKind;
use foo_eks::{Desired, forecast};
use foo_model::eks::*;
use foo_model::{Maintenance, Reason};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Reads that a forecast may ask for, at most: each is a call.
const READS: usize = 100;

/// The forecast, once everything that it asks for is read.
fn foresee(world: &mut World) -> Forecast {
    let mut observed = world.observed.clone();
    foo_calls::testing::Aws::observe(&world.aws, &mut observed);
    let mut reads = 0;
    loop {
        let (record, memory) = (&world.process.record, &world.process.memory);
        let foreseen = forecast(&world.desired, &observed, record, memory);
        let End::Unknown(queries) = &foreseen.end else { return foreseen };
        for query in queries {
            reads += 1;
            assert!(reads <= READS && !observed.reads.contains_key(query), "{query:?} is asked again");
            read(&mut world.aws, &mut observed, query);
        }
    }
}

/// Calls without what only AWS knows: ids that it makes up.
fn shown(changes: impl Iterator<Item = Change>) -> Vec<String> {
    let changes = changes.map(|mut change| {
        if let Change::Oidc(OidcChange::Create(new)) = &mut change {
            new.url.clear();
        }
        if let Change::PodIdentity {
            change: PodIdentityChange::Update { id, .. } | PodIdentityChange::Delete { id },
            ..
        } = &mut change
        {
            id.clear();
        }
        format!("{change:?}")
    });
    changes.filter(|it| !it.contains("RefreshInsights")).collect()
}

/// Updates of the cluster come in the order of the forecast; so do all calls about one add-on or one entry.
fn by_subject(calls: &[String]) -> Vec<Vec<&String>> {
    let of = |kind: &str| calls.iter().filter(|it| it.starts_with(kind)).collect::<Vec<_>>();
    let mut others = of("Addon");
    others.extend(of("Entry"));
    others.extend(of("PodIdentity"));
    others.extend(of("Tags"));
    others.extend(of("Oidc"));
    others.sort();
    vec![of("Cluster"), others]
}

/// Foresees, lets it happen, and compares.
fn comes_true(world: &mut World) -> Forecast {
    let foreseen = foresee(world);
    assert_eq!(foreseen.end, End::Settled, "{:#?}", remaining(&foreseen.report).collect::<Vec<_>>());
    let before = world.aws.calls.len();
    world.settle();
    // What is no longer requested goes once its list is read again.
    world.run_for(Duration::from_hours(1));
    world.settle();
    let sent = shown(world.aws.calls[before..].iter().map(|(_, change)| change.clone()));
    let expected = shown(foreseen.steps.iter().map(|step| step.action.change.clone()));
    assert_eq!(by_subject(&expected), by_subject(&sent), "{}", world.story());
    let after = foresee(world);
    assert_eq!(after.steps, [], "nothing is left");
    let settings = |reads| settings(reads, &foreseen.now);
    assert_eq!(settings(&foreseen.then), settings(&after.now), "{}", world.story());
    foreseen
}

/// What users decide of what was there before.
fn settings(reads: &BTreeMap<Query, QueryResult>, before: &BTreeMap<Query, QueryResult>) -> Vec<String> {
    let was_there = |query: &Query| before.get(query).is_some_and(|it| *it != query.nothing());
    let kept = reads.iter().filter(|(query, _)| was_there(query)).map(|(_, result)| result);
    let shown = kept.filter_map(|result| match result {
        QueryResult::Cluster(Some(it)) => Some(format!(
            "{:?}",
            (
                (it.version, &it.placement, &it.access, it.authentication_mode, &it.logging),
                (&it.encryption_key, it.upgrade_policy, it.zonal_shift, it.deletion_protection, &it.tags),
                it.scaling_tier,
            )
        )),
        QueryResult::Addon(Some(it)) => {
            Some(format!("{:?}", (&it.name, &it.version, &it.settings, &it.tags)))
        }
        QueryResult::IdentityProvider(Some(it)) => Some(format!("{:?}", (&it.name, &it.settings, &it.tags))),
        // Groups of the entries of nodes are EKS's own.
        QueryResult::AccessEntry(Some(it)) if it.kind == EntryKind::Standard => {
            Some(format!("{:?}", (&it.principal, it.kind, &it.groups)))
        }
        _ => None,
    });
    shown.collect()
}

#[test]
fn a_new_cluster() {
    let mut world = World::new(desired());
    let foreseen = comes_true(&mut world);
    assert!(foreseen.takes >= CREATION);
    let operations: Vec<_> = foreseen.steps.iter().map(|it| it.action.change.operation().name()).collect();
    assert_eq!(operations[0], "CreateCluster");
    assert_eq!(operations.iter().filter(|it| **it == "CreateAddon").count(), 4);
}

#[test]
fn three_minor_versions_with_the_addons_that_follow() {
    let mut world = World::settled(desired());
    world.desired.version = Minor(36);
    let foreseen = comes_true(&mut world);
    let upgrades = foreseen.steps.iter().filter(|it| it.action.change.updates_cluster()).count();
    assert_eq!(upgrades, 3);
    assert!(foreseen.takes >= VERSION_UPDATE * 3, "{:?}", foreseen.takes);
}

#[test]
fn every_setting_one_after_the_other() {
    let mut world = World::settled(desired());
    let desired = &mut world.desired;
    desired.access.public = false;
    desired.logging = BTreeSet::from([LogType::Audit]);
    desired.zonal_shift = true;
    desired.deletion_protection = true;
    desired.upgrade_policy = Some(SupportType::Standard);
    desired.encryption_key = Some("arn:aws:kms:eu-central-1:1:key/k".to_owned());
    desired.scaling_tier = Some(ScalingTier::TwoXl);
    desired.identity_provider = Some(identity_provider());
    desired.placement = Some(placement(&["subnet-a2", "subnet-b"]));
    desired.placement.as_mut().unwrap().security_groups.insert(foo_model::SecurityGroupId::new("sg-1"));
    let foreseen = comes_true(&mut world);
    let mut moments: Vec<_> = foreseen.steps.iter().map(|it| it.at).collect();
    assert_eq!(moments.len(), 10, "{:#?}", foreseen.steps);
    moments.dedup();
    assert_eq!(moments.len(), 10, "EKS makes one update at a time");
}

#[test]
fn an_identity_provider_that_changes_and_goes() {
    let mut world = World::settled(Desired { identity_provider: Some(identity_provider()), ..desired() });
    world.desired.identity_provider.as_mut().unwrap().settings.client_id = "other".to_owned();
    let foreseen = comes_true(&mut world);
    let operations: Vec<_> = foreseen.steps.iter().map(|it| it.action.change.operation().name()).collect();
    assert_eq!(operations, ["DisassociateIdentityProviderConfig", "AssociateIdentityProviderConfig"]);
    world.desired.identity_provider.as_mut().unwrap().name = "staff".to_owned();
    comes_true(&mut world);
    world.desired.identity_provider = None;
    let foreseen = comes_true(&mut world);
    assert_eq!(foreseen.steps.len(), 1, "{:#?}", foreseen.steps);
}

#[test]
fn access_and_identities() {
    let mut world = World::settled(desired());
    world.desired.entries.clear();
    world.desired.entries.insert(role_arn("other"), entry());
    world.desired.pod_identities.clear();
    world.desired.pod_identities.insert(("team".to_owned(), "job".to_owned()), role_arn("app"));
    world.desired.tags.insert("team".to_owned(), "blue".to_owned());
    comes_true(&mut world);
    world.desired.tags.remove("team");
    world.desired.oidc_provider = false;
    comes_true(&mut world);
}

#[test]
fn addons_that_come_and_go() {
    let mut world = World::settled(desired());
    world.desired.addons.remove("coredns");
    world.desired.addons.get_mut("vpc-cni").unwrap().pod_identities =
        Some([("aws-node".to_owned(), role_arn("cni"))].into());
    comes_true(&mut world);
    world.desired.addons.get_mut("vpc-cni").unwrap().pod_identities =
        Some([("aws-node".to_owned(), role_arn("other"))].into());
    world.desired.addons.insert("coredns".to_owned(), addon());
    comes_true(&mut world);
}

#[test]
fn from_the_config_map_to_access_entries() {
    let mut world = World::settled(Desired {
        authentication_mode: AuthenticationMode::ConfigMap,
        entries: std::collections::BTreeMap::new(),
        ..desired()
    });
    world.desired = Desired { begun_before: true, ..desired() };
    let foreseen = comes_true(&mut world);
    let modes = foreseen.steps.iter().filter(|it| it.action.change.updates_cluster()).count();
    assert_eq!(modes, 2, "{:#?}", foreseen.steps);
}

#[test]
fn an_addon_that_waits_for_its_window() {
    let mut world = World::settled(Desired { version: Minor(34), ..desired() });
    let opens = world.opens_in(Duration::from_hours(48));
    world.desired.version = Minor(35);
    let foreseen = comes_true(&mut world);
    let (last, others) = foreseen.steps.split_last().unwrap();
    assert_eq!((last.at, last.action.change.operation().name()), (opens, "UpdateAddon"));
    assert!(others.iter().all(|step| step.at < opens), "{:#?}", foreseen.steps);
    assert!(foreseen.takes >= Duration::from_hours(48), "{:?}", foreseen.takes);
}

#[test]
fn what_has_failed_does_not_hide_the_update_in_the_window() {
    let mut world = World::settled(Desired { version: Minor(34), ..desired() });
    let opens = world.opens_in(Duration::from_hours(48));
    let wrong = DesiredAddon { version: AddonVersion::Exactly("v0.0.1".to_owned()), ..addon() };
    world.desired.addons.insert("coredns".to_owned(), wrong);
    world.desired.version = Minor(35);
    let foreseen = foresee(&mut world);
    assert_eq!(foreseen.end, End::Waiting);
    let last = foreseen.steps.last().unwrap();
    assert_eq!((last.at, last.action.change.operation().name()), (opens, "UpdateAddon"));
}

#[test]
fn a_window_that_is_over_is_what_remains() {
    let mut world = World::settled(Desired { version: Minor(34), ..desired() });
    let closes = world.now();
    world.desired.maintenance = Maintenance::Window { opens: closes.minus(Duration::from_hours(1)), closes };
    world.desired.version = Minor(35);
    let foreseen = foresee(&mut world);
    assert_eq!(foreseen.end, End::Waiting);
    let remaining: Vec<_> = remaining(&foreseen.report).collect();
    assert_eq!(remaining.len(), 1, "{remaining:#?}");
    assert_eq!(remaining[0].reason, Reason::AwaitingMaintenanceWindow);
}

#[test]
fn an_update_under_way_is_waited_for() {
    let mut world = World::settled(desired());
    world.desired.version = Minor(34);
    world.run_until("upgrading", |it| it.count("UpdateClusterVersion") == 1);
    world.desired.version = Minor(35);
    let foreseen = comes_true(&mut world);
    let upgrades = foreseen.steps.iter().filter(|it| it.action.change.updates_cluster()).count();
    assert_eq!(upgrades, 1, "the one to 1.34 was sent already");
    assert!(foreseen.takes >= VERSION_UPDATE * 2, "{:?}", foreseen.takes);
}

#[test]
fn what_blocks_is_what_remains() {
    let mut world = World::settled(desired());
    world.aws.set_insights(&["Deprecated APIs"]);
    world.desired.version = Minor(34);
    let foreseen = foresee(&mut world);
    assert_eq!((foreseen.end.clone(), foreseen.steps.len()), (End::Waiting, 0));
    assert_eq!(foreseen.takes, Duration::ZERO, "refreshes of the insights change nothing");
    let upgrading = remaining(&foreseen.report).find(|it| it.kind == ConditionKind::Upgrading).unwrap();
    assert_eq!(upgrading.reason, Reason::UpgradeBlocked);
    assert!(upgrading.message.contains("Deprecated APIs"), "{upgrading:?}");
    world.desired.version = Minor(33);
    let wanted = DesiredAddon { version: AddonVersion::Exactly("v0.0.1".to_owned()), ..addon() };
    world.desired.addons.insert("coredns".to_owned(), wanted);
    let foreseen = foresee(&mut world);
    assert_eq!((foreseen.end.clone(), foreseen.steps.len()), (End::Waiting, 0));
    assert!(remaining(&foreseen.report).any(|it| it.kind == ConditionKind::AddonsReady));
}

#[test]
fn a_query_that_aws_denies_is_what_remains() {
    let mut world = World::settled(desired());
    world.aws.deaf.insert(Query::AddonReleases { addon: "coredns".to_owned(), kubernetes: Minor(34) });
    world.desired.version = Minor(34);
    let foreseen = foresee(&mut world);
    assert_eq!(foreseen.end, End::Waiting);
    let addons = remaining(&foreseen.report).find(|it| it.kind == ConditionKind::AddonsReady).unwrap();
    assert!(addons.message.contains("coredns"), "{addons:?}");
}

#[test]
fn nothing_is_foreseen_of_what_is_paused() {
    let mut world = World::settled(desired());
    world.desired.version = Minor(34);
    world.desired.paused = true;
    let foreseen = foresee(&mut world);
    assert_eq!((foreseen.end, foreseen.steps.len()), (End::Settled, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_changed(
        version in 33_u16..36,
        (public, private) in proptest::sample::select(vec![(true, true), (true, false), (false, true)]),
        logging in any::<bool>(),
        shift in any::<bool>(),
        protected in any::<bool>(),
        people in any::<bool>(),
        app in any::<bool>(),
        addons in proptest::sample::subsequence(
            vec!["vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns"], 2..=4),
        oidc in any::<bool>(),
        begun in 0_usize..12,
    ) {
        let mut world = World::settled(desired());
        let wanted = &mut world.desired;
        wanted.version = Minor(version);
        (wanted.access.public, wanted.access.private) = (public, private);
        wanted.logging = if logging { BTreeSet::from([LogType::Api]) } else { BTreeSet::new() };
        (wanted.zonal_shift, wanted.deletion_protection, wanted.oidc_provider) = (shift, protected, oidc);
        wanted.entries.retain(|_, _| people);
        wanted.pod_identities.retain(|_, _| app);
        wanted.addons.retain(|name, _| addons.contains(&name.as_str()));
        // Also in the middle.
        let sent = world.sent;
        for _ in 0..200 {
            if world.sent >= sent + begun || world.report.as_ref().is_some_and(|it| it.settled) && world.sent > sent {
                break;
            }
            if !world.pass() && !world.wait() {
                break;
            }
        }
        comes_true(&mut world);
    }
}
