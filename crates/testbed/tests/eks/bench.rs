//! A simulated AWS with the API servers of its clusters, and calls of it as a client sends them.

use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foo_model::{InstanceId, Timestamp};
use foo_simulator::{DEFAULT_REGION, Handle, NodeInstance, Role, Service, SigningKey, SimulatorConfig};
use foo_testbed::{ClusterServers, KubeletOptions, Probe, wait_until};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// How long anything here may take: the start of an API server is the longest.
pub(crate) const SOON: Duration = Duration::from_mins(2);

pub(crate) struct Bench {
    // Ended before the folder is removed.
    pub(crate) servers: ClusterServers,
    aws: Handle,
    _folder: TempDir,
}

/// Real time, by which tokens are signed.
fn now() -> Timestamp {
    let real = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(real.as_millis()).unwrap_or(i64::MAX))
}

pub(crate) fn escaped(text: &str) -> String {
    text.bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            },
        )
        .collect()
}

impl Bench {
    pub(crate) async fn new() -> Result<Self> {
        let mut config = SimulatorConfig::scaled(1.0);
        config.settings.launch = Duration::from_secs(1);
        config.settings.eks.create = Duration::from_secs(1);
        config.settings.eks.delete = Duration::from_secs(1);
        config.settings.eks.policies_apply_after = Duration::from_secs(2);
        config.settings.eks.policies_apply_spread = Duration::from_secs(2);
        let aws = Handle::start(config).await?;
        let folder = tempfile::tempdir()?;
        let servers =
            ClusterServers::start(&aws, DEFAULT_REGION, folder.path(), KubeletOptions::default()).await?;
        let profile = serde_json::from_value(json!({ "name": "pool", "role": "nodes" }))?;
        aws.put_instance_profile(profile);
        Ok(Self { servers, aws, _folder: folder })
    }

    /// Sends a request that `creator` signs; no key is known, so that its signature is not verified.
    async fn send(&self, service: &str, head: &str, body: &str) -> Result<String> {
        let scope = format!("Credential=creator/20260101/{DEFAULT_REGION}/{service}/aws4_request");
        let request = format!(
            "{head} HTTP/1.1\r\nHost: sim\r\nConnection: close\r\nContent-Length: {}\r\n\
             Authorization: AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(self.aws.address()).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut response = String::new();
        stream.read_to_string(&mut response).await?;
        let (head, body) = response.split_once("\r\n\r\n").context("a response")?;
        ensure!(head.starts_with("HTTP/1.1 200"), "{response}");
        Ok(body.to_owned())
    }

    /// A call of EKS.
    pub(crate) async fn eks(&self, method: &str, path: &str, body: Value) -> Result<Value> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        Ok(serde_json::from_str(&self.send("eks", &format!("{method} {path}"), &body).await?)?)
    }

    /// A call of a service with forms.
    async fn form(&self, service: &str, fields: &[(&str, &str)]) -> Result<()> {
        let pairs = fields.iter().map(|(name, value)| format!("{name}={}", escaped(value)));
        let body = pairs.collect::<Vec<_>>().join("&");
        self.send(service, "POST /", &body).await.map(drop)
    }

    /// Creates a cluster; what EKS shows of it once it is ACTIVE.
    pub(crate) async fn cluster(&self, name: &str) -> Result<Value> {
        let subnets = foo_simulator::core::network::PRIVATE_SUBNETS;
        let new = json!({
            "name": name,
            "roleArn": "arn:aws:iam::123456789012:role/cluster",
            "resourcesVpcConfig": { "subnetIds": subnets },
            "accessConfig": { "authenticationMode": "API" },
        });
        self.eks("POST", "/clusters", new).await?;
        wait_until(&format!("the cluster {name}"), SOON, async || {
            let mut response = self.eks("GET", &format!("/clusters/{name}"), Value::Null).await?;
            let cluster = response.get_mut("cluster").map(Value::take).context("a cluster")?;
            let status = cluster.get("status").cloned().unwrap_or_default();
            let active = status == json!("ACTIVE");
            ensure!(active || cluster.get("endpoint").is_none(), "{cluster}");
            Ok(if active { Probe::Done(cluster) } else { Probe::NotYet(status.to_string()) })
        })
        .await
    }

    /// A group of one instance with user data and the instance profile `pool`.
    pub(crate) async fn group(&self, name: &str, user_data: &[u8]) -> Result<()> {
        let data = BASE64.encode(user_data);
        self.form(
            "ec2",
            &[
                ("Action", "CreateLaunchTemplate"),
                ("Version", "2016-11-15"),
                ("LaunchTemplateName", name),
                ("LaunchTemplateData.ImageId", "ami-0a000000000000001"),
                ("LaunchTemplateData.InstanceType", "m7i.large"),
                ("LaunchTemplateData.UserData", &data),
                ("LaunchTemplateData.IamInstanceProfile.Name", "pool"),
            ],
        )
        .await?;
        let subnet = foo_simulator::core::network::PRIVATE_SUBNETS[0];
        self.form(
            "autoscaling",
            &[
                ("Action", "CreateAutoScalingGroup"),
                ("Version", "2011-01-01"),
                ("AutoScalingGroupName", name),
                ("MinSize", "1"),
                ("MaxSize", "1"),
                ("LaunchTemplate.LaunchTemplateName", name),
                ("VPCZoneIdentifier", subnet),
            ],
        )
        .await
    }

