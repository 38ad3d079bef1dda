//! The identity provider of the cluster, and the capacity of its control plane.

use crate::world::*;
use foo_eks::Desired;
use foo_eks::desired::DesiredIdentityProvider;
use foo_eks::report::ConditionKind::*;
use foo_model::Reason;
use foo_model::eks::*;
use std::time::Duration;

fn of_client(name: &str, client: &str) -> DesiredIdentityProvider {
    let settings = IdentityProviderSettings { client_id: client.to_owned(), ..identity_provider().settings };
    DesiredIdentityProvider { name: name.to_owned(), settings }
}

fn with_provider() -> Desired {
    Desired { identity_provider: Some(identity_provider()), ..desired() }
}

fn provider(world: &World) -> Option<IdentityProvider> {
    world.aws.identity_provider()
}

/// How often identity providers were read since that moment.
fn reads(world: &World, from: foo_model::Timestamp) -> usize {
    let of_providers =
        |query: &Query| matches!(query, Query::IdentityProviders(_) | Query::IdentityProvider { .. });
    world.aws.reads.iter().filter(|(at, query)| *at >= from && of_providers(query)).count()
}

#[test]
fn it_is_associated_while_the_cluster_stays_ready() {
    let mut world = World::new(with_provider());
    world.run_until("associating", |it| it.count("AssociateIdentityProviderConfig") == 1);
    world.run_for(Duration::from_mins(5));
    assert_eq!(provider(&world).unwrap().status, IdentityProviderStatus::Creating);
    world.assert_says(AccessReady, Reason::ChangingAccess, "associateIdentityProvider");
    world.assert_says(ClusterReady, Reason::ClusterAsRequested, "");
    world.settle();
    world.assert_complete();
    let shown = provider(&world).unwrap();
    assert_eq!(
        (shown.status, shown.settings),
        (IdentityProviderStatus::Active, identity_provider().settings)
    );
    assert_eq!(shown.tags.get("team").map(String::as_str), Some("red"));
    world.assert_says(AccessReady, Reason::AccessAsRequested, "");
    world.run_for(Duration::from_hours(8));
    assert_eq!(world.count("AssociateIdentityProviderConfig"), 1);
    assert_eq!(world.count("DisassociateIdentityProviderConfig"), 0);
}

#[test]
fn without_one_in_the_spec_nothing_is_read() {
    let mut world = World::settled(desired());
    world.run_for(Duration::from_hours(24));
    assert_eq!(reads(&world, foo_model::Timestamp(i64::MIN)), 0);
}

#[test]
fn one_read_has_its_turn_among_the_others() {
    let mut world = World::settled(with_provider());
    let from = world.now().plus(Duration::from_secs(1));
    world.run_for(Duration::from_hours(24));
    let all = world.aws.reads.iter().filter(|(at, _)| *at >= from).count();
    let of_providers = reads(&world, from);
    assert!((1..24).contains(&of_providers) && all <= 288, "{of_providers} of {all}");
}

#[test]
fn one_that_differs_is_disassociated_and_associated_again() {
    let mut world = World::settled(with_provider());
    world.desired.identity_provider = Some(of_client("people", "other"));
    world.settle();
    world.assert_complete();
    assert_eq!(provider(&world).unwrap().settings.client_id, "other");
    assert_eq!(world.count("DisassociateIdentityProviderConfig"), 1);
    assert_eq!(world.count("AssociateIdentityProviderConfig"), 2);
    // And one of another name.
    world.desired.identity_provider = Some(of_client("staff", "other"));
    world.settle();
    world.assert_complete();
    assert_eq!(world.count("DisassociateIdentityProviderConfig"), 2);
    assert_eq!(world.count("AssociateIdentityProviderConfig"), 3);
    assert!(!world.story().contains("update in progress"), "{}", world.story());
}

#[test]
fn one_that_is_no_longer_requested_is_disassociated_also_after_a_restart() {
    for restarts in [false, true] {
        let mut world = World::settled(with_provider());
        world.desired.identity_provider = None;
        if restarts {
            world.restart();
        }
        world.settle();
        assert_eq!(provider(&world), None);
        assert_eq!(world.process.record.identity_provider, None);
        let from = world.now().plus(Duration::from_secs(1));
        world.run_for(Duration::from_hours(8));
        assert_eq!(reads(&world, from), 0);
    }
}

