//! The choice of a launch: on demand or spot, and which of the types that a mixed instances policy allows (Auto
//! Scaling User Guide, "Allocation strategies for multiple instance types").

use crate::core::catalogue::TypeInfo;
use crate::core::ec2::instances::Market;
use crate::core::ec2::templates::Version;
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::model::{Group, LaunchSource, Member, MixedPolicy, Override, TemplateRef, units};
use crate::core::region::Region;
use foo_model::{ImageId, InstanceType, Zone};
use std::sync::Arc;

/// On-demand allocation strategies; the first is the default.
pub(crate) const ON_DEMAND_STRATEGIES: [&str; 2] = ["prioritized", LOWEST_PRICE];
/// The only on-demand allocation strategy of instance types that are chosen by their attributes.
pub(crate) const LOWEST_PRICE: &str = "lowest-price";
/// Spot allocation strategies; the first is the default.
pub(crate) const SPOT_STRATEGIES: [&str; 4] =
    ["lowest-price", "capacity-optimized", "capacity-optimized-prioritized", "price-capacity-optimized"];
/// SpotInstancePools if it is not given (API Reference, InstancesDistribution).
const DEFAULT_SPOT_POOLS: usize = 2;

/// Destination of a launched instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Into the group.
    Group,
    /// Into its warm pool.
    WarmPool,
}

/// A candidate for a launch: the template, the version that its reference means now, image, type, and weight in units
/// of capacity.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) template: TemplateRef,
    pub(super) version: Arc<Version>,
    pub(super) image: Option<ImageId>,
    pub(super) instance_type: InstanceType,
    pub(super) weight: u32,
}

impl Choice {
    fn of(template: &TemplateRef, version: &Arc<Version>) -> AwsResult<Self> {
        Ok(Self {
            template: template.clone(),
            version: Arc::clone(version),
            image: version.data.image(),
            instance_type: version.data.instance_type().ok_or_else(|| AwsError::missing("InstanceType"))?,
            weight: 1,
        })
    }
}

impl Region {
    /// The market of the next instance, and the candidates in a zone, best first.
    pub(super) fn choices(
        &self,
        source: &LaunchSource,
        group: &Group,
        zone: &Zone,
        place: Place,
    ) -> AwsResult<(Market, Vec<Choice>)> {
        match source {
            LaunchSource::Template(template) => {
                let version = self.template_version(template)?;
                let market = if version.data.is_spot() { Market::Spot } else { Market::OnDemand };
                Ok((market, vec![Choice::of(template, &version)?]))
            }
            LaunchSource::Mixed(policy) => {
                let base = self.template_version(&policy.template)?;
                let market = market_of_next(policy, group, place);
                if policy.overrides.is_empty() {
                    return Ok((market, vec![Choice::of(&policy.template, &base)?]));
                }
                let mut choices = Vec::new();
                for choice in &policy.overrides {
                    choices.extend(self.choices_of(policy, choice, &base, market)?);
                }
                match market {
                    Market::OnDemand => self.order_on_demand(policy, &mut choices),
                    Market::Spot => self.order_spot(policy, group, zone, &mut choices)?,
                }
                Ok((market, choices))
            }
        }
    }

    /// The candidates of one override: its type, or all types that meet its requirements.
    fn choices_of(
        &self,
        policy: &MixedPolicy,
        choice: &Override,
        base: &Arc<Version>,
        market: Market,
    ) -> AwsResult<Vec<Choice>> {
        let template = choice.template.as_ref().unwrap_or(&policy.template);
        let version = self.version_of(choice, base)?;
        let image = choice.image().or_else(|| version.data.image());
        let types = match (&choice.instance_type, choice.document.get(&["InstanceRequirements"])) {
            (Some(one), _) => vec![one.clone()],
            (None, Some(requirements)) => {
                let architecture = image
                    .as_ref()
                    .and_then(|image| self.images.get(image))
                    .map(|it| it.architecture.as_str());
                let fits = crate::core::group::requirements::Requirements::read(requirements)?;
                let types = self.types.values();
                let bootable = types.filter(|info| Some(info.architecture.as_str()) == architecture);
                let mut found = fits.choose(bootable, market);
                found.sort_by_key(|info| (info.price(), &info.name));
                found.into_iter().map(|info| info.name.clone()).collect()
            }
            (None, None) => version.data.instance_type().into_iter().collect(),
        };
        Ok(types
            .into_iter()
            .map(|instance_type| Choice {
                template: template.clone(),
                version: Arc::clone(&version),
                image: image.clone(),
                instance_type,
                weight: choice.weight,
            })
            .collect())
    }

    /// Price per unit of capacity, scaled so that weights compare without fractions.
    fn unit_price(&self, choice: &Choice) -> u64 {
        let price = self.types.get(&choice.instance_type).map_or(u64::MAX, TypeInfo::price);
        price.saturating_mul(1_000) / u64::from(choice.weight.max(1))
    }

