//! Mixed instances policies: markets, weights, allocation strategies, requirements, termination policies (Auto Scaling User
//! Guide, "Auto Scaling groups with multiple instance types and purchase options").

use super::scene::{Scene, name, refusal, scene};
use crate::core::catalogue::{IMAGE_ARM64, IMAGE_X86_64};
use crate::core::document::Document;
use crate::core::ec2::instances::Market;
use crate::core::ec2::templates::TemplateKey;
use crate::core::error::AwsResult;
use crate::core::mishaps::ZoneState;
use crate::core::network::PRIVATE_SUBNETS;
use crate::core::rules::group::launch_instances::LaunchRequest;
use crate::core::rules::group::operations::NewGroup;
use crate::core::rules::group::refresh::{PreferencesSpec, RefreshStatus};
use crate::core::rules::group::source::{OverrideSpec, SourceSpec, TemplateSpec};
use crate::core::rules::group::warm_pool::WarmPoolChange;
use foo_model::SubnetId;

pub(super) fn types(names: &[&str]) -> Vec<Document> {
    names.iter().map(|name| Document::map().with("InstanceType", Some(Document::text(name)))).collect()
}

pub(super) fn weighted(choices: &[(&str, u32)]) -> Vec<Document> {
    let weighted = |(name, weight): &(&str, u32)| {
        Document::map()
            .with("InstanceType", Some(Document::text(name)))
            .with("WeightedCapacity", Some(Document::text(weight)))
    };
    choices.iter().map(weighted).collect()
}

/// Launches what the overrides say from the latest version of a template.
pub(super) fn mix(template: &str, overrides: Vec<Document>, distribution: &[(&str, &str)]) -> SourceSpec {
    let distribution = distribution
        .iter()
        .fold(Document::map(), |document, (name, value)| document.with(name, Some(Document::text(value))));
    SourceSpec::Mixed {
        template: Some(TemplateSpec { key: TemplateKey::Name(template.to_owned()), version: None }),
        overrides: Some(
            overrides.into_iter().map(|document| OverrideSpec { template: None, document }).collect(),
        ),
        distribution: Some(distribution),
    }
}

impl Scene {
    /// A group in zone a only, so that the choice of a type is all there is to choose.
    pub(super) fn mixed(
        &self,
        sizes: (u32, u32, u32),
        overrides: Vec<Document>,
        distribution: &[(&str, &str)],
    ) -> NewGroup {
        let mut new = self.pool(sizes);
        new.source = Some(mix("pool-template", overrides, distribution));
        new.subnets = vec![SubnetId::from(PRIVATE_SUBNETS[0])];
        new
    }

    fn launched(
        &self,
        sizes: (u32, u32, u32),
        overrides: Vec<Document>,
        distribution: &[(&str, &str)],
    ) -> Vec<String> {
        let new = self.mixed(sizes, overrides, distribution);
        self.create(new).expect("a group");
        self.wait(21);
        self.types()
    }

    fn try_distribution(&self, distribution: &[(&str, &str)]) -> AwsResult<()> {
        let new = self.mixed((0, 1, 1), types(&["m7i.large"]), distribution);
        self.create(new)
    }
}

const SPOT: (&str, &str) = ("OnDemandPercentageAboveBaseCapacity", "0");

#[test]
fn on_demand_takes_the_first_or_the_cheapest_override() {
    let overrides = types(&["m7i.xlarge", "m7i.large"]);
    assert_eq!(scene().launched((0, 1, 1), overrides.clone(), &[]), ["m7i.xlarge"]);
    let cheapest = [("OnDemandAllocationStrategy", "lowest-price")];
    assert_eq!(scene().launched((0, 1, 1), overrides, &cheapest), ["m7i.large"]);
}

#[test]
fn spot_strategies_order_the_overrides() {
    let overrides = types(&["m7i.2xlarge", "m7i.xlarge", "m7i.large"]);
    let launched = |strategy, pools: Option<&str>| {
        let scene = scene();
        scene.region.set_capacity_limit("eu-central-1a", "m7i.2xlarge", Some(3)).expect("a limit");
        scene.region.set_capacity_limit("eu-central-1a", "m7i.xlarge", Some(9)).expect("a limit");
        scene.region.set_capacity_limit("eu-central-1a", "m7i.large", Some(1)).expect("a limit");
        let mut distribution = vec![SPOT, ("SpotAllocationStrategy", strategy)];
        distribution.extend(pools.map(|pools| ("SpotInstancePools", pools)));
        scene.launched((0, 2, 2), overrides.clone(), &distribution)
    };
    assert_eq!(
        launched("lowest-price", Some("1")),
        ["m7i.large", "m7i.xlarge"],
        "cheapest first, while there is room"
    );
    assert_eq!(launched("lowest-price", None), ["m7i.large", "m7i.xlarge"], "spread over the two cheapest");
    assert_eq!(launched("capacity-optimized", None), ["m7i.xlarge", "m7i.xlarge"], "most room");
    assert_eq!(
        launched("capacity-optimized-prioritized", None),
        ["m7i.2xlarge", "m7i.2xlarge"],
        "their order"
    );
    assert_eq!(launched("price-capacity-optimized", None), ["m7i.large", "m7i.xlarge"], "room, then price");
}

