//! What AWS has of an EKS cluster that is to be adopted, in the shapes of its responses (EKS API Reference: Cluster, Addon,
//! AccessEntry, PodIdentityAssociation). Only what a FooControlPlane can have is typed; of the cluster the names of all other
//! settings are kept.

use crate::access::Reads;
use crate::adopt::found::Group;
use crate::aws::{Aws, Response, items, or_unread, refusal};
use anyhow::{Context as _, Result};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Processes of the AWS CLI at the same time for one kind of resource: each takes most of a processor for a second.
const AT_A_TIME: usize = 4;
/// Beginning of the key of the tag of groups whose instances are Nodes of an EKS cluster; the rest is the cluster's name (Cluster
/// Autoscaler, AWS cloud provider).
const CLUSTER_TAG: &str = "kubernetes.io/cluster/";
/// Status of a cluster that does not support access entries (EKS User Guide, "Grant IAM users access to Kubernetes with EKS access
/// entries").
const CONFIG_MAP: &str = "CONFIG_MAP";

/// A cluster, what belongs to it, and what launches its Nodes.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The cluster.
    pub cluster: Cluster,
    /// Its add-ons.
    pub addons: Vec<Addon>,
    /// Its access entries.
    pub entries: Vec<Entry>,
    /// Its pod identity associations.
    pub associations: Vec<Association>,
    /// Audiences of the OIDC provider that IAM has for its issuer; `None` if there is none or it is not known.
    pub audiences: Option<Vec<String>>,
    /// Names of its managed node groups.
    pub node_groups: Vec<String>,
    /// Names of its Fargate profiles.
    pub fargate_profiles: Vec<String>,
    /// Its identity provider configurations; EKS has at most one.
    pub identity_providers: Vec<IdentityProvider>,
    /// Auto Scaling groups with the tag of the cluster, those of managed node groups among them.
    pub groups: Vec<Group>,
    /// What the manifest lacks because it could not be read, and why.
    pub unread: Vec<String>,
}

/// An EKS cluster.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// Its ARN.
    pub arn: String,
    /// Its Kubernetes version, `1.34`.
    pub version: String,
    /// ARN of its role.
    pub role_arn: String,
    /// Its status.
    pub status: String,
    /// Where it is, and who reaches it.
    pub resources_vpc_config: Vpc,
    /// Addresses of Services.
    pub kubernetes_network_config: Addresses,
    /// Its logs.
    pub logging: Logging,
    /// Encryption of Secrets.
    pub encryption_config: Vec<Encryption>,
    /// How principals get access.
    pub access_config: Access,
    /// What EKS does at the end of standard support.
    pub upgrade_policy: UpgradePolicy,
    /// Zonal shift.
    pub zonal_shift_config: Switch,
    /// Whether EKS refuses its deletion.
    pub deletion_protection: bool,
    /// Capacity of the control plane.
    pub control_plane_scaling_config: Scaling,
    /// Its issuer.
    pub identity: Identity,
    /// EKS Auto Mode.
    pub compute_config: Switch,
    /// Set on an Outpost.
    pub outpost_config: Option<Value>,
    /// Set if EKS only shows a cluster that runs elsewhere.
    pub connector_config: Option<Value>,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// All other fields.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// Where a cluster is, and who reaches it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Vpc {
    /// Id of the VPC.
    pub vpc_id: String,
    /// Ids of the subnets of the control plane.
    pub subnet_ids: Vec<String>,
    /// Ids of its further security groups.
    pub security_group_ids: Vec<String>,
    /// Id of the security group that EKS created.
    pub cluster_security_group_id: Option<String>,
    /// Whether it is reached from the internet.
    pub endpoint_public_access: bool,
    /// Whether it is reached from the VPC.
    pub endpoint_private_access: bool,
    /// Ranges from which it is reached from the internet.
    pub public_access_cidrs: Vec<String>,
    /// All other fields.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// Addresses of Services.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Addresses {
    /// The IPv4 range.
    pub service_ipv4_cidr: Option<String>,
    /// `ipv4` or `ipv6`.
    pub ip_family: Option<String>,
}

