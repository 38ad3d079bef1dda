//! Capacity Reservations, by their ids.

use crate::error::{self, Gap};
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types as aws;
use aws_smithy_types::DateTime;
use foo_cloud::{ErrorKind, Operation, Result};
use foo_model::{AwsTime, FoundReservation, InstanceType, ReservationKind, Zone};

/// The reservation with this id; `None` if EC2 does not know it.
pub(crate) async fn describe(client: &Client, id: &str) -> Result<Option<FoundReservation>> {
    const OPERATION: Operation = Operation::DescribeCapacityReservations;
    let response = client.describe_capacity_reservations().capacity_reservation_ids(id).send().await;
    match response.map_err(|failed| error::of(OPERATION, &failed)) {
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(response) => {
            let first = response.capacity_reservations().first();
            first.map(|one| reservation(one).map_err(|gap| gap.during(OPERATION))).transpose()
        }
    }
}

fn reservation(found: &aws::CapacityReservation) -> Result<FoundReservation, Gap> {
    let moment = |time: Option<&DateTime>| time.and_then(|it| it.to_millis().ok()).map(AwsTime::from_millis);
    Ok(FoundReservation {
        kind: match found.reservation_type() {
            Some(aws::CapacityReservationType::CapacityBlock) => ReservationKind::CapacityBlock,
            _ => ReservationKind::OnDemand,
        },
        state: found.state().ok_or(Gap("state"))?.as_str().to_owned(),
        instance_type: InstanceType::new(found.instance_type().ok_or(Gap("instanceType"))?),
        zone: Zone::new(found.availability_zone().ok_or(Gap("availabilityZone"))?),
        starts: moment(found.start_date()),
        ends: moment(found.end_date()),
    })
}
