//! What the checks read from AWS, by the AWS CLI with the user's own credentials.

use crate::aws::{Aws, refusal};
use async_trait::async_trait;
use foo_cloud::{
    CloudError, ErrorKind, ImageInfo, ImageQuery, InstanceTypeInfo, NetworkQuery, Operation, Result,
    SubnetInfo, VcpuQuota, literal, newest, quotas, trust,
};
use foo_model::eks::{InstanceProfile, Minor, Role, Support, VersionOffer};
use foo_model::names::{TAG_CLUSTER, TAG_POOL};
use foo_model::network::{Kind, Quotas, ZoneInfo};
use foo_model::{AwsTime, ImageId, InstanceType, Zone};
use foo_preflight::topology::Topology;
use foo_preflight::{Account, Group};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OnceCell, Semaphore};

/// Processes of the AWS CLI at the same time: each takes most of a processor for a second.
const AT_A_TIME: usize = 4;

/// The response to one call, or why there is none.
type Response = std::result::Result<Value, String>;

/// An account and region as the AWS CLI shows it. Each call is sent once.
#[derive(Debug)]
pub(super) struct CliAccount {
    /// The AWS CLI in the region.
    pub aws: Aws,
    at_a_time: Semaphore,
    /// By service, operation and input.
    responses: Mutex<BTreeMap<String, Arc<OnceCell<Response>>>>,
}

impl CliAccount {
    /// Nothing is read yet.
    pub(super) fn new(aws: Aws) -> Self {
        Self { aws, at_a_time: Semaphore::new(AT_A_TIME), responses: Mutex::default() }
    }
}

/// The failure as the checks know it.
fn failed(operation: Operation, text: &str) -> CloudError {
    /// HTTP status of failures of AWS: a code that is not known says nothing about what was asked.
    const OF_AWS: u16 = 500;
    match refusal(text) {
        Some((code, message)) => {
            // A response without a code has its status there.
            let kind = ErrorKind::of_code(operation, code, code.parse().unwrap_or(OF_AWS));
            CloudError::new(operation, kind, Some(code.to_owned()), message)
        }
        None => CloudError::new(operation, ErrorKind::Unreachable, None, text),
    }
}

fn missing(operation: Operation, what: &str) -> CloudError {
    CloudError::new(operation, ErrorKind::NotFound, None, &format!("{what} does not exist"))
}

/// What does not exist is `None`.
fn known<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn number(value: &Value, pointer: &str) -> u32 {
    value.pointer(pointer).and_then(Value::as_u64).and_then(|it| u32::try_from(it).ok()).unwrap_or_default()
}

fn list<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

fn count(value: &Value, key: &str) -> u32 {
    let all = value.get(key).and_then(Value::as_array);
    all.map_or(0, |all| u32::try_from(all.len()).unwrap_or(u32::MAX))
}

fn time(text: &str) -> Option<AwsTime> {
    text.parse::<Timestamp>().ok().map(|at| AwsTime::from_millis(at.as_millisecond()))
}

fn filter(name: &str, values: &[&str]) -> Value {
    json!({"Name": name, "Values": values})
}

fn image(it: &Value) -> ImageInfo {
    ImageInfo {
        id: ImageId::new(text(it, "ImageId")),
        name: text(it, "Name"),
        architecture: text(it, "Architecture"),
        root_device: text(it, "RootDeviceName"),
        available: text(it, "State") == "available",
        created: time(&text(it, "CreationDate")).unwrap_or_default(),
        deprecated_from: time(&text(it, "DeprecationTime")),
    }
}

