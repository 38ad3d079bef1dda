//! Failures that are requested: states of zones, rules for launches, quotas.

use crate::core::ec2::instances::Market;
use crate::core::error::{AwsError, AwsResult};
use crate::core::mishaps::{CallOutcome, LaunchMishap, Mishap, QuotaClass, ZoneState};
use crate::core::region::Region;
use foo_cloud::{InstanceState, VcpuQuota};
use foo_model::{GroupName, InstanceId, InstanceType, Zone};
use std::collections::BTreeMap;
use std::time::Duration;

impl Region {
    /// State of a zone.
    pub fn zone_state(&self, zone: &Zone) -> ZoneState {
        self.mishaps.zones.get(zone).copied().unwrap_or_default()
    }

    /// Sets the state of a zone. Instances of an unavailable zone fail their next health checks.
    ///
    /// # Errors
    /// The region has no such zone.
    pub fn set_zone_state(&mut self, zone: &Zone, state: ZoneState) -> AwsResult<()> {
        if !self.network.zones.contains_key(zone) {
            return Err(AwsError::invalid_value(format!("There is no zone {zone}.")));
        }
        self.mishaps.zones.insert(zone.clone(), state);
        if state == ZoneState::Unavailable {
            let ids: Vec<InstanceId> = self
                .instances()
                .filter(|it| &it.zone == zone && it.group.is_some() && it.state.is_alive())
                .map(|it| it.id.clone())
                .collect();
            for id in ids {
                self.check_health_soon(&id);
            }
        }
        if state == ZoneState::Available {
            let affected = self.groups.iter().filter(|(_, group)| group.zones.contains(zone));
            let names: Vec<GroupName> = affected.map(|(name, _)| name.clone()).collect();
            for name in names {
                self.wake_soon(&name);
            }
        }
        Ok(())
    }

    /// For this duration EC2 leaves the instances of a zone out of successful responses: one failing lookup within EC2
    /// can hide all instances of a zone (kubernetes-sigs/karpenter, `describeinstances.go`).
    ///
    /// # Errors
    /// The region has no such zone.
    pub fn leave_out_zone(&mut self, zone: &Zone, time: Duration) -> AwsResult<()> {
        if !self.network.zones.contains_key(zone) {
            return Err(AwsError::invalid_value(format!("There is no zone {zone}.")));
        }
        self.mishaps.left_out.insert(zone.clone(), self.now.plus(time));
        Ok(())
    }

    pub(crate) fn is_available(&self, zone: &Zone) -> bool {
        self.zone_state(zone) == ZoneState::Available
    }

    /// Whether a zone is down, with what runs in it.
    pub fn is_unavailable(&self, zone: &Zone) -> bool {
        self.zone_state(zone) == ZoneState::Unavailable
    }

    /// Replaces the rules for future launches.
    pub fn set_launch_mishaps(&mut self, rules: Vec<LaunchMishap>) {
        self.mishaps.launches = rules;
    }

    /// The rules for future launches that are not used up.
    pub fn launch_mishaps(&self) -> &[LaunchMishap] {
        &self.mishaps.launches
    }

    /// The error with which a rule refuses the next launch, if one does.
    pub(crate) fn launch_fault(&mut self, group: &GroupName, zone: &Zone) -> Option<AwsError> {
        match self.take_mishap(group, zone, |mishap| matches!(mishap, Mishap::Refused { .. }))? {
            Mishap::Refused { code, message } => Some(AwsError::new(code, message)),
            Mishap::Dies | Mishap::NeverJoins => None,
        }
    }

    /// How a rule makes the next launched instance fail, if one does.
    pub(crate) fn fate_of_launch(&mut self, group: &GroupName, zone: &Zone) -> Option<CallOutcome> {
        match self.take_mishap(group, zone, |mishap| !matches!(mishap, Mishap::Refused { .. }))? {
            Mishap::Dies => Some(CallOutcome::Dies),
            Mishap::NeverJoins => Some(CallOutcome::NeverJoins),
            Mishap::Refused { .. } => None,
        }
    }

    fn take_mishap(&mut self, group: &GroupName, zone: &Zone, fits: fn(&Mishap) -> bool) -> Option<Mishap> {
        let mut struck = None;
        for rule in &mut self.mishaps.launches {
            let concerns = rule.group.as_ref().is_none_or(|it| it == group)
                && rule.zone.as_ref().is_none_or(|it| it == zone)
                && fits(&rule.mishap);
            if !concerns {
                continue;
            }
            if rule.skip > 0 {
                rule.skip -= 1;
            } else if struck.is_none() {
                rule.times = rule.times.map(|times| times.saturating_sub(1));
                struck = Some(rule.mishap.clone());
            }
        }
        self.mishaps.launches.retain(|rule| rule.times != Some(0));
        struck
    }

    /// Sets how many vCPUs of a class can run; `None` removes the quota.
    pub fn set_vcpu_quota(&mut self, class: QuotaClass, vcpus: Option<u32>) {
        match vcpus {
            Some(vcpus) => self.mishaps.quotas.insert(class, vcpus),
            None => self.mishaps.quotas.remove(&class),
        };
    }

    /// The quotas that are set, in vCPUs.
    pub fn vcpu_quotas(&self) -> &BTreeMap<QuotaClass, u32> {
        &self.mishaps.quotas
    }

    /// What Service Quotas shows for a quota: that of the class it belongs to.
    pub fn vcpu_quota(&self, quota: VcpuQuota) -> Option<u32> {
        self.mishaps.quotas.get(&QuotaClass::reported_as(quota)).copied()
    }

    /// Refuses one more instance if that exceeds the account's quota (EC2 API Reference, "Error codes":
    /// VcpuLimitExceeded, MaxSpotInstanceCountExceeded).
    pub(crate) fn check_quota(&self, instance_type: &InstanceType, market: Market) -> AwsResult<()> {
        let class = QuotaClass::of(instance_type, market);
        let Some(quota) = self.mishaps.quotas.get(&class).copied() else { return Ok(()) };
        // Stopped instances do not count (EC2 User Guide, "Amazon EC2 service quotas": running instances).
        let counts = |state| matches!(state, InstanceState::Pending | InstanceState::Running);
        let vcpus = |name: &InstanceType| self.types.get(name).map_or(0, |info| info.vcpus);
        let used = self
            .instances()
            .filter(|it| counts(it.state) && QuotaClass::of(&it.instance_type, it.market) == class)
            .fold(0_u32, |sum, it| sum.saturating_add(vcpus(&it.instance_type)));
        if used.saturating_add(vcpus(instance_type)) <= quota {
            return Ok(());
        }
        Err(match market {
            Market::OnDemand => AwsError::new(
                "VcpuLimitExceeded",
                format!(
                    "You have requested more vCPU capacity than your current vCPU limit of {quota} allows for the \
                     instance bucket that the specified instance type belongs to. Please visit \
                     http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit."
                ),
            ),
            Market::Spot => AwsError::new("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded"),
        })
    }
}