#[test]
fn one_that_leaves_the_spec_while_it_is_associated_is_disassociated_then() {
    let mut world = World::new(with_provider());
    world.run_until("associating", |it| it.count("AssociateIdentityProviderConfig") == 1);
    world.desired.identity_provider = None;
    world.settle();
    assert_eq!(provider(&world), None);
    assert_eq!(world.count("DisassociateIdentityProviderConfig"), 1);
}

#[test]
fn one_of_another_owner_is_not_touched() {
    // One that differs, one of another name, and one that is as requested.
    for (name, client, differs) in
        [("people", "other", true), ("staff", "kubernetes", true), ("people", "kubernetes", false)]
    {
        let mut world = World::settled(desired());
        let foreign = of_client(name, client);
        world.aws.associate(NewIdentityProvider {
            name: foreign.name,
            settings: foreign.settings,
            tags: foo_model::network::Tags::new(),
        });
        let before = provider(&world);
        world.desired.identity_provider = Some(identity_provider());
        world.run_for(Duration::from_hours(2));
        if differs {
            world.assert_says(AccessReady, Reason::AccessDiffers, name);
        } else {
            world.assert_says(AccessReady, Reason::AccessAsRequested, "");
        }
        world.desired.identity_provider = None;
        world.run_for(Duration::from_hours(2));
        assert_eq!(provider(&world), before, "{name} {client}");
        world.assert_says(AccessReady, Reason::AccessAsRequested, "");
        assert_eq!(world.count("AssociateIdentityProviderConfig"), 0);
        assert_eq!(world.count("DisassociateIdentityProviderConfig"), 0);
    }
}

#[test]
fn one_that_vanishes_is_associated_again() {
    let mut world = World::settled(with_provider());
    world.aws.disassociate("people");
    world.run_for(Duration::from_hours(8));
    world.assert_complete();
    assert_eq!(world.count("AssociateIdentityProviderConfig"), 2);
}

#[test]
fn an_association_that_fails_is_named_and_repeated_and_holds_nothing_else_up() {
    let mut world = World::settled(desired());
    world.aws.fail(0, 1, &[]);
    world.desired.identity_provider = Some(identity_provider());
    world.run_until("failed", |it| it.process.record.failed.contains_key("associateIdentityProvider"));
    world.assert_says(AccessReady, Reason::ClusterUpdateFailed, "no free addresses");
    world.desired.zonal_shift = true;
    world.settle();
    world.assert_complete();
    assert!(world.cluster().zonal_shift);
    assert_eq!(world.count("AssociateIdentityProviderConfig"), 2);
    assert!(world.process.record.failed.is_empty());
}

#[test]
fn what_eks_refuses_is_said() {
    let mut world = World::settled(desired());
    let issuer = world.cluster().oidc_issuer.unwrap();
    let mut wanted = identity_provider();
    wanted.settings.issuer_url = issuer;
    world.desired.identity_provider = Some(wanted);
    world.run_for(Duration::from_mins(10));
    world.assert_says(
        AccessReady,
        Reason::RequestInvalid,
        "cannot be same as OpenID Connect (OIDC) issuer URL",
    );
}

#[test]
fn the_capacity_of_the_control_plane_changes_there_and_back() {
    let mut world = World::settled(Desired { scaling_tier: Some(ScalingTier::Xl), ..desired() });
    assert_eq!(world.cluster().scaling_tier, Some(ScalingTier::Xl));
    assert_eq!(world.count("UpdateClusterConfig"), 0, "it is created so");
    for tier in [ScalingTier::FourXl, ScalingTier::Standard] {
        world.desired.scaling_tier = Some(tier);
        world.settle();
        assert_eq!(world.cluster().scaling_tier, Some(tier));
    }
    let updates = world.aws.state().updates;
    let kinds: Vec<_> = updates.iter().filter_map(|it| it.kind).collect();
    assert_eq!(kinds, [UpdateType::ControlPlaneScalingConfigUpdate; 2]);
}

#[test]
fn a_capacity_that_the_spec_says_nothing_of_stays() {
    let mut world = World::settled(desired());
    world.aws.configure(ConfigUpdate::ScalingTier(ScalingTier::TwoXl));
    world.run_for(Duration::from_hours(2));
    assert_eq!(world.cluster().scaling_tier, Some(ScalingTier::TwoXl));
    assert_eq!(world.count("UpdateClusterConfig"), 0);
    world.desired.scaling_tier = Some(ScalingTier::Xl);
    world.settle();
    assert_eq!(world.cluster().scaling_tier, Some(ScalingTier::Xl));
}