/// EC2 lists Trainium and Inferentia2 as Neuron devices, and the first Inferentia as inference accelerators (EC2 API
/// Reference, `InstanceTypeInfo`).
fn instance_type(it: &Value) -> InstanceTypeInfo {
    let of = |key: &'static str, maker: &'static str| {
        let by_maker = move |it: &&Value| text(it, "Manufacturer").eq_ignore_ascii_case(maker);
        list(it, key).filter(by_maker).map(|it| number(it, "/Count")).sum::<u32>()
    };
    let neuron: u32 = list(it, "/NeuronInfo/NeuronDevices").map(|it| number(it, "/Count")).sum();
    let accelerators = of("/InferenceAcceleratorInfo/Accelerators", "AWS");
    let supported: Vec<&str> =
        list(it, "/ProcessorInfo/SupportedArchitectures").filter_map(Value::as_str).collect();
    let usable =
        supported.iter().find(|one| ["x86_64", "arm64"].contains(*one)).or_else(|| supported.first());
    let weightings = list(it, "/NetworkInfo/BandwidthWeightings").filter_map(Value::as_str);
    InstanceTypeInfo {
        instance_type: InstanceType::new(text(it, "InstanceType")),
        vcpus: number(it, "/VCpuInfo/DefaultVCpus"),
        memory_mib: u64::from(number(it, "/MemoryInfo/SizeInMiB")),
        nvidia_gpus: of("/GpuInfo/Gpus", "NVIDIA"),
        neuron_devices: neuron.max(accelerators),
        architecture: usable.copied().unwrap_or_default().to_owned(),
        network_cards: number(it, "/NetworkInfo/MaximumNetworkCards").max(1),
        efa_interfaces: number(it, "/NetworkInfo/EfaInfo/MaximumEfaInterfaces"),
        bandwidth_weightings: weightings.filter_map(|name| name.parse().ok()).collect(),
        // No check needs these.
        addresses: None,
        interfaces_per_card: BTreeMap::new(),
    }
}

fn subnet(it: &Value) -> SubnetInfo {
    SubnetInfo {
        id: text(it, "SubnetId").as_str().into(),
        zone: Zone::new(text(it, "AvailabilityZone")),
        vpc: text(it, "VpcId"),
        public: it.get("MapPublicIpOnLaunch").and_then(Value::as_bool) == Some(true),
        free_addresses: number(it, "/AvailableIpAddressCount"),
    }
}

/// The AWS CLI decodes the trust policy.
fn role(it: &Value, operation: Operation) -> Result<Role> {
    let policy = it.get("AssumeRolePolicyDocument").map(Value::to_string);
    let unreadable =
        || CloudError::new(operation, ErrorKind::Internal, None, "the trust policy cannot be read");
    Ok(Role {
        arn: text(it, "Arn"),
        unique_id: text(it, "RoleId"),
        created: time(&text(it, "CreateDate")).unwrap_or_default(),
        trusted_services: policy.as_deref().and_then(trust::services).ok_or_else(unreadable)?,
    })
}

fn version(it: &Value) -> Option<VersionOffer> {
    let shown = [text(it, "versionStatus"), text(it, "status")].into_iter().find(|it| !it.is_empty())?;
    Some(VersionOffer {
        version: Minor::of(&text(it, "clusterVersion"))?,
        patch: Some(text(it, "kubernetesPatchVersion")).filter(|patch| !patch.is_empty()),
        default: it.get("defaultVersion").and_then(Value::as_bool) == Some(true),
        support: serde_json::from_value::<Support>(Value::String(shown.to_uppercase().replace('-', "_")))
            .ok()?,
        standard_ends: None,
        extended_ends: None,
    })
}

impl CliAccount {
    /// The response to a call, from the first time that it is sent.
    async fn read(&self, operation: Operation, call: (&str, &str), input: Value) -> Result<Value> {
        let (service, name) = call;
        let key = format!("{service} {name} {input}");
        let slot = {
            let mut responses = self.responses.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(responses.entry(key).or_default())
        };
        let response = slot.get_or_init(async || {
            let _permit = self.at_a_time.acquire().await;
            self.aws.ask(service, name, &input).await.map_err(|error| format!("{error:#}"))
        });
        response.await.clone().map_err(|text| failed(operation, &text))
    }

    /// The number of the account.
    ///
    /// # Errors
    /// AWS does not accept the user's credentials, or cannot be reached.
    pub(super) async fn number(&self) -> anyhow::Result<String> {
        let read = self.read(Operation::GetCallerIdentity, ("sts", "get-caller-identity"), json!({})).await;
        let read = read.map_err(|error| anyhow::anyhow!("aws sts get-caller-identity: {}", error.message))?;
        Ok(text(&read, "Account"))
    }

    /// ARNs of the roles of the pools' instance profiles. That one is missing or cannot be read is reported by the checks.
    pub(super) async fn roles_of(&self, topology: &Topology) -> BTreeSet<String> {
        let profiles: BTreeSet<&str> =
            topology.pools.iter().filter_map(|pool| pool.profile.as_deref()).collect();
        let found =
            profiles.into_iter().map(async |profile| self.instance_profile(profile).await.ok().flatten());
        let found = futures::future::join_all(found).await;
        found.into_iter().flatten().filter_map(|it| it.role).map(|role| role.arn).collect()
    }