    fn order_on_demand(&self, policy: &MixedPolicy, choices: &mut [Choice]) {
        if policy.strategy("OnDemandAllocationStrategy", ON_DEMAND_STRATEGIES[0]) == LOWEST_PRICE {
            choices.sort_by_key(|choice| self.unit_price(choice));
        }
    }

    /// Removes candidates above SpotMaxPrice and sorts the others by the allocation strategy. EC2 does not publish
    /// its capacity for spot instances; the simulator uses the capacity of the zone.
    fn order_spot(
        &self,
        policy: &MixedPolicy,
        group: &Group,
        zone: &Zone,
        choices: &mut Vec<Choice>,
    ) -> AwsResult<()> {
        if let Some(limit) = policy.spot_max_price() {
            let price = |choice: &Choice| {
                self.types.get(&choice.instance_type).map_or(u64::MAX, TypeInfo::spot_price)
            };
            let lowest = choices.iter().map(price).min();
            choices.retain(|choice| price(choice) <= limit);
            if let (true, Some(lowest)) = (choices.is_empty(), lowest) {
                return Err(AwsError::new(
                    "SpotMaxPriceTooLow",
                    format!(
                        "Your Spot request price of {} is lower than the minimum required Spot request fulfillment \
                         price of {}.",
                        dollars(limit),
                        dollars(lowest)
                    ),
                ));
            }
        }
        let room = |choice: &Choice| self.room(zone, &choice.instance_type);
        match policy.strategy("SpotAllocationStrategy", SPOT_STRATEGIES[0]) {
            "capacity-optimized" => choices.sort_by_key(|choice| std::cmp::Reverse(room(choice))),
            // In the order of the overrides as far as there is capacity (User Guide: "on a best-effort basis, but
            // optimizes for capacity first").
            "capacity-optimized-prioritized" => choices.sort_by_key(|choice| room(choice) == 0),
            "price-capacity-optimized" => {
                choices.sort_by_key(|choice| (room(choice) == 0, self.unit_price(choice)));
            }
            _ => {
                choices.sort_by_key(|choice| self.unit_price(choice));
                let pools = policy.number("SpotInstancePools").unwrap_or(DEFAULT_SPOT_POOLS);
                let cheapest = pools.clamp(1, choices.len().max(1)).min(choices.len());
                let spread = |choice: &Choice| {
                    let same = |it: &&Member| {
                        it.market == Market::Spot
                            && it.lifecycle.is_capacity()
                            && it.instance_type == choice.instance_type
                            && &it.zone == zone
                    };
                    group.members.values().filter(same).count()
                };
                if let Some(cheapest) = choices.get_mut(..cheapest) {
                    cheapest.sort_by_key(spread);
                }
            }
        }
        Ok(())
    }
}

impl MixedPolicy {
    /// A strategy of the distribution.
    fn strategy<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.distribution.get_text(&[name]).unwrap_or(default)
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.distribution.get_text(&[name])?.parse().ok()
    }

    /// SpotMaxPrice in micro US dollars per hour.
    fn spot_max_price(&self) -> Option<u64> {
        let text = self.distribution.get_text(&["SpotMaxPrice"])?;
        let (dollars, fraction) = text.split_once('.').unwrap_or((text, ""));
        let dollars: u64 = dollars.parse().ok()?;
        let fraction: String = fraction.chars().chain("000000".chars()).take(6).collect();
        Some(dollars.saturating_mul(1_000_000).saturating_add(fraction.parse().ok()?))
    }

    /// How many units of capacity are to be on demand (Auto Scaling User Guide, "Auto Scaling groups with multiple
    /// instance types and purchase options"); a share that is not a whole number is rounded up in favour of on
    /// demand.
    pub(super) fn on_demand_units(&self, desired: u32) -> u64 {
        let above = u64::from(desired.saturating_sub(self.on_demand_base));
        u64::from(self.on_demand_base) + (above * u64::from(self.on_demand_percentage)).div_ceil(100)
    }
}

/// Whether a member counts as on-demand capacity.
pub(super) fn is_on_demand(member: &Member) -> bool {
    member.market == Market::OnDemand && member.lifecycle.is_capacity()
}

/// On demand while the members that stay have less on-demand capacity than required. Members that are to be replaced
/// do not count, and a launch beyond desired capacity raises the requirement.
fn market_of_next(policy: &MixedPolicy, group: &Group, place: Place) -> Market {
    let stays = |it: &&Member| it.lifecycle.is_capacity() && !Group::is_outgoing(it);
    let warm = group.warm.values().filter(|it| place == Place::WarmPool && !it.lifecycle.is_leaving());
    let counted: Vec<&Member> = group.members.values().filter(stays).chain(warm).collect();
    let present_units = units(counted.iter().copied());
    let on_demand = units(counted.iter().copied().filter(|it| it.market == Market::OnDemand));
    let total = group.sizes.desired.max(present_units.saturating_add(1));
    if u64::from(on_demand) < policy.on_demand_units(total) { Market::OnDemand } else { Market::Spot }
}

fn dollars(micro: u64) -> String {
    format!("{}.{:04}", micro / 1_000_000, micro % 1_000_000 / 100)
}