/// Capacity of the control plane.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Scaling {
    /// The tier.
    pub tier: Option<String>,
}

/// Logs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Logging {
    /// Types that are on or off.
    pub cluster_logging: Vec<LogSetup>,
}

/// Types of logs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LogSetup {
    /// Their names.
    pub types: Vec<String>,
    /// Whether they are on.
    pub enabled: bool,
}

/// Encryption of Secrets.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Encryption {
    /// The key.
    pub provider: KeyProvider,
}

/// A KMS key.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KeyProvider {
    /// Its ARN.
    pub key_arn: Option<String>,
}

/// How principals get access.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Access {
    /// The authentication mode. Clusters from before access entries may have none, which is `CONFIG_MAP`.
    pub authentication_mode: Option<String>,
}

/// What EKS does at the end of standard support.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UpgradePolicy {
    /// `STANDARD` or `EXTENDED`.
    pub support_type: Option<String>,
}

/// Something that is on or off.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Switch {
    /// Whether it is on.
    pub enabled: bool,
}

/// What identifies a cluster to others.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Identity {
    /// For OpenID Connect.
    pub oidc: Oidc,
}

/// The issuer of tokens of service accounts.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Oidc {
    /// Its address.
    pub issuer: Option<String>,
}

/// An add-on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Addon {
    /// Its name.
    pub addon_name: String,
    /// Its version.
    pub addon_version: String,
    /// Its status.
    pub status: String,
    /// Its configuration, JSON or YAML.
    pub configuration_values: Option<String>,
    /// ARN of the role of its service account.
    pub service_account_role_arn: Option<String>,
    /// ARNs of its pod identity associations.
    pub pod_identity_associations: Vec<String>,
    /// All other fields.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// An access entry.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Entry {
    /// ARN of the user or role.
    pub principal_arn: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its name in Kubernetes.
    pub username: Option<String>,
    /// Its groups in Kubernetes.
    pub kubernetes_groups: Vec<String>,
    /// Its access policies, which EKS shows by a call of their own.
    #[serde(skip)]
    pub policies: Vec<Policy>,
}

/// An access policy of an entry.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Policy {
    /// Its ARN.
    pub policy_arn: String,
    /// Where it holds.
    pub access_scope: Scope,
}

/// Where an access policy holds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Scope {
    /// `cluster` or `namespace`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The namespaces.
    pub namespaces: Vec<String>,
}

/// A pod identity association.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Association {
    /// Its id.
    pub association_id: String,
    /// Its ARN.
    pub association_arn: String,
    /// Namespace of the service account.
    pub namespace: String,
    /// Name of the service account.
    pub service_account: String,
    /// ARN of the role.
    pub role_arn: String,
    /// ARN of the add-on that it belongs to.
    pub owner_arn: Option<String>,
    /// ARN of a second role, which the first one assumes.
    pub target_role_arn: Option<String>,
    /// Whether sessions lack the tags of EKS.
    pub disable_session_tags: bool,
    /// All other fields.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// An identity provider configuration.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct IdentityProvider {
    /// Its name.
    pub identity_provider_config_name: String,
    /// URL of the issuer.
    pub issuer_url: String,
    /// Audience of its tokens.
    pub client_id: String,
    /// The claim that has the name of the user.
    pub username_claim: Option<String>,
    /// What is put before the name.
    pub username_prefix: Option<String>,
    /// The claim that has the groups.
    pub groups_claim: Option<String>,
    /// What is put before each group.
    pub groups_prefix: Option<String>,
    /// Claims that a token must have.
    pub required_claims: BTreeMap<String, String>,
    /// All other fields.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

impl Cluster {
    /// The authentication mode, as EKS names it.
    pub fn authentication_mode(&self) -> &str {
        self.access_config.authentication_mode.as_deref().unwrap_or(CONFIG_MAP)
    }