    async fn ec2(&self, operation: Operation, name: &str, input: Value) -> Result<Value> {
        self.read(operation, ("ec2", name), input).await
    }

    /// The value of a quota; `None` if the region does not have it.
    async fn quota(&self, (service, code): (&str, &str)) -> Result<Option<u32>> {
        let input = json!({"ServiceCode": service, "QuotaCode": code});
        let read =
            self.read(Operation::GetServiceQuota, ("service-quotas", "get-service-quota"), input).await;
        let value = match read {
            Ok(read) => read.pointer("/Quota/Value").and_then(Value::as_f64),
            Err(error) if matches!(error.kind, ErrorKind::NotFound | ErrorKind::Invalid) => None,
            Err(error) => return Err(error),
        };
        Ok(value.and_then(|value| format!("{value:.0}").parse().ok()))
    }

    /// NAT gateways that count, by zone: those pending, available and deleting. Regional ones have no subnet.
    async fn nat_gateways(&self) -> Result<BTreeMap<Zone, u32>> {
        let counting = filter("state", &["pending", "available", "deleting"]);
        let gateways = self
            .ec2(Operation::DescribeNatGateways, "describe-nat-gateways", json!({"Filter": [counting]}))
            .await?;
        let of_subnets: Vec<String> = list(&gateways, "/NatGateways")
            .map(|it| text(it, "SubnetId"))
            .filter(|subnet| !subnet.is_empty())
            .collect();
        let ids: BTreeSet<String> = of_subnets.iter().cloned().collect();
        let subnets = self.subnets(&NetworkQuery::Ids(ids.into_iter().collect())).await?;
        let zones: BTreeMap<&str, &Zone> = subnets.iter().map(|it| (it.id.as_str(), &it.zone)).collect();
        let mut counted = BTreeMap::new();
        for zone in of_subnets.iter().filter_map(|subnet| zones.get(subnet.as_str())) {
            let count: &mut u32 = counted.entry((*zone).clone()).or_default();
            *count = count.saturating_add(1);
        }
        Ok(counted)
    }
}

#[async_trait]
impl Account for CliAccount {
    async fn image(&self, id: &ImageId) -> Result<ImageInfo> {
        const OPERATION: Operation = Operation::DescribeImages;
        let read = self.ec2(OPERATION, "describe-images", json!({"ImageIds": [id.as_str()]})).await?;
        list(&read, "/Images").next().map(image).ok_or_else(|| missing(OPERATION, id.as_str()))
    }

    async fn parameter(&self, name: &str) -> Result<Option<String>> {
        let read = self.read(Operation::GetParameter, ("ssm", "get-parameter"), json!({"Name": name})).await;
        let value = |it: Value| it.pointer("/Parameter/Value").and_then(Value::as_str).map(str::to_owned);
        Ok(known(read)?.and_then(value))
    }

    async fn newest_image(&self, query: &ImageQuery) -> Result<Option<ImageInfo>> {
        let ImageQuery { owner, name, architecture } = query;
        let filters = [
            filter("name", &[name]),
            filter("architecture", &[architecture]),
            filter("state", &["available"]),
        ];
        let input = json!({"Owners": [owner], "Filters": filters});
        let read = self.ec2(Operation::DescribeImages, "describe-images", input).await?;
        let now = AwsTime::from_millis(Timestamp::now().as_millisecond());
        Ok(newest(list(&read, "/Images").map(image).collect(), now))
    }

    async fn instance_type(&self, name: &InstanceType) -> Result<InstanceTypeInfo> {
        const OPERATION: Operation = Operation::DescribeInstanceTypes;
        let input = json!({"InstanceTypes": [name.as_str()]});
        let read = self.ec2(OPERATION, "describe-instance-types", input).await?;
        let found = list(&read, "/InstanceTypes").next();
        found.map(instance_type).ok_or_else(|| missing(OPERATION, name.as_str()))
    }

    async fn subnets(&self, query: &NetworkQuery) -> Result<Vec<SubnetInfo>> {
        let input = match query {
            NetworkQuery::Ids(ids) if ids.is_empty() => return Ok(Vec::new()),
            NetworkQuery::Ids(ids) => json!({"SubnetIds": ids}),
            NetworkQuery::Tags { vpc, tags } => {
                let vpc = vpc.iter().map(|vpc| filter("vpc-id", &[vpc]));
                let tags = tags.iter().map(|(key, value)| {
                    let value = if value.is_empty() { "*".to_owned() } else { literal(value) };
                    filter(&format!("tag:{key}"), &[&value])
                });
                json!({"Filters": vpc.chain(tags).collect::<Vec<_>>()})
            }
        };
        let read = self.ec2(Operation::DescribeSubnets, "describe-subnets", input).await?;
        Ok(list(&read, "/Subnets").map(subnet).collect())
    }