#[test]
fn a_spot_price_below_the_market_launches_nothing() {
    let scene = scene();
    let distribution = [SPOT, ("SpotMaxPrice", "0.0001")];
    assert!(scene.launched((0, 1, 1), types(&["m7i.large"]), &distribution).is_empty());
    let message = scene.activities()[0].status_message.clone().unwrap_or_default();
    assert!(message.contains("Your Spot request price of 0.0001 is lower than"), "{message}");
}

#[test]
fn base_and_percentage_decide_between_the_markets() {
    let scene = scene();
    let distribution = [("OnDemandBaseCapacity", "2"), ("OnDemandPercentageAboveBaseCapacity", "25")];
    scene.launched((0, 10, 10), types(&["m7i.large"]), &distribution);
    let on_demand = scene.group().members.values().filter(|it| it.market == Market::OnDemand).count();
    assert_eq!(on_demand, 4);
}

/// Auto Scaling User Guide, "Instance weights": capacity is counted in units; the last launch may exceed desired capacity,
/// scale-in never goes below it.
#[test]
fn weights_count_as_capacity() {
    let scene = scene();
    let overrides = weighted(&[("m7i.2xlarge", 4), ("m7i.large", 1)]);
    assert_eq!(scene.launched((0, 9, 20), overrides, &[]), ["m7i.2xlarge"; 3], "12 units for 9");
    assert_eq!(scene.group().capacity(), 12);
    scene.wait(200);
    assert_eq!(scene.types().len(), 3, "without one of them 8 units would be too few");
    scene.set_desired(8).expect("set");
    scene.wait(60);
    assert_eq!(scene.group().capacity(), 8);
    let id = scene.in_service()[0].clone();
    scene.with(|region| region.terminate_member(&id, foo_model::Decrement::Shrink).map(drop)).expect("ended");
    assert_eq!(scene.group().sizes.desired, 4, "decremented by its weight");
}

fn with_image(instance_type: &str, image: &str) -> Document {
    types(&[instance_type]).remove(0).with("ImageId", Some(Document::text(image)))
}

/// API Reference, LaunchTemplateOverrides: `ImageId`, for instances launched with the override.
#[test]
fn a_type_of_another_architecture_boots_the_image_of_its_override() {
    let scene = scene();
    scene.region.set_capacity_limit("eu-central-1a", "m7i.large", Some(1)).expect("a limit");
    let overrides = vec![types(&["m7i.large"]).remove(0), with_image("m7g.large", IMAGE_ARM64)];
    assert_eq!(scene.launched((0, 2, 2), overrides, &[]), ["m7g.large", "m7i.large"]);
    boots_each_its_image(&scene);
}

/// One instance of each architecture boots the image of its own.
fn boots_each_its_image(scene: &Scene) {
    let mut booted: Vec<(String, String)> = scene
        .region
        .instances()
        .iter()
        .map(|it| (it.instance_type.to_string(), it.image.to_string()))
        .collect();
    booted.sort();
    let own = |name: &str, image: &str| (name.to_owned(), image.to_owned());
    assert_eq!(booted, [own("m7g.large", IMAGE_ARM64), own("m7i.large", IMAGE_X86_64)]);
}

/// API Reference, LaunchTemplate: what an override has replaces the same of the launch template. InstanceRequirements:
/// "Instances will be launched with a compatible CPU architecture based on the Amazon Machine Image (AMI)".
#[test]
fn a_set_of_attributes_leads_to_types_of_the_architecture_of_its_image() {
    let scene = scene();
    scene.region.set_capacity_limit("eu-central-1a", "m7g.large", Some(1)).expect("a limit");
    let only =
        ("AllowedInstanceTypes", Document::List(["m7g.large", "m7i.large"].map(Document::text).into()));
    let set = attributes(&[only]).remove(0);
    let arm64 = set.clone().with("ImageId", Some(Document::text(IMAGE_ARM64)));
    assert_eq!(scene.launched((0, 2, 2), vec![set, arm64], &[]), ["m7g.large", "m7i.large"]);
    boots_each_its_image(&scene);
}