    /// The account that it is in, 12 digits.
    pub fn account(&self) -> Option<&str> {
        self.arn.split(':').nth(4).filter(|account| !account.is_empty())
    }
}

/// Reads a cluster and what belongs to it. Everything else than the cluster may be unreadable: what the manifest would have counts as
/// unread, what it cannot have is a warning.
///
/// # Errors
/// The cluster cannot be read, or does not exist.
pub async fn read(aws: &Aws, reads: &Reads<'_>, name: &str) -> Result<Found> {
    let cluster: Cluster = field(aws, "describe-cluster", &json!({"name": name}), "cluster").await?;
    let of_cluster = json!({"clusterName": name});
    let (addons, entries, associations, audiences, node_groups, fargate, providers, groups) = tokio::join!(
        addons(aws, name),
        entries(aws, &cluster),
        associations(aws, name),
        audiences(aws, &cluster),
        list(aws, "list-nodegroups", &of_cluster, "nodegroups"),
        list(aws, "list-fargate-profiles", &of_cluster, "fargateProfileNames"),
        identity_providers(aws, name),
        groups(aws, name),
    );
    let mut unread = Vec::new();
    Ok(Found {
        addons: or_unread(addons, &mut unread).unwrap_or_default(),
        entries: or_unread(entries, &mut unread).unwrap_or_default(),
        associations: or_unread(associations, &mut unread).unwrap_or_default(),
        audiences: or_unread(audiences, &mut unread).flatten(),
        node_groups: reads.or_warn(node_groups).unwrap_or_default(),
        fargate_profiles: reads.or_warn(fargate).unwrap_or_default(),
        identity_providers: or_unread(providers, &mut unread).unwrap_or_default(),
        groups: or_unread(groups, &mut unread).unwrap_or_default(),
        unread,
        cluster,
    })
}

async fn addons(aws: &Aws, cluster: &str) -> Result<Vec<Addon>> {
    let names: Vec<String> = list(aws, "list-addons", &json!({"clusterName": cluster}), "addons").await?;
    each(names, async |name| {
        let input = json!({"clusterName": cluster, "addonName": name});
        field(aws, "describe-addon", &input, "addon").await
    })
    .await
}

/// A cluster that uses the ConfigMap only has no access entries, and EKS refuses to list them.
async fn entries(aws: &Aws, cluster: &Cluster) -> Result<Vec<Entry>> {
    if cluster.authentication_mode() == CONFIG_MAP {
        return Ok(Vec::new());
    }
    let of_cluster = json!({"clusterName": cluster.name});
    let principals: Vec<String> = list(aws, "list-access-entries", &of_cluster, "accessEntries").await?;
    each(principals, async |principal| {
        let input = json!({"clusterName": cluster.name, "principalArn": principal});
        let entry: Entry = field(aws, "describe-access-entry", &input, "accessEntry").await?;
        let policies =
            list(aws, "list-associated-access-policies", &input, "associatedAccessPolicies").await?;
        Ok(Entry { policies, ..entry })
    })
    .await
}

/// A list does not show the roles.
async fn associations(aws: &Aws, cluster: &str) -> Result<Vec<Association>> {
    let of_cluster = json!({"clusterName": cluster});
    let listed: Vec<Association> =
        list(aws, "list-pod-identity-associations", &of_cluster, "associations").await?;
    each(listed, async |it| {
        let input = json!({"clusterName": cluster, "associationId": it.association_id});
        field(aws, "describe-pod-identity-association", &input, "association").await
    })
    .await
}

