//! Placement groups, Capacity Reservations and snapshots: calls about them, and what launches need of them.

use crate::core::document::Document;
use crate::core::due::Event;
use crate::core::ec2::capacity::{
    CapacityReservation, MatchCriteria, Period, PlacementGroup, Snapshot, Strategy,
};
use crate::core::ec2::instances::{Ec2Instance, Market};
use crate::core::ec2::launch_data::LaunchData;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::core::tags;
use foo_model::network::Tags;
use foo_model::{InstanceId, InstanceType, Timestamp, Zone};

/// Running instances of a spread placement group in a zone (EC2 User Guide, "Placement strategies for your placement
/// groups").
const MOST_SPREAD: usize = 7;

/// A Capacity Reservation to create.
#[derive(Clone, Debug)]
pub struct NewReservation {
    /// Type of the instances.
    pub instance_type: InstanceType,
    /// Where they are.
    pub zone: Zone,
    /// How many there can be.
    pub total: u32,
    /// Who uses it.
    pub criteria: MatchCriteria,
    /// Its tags.
    pub tags: Tags,
}

impl Region {
    /// CreatePlacementGroup.
    ///
    /// # Errors
    /// EC2's code for a name that is taken.
    pub fn create_placement_group(
        &mut self,
        name: &str,
        strategy: Strategy,
        tags: Tags,
    ) -> AwsResult<&PlacementGroup> {
        tags::check(&tags)?;
        if self.capacity.placement_groups.contains_key(name) {
            let text = format!("The placement group '{name}' already exists.");
            return Err(AwsError::new("InvalidPlacementGroup.Duplicate", text));
        }
        let id = self.network_chance.id("pg");
        let group = PlacementGroup { id, strategy, tags };
        Ok(self.capacity.placement_groups.entry(name.to_owned()).or_insert(group))
    }

    /// DeletePlacementGroup.
    ///
    /// # Errors
    /// EC2's codes for groups that do not exist or have instances.
    pub fn delete_placement_group(&mut self, name: &str) -> AwsResult<()> {
        if self.alive_instances().any(|it| it.placement_group.as_deref() == Some(name)) {
            let text = format!("The placement group '{name}' is in use and may not be deleted.");
            return Err(AwsError::new("InvalidPlacementGroup.InUse", text));
        }
        let known = self.capacity.placement_groups.remove(name);
        known.map(drop).ok_or_else(|| unknown_group(name))
    }

    /// CreateCapacityReservation, and its id. The capacity exists at once, whatever the limits of the zone are.
    ///
    /// # Errors
    /// EC2's codes for types and zones that do not exist.
    pub fn create_capacity_reservation(&mut self, new: NewReservation) -> AwsResult<String> {
        self.reserve(new, None)
    }

    /// A Capacity Block that was bought, and its id. It is targeted, whatever the request says.
    ///
    /// # Errors
    /// EC2's codes for types and zones that do not exist.
    pub fn create_capacity_block(&mut self, new: NewReservation, period: Period) -> AwsResult<String> {
        let id = self.reserve(NewReservation { criteria: MatchCriteria::Targeted, ..new }, Some(period))?;
        self.due.at(period.instances_end(), Event::BlockEnds(id.clone()));
        Ok(id)
    }

    /// The owner of a Capacity Block has extended it: it ends at this moment (EC2 User Guide, "Extend Capacity Blocks").
    ///
    /// # Errors
    /// EC2's code for a block that does not exist.
    pub fn extend_capacity_block(&mut self, id: &str, ends: Timestamp) -> AwsResult<()> {
        let found = self.capacity.reservations.get_mut(id).and_then(|it| it.block.as_mut());
        let period = found.ok_or_else(|| unknown_reservation(id))?;
        period.ends = ends;
        let at = period.instances_end();
        self.due.at(at, Event::BlockEnds(id.to_owned()));
        Ok(())
    }

    /// EC2 terminates the instances of a Capacity Block before it ends, unless it was extended meanwhile.
    pub(crate) fn end_block(&mut self, id: &str) {
        let period = self.capacity.reservations.get(id).and_then(|it| it.block);
        if period.is_none_or(|it| self.now < it.instances_end()) {
            return;
        }
        let inside = self.alive_instances().filter(|it| it.capacity_reservation.as_deref() == Some(id));
        let inside: Vec<InstanceId> = inside.map(|it| it.id.clone()).collect();
        for instance in inside {
            self.terminate_in_ec2(&instance, BLOCK_ENDS);
        }
    }

    fn reserve(&mut self, new: NewReservation, block: Option<Period>) -> AwsResult<String> {
        let NewReservation { instance_type, zone, total, criteria, tags } = new;
        tags::check(&tags)?;
        if !self.types.contains_key(&instance_type) {
            return Err(AwsError::invalid_value(format!(
                "Invalid value '{instance_type}' for InstanceType."
            )));
        }
        if !self.network.zones.contains_key(&zone) {
            return Err(AwsError::invalid_value(format!("Invalid availability zone: [{zone}]")));
        }
        let id = self.network_chance.id("cr");
        let created = self.now;
        let new =
            CapacityReservation { instance_type, zone, total, criteria, active: true, block, created, tags };
        self.capacity.reservations.insert(id.clone(), new);
        Ok(id)
    }

