//! The API of one region for tests: reads of the complete state, and changes that AWS's API does not offer.

use crate::core::Region;
use crate::core::catalogue::{Boot, Image, TypeInfo};
use crate::core::ec2::instances::Ec2Instance;
use crate::core::ec2::templates::Template;
use crate::core::ec2::workload_volumes::WorkloadVolume;
use crate::core::error::{AwsError, AwsResult};
use crate::core::events::CloudEvent;
use crate::core::group::activity::{Activity, ActivityLog};
use crate::core::group::model::{Group, RootVolume};
use crate::core::mishaps::{LaunchMishap, QuotaClass, ZoneState};
use crate::core::network::{SecurityGroupSpec, SubnetSpec, VpcSpec};
use crate::core::rules::group::members::GracePeriod;
use crate::core::settings::Settings;
use crate::core::sqs::delivery::EventRule;
use crate::world::World;
use foo_cloud::InstanceState;
use foo_model::{GroupName, Health, ImageId, InstanceId, InstanceType, Timestamp, Zone};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// A region of a simulator.
#[derive(Clone, Debug)]
pub struct RegionHandle {
    world: Arc<World>,
    name: String,
}

/// A running instance, with what its kubelet knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeInstance {
    /// Instance id.
    pub id: InstanceId,
    /// Zone.
    pub zone: Zone,
    /// Type.
    pub instance_type: InstanceType,
    /// Private DNS name: the Node's name.
    pub private_dns: String,
    /// Private address.
    pub private_ip: String,
    /// When it was launched.
    pub launched: Timestamp,
    /// Image.
    pub image: ImageId,
    /// Whether its Node joins.
    pub boots: Boot,
    /// The group it is a member of.
    pub group: Option<GroupName>,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// Its user data, in base64. The control API does not show it.
    #[serde(skip)]
    pub user_data: Option<Arc<str>>,
}