/// EC2 User Guide, "Amazon EC2 instance types": image and type have one architecture. The image of the override counts.
#[test]
fn a_type_that_does_not_boot_its_image_is_refused() {
    for overrides in [
        vec![types(&["m7i.large"]).remove(0), types(&["m7g.large"]).remove(0)],
        vec![types(&["m7i.large"]).remove(0), with_image("m7g.large", IMAGE_X86_64)],
        vec![with_image("m7i.large", IMAGE_ARM64)],
    ] {
        let scene = scene();
        let (code, message) = refusal(scene.create(scene.mixed((0, 1, 1), overrides, &[])));
        assert_eq!(code, "ValidationError");
        assert!(message.contains("does not match the architecture"), "{message}");
    }
    let scene = scene();
    let missing = vec![with_image("m7i.large", "ami-0ffffffffffffffff")];
    let (_, message) = refusal(scene.create(scene.mixed((0, 1, 1), missing, &[])));
    assert!(message.contains("does not exist"), "{message}");
}

#[test]
fn types_can_be_chosen_by_their_attributes() {
    let range = |min: u32, max: u32| {
        Document::map().with("Min", Some(Document::text(min))).with("Max", Some(Document::text(max)))
    };
    let requirements = Document::map()
        .with("VCpuCount", Some(range(2, 4)))
        .with("MemoryMiB", Some(range(16 * 1024, 16 * 1024)))
        .with("ExcludedInstanceTypes", Some(Document::List(vec![Document::text("r7*")])));
    let choice = Document::map().with("InstanceRequirements", Some(requirements.clone()));
    let launched = scene().launched((0, 1, 1), vec![choice], &[]);
    assert_eq!(launched, ["m7i.xlarge"], "16 GiB, x86_64, not r7i; types with a GPU are too expensive");
    let unknown = requirements.with("RequireHibernateSupport", Some(Document::text("true")));
    let scene = scene();
    let choice = Document::map().with("InstanceRequirements", Some(unknown));
    let new = scene.mixed((0, 1, 1), vec![choice], &[]);
    assert_eq!(refusal(scene.create(new)).0, "ValidationError");
}

/// Types of 2 to 8 vCPUs with more attributes.
fn attributes(more: &[(&str, Document)]) -> Vec<Document> {
    let at_least = |min: u32| Document::map().with("Min", Some(Document::text(min)));
    let vcpus = at_least(2).with("Max", Some(Document::text(8)));
    let document = Document::map().with("VCpuCount", Some(vcpus)).with("MemoryMiB", Some(at_least(1)));
    let document =
        more.iter().fold(document, |document, (name, value)| document.with(name, Some(value.clone())));
    vec![Document::map().with("InstanceRequirements", Some(document))]
}

/// API Reference, InstanceRequirements: price protection, relative to the cheapest current type of the families C, M and R.
#[test]
fn price_protection_excludes_expensive_types() {
    let only = |pattern: &str| ("AllowedInstanceTypes", Document::List(vec![Document::text(pattern)]));
    let refused = |more: &[(&str, Document)]| scene().launched((0, 1, 1), attributes(more), &[]).is_empty();
    let text = |text: &str| Document::text(text);
    // The only type that is allowed is its own reference.
    assert_eq!(scene().launched((0, 1, 1), attributes(&[only("m7i.2xlarge")]), &[]), ["m7i.2xlarge"]);
    let exclude = |patterns: &[&str]| {
        ("ExcludedInstanceTypes", Document::List(patterns.iter().map(Document::text).collect()))
    };
    // Among m7i only, with the cheapest at its capacity: the next one costs twice as much.
    let launched = |more: &[(&str, Document)]| {
        let scene = scene();
        scene.region.set_capacity_limit("eu-central-1a", "m7i.large", Some(1)).expect("a limit");
        scene.launched((0, 2, 2), attributes(more), &[])
    };
    assert_eq!(launched(&[only("m7i.*")]), ["m7i.large"], "20 % by default");
    let off = ("OnDemandMaxPricePercentageOverLowestPrice", text("999999"));
    assert_eq!(launched(&[only("m7i.*"), off]), ["m7i.large", "m7i.xlarge"]);
    assert!(refused(&[exclude(&["*"])]));
    let spot = |more: &[(&str, Document)]| {
        let scene = scene();
        scene.region.set_capacity_limit("eu-central-1a", "m7i.large", Some(1)).expect("a limit");
        let strategy = ("SpotAllocationStrategy", "price-capacity-optimized");
        scene.launched((0, 2, 2), attributes(more), &[SPOT, strategy])
    };
    assert_eq!(
        spot(&[only("m7i.*")]),
        ["m7i.large", "m7i.xlarge"],
        "no threshold of spot prices is documented"
    );
    let over = ("SpotMaxPricePercentageOverLowestPrice", text("50"));
    assert_eq!(spot(&[only("m7i.*"), over.clone()]), ["m7i.large"]);
    // A spot instance costs 40 % of the on-demand price here: m7i.xlarge 80 % of that of m7i.large.
    let share = |percentage| ("MaxSpotPriceAsPercentageOfOptimalOnDemandPrice", text(percentage));
    assert_eq!(spot(&[only("m7i.*"), share("79")]), ["m7i.large"]);
    assert_eq!(spot(&[only("m7i.*"), share("80")]), ["m7i.large", "m7i.xlarge"]);
}

