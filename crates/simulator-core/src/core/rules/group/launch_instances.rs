//! LaunchInstances: launches into a group synchronously, and returns the instances (Auto Scaling User Guide, "Launch
//! instances synchronously").

use super::choose::Place;
use super::launch::Failure;
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::model::Group;
use crate::core::region::Region;
use crate::core::time::iso_seconds;
use foo_model::{SubnetId, Zone};

pub use crate::core::group::model::launch_request::{
    LaunchError, LaunchPlace, LaunchRequest, Launched, LaunchedInstances,
};

impl Region {
    /// LaunchInstances. Raises desired capacity by what was launched, or with retries by everything that was
    /// requested.
    ///
    /// # Errors
    /// `IdempotentParameterMismatch`; `ValidationError` above the maximum, or for a place that is not the group's.
    pub fn launch_instances(&mut self, request: LaunchRequest) -> AwsResult<Launched> {
        if let Some((_, earlier, launched)) = self.launch_tokens.known.get(&request.token) {
            if *earlier == request {
                return Ok(launched.clone());
            }
            return Err(AwsError::new(
                "IdempotentParameterMismatch",
                "The client token was already used with different parameters.",
            ));
        }
        let group = self.living_group(&request.group)?;
        let wanted = group.sizes.desired.saturating_add(request.capacity);
        if wanted > group.sizes.max {
            return Err(AwsError::validation(format!(
                "The requested capacity {} would bring the group above its max size {}.",
                request.capacity, group.sizes.max
            )));
        }
        let (zone, subnet) = self.place_of(group, request.place.as_ref())?;
        let source = group.launches().clone();
        let cause = format!("At {} a user request launched instances.", iso_seconds(self.now));
        let mut launched = Launched::default();
        let mut still_missing = request.capacity;
        while still_missing > 0 {
            match self.recipe(&request.group, &source, &zone, subnet.as_ref(), Place::Group) {
                Ok(recipe) => {
                    let (market, subnet) = (recipe.market, recipe.subnet.clone());
                    let (weight, instance_type) = (recipe.choice.weight, recipe.choice.instance_type.clone());
                    let Some(id) = self.launch(&request.group, recipe, cause.clone(), Place::Group) else {
                        break;
                    };
                    still_missing = still_missing.saturating_sub(weight);
                    launched.add(instance_type, market, subnet, &zone, id);
                }
                Err(Failure { error, .. }) => {
                    launched.errors.push(LaunchError {
                        zone: zone.clone(),
                        subnet: subnet.clone(),
                        code: error.code,
                        message: error.message,
                    });
                    break;
                }
            }
        }
        let more =
            if request.retries { request.capacity } else { request.capacity.saturating_sub(still_missing) };
        if let Some(group) = self.groups.get_mut(&request.group) {
            group.sizes.desired = group.sizes.desired.saturating_add(more).min(group.sizes.max);
        }
        self.wake_soon(&request.group);
        let serial = self.next_serial();
        self.launch_tokens.remember(serial, request, launched.clone());
        Ok(launched)
    }

    fn place_of(&self, group: &Group, place: Option<&LaunchPlace>) -> AwsResult<(Zone, Option<SubnetId>)> {
        let of_group = |zone: Zone| {
            if group.zones.contains(&zone) {
                return Ok(zone);
            }
            Err(AwsError::validation(format!("The Availability Zone {zone} is not one of the group's.")))
        };
        match place {
            Some(LaunchPlace::Zone(zone)) => Ok((of_group(zone.clone())?, None)),
            Some(LaunchPlace::ZoneId(id)) => {
                let found = self.network.zones.iter().find(|(_, known)| *known == id);
                let zone = found.map_or_else(|| Zone::from(id.as_str()), |(zone, _)| zone.clone());
                Ok((of_group(zone)?, None))
            }
            Some(LaunchPlace::Subnet(id)) => {
                let subnet = self.network.subnets.get(id).filter(|_| group.subnets.contains(id));
                let subnet = subnet.ok_or_else(|| {
                    AwsError::validation(format!("The subnet {id} is not one of the group's."))
                })?;
                Ok((subnet.zone.clone(), Some(id.clone())))
            }
            None => match group.zones.as_slice() {
                [one] => Ok((one.clone(), None)),
                _ => Err(AwsError::validation(
                    "A group with several Availability Zones needs an Availability Zone or a subnet.",
                )),
            },
        }
    }
}
