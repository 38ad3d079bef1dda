//! Placement, Capacity Reservations and license configurations, from a launch template to a FooMachinePool.

use super::options::{known, named};
use super::template::{Placement, Reservation, TemplateData};
use foo_api::FooMachinePoolSpec;
use foo_api::pool::{self as api, Tenancy};

/// The market of instances in Capacity Blocks, as EC2 names it.
const BLOCK: &str = "capacity-block";

/// Whether the launch template names the Capacity Block that its instances run in.
pub(super) fn is_in_block(data: &TemplateData) -> bool {
    let market = data.instance_market_options.as_ref().and_then(|it| it.market_type.as_deref());
    let reservation = data.capacity_reservation_specification.as_ref();
    let target = reservation.and_then(|it| it.capacity_reservation_target.as_ref());
    market == Some(BLOCK) && target.is_some_and(|it| it.capacity_reservation_id.is_some())
}

/// The spec with these settings of the launch template. What no FooMachinePool can have is named.
pub(super) fn with_capacity(
    spec: FooMachinePoolSpec,
    data: &TemplateData,
    differences: &mut Vec<String>,
) -> FooMachinePoolSpec {
    let market = data.instance_market_options.as_ref().and_then(|it| it.market_type.as_deref());
    let licenses = data.license_specifications.iter();
    FooMachinePoolSpec {
        tenancy: data.placement.as_ref().and_then(|it| tenancy(it, differences)),
        placement: data.placement.as_ref().and_then(placement),
        capacity_reservation: data
            .capacity_reservation_specification
            .as_ref()
            .and_then(|it| reservation(it, market, differences)),
        license_configurations: licenses.filter_map(|it| it.license_configuration_arn.clone()).collect(),
        ..spec
    }
}

/// The tenancy of a host resource group is that of its hosts; a FooMachinePool does not name it.
fn tenancy(placement: &Placement, differences: &mut Vec<String>) -> Option<Tenancy> {
    differences.extend(named("placement", &placement.others));
    let tenancy = placement.tenancy.as_deref();
    known(tenancy.filter(|_| placement.host_resource_group_arn.is_none()), "tenancy", differences)
}

fn placement(placement: &Placement) -> Option<api::Placement> {
    let Placement { group_name, group_id, partition_number, host_resource_group_arn, tenancy: _, others: _ } =
        placement;
    let placement = api::Placement {
        group_name: group_name.clone(),
        group_id: group_id.clone(),
        partition_number: *partition_number,
        host_resource_group_arn: host_resource_group_arn.clone(),
    };
    Some(placement).filter(|it| *it != api::Placement::default())
}

/// Reservations of a FooMachinePool are for on-demand instances; Capacity Blocks, which have a market of their own, are named by their
/// ids.
fn reservation(
    reservation: &Reservation,
    market: Option<&str>,
    differences: &mut Vec<String>,
) -> Option<api::CapacityReservation> {
    let target = reservation.capacity_reservation_target.clone().unwrap_or_default();
    if market == Some(BLOCK) {
        let block = target.capacity_reservation_id.map(api::CapacityBlock::of)?;
        return Some(api::CapacityReservation { block: Some(block), ..Default::default() });
    }
    let preference = reservation.capacity_reservation_preference.as_deref();
    if let Some(market) = market {
        let named = target.capacity_reservation_id.as_deref();
        let named = named.or(target.capacity_reservation_resource_group_arn.as_deref()).or(preference)?;
        differences.push(format!(
            "Capacity Reservation {named} with the market {market}: a FooMachinePool has reservations for on-demand instances"
        ));
        return None;
    }
    let target = api::CapacityReservation {
        preference: None,
        id: target.capacity_reservation_id,
        resource_group_arn: target.capacity_reservation_resource_group_arn,
        block: None,
    };
    if target != api::CapacityReservation::default() {
        return Some(target);
    }
    let preference = known(preference, "CapacityReservationPreference", differences)?;
    Some(api::CapacityReservation { preference: Some(preference), ..target })
}