async fn identity_providers(aws: &Aws, cluster: &str) -> Result<Vec<IdentityProvider>> {
    let of_cluster = json!({"clusterName": cluster});
    let named: Vec<Value> =
        list(aws, "list-identity-provider-configs", &of_cluster, "identityProviderConfigs").await?;
    each(named, async |named| {
        let input = json!({"clusterName": cluster, "identityProviderConfig": named});
        let found: OfType =
            field(aws, "describe-identity-provider-config", &input, "identityProviderConfig").await?;
        Ok(found.oidc)
    })
    .await
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OfType {
    oidc: IdentityProvider,
}

/// The audiences of the OIDC provider of IAM for the cluster's issuer, if there is one.
async fn audiences(aws: &Aws, cluster: &Cluster) -> Result<Option<Vec<String>>> {
    let issuer = cluster.identity.oidc.issuer.as_deref();
    let partition = cluster.arn.split(':').nth(1);
    let (Some(issuer), Some(partition), Some(account)) = (issuer, partition, cluster.account()) else {
        return Ok(None);
    };
    // IAM User Guide, "IAM identifiers".
    let provider = issuer.trim_start_matches("https://");
    let arn = format!("arn:{partition}:iam::{account}:oidc-provider/{provider}");
    let input = json!({"OpenIDConnectProviderArn": arn});
    match aws.ask::<Audiences>("iam", "get-open-id-connect-provider", &input).await {
        Ok(Audiences { client_id_list }) => Ok(Some(client_id_list)),
        Err(error) if refusal(&format!("{error:#}")).is_some_and(|(code, _)| code == "NoSuchEntity") => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Audiences {
    #[serde(rename = "ClientIDList")]
    client_id_list: Vec<String>,
}

/// The Auto Scaling groups whose tag says that their instances are Nodes of the cluster.
async fn groups(aws: &Aws, cluster: &str) -> Result<Vec<Group>> {
    let tag = format!("{CLUSTER_TAG}{cluster}");
    let input = json!({"Filters": [{"Name": "tag-key", "Values": [tag]}]});
    let response = aws.ask("autoscaling", "describe-auto-scaling-groups", &input).await?;
    items(response, "AutoScalingGroups")
}

/// The field of that name in the response of EKS.
async fn field<T: DeserializeOwned>(aws: &Aws, operation: &str, input: &Value, name: &str) -> Result<T> {
    let mut response: Response = aws.ask("eks", operation, input).await?;
    let value = response.remove(name).with_context(|| format!("aws eks {operation} shows no {name}"))?;
    serde_json::from_value(value).with_context(|| format!("reading {name} of the AWS CLI"))
}

/// The items of a response of EKS, which are below that name.
async fn list<T: DeserializeOwned>(aws: &Aws, operation: &str, input: &Value, name: &str) -> Result<Vec<T>> {
    items(aws.ask("eks", operation, input).await?, name)
}

/// What is read of each item, in their order, some at a time.
async fn each<I, T>(items: Vec<I>, read: impl AsyncFn(I) -> Result<T>) -> Result<Vec<T>> {
    let read = &read;
    let reads = stream::iter(items).map(|item| read(item)).buffered(AT_A_TIME);
    reads.try_collect().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn everything_is_read_in_order_and_the_first_failure_is_the_result() {
        let read = each((0..20).collect(), async |number: u32| Ok(number * 2)).await.unwrap();
        assert_eq!(read, (0..20).map(|number| number * 2).collect::<Vec<_>>());
        let failed = each(vec![1, 2, 3], async |number: u32| {
            anyhow::ensure!(number < 2, "no {number}");
            Ok(number)
        });
        assert_eq!(failed.await.unwrap_err().to_string(), "no 2");
    }

    #[test]
    fn a_cluster_from_before_access_entries_uses_the_config_map() {
        let cluster: Cluster = serde_json::from_value(json!({"name": "old"})).unwrap();
        assert_eq!(cluster.authentication_mode(), "CONFIG_MAP");
        assert_eq!(cluster.account(), None);
        let cluster =
            Cluster { arn: "arn:aws:eks:eu-central-1:123456789012:cluster/a".to_owned(), ..cluster };
        assert_eq!(cluster.account(), Some("123456789012"));
    }
}