    async fn instance_profile(&self, name: &str) -> Result<Option<InstanceProfile>> {
        const OPERATION: Operation = Operation::GetInstanceProfile;
        let input = json!({"InstanceProfileName": name});
        let read = self.read(OPERATION, ("iam", "get-instance-profile"), input).await;
        let Some(read) = known(read)? else { return Ok(None) };
        let found = read.get("InstanceProfile").ok_or_else(|| missing(OPERATION, name))?;
        let role = list(found, "/Roles").next().map(|it| role(it, OPERATION)).transpose()?;
        Ok(Some(InstanceProfile { arn: text(found, "Arn"), role }))
    }

    async fn role(&self, name: &str) -> Result<Option<Role>> {
        const OPERATION: Operation = Operation::GetRole;
        let read = known(self.read(OPERATION, ("iam", "get-role"), json!({"RoleName": name})).await)?;
        read.as_ref().and_then(|it| it.get("Role")).map(|it| role(it, OPERATION)).transpose()
    }

    async fn eks_versions(&self) -> Result<Vec<VersionOffer>> {
        let call = ("eks", "describe-cluster-versions");
        let read = self.read(Operation::DescribeClusterVersions, call, json!({"includeAll": true})).await?;
        Ok(list(&read, "/clusterVersions").filter_map(version).collect())
    }

    async fn vcpu_quota(&self, quota: VcpuQuota) -> Result<Option<u32>> {
        self.quota(("ec2", quota.code())).await
    }

    async fn zones(&self) -> Result<BTreeMap<Zone, ZoneInfo>> {
        let name = "describe-availability-zones";
        let read = self.ec2(Operation::DescribeAvailabilityZones, name, json!({})).await?;
        let zone = |it: &Value| {
            let name = Zone::new(text(it, "ZoneName"));
            let info = ZoneInfo {
                name: name.clone(),
                id: text(it, "ZoneId"),
                available: text(it, "State") == "available",
                is_availability_zone: text(it, "ZoneType") == "availability-zone",
            };
            (name, info)
        };
        Ok(list(&read, "/AvailabilityZones").map(zone).collect())
    }

    async fn quotas(&self) -> Result<Quotas> {
        let (vpcs, addresses, gateways, nat) = tokio::try_join!(
            self.quota(quotas::VPCS),
            self.quota(quotas::ADDRESSES),
            self.quota(quotas::INTERNET_GATEWAYS),
            self.quota(quotas::NAT_GATEWAYS),
        )?;
        let (of_vpcs, of_addresses, of_gateways) = tokio::try_join!(
            self.ec2(Operation::DescribeVpcs, "describe-vpcs", json!({})),
            self.ec2(Operation::DescribeAddresses, "describe-addresses", json!({})),
            self.ec2(Operation::DescribeInternetGateways, "describe-internet-gateways", json!({})),
        )?;
        // The account's own addresses (BYOIP) do not count (Amazon EC2 User Guide, "Elastic IP addresses").
        let is_amazons = |it: &&Value| ["", "amazon"].contains(&text(it, "PublicIpv4Pool").as_str());
        let used = list(&of_addresses, "/Addresses").filter(is_amazons).count();
        Ok(Quotas {
            vpcs: vpcs.map(|most| (most, count(&of_vpcs, "Vpcs"))),
            addresses: addresses.map(|most| (most, u32::try_from(used).unwrap_or(u32::MAX))),
            nat_gateways: match nat {
                Some(most) => Some((most, self.nat_gateways().await?)),
                None => None,
            },
            internet_gateways: gateways.map(|most| (most, count(&of_gateways, "InternetGateways"))),
        })
    }

    async fn has_begun(&self, cluster: &str, kind: Kind) -> Result<bool> {
        let (operation, name, key) = match kind {
            Kind::Subnet => (Operation::DescribeSubnets, "describe-subnets", "Subnets"),
            _ => (Operation::DescribeVpcs, "describe-vpcs", "Vpcs"),
        };
        let tagged = filter(&format!("tag:{TAG_CLUSTER}"), &[&literal(cluster)]);
        let read = self.ec2(operation, name, json!({"Filters": [tagged]})).await?;
        Ok(count(&read, key) > 0)
    }

