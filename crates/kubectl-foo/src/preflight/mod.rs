//! What AWS would refuse of Clusters as they are requested, before the manager finds out: the checks of `foo-preflight` by the AWS
//! CLI (`account`), and in `rights` what the manager may do. `requested` makes of a Cluster's objects what the checks compare.

mod account;
mod requested;
mod rights;
mod text;

pub use text::text;

use crate::access::Reads;
use crate::asked::{Asked, Kind, of_kind};
use crate::aws::Aws;
use crate::capi::Cluster;
use crate::cluster::identity;
use account::CliAccount;
use anyhow::{Result, bail};
use foo_preflight::topology::Topology;
use kube::ResourceExt as _;
use requested::Objects;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long all reads of one Cluster may take. Each call of the AWS CLI has a deadline of its own.
const PATIENCE: Duration = Duration::from_mins(10);

/// What the user may choose.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Kubernetes version that Clusters are to get.
    pub version: Option<String>,
    /// ARN of the manager's role or user.
    pub principal: Option<String>,
    /// Profile of the AWS CLI.
    pub profile: Option<String>,
}

/// What was found of all Clusters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Preflights {
    /// By Cluster.
    pub clusters: Vec<Preflight>,
}

/// What was found of a Cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preflight {
    /// `<namespace>/<name>`.
    pub cluster: String,
    /// AWS region.
    pub region: String,
    /// AWS account of the user's credentials.
    pub account: String,
    /// ARN of the role or user whose rights were simulated.
    pub principal: Option<String>,
    /// How many actions of it were simulated.
    pub simulated_actions: usize,
    /// What AWS would refuse.
    pub problems: Vec<String>,
    /// What is not known, and why.
    pub unknown: Vec<String>,
}

impl Preflights {
    /// Whether AWS would refuse anything.
    pub fn refused(&self) -> bool {
        self.clusters.iter().any(|it| !it.problems.is_empty())
    }

    /// Clusters of which something is not known.
    pub fn unknown(&self) -> Vec<String> {
        let incomplete = self.clusters.iter().filter(|it| !it.unknown.is_empty());
        incomplete.map(|it| format!("Cluster {} is not checked completely", it.cluster)).collect()
    }
}

/// Checks Clusters.
///
/// # Errors
/// A Cluster cannot be read or is of another provider, or AWS does not accept the user's credentials.
pub async fn read(reads: &Reads<'_>, asked: &[Asked], choices: &Choices) -> Result<Preflights> {
    let names = of_kind(asked, Kind::Cluster).unwrap_or_default();
    let objects = requested::read(reads, &names).await?;
    let unread = reads.unread();
    let topologies = requested::topologies(&objects, choices.version.as_deref());
    let is_ours = |name: &&String| topologies.iter().any(|(cluster, _)| cluster.name_any() == **name);
    if let Some(other) = names.iter().find(|name| !is_ours(name)) {
        bail!("Cluster {other} has no FooCluster");
    }
    let mut accounts: BTreeMap<String, CliAccount> = BTreeMap::new();
    let mut clusters = Vec::new();
    for (cluster, topology) in topologies {
        let aws = || CliAccount::new(Aws::new(topology.region.as_str(), choices.profile.clone()));
        let account = accounts.entry(topology.region.clone()).or_insert_with(aws);
        let mut found = one(reads, &objects, cluster, &topology, choices, account).await?;
        found.unknown.extend(unread.iter().cloned());
        clusters.push(found);
    }
    Ok(Preflights { clusters })
}

async fn one(
    reads: &Reads<'_>,
    objects: &Objects,
    cluster: &Cluster,
    topology: &Topology,
    choices: &Choices,
    account: &CliAccount,
) -> Result<Preflight> {
    let (problems, unknown) = requested::of_objects(objects, cluster);
    let mut found = Preflight {
        cluster: topology.cluster.clone(),
        region: topology.region.clone(),
        account: account.number().await?,
        problems,
        unknown,
        ..Preflight::default()
    };
    let principal = match &choices.principal {
        Some(principal) => Ok(principal.clone()),
        None => role_of(reads, &topology.identity).await,
    };
    let of = principal.as_ref().ok().and_then(|arn| arn.split(':').nth(4));
    if let (Ok(arn), Some(of)) = (&principal, of.filter(|of| *of != found.account)) {
        found.unknown.push(format!(
            "nothing is checked: the manager uses {arn} of account {of}, and the AWS CLI reads account {}: choose its --profile",
            found.account
        ));
        return Ok(found);
    }
    let report = foo_preflight::check(Ok(account), topology, PATIENCE).await;
    found.problems.extend(report.findings().map(str::to_owned));
    found.unknown.extend(report.gaps().map(str::to_owned));
    match principal {
        Err(why) => found.unknown.push(format!("the rights of the manager: {why}")),
        Ok(arn) => {
            let node_roles = account.roles_of(topology).await;
            let needs = requested::needs(objects, cluster, node_roles);
            let rights = rights::read(&account.aws, &arn, &needs).await?;
            found.simulated_actions = rights.actions;
            found.problems.extend(rights.missing);
            found.unknown.extend(rights.unknown);
            found.principal = Some(arn);
        }
    }
    Ok(found)
}

/// The role of an identity, or why it is not known.
async fn role_of(reads: &Reads<'_>, name: &str) -> Result<String, String> {
    let found = identity(reads, name).await.map_err(|error| format!("{error:#}"))?;
    let found = found.ok_or_else(|| {
        format!("there is no FooClusterIdentity {name}: name the manager's role or user with --principal")
    })?;
    found.spec.role.map(|role| role.arn).ok_or_else(|| {
        format!("FooClusterIdentity {name} names no role: name the manager's role or user with --principal")
    })
}