    /// CancelCapacityReservation. Its instances stay, as on-demand instances.
    ///
    /// # Errors
    /// EC2's code for a reservation that does not exist or was cancelled.
    pub fn cancel_capacity_reservation(&mut self, id: &str) -> AwsResult<()> {
        let found = self.capacity.reservations.get_mut(id).filter(|it| it.active);
        found.ok_or_else(|| unknown_reservation(id))?.active = false;
        Ok(())
    }

    /// How many instances a reservation still has capacity for.
    pub fn capacity_left(&self, id: &str) -> u32 {
        let now = self.now;
        let found = self.capacity.reservations.get(id).filter(|it| it.takes_launches(now));
        let Some(reservation) = found else { return 0 };
        let used = self.alive_instances().filter(|it| it.capacity_reservation.as_deref() == Some(id));
        reservation.total.saturating_sub(foo_model::count(used))
    }

    /// CreateSnapshot of a volume that a workload made, and its id. It is complete at once.
    ///
    /// # Errors
    /// EC2's code for a volume that does not exist.
    pub fn create_snapshot(&mut self, volume: &str, description: &str, tags: Tags) -> AwsResult<String> {
        tags::check(&tags)?;
        let known = self.volumes.get(volume).ok_or_else(|| {
            AwsError::new("InvalidVolume.NotFound", format!("The volume '{volume}' does not exist."))
        })?;
        let snapshot = Snapshot {
            size_gib: known.size_gib,
            volume: volume.to_owned(),
            description: description.to_owned(),
            started: self.now,
            tags,
        };
        let id = self.network_chance.id("snap");
        self.capacity.snapshots.insert(id.clone(), snapshot);
        Ok(id)
    }

    /// DeleteSnapshot.
    ///
    /// # Errors
    /// EC2's code for a snapshot that does not exist.
    pub fn delete_snapshot(&mut self, id: &str) -> AwsResult<()> {
        self.capacity.snapshots.remove(id).map(drop).ok_or_else(|| unknown_snapshot(id))
    }

    /// Refuses launch data that name a placement group, partition, reservation or snapshot that does not exist.
    pub(crate) fn check_capacity(&self, data: &LaunchData) -> AwsResult<()> {
        if let Some((name, group)) = self.placement_group_of(data)? {
            let partition = data.document.get_text(&["placement", "partitionNumber"]);
            match (partition.map(str::parse::<u32>), group.strategy) {
                (None, _) => {}
                (Some(Ok(number)), Strategy::Partition(count)) if (1..=count).contains(&number) => {}
                (Some(_), Strategy::Partition(count)) => {
                    let text = format!("The placement group '{name}' has the partitions 1 to {count}.");
                    return Err(AwsError::invalid_value(text));
                }
                (Some(_), Strategy::Cluster | Strategy::Spread) => {
                    let text =
                        "The parameter PartitionNumber is for placement groups with the strategy partition.";
                    return Err(AwsError::new("InvalidParameterCombination", text));
                }
            }
        }
        if let Some(id) = target(data)
            && !self.capacity.reservations.get(id).is_some_and(|it| it.active)
        {
            return Err(unknown_reservation(id));
        }
        let volumes = data.document.get_list(&["blockDeviceMappingSet"]);
        volumes.iter().try_for_each(|mapping| self.check_snapshot(mapping))
    }

    fn check_snapshot(&self, mapping: &Document) -> AwsResult<()> {
        let Some(id) = mapping.get_text(&["ebs", "snapshotId"]) else { return Ok(()) };
        let snapshot = self.capacity.snapshots.get(id).ok_or_else(|| unknown_snapshot(id))?;
        let size = mapping.get_text(&["ebs", "volumeSize"]).and_then(|text| text.parse::<u32>().ok());
        match size.filter(|size| *size < snapshot.size_gib) {
            None => Ok(()),
            Some(size) => Err(AwsError::new(
                "InvalidBlockDeviceMapping",
                format!(
                    "Volume of size {size}GB is smaller than snapshot '{id}', expect size >= {}GB",
                    snapshot.size_gib
                ),
            )),
        }
    }