/// API Reference, LaunchTemplateOverrides, InstanceRequirements, InstancesDistribution.
#[test]
fn sets_of_attributes_that_contradict_themselves_are_refused() {
    let list = |pattern: &str| Document::List(vec![Document::text(pattern)]);
    let refuses = |overrides: Vec<Document>, distribution: &[(&str, &str)]| {
        let scene = scene();
        let new = scene.mixed((0, 1, 1), overrides, distribution);
        assert_eq!(refusal(scene.create(new)).0, "ValidationError");
    };
    refuses(attributes(&[("AllowedInstanceTypes", list("m*")), ("ExcludedInstanceTypes", list("c*"))]), &[]);
    let share = ("MaxSpotPriceAsPercentageOfOptimalOnDemandPrice", Document::text("50"));
    refuses(attributes(&[share, ("SpotMaxPricePercentageOverLowestPrice", Document::text("50"))]), &[]);
    refuses(attributes(&[("OnDemandMaxPricePercentageOverLowestPrice", Document::text("few"))]), &[]);
    refuses(attributes(&[]), &[("OnDemandAllocationStrategy", "prioritized")]);
    refuses(attributes(&[]), &[("SpotAllocationStrategy", "capacity-optimized-prioritized")]);
    refuses(vec![attributes(&[]).remove(0); 5], &[]);
    let both = attributes(&[]).remove(0).with("InstanceType", Some(Document::text("m7i.large")));
    refuses(vec![both], &[]);
    let scene = scene();
    let four = scene.mixed((0, 1, 1), vec![attributes(&[]).remove(0); 4], &[]);
    scene.create(four).expect("a group");
}

#[test]
fn what_a_distribution_says_must_make_sense() {
    for bad in [
        [("SpotAllocationStrategy", "luck"), SPOT],
        [("OnDemandAllocationStrategy", "luck"), SPOT],
        [("SpotInstancePools", "21"), SPOT],
        [("SpotInstancePools", "2"), ("SpotAllocationStrategy", "capacity-optimized")],
        [("OnDemandPercentageAboveBaseCapacity", "101"), ("OnDemandBaseCapacity", "0")],
    ] {
        assert_eq!(refusal(scene().try_distribution(&bad)).0, "ValidationError", "{bad:?}");
    }
    let scene = scene();
    let half = vec![weighted(&[("m7i.large", 1)]).remove(0), types(&["m7i.xlarge"]).remove(0)];
    let new = scene.mixed((0, 1, 1), half, &[]);
    assert_eq!(refusal(scene.create(new)).0, "ValidationError", "all overrides have weights, or none");
}

/// Auto Scaling User Guide, "Default termination policy": first what brings the group back to its distribution.
#[test]
fn scale_in_of_a_mixed_group_ends_the_market_of_which_there_is_too_much() {
    let scene = scene();
    let distribution = [("OnDemandBaseCapacity", "1"), SPOT];
    scene.launched((0, 4, 4), types(&["m7i.large"]), &distribution);
    scene.set_desired(1).expect("set");
    scene.wait(60);
    let left: Vec<Market> = scene.group().members.values().map(|it| it.market).collect();
    assert_eq!(left, [Market::OnDemand]);
}