    async fn groups(&self, cluster: &str) -> Result<Vec<Group>> {
        let input = json!({"Filters": [filter(&format!("tag:{TAG_CLUSTER}"), &[cluster])]});
        let call = ("autoscaling", "describe-auto-scaling-groups");
        let read = self.read(Operation::DescribeAutoScalingGroups, call, input).await?;
        let group = |it: &Value| Group {
            pool: list(it, "/Tags").find(|tag| text(tag, "Key") == TAG_POOL).map(|tag| text(tag, "Value")),
            subnets: text(it, "VPCZoneIdentifier").split(',').map(str::to_owned).collect(),
            instances: list(it, "/Instances").count(),
        };
        Ok(list(&read, "/AutoScalingGroups").map(group).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_model::BandwidthWeighting;

    #[test]
    fn a_refusal_has_the_code_and_the_message_of_aws() {
        let text = "aws ec2 describe-images failed: An error occurred (InvalidAMIID.NotFound) when calling the DescribeImages \
                    operation: The image id '[ami-1]' does not exist";
        let expected = ("InvalidAMIID.NotFound", "The image id '[ami-1]' does not exist");
        assert_eq!(refusal(text), Some(expected));
        let error = failed(Operation::DescribeImages, text);
        assert_eq!(error.kind, ErrorKind::NotFound);
        let late = failed(Operation::DescribeImages, "aws did not end within 60 s");
        assert_eq!((late.kind, late.code), (ErrorKind::Unreachable, None));
        let retried = "An error occurred (Throttling) when calling the GetRole operation (reached max retries: 4): Rate exceeded";
        assert_eq!(refusal(retried), Some(("Throttling", "Rate exceeded")));
    }

    /// What AWS cannot respond, or says in a code that is not known, is no mistake of the Cluster.
    #[test]
    fn a_failure_of_aws_is_no_refusal() {
        for code in ["503", "SomethingNew"] {
            let text =
                format!("aws ec2 x failed: An error occurred ({code}) when calling the X operation: no");
            let kind = failed(Operation::DescribeImages, &text).kind;
            assert!(!matches!(kind, ErrorKind::Invalid | ErrorKind::NotFound), "{code}: {kind:?}");
        }
    }

    #[test]
    fn an_instance_type_is_read_as_the_manager_reads_it() {
        let shown = json!({
            "InstanceType": "g6.xlarge", "VCpuInfo": {"DefaultVCpus": 4}, "MemoryInfo": {"SizeInMiB": 16384},
            "ProcessorInfo": {"SupportedArchitectures": ["i386", "x86_64"]},
            "GpuInfo": {"Gpus": [{"Manufacturer": "NVIDIA", "Count": 1}, {"Manufacturer": "AMD", "Count": 2}]},
            "NetworkInfo": {
                "MaximumNetworkCards": 2, "EfaInfo": {"MaximumEfaInterfaces": 1},
                "BandwidthWeightings": ["default", "vpc-1", "of-next-year"],
            },
        });
        let read = instance_type(&shown);
        assert_eq!((read.vcpus, read.memory_mib, read.nvidia_gpus, read.neuron_devices), (4, 16384, 1, 0));
        assert_eq!(read.architecture, "x86_64");
        assert_eq!((read.network_cards, read.efa_interfaces), (2, 1));
        assert_eq!(
            read.bandwidth_weightings,
            [BandwidthWeighting::Default, BandwidthWeighting::Vpc1].into(),
            "those that are known"
        );
        let plain = instance_type(&json!({"InstanceType": "m7i.large"}));
        assert_eq!((plain.network_cards, plain.efa_interfaces), (1, 0));
        assert!(plain.bandwidth_weightings.is_empty());
    }

    #[test]
    fn versions_of_eks_have_their_support_in_either_spelling() {
        let shown =
            json!({"clusterVersion": "1.36", "versionStatus": "STANDARD_SUPPORT", "defaultVersion": true});
        assert_eq!(version(&shown).unwrap().support, Support::StandardSupport);
        let older = json!({"clusterVersion": "1.33", "status": "extended-support"});
        assert_eq!(version(&older).unwrap().support, Support::ExtendedSupport);
        assert_eq!(version(&json!({"clusterVersion": "1.36"})), None);
    }
}