    /// The reservation that a launch uses in a zone; `None` is on-demand or spot capacity.
    pub(crate) fn reservation_for(
        &self,
        data: &LaunchData,
        instance_type: &InstanceType,
        zone: &Zone,
        market: Market,
    ) -> AwsResult<Option<String>> {
        let fits = |id: &str, it: &CapacityReservation| {
            it.active && &it.instance_type == instance_type && &it.zone == zone && self.capacity_left(id) > 0
        };
        self.check_block(data)?;
        let preference = ["capacityReservationSpecification", "capacityReservationPreference"];
        let preference = data.document.get_text(&preference).unwrap_or("open");
        let needs_one = target(data).is_some() || preference == "capacity-reservations-only";
        if market == Market::Spot && needs_one {
            return Err(AwsError::new(
                "InvalidParameterCombination",
                "You cannot specify a Capacity Reservation for Spot Instances.",
            ));
        }
        if let Some(id) = target(data) {
            let reservation = self.capacity.reservations.get(id).ok_or_else(|| unknown_reservation(id))?;
            return if fits(id, reservation) { Ok(Some(id.to_owned())) } else { Err(exceeded()) };
        }
        if market == Market::Spot || preference == "none" {
            return Ok(None);
        }
        let mut open = self.capacity.reservations.iter().filter(|(_, it)| it.criteria == MatchCriteria::Open);
        let found = open.find(|(id, it)| fits(id, it)).map(|(id, _)| id.clone());
        if found.is_none() && preference == "capacity-reservations-only" {
            return Err(exceeded());
        }
        Ok(found)
    }

    /// Refuses instances of the market `capacity-block` outside of a Capacity Block, and others in one, and those of one that has not
    /// started or ends. **(A)** The code of the first two.
    fn check_block(&self, data: &LaunchData) -> AwsResult<()> {
        let found = target(data).and_then(|id| self.capacity.reservations.get(id));
        let combination = |text: &str| Err(AwsError::new("InvalidParameterCombination", text));
        match found {
            Some(it) if it.block.is_some() && !data.is_block() => {
                combination("A Capacity Block needs the market type capacity-block.")
            }
            Some(it) if it.block.is_none() && data.is_block() => {
                combination("The market type capacity-block needs a Capacity Block.")
            }
            Some(it) if it.block.is_some() && !it.takes_launches(self.now) => Err(AwsError::new(
                "InsufficientInstanceCapacity",
                "The requested Capacity Block is not active, or its instances are being terminated.",
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// Refuses a launch for which a placement group has no place in a zone. The code is that of any lack of capacity
    /// **(A)**.
    pub(crate) fn check_place(&self, data: &LaunchData, zone: &Zone) -> AwsResult<()> {
        let Some((name, group)) = self.placement_group_of(data)? else { return Ok(()) };
        let mut members = self.alive_instances().filter(|it| it.placement_group.as_deref() == Some(name));
        let refused = match group.strategy {
            Strategy::Cluster => members.any(|it| &it.zone != zone),
            Strategy::Spread => members.filter(|it| &it.zone == zone).count() >= MOST_SPREAD,
            Strategy::Partition(_) => false,
        };
        if !refused {
            return Ok(());
        }
        let text = format!(
            "We currently do not have sufficient capacity in {zone} for the placement group '{name}' with the strategy {}.",
            group.strategy.name()
        );
        Err(AwsError::new("InsufficientInstanceCapacity", text))
    }

    /// The placement group that launch data name, with its name.
    pub(crate) fn placement_group_of(&self, data: &LaunchData) -> AwsResult<Option<(&str, &PlacementGroup)>> {
        let text = |field| data.document.get_text(&["placement", field]);
        let (named, with_id) = (text("groupName"), text("groupId"));
        let Some(wanted) = named.or(with_id) else { return Ok(None) };
        let mut groups = self.capacity.placement_groups.iter();
        let found = groups.find(|(name, group)| match named {
            Some(named) => name.as_str() == named,
            None => group.id == wanted,
        });
        found.map(|(name, group)| Some((name.as_str(), group))).ok_or_else(|| unknown_group(wanted))
    }

    fn alive_instances(&self) -> impl Iterator<Item = &Ec2Instance> {
        self.instances().filter(|it| it.state.is_alive())
    }
}

/// Why EC2 ends the instances of a Capacity Block. **(A)** Its words.
const BLOCK_ENDS: (&str, &str) =
    ("Server.CapacityBlockExpiration", "Server.CapacityBlockExpiration: The Capacity Block ends");

fn target(data: &LaunchData) -> Option<&str> {
    let path = ["capacityReservationSpecification", "capacityReservationTarget", "capacityReservationId"];
    data.document.get_text(&path)
}

fn unknown_group(name: &str) -> AwsError {
    AwsError::new("InvalidPlacementGroup.Unknown", format!("The Placement Group '{name}' is unknown."))
}

fn unknown_reservation(id: &str) -> AwsError {
    let text = format!("The capacity reservation '{id}' does not exist");
    AwsError::new("InvalidCapacityReservationId.NotFound", text)
}

fn unknown_snapshot(id: &str) -> AwsError {
    AwsError::new("InvalidSnapshot.NotFound", format!("The snapshot '{id}' does not exist."))
}

/// EC2 API Reference, "Error codes": ReservationCapacityExceeded.
fn exceeded() -> AwsError {
    AwsError::new(
        "ReservationCapacityExceeded",
        "The requested reservation does not have sufficient compatible and available capacity for this request.",
    )
}