/// A base or percentage of 100 % is on demand, also while instances are replaced or launched beyond the desired capacity.
#[test]
fn nothing_of_a_group_that_is_all_on_demand_is_spot() {
    let scene = scene();
    let on_demand = [("OnDemandPercentageAboveBaseCapacity", "100")];
    scene.create(scene.mixed((0, 2, 8), types(&["m7i.large", "m7i.xlarge"]), &on_demand)).expect("a group");
    scene.wait(60);
    let above =
        PreferencesSpec { min_healthy: Some(100), max_healthy: Some(150), ..PreferencesSpec::default() };
    scene.with(|region| region.start_refresh(&name("pool"), None, above)).expect("started");
    scene.wait(600);
    let refreshed = scene.group().refreshes.last().map(|it| it.status);
    assert_eq!(refreshed, Some(RefreshStatus::Successful));
    let prepared = WarmPoolChange { max_prepared: Some(Some(5)), ..WarmPoolChange::default() };
    scene.with(|region| region.put_warm_pool(&name("pool"), prepared)).expect("a warm pool");
    scene.wait(60);
    let request = LaunchRequest {
        group: name("pool"),
        capacity: 1,
        token: "t".to_owned(),
        place: None,
        retries: false,
    };
    scene.with(|region| region.launch_instances(request)).expect("launched");
    let group = scene.group();
    assert_eq!((group.members.len(), group.warm.len()), (3, 3));
    let markets = group.members.values().chain(group.warm.values()).map(|it| it.market);
    assert!(markets.into_iter().all(|market| market == Market::OnDemand));
}

/// "you might end up with more capacity than you need": what exceeds the size by less than an instance stays.
#[test]
fn a_warm_pool_of_weighted_instances_comes_to_rest() {
    let scene = scene();
    let weights = weighted(&[("m7i.large", 4), ("m7i.xlarge", 4)]);
    let on_demand = [("OnDemandPercentageAboveBaseCapacity", "100")];
    scene.create(scene.mixed((0, 4, 40), weights, &on_demand)).expect("a group");
    let prepared = WarmPoolChange { max_prepared: Some(Some(14)), ..WarmPoolChange::default() };
    scene.with(|region| region.put_warm_pool(&name("pool"), prepared)).expect("a warm pool");
    scene.wait(600);
    let launched = scene.with(|region| region.instance_count());
    assert_eq!((launched, scene.group().warm.len()), (4, 3), "10 units need three instances of 4");
    scene.wait(600);
    assert_eq!(scene.with(|region| region.instance_count()), launched);
}

#[test]
fn a_refresh_counts_instances_whatever_they_weigh() {
    for (sizes, preferences, seconds) in [
        (
            (0, 16, 40),
            PreferencesSpec {
                checkpoints: vec![50, 100],
                min_healthy: Some(50),
                ..PreferencesSpec::default()
            },
            9000,
        ),
        ((0, 400, 400), PreferencesSpec { min_healthy: Some(99), ..PreferencesSpec::default() }, 20_000),
    ] {
        let scene = scene();
        let on_demand = [("OnDemandPercentageAboveBaseCapacity", "100")];
        scene.create(scene.mixed(sizes, weighted(&[("m7i.large", 4)]), &on_demand)).expect("a group");
        scene.wait(60);
        scene.with(|region| region.start_refresh(&name("pool"), None, preferences)).expect("started");
        scene.wait(seconds);
        let refresh = scene.group().refreshes.last().cloned().expect("a refresh");
        assert_eq!(refresh.status, RefreshStatus::Successful, "{:?}", refresh.reason);
    }
}

/// A group goes above its maximum "by at least one instance" to rebalance, whatever the instance weighs.
#[test]
fn rebalancing_makes_room_for_a_whole_instance() {
    let scene = scene();
    let on_demand = [("OnDemandPercentageAboveBaseCapacity", "100")];
    let mut new = scene.mixed((0, 7, 7), weighted(&[("m7i.large", 2)]), &on_demand);
    new.subnets = PRIVATE_SUBNETS[..2].iter().map(|it| SubnetId::from(*it)).collect();
    scene.region.set_zone_state("eu-central-1b", ZoneState::Impaired).expect("a zone");
    scene.create(new).expect("a group");
    scene.wait(60);
    scene.region.set_zone_state("eu-central-1b", ZoneState::Available).expect("a zone");
    scene.wait(600);
    let group = scene.group();
    assert_eq!(group.members.len(), 4);
    assert_eq!(group.members.values().filter(|it| it.zone.as_str() == "eu-central-1b").count(), 2);
    assert!(group.members.values().all(|it| it.outgoing.is_none()));
}