impl RegionHandle {
    pub(crate) fn new(world: Arc<World>, name: &str) -> Self {
        Self { world, name: name.to_owned() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls `work` with the region's state at the present time. The whole simulator is locked meanwhile.
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn with<T>(&self, work: impl FnOnce(&mut Region) -> T) -> AwsResult<T> {
        self.world.in_region(&self.name, work)
    }

    /// An object as this instance gets it, as the role in its instance profile.
    ///
    /// # Errors
    /// Those of GetObject.
    pub fn object_for_instance(&self, id: &InstanceId, bucket: &str, key: &str) -> AwsResult<Vec<u8>> {
        let profile = self.instance(id).and_then(|instance| instance.instance_profile).unwrap_or_default();
        let name = profile.rsplit('/').next().unwrap_or_default();
        let role = {
            let inner = self.world.lock();
            let found = inner.keys.instance_profile(name).and_then(|profile| inner.keys.role(&profile.role?));
            found.map(|role| role.arn(self.world.account()))
        };
        self.with(|region| region.object_for(bucket, key, role.as_deref()))?
    }

    fn read<T: Default>(&self, work: impl FnOnce(&mut Region) -> T) -> T {
        self.with(work).unwrap_or_default()
    }

    /// Replaces the rules that send events to queues.
    ///
    /// # Errors
    /// `QueueDoesNotExist`.
    pub fn set_event_rules(&self, rules: Vec<EventRule>) -> AwsResult<()> {
        self.with(|region| region.set_event_rules(rules))?
    }

    /// The rules that send events to queues.
    pub fn event_rules(&self) -> Vec<EventRule> {
        self.with(|region| region.event_rules().to_vec()).unwrap_or_default()
    }

    /// The latest events with a number above `sequence`, as targets of an EventBridge rule get them, oldest first; each
    /// with its number.
    pub fn events_after(&self, sequence: u64) -> Vec<(u64, Value)> {
        self.read(|region| {
            let numbered =
                |event: &CloudEvent| (event.sequence, event.to_json(&region.account, &region.name));
            region.events_after(sequence).map(numbered).collect()
        })
    }

    /// Publishes an event that the simulator itself does not cause ([`Region::publish`]).
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn publish(
        &self,
        source: &str,
        detail_type: &str,
        resources: Vec<String>,
        detail: Value,
    ) -> AwsResult<()> {
        self.with(|region| region.publish(source.to_owned(), detail_type, resources, detail))
    }

    /// All instances that EC2 shows as running: a test bed's kubelets.
    pub fn in_service_instances(&self) -> Vec<NodeInstance> {
        self.read(|region| {
            region
                .instances()
                .filter(|it| it.state == InstanceState::Running && !region.is_unavailable(&it.zone))
                .filter_map(|instance| {
                    let addresses = instance.addresses.as_ref()?;
                    Some(NodeInstance {
                        id: instance.id.clone(),
                        zone: instance.zone.clone(),
                        instance_type: instance.instance_type.clone(),
                        private_dns: addresses.private_dns.clone(),
                        private_ip: addresses.private.to_string(),
                        launched: instance.launched,
                        image: instance.image.clone(),
                        boots: match instance.boots {
                            Boot::Fails => Boot::Fails,
                            Boot::Succeeds => {
                                region.images.get(&instance.image).map(|it| it.boots).unwrap_or_default()
                            }
                        },
                        group: instance.group.clone(),
                        tags: instance.tags.clone(),
                        user_data: instance.user_data.clone(),
                    })
                })
                .collect()
        })
    }

    /// The name of an image.
    pub fn image_name(&self, id: &ImageId) -> Option<String> {
        self.read(|region| region.images.get(id).map(|image| image.name.clone()))
    }

    /// A group.
    pub fn group(&self, name: &str) -> Option<Group> {
        self.read(|region| region.group(&GroupName::from(name)).cloned())
    }

    /// All groups.
    pub fn groups(&self) -> Vec<Group> {
        self.read(|region| region.groups().cloned().collect())
    }

    /// An instance, terminated or not.
    pub fn instance(&self, id: &InstanceId) -> Option<Ec2Instance> {
        self.read(|region| region.instance(id).cloned())
    }

    /// All instances, terminated ones included.
    pub fn instances(&self) -> Vec<Ec2Instance> {
        self.read(|region| region.instances().cloned().collect())
    }

    /// All launch templates.
    pub fn templates(&self) -> Vec<Template> {
        self.read(|region| region.templates.by_id.iter().map(|(_, template)| template.clone()).collect())
    }

    /// The activities of a group, newest first, also after its deletion.
    pub fn activities(&self, group: &str) -> Vec<Activity> {
        self.read(|region| {
            region
                .activity_log(&GroupName::from(group))
                .into_iter()
                .flat_map(ActivityLog::newest_first)
                .map(|(_, activity)| activity.clone())
                .collect()
        })
    }

    /// EC2 recommends to replace a spot instance ([`Region::recommend_rebalance`]).
    ///
    /// # Errors
    /// It is not a running spot instance.
    pub fn recommend_rebalance(&self, id: &InstanceId) -> AwsResult<()> {
        self.with(|region| region.recommend_rebalance(id))?
    }

    /// EC2 interrupts a spot instance in two minutes ([`Region::interrupt`]).
    ///
    /// # Errors
    /// It is not a running spot instance.
    pub fn interrupt(&self, id: &InstanceId) -> AwsResult<()> {
        self.with(|region| region.interrupt(id))?
    }

    /// Reports a member as unhealthy (SetInstanceHealth without the grace period): its group replaces it, with its
    /// hooks.
    ///
    /// # Errors
    /// It is not a member of a group.
    pub fn find_unhealthy(&self, id: &InstanceId) -> AwsResult<()> {
        self.with(|region| region.set_health(id, Health::Unhealthy, GracePeriod::Ignored))?
    }

    /// EC2 schedules an event for an instance ([`Region::schedule_event`]).
    ///
    /// # Errors
    /// There is no such instance, or no event of that code.
    pub fn schedule_event(&self, id: &InstanceId, code: &str, ahead: Duration) -> AwsResult<()> {
        self.with(|region| region.schedule_event(id, code, ahead))?
    }

    /// Sets what an instance wrote to its console ([`Region::write_console`]).
    ///
    /// # Errors
    /// There is no such instance.
    pub fn write_console(&self, id: &InstanceId, output: &str) -> AwsResult<()> {
        self.with(|region| region.write_console(id, output))?
    }

    /// Sets the state of the root volume replacement of a member ([`Region::set_root_volume`]).
    ///
    /// # Errors
    /// It is not a member in service.
    pub fn set_root_volume(&self, id: &InstanceId, state: Option<RootVolume>) -> AwsResult<()> {
        self.with(|region| region.set_root_volume(id, state))?
    }

    /// Terminates an instance in EC2, without a call to Auto Scaling.
    ///
    /// # Errors
    /// There is no such instance.
    pub fn kill_instance(&self, id: &InstanceId) -> AwsResult<()> {
        self.with(|region| {
            if region.instance(id).is_none() {
                return Err(AwsError::new(
                    "InvalidInstanceID.NotFound",
                    format!("The instance ID '{id}' does not exist"),
                ));
            }
            region.terminate_in_ec2(
                id,
                ("Server.InternalError", "Server.InternalError: Internal error on launch"),
            );
            Ok(())
        })?
    }

    /// Sets the capacity of a zone for a type, in instances; `None` removes the limit.
    ///
    /// # Errors
    /// The region has no such zone or type.
    pub fn set_capacity_limit(&self, zone: &str, instance_type: &str, limit: Option<u32>) -> AwsResult<()> {
        self.with(|region| {
            let (zone, instance_type) = (Zone::from(zone), InstanceType::from(instance_type));
            if !region.network.zones.contains_key(&zone) || !region.types.contains_key(&instance_type) {
                return Err(AwsError::invalid_value(format!("There is no {instance_type} in {zone}.")));
            }
            region.set_capacity_limit(zone, instance_type, limit);
            Ok(())
        })?
    }

    /// AWS publishes a parameter, or another value of it ([`Parameters::publish`](crate::core::ssm::Parameters::publish)).
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn publish_parameter(&self, name: &str, value: &str) -> AwsResult<()> {
        self.with(|region| {
            let now = region.now();
            region.parameters.publish(name, value.to_owned(), now);
        })
    }

    /// Sets the state of a zone ([`Region::set_zone_state`]).
    ///
    /// # Errors
    /// The region has no such zone.
    pub fn set_zone_state(&self, zone: &str, state: ZoneState) -> AwsResult<()> {
        self.with(|region| region.set_zone_state(&Zone::from(zone), state))?
    }

    /// EC2 leaves the instances of a zone out of its responses for this time ([`Region::leave_out_zone`]).
    ///
    /// # Errors
    /// The region has no such zone.
    pub fn leave_out_zone(&self, zone: &str, time: Duration) -> AwsResult<()> {
        self.with(|region| region.leave_out_zone(&Zone::from(zone), time))?
    }

    /// Replaces the rules for future launches ([`Region::set_launch_mishaps`]).
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn set_launch_mishaps(&self, rules: Vec<LaunchMishap>) -> AwsResult<()> {
        self.with(|region| region.set_launch_mishaps(rules))
    }

    /// The rules for future launches that are not used up.
    pub fn launch_mishaps(&self) -> Vec<LaunchMishap> {
        self.read(|region| region.launch_mishaps().to_vec())
    }

    /// Sets how many vCPUs of a class of types can run; `None` removes the quota.
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn set_vcpu_quota(&self, class: QuotaClass, vcpus: Option<u32>) -> AwsResult<()> {
        self.with(|region| region.set_vcpu_quota(class, vcpus))
    }

    /// The quotas that are set, in vCPUs.
    pub fn vcpu_quotas(&self) -> BTreeMap<QuotaClass, u32> {
        self.read(|region| region.vcpu_quotas().clone())
    }

    /// A driver in a workload cluster makes a volume, and this is its id.
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn put_volume(&self, volume: WorkloadVolume) -> AwsResult<String> {
        self.with(|region| region.put_volume(volume))
    }

    /// A volume is deleted; whether it was there.
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn delete_volume(&self, id: &str) -> AwsResult<bool> {
        self.with(|region| region.delete_volume(id))
    }

    /// Decides whether the Nodes of instances launched from an image join.
    ///
    /// # Errors
    /// There is no such image.
    pub fn set_image_boot(&self, image: &str, boots: Boot) -> AwsResult<()> {
        self.change_image(image, |image| image.boots = boots)
    }

    /// Makes an image available, or deregisters it.
    ///
    /// # Errors
    /// There is no such image.
    pub fn set_image_available(&self, image: &str, available: bool) -> AwsResult<()> {
        self.change_image(image, |image| image.available = available)
    }

    fn change_image(&self, id: &str, change: impl FnOnce(&mut Image)) -> AwsResult<()> {
        self.with(|region| match region.images.get_mut(&ImageId::from(id)) {
            Some(image) => {
                change(image);
                Ok(())
            }
            None => {
                Err(AwsError::new("InvalidAMIID.NotFound", format!("The image id '[{id}]' does not exist")))
            }
        })?
    }

    /// Adds or replaces an image.
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn put_image(&self, image: Image) -> AwsResult<()> {
        self.with(|region| drop(region.images.insert(image.id.clone(), image)))
    }

    /// Adds or replaces an instance type.
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn put_instance_type(&self, info: TypeInfo) -> AwsResult<()> {
        self.with(|region| drop(region.types.insert(info.name.clone(), info)))
    }

    /// Adds or replaces a VPC.
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn put_vpc(&self, vpc: VpcSpec) -> AwsResult<()> {
        self.with(|region| {
            let owner = region.account.clone();
            region.network.put_vpc(vpc, &owner);
        })
    }

    /// Adds or replaces a subnet, and its zone if that is new.
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn put_subnet(&self, subnet: SubnetSpec) -> AwsResult<()> {
        self.with(|region| region.network.put_subnet(subnet))
    }

    /// Adds or replaces a security group.
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn put_security_group(&self, group: SecurityGroupSpec) -> AwsResult<()> {
        self.with(|region| region.network.put_security_group(group))
    }

    /// The settings of the region.
    pub fn settings(&self) -> Settings {
        self.read(|region| region.settings.clone())
    }

    /// Changes the settings of the region from now on. Reads with a longer read lag do not go back beyond this call.
    ///
    /// # Errors
    /// The name cannot be a region's.
    pub fn change_settings(&self, change: impl FnOnce(&mut Settings)) -> AwsResult<()> {
        self.with(|region| {
            let lag = region.settings.read_lag;
            change(&mut region.settings);
            if region.settings.read_lag != lag {
                region.apply_read_lag();
            }
        })
    }

    /// Everything in the region, as JSON.
    pub fn state(&self) -> Value {
        self.read(|region| {
            let templates: Vec<&Template> =
                region.templates.by_id.iter().map(|(_, template)| template).collect();
            let activities: BTreeMap<&str, Vec<&Activity>> = region
                .activities
                .iter()
                .map(|(group, log)| {
                    (group.as_str(), log.newest_first().map(|(_, activity)| activity).collect())
                })
                .collect();
            let limits: Vec<Value> = region
                .capacity_limits()
                .iter()
                .map(|((zone, instance_type), limit)| {
                    json!({ "zone": zone, "instance_type": instance_type, "limit": limit })
                })
                .collect();
            json!({
                "now": region.now(),
                "groups": region.groups().collect::<Vec<_>>(),
                "instances": region.instances().collect::<Vec<_>>(),
                "templates": templates,
                "activities": activities,
                "capacity_limits": limits,
                "network": region.network,
                "eks": region.eks,
                "images": region.images,
                "settings": region.settings,
            })
        })
    }
}