    /// Gives a group a warm pool of one instance, which waits running.
    pub(crate) async fn warm_pool(&self, group: &str) -> Result<()> {
        let fields = [
            ("Action", "PutWarmPool"),
            ("Version", "2011-01-01"),
            ("AutoScalingGroupName", group),
            ("MinSize", "1"),
            ("PoolState", "Running"),
        ];
        self.form("autoscaling", &fields).await
    }

    /// Has a group of one instance have two.
    pub(crate) async fn scale_out(&self, group: &str) -> Result<()> {
        let fields = [
            ("Action", "UpdateAutoScalingGroup"),
            ("Version", "2011-01-01"),
            ("AutoScalingGroupName", group),
            ("MaxSize", "2"),
            ("DesiredCapacity", "2"),
        ];
        self.form("autoscaling", &fields).await
    }

    /// The instances of a group and of its warm pool that run.
    pub(crate) fn running_in(&self, group: &str) -> Vec<InstanceId> {
        let instances = self.aws.region(DEFAULT_REGION).in_service_instances();
        let of_group = |it: &NodeInstance| it.group.as_ref().is_some_and(|name| name.as_str() == group);
        instances.into_iter().filter(of_group).map(|it| it.id).collect()
    }

    /// Those of them that are in the warm pool, or on the way into it, by their instance metadata.
    pub(crate) fn waiting_in(&self, group: &str) -> BTreeSet<String> {
        let region = self.aws.region(DEFAULT_REGION);
        let target = |id: &InstanceId| region.target_lifecycle_state(id).unwrap_or_default();
        let running = self.running_in(group).into_iter();
        running.filter(|id| target(id).starts_with("Warmed:")).map(|id| id.to_string()).collect()
    }

    /// The instance of a group.
    pub(crate) fn instance_of(&self, group: &str) -> Option<String> {
        self.running_in(group).first().map(ToString::to_string)
    }

    pub(crate) fn put_role(&self, name: &str) -> Result<()> {
        let role: Role = serde_json::from_value(json!({ "name": name }))?;
        self.aws.put_role(role);
        Ok(())
    }

    pub(crate) fn remove_role(&self, name: &str) {
        assert!(self.aws.remove_role(name));
    }

    /// A session of a role.
    pub(crate) fn session(&self, role: &str) -> Result<SigningKey> {
        self.aws.role_session(role, "carol", now()).context("there is no such role")
    }

    /// A token for a cluster.
    pub(crate) fn token(key: &SigningKey, cluster: &str) -> String {
        Self::token_of(key, cluster, Duration::ZERO)
    }

    /// A token that was signed so long ago. Tokens of one key and second are the same.
    pub(crate) fn token_of(key: &SigningKey, cluster: &str, age: Duration) -> String {
        let sts = format!("https://sts.{DEFAULT_REGION}.amazonaws.com");
        key.cluster_token(cluster, &sts, DEFAULT_REGION, now().minus(age))
    }

    /// One of `creator` that is presigned for another host.
    pub(crate) fn token_of_host(&self, sts: &str, cluster: &str) -> String {
        let key = SigningKey { id: "creator".to_owned(), secret: "any".to_owned(), session_token: None };
        key.cluster_token(cluster, sts, DEFAULT_REGION, self.aws.real_time())
    }

    /// Where calls of AWS are sent to.
    pub(crate) fn endpoint(&self) -> String {
        self.aws.endpoint()
    }

    /// So much time passes for AWS.
    pub(crate) fn passes(&self, time: Duration) {
        self.aws.pass(time);
    }

    /// The calls of STS that the account sees.
    pub(crate) fn calls_of_sts(&self) -> u64 {
        let counts = self.aws.call_counts().into_iter().filter(|((service, _), _)| *service == Service::Sts);
        counts.map(|(_, count)| count.calls).sum()
    }

    /// A client of a cluster with nothing but what EKS shows of it, and a token.
    pub(crate) async fn client(&self, shown: &Value, token: &str) -> Result<Client> {
        let kubeconfig = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{ "name": "it", "cluster": {
                "server": shown["endpoint"],
                "certificate-authority-data": shown.pointer("/certificateAuthority/data"),
            } }],
            "users": [{ "name": "me", "user": { "token": token } }],
            "contexts": [{ "name": "it", "context": { "cluster": "it", "user": "me" } }],
            "current-context": "it",
        });
        let kubeconfig = Kubeconfig::from_yaml(&kubeconfig.to_string())?;
        Ok(Client::try_from(
            Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?,
        )?)
    }
}
