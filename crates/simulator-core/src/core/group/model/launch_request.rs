//! Requests to LaunchInstances, and what came of them.

use crate::core::ec2::instances::Market;
use foo_model::{GroupName, InstanceId, InstanceType, SubnetId, Zone};
use serde::Serialize;
use std::collections::BTreeMap;

/// Requests that are kept by their client token.
const TOKENS_KEPT: usize = 1_000;

/// Parameters of LaunchInstances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchRequest {
    /// The group.
    pub group: GroupName,
    /// Units of capacity.
    pub capacity: u32,
    /// ClientToken.
    pub token: String,
    /// The zone or subnet to launch in; may be absent for a group with one zone.
    pub place: Option<LaunchPlace>,
    /// `retry-with-group-configuration`: the group launches later what could not be launched now.
    pub retries: bool,
}

/// Where LaunchInstances launches to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchPlace {
    /// A zone by name.
    Zone(Zone),
    /// A zone by id.
    ZoneId(String),
    /// A subnet.
    Subnet(SubnetId),
}

/// Response of LaunchInstances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Launched {
    /// The launched instances, grouped by type, market and subnet.
    pub instances: Vec<LaunchedInstances>,
    /// What could not be launched.
    pub errors: Vec<LaunchError>,
}

/// Instances of one type, market and subnet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaunchedInstances {
    /// Their type.
    pub instance_type: InstanceType,
    /// Their market.
    pub market: Market,
    /// Their subnet.
    pub subnet: SubnetId,
    /// Their zone.
    pub zone: Zone,
    /// Their ids.
    pub ids: Vec<InstanceId>,
}

/// Why something could not be launched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LaunchError {
    /// The zone that was asked for.
    pub zone: Zone,
    /// The subnet that was asked for.
    pub subnet: Option<SubnetId>,
    /// EC2's code.
    pub code: String,
    /// EC2's message.
    pub message: String,
}

/// Requests by token; the oldest is dropped first.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaunchTokens {
    pub(in crate::core) known: BTreeMap<String, (u64, LaunchRequest, Launched)>,
}

impl LaunchTokens {
    pub(in crate::core) fn remember(&mut self, serial: u64, request: LaunchRequest, launched: Launched) {
        if self.known.len() >= TOKENS_KEPT {
            let oldest =
                self.known.iter().min_by_key(|(_, (serial, ..))| *serial).map(|(token, _)| token.clone());
            oldest.and_then(|token| self.known.remove(&token));
        }
        self.known.insert(request.token.clone(), (serial, request, launched));
    }
}

impl Launched {
    pub(in crate::core) fn add(
        &mut self,
        instance_type: InstanceType,
        market: Market,
        subnet: SubnetId,
        zone: &Zone,
        id: InstanceId,
    ) {
        let same = |it: &&mut LaunchedInstances| {
            it.instance_type == instance_type && it.market == market && it.subnet == subnet
        };
        match self.instances.iter_mut().find(same) {
            Some(known) => known.ids.push(id),
            None => self.instances.push(LaunchedInstances {
                instance_type,
                market,
                subnet,
                zone: zone.clone(),
                ids: vec![id],
            }),
        }
    }
}
