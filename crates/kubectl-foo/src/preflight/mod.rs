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
use crate::cluster::identity;
use account::CliAccount;
use anyhow::{Result, bail};
use foo_preflight::Account as _;
use foo_preflight::topology::Topology;
use requested::Objects;
use rights::{Needs, Network};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
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

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Caller {
    account: String,
}

/// Checks Clusters.
///
/// # Errors
/// A Cluster cannot be read, or AWS does not accept the user's credentials.
pub async fn read(reads: &Reads<'_>, asked: &[Asked], choices: &Choices) -> Result<Preflights> {
    let names = of_kind(asked, Kind::Cluster).unwrap_or_default();
    let objects = requested::read(reads, &names).await?;
    let topologies = requested::topologies(&objects, choices.version.as_deref());
    if let Some(other) =
        names.iter().find(|name| !topologies.iter().any(|it| it.cluster.ends_with(&format!("/{name}"))))
    {
        bail!("Cluster {other} has no FooCluster");
    }
    let mut clusters = Vec::new();
    for topology in topologies {
        let aws = Aws::new(topology.region.as_str(), choices.profile.clone());
        let caller: Caller = aws.read(&["sts", "get-caller-identity"]).await?;
        clusters.push(one(reads, &objects, choices, &topology, CliAccount { aws }, caller).await?);
    }
    Ok(Preflights { clusters })
}

async fn one(
    reads: &Reads<'_>,
    objects: &Objects,
    choices: &Choices,
    topology: &Topology,
    account: CliAccount,
    caller: Caller,
) -> Result<Preflight> {
    let report = foo_preflight::check(Ok(&account), topology, PATIENCE).await;
    let mut found = Preflight {
        cluster: topology.cluster.clone(),
        region: topology.region.clone(),
        account: caller.account,
        problems: report.findings().map(str::to_owned).collect(),
        unknown: report.gaps().map(str::to_owned).collect(),
        ..Preflight::default()
    };
    let principal = match &choices.principal {
        Some(principal) => Some(principal.clone()),
        None => reads
            .or_warn(identity(reads, &topology.identity).await)
            .flatten()
            .and_then(|it| it.spec.role)
            .map(|role| role.arn),
    };
    match &principal {
        None => reads.warn(format!(
            "rights are not checked: FooClusterIdentity {} names no role; name the manager's role or user with --principal",
            topology.identity
        )),
        Some(arn) => {
            found.problems.extend(other_account(arn, &found.account));
            let needs = needs(objects, topology, &account).await;
            let rights = rights::read(&account.aws, arn, &needs).await?;
            found.simulated_actions = rights.actions;
            found.problems.extend(rights.missing);
            found.unknown.extend(rights.unknown);
        }
    }
    Ok(Preflight { principal, ..found })
}

/// The user's credentials have to be of the account that the manager changes.
fn other_account(principal: &str, account: &str) -> Option<String> {
    let of = principal.split(':').nth(4).unwrap_or_default();
    (of != account).then(|| {
        format!(
            "{principal} is of account {of}, and the AWS CLI reads account {account}: choose its --profile"
        )
    })
}

/// What of the published policies a Cluster needs.
async fn needs(objects: &Objects, topology: &Topology, account: &CliAccount) -> Needs {
    let profiles: BTreeSet<&str> = topology.pools.iter().filter_map(|pool| pool.profile.as_deref()).collect();
    let mut node_roles = BTreeSet::new();
    for profile in profiles {
        // That one is missing or cannot be read is reported by the checks.
        let found = account.instance_profile(profile).await.ok().flatten();
        node_roles.extend(found.and_then(|it| it.role).map(|role| role.arn));
    }
    let eks = requested::eks(objects, topology);
    Needs {
        cluster: topology.cluster.clone(),
        region: topology.region.clone(),
        network: match &topology.managed {
            None => Network::Existing(topology.vpc.clone()),
            Some(network) if network.vpc_id.is_some() => Network::InGivenVpc,
            Some(_) => Network::Created,
        },
        eks: topology.eks.is_some(),
        issuer: eks.is_some_and(|eks| eks.oidc_provider),
        parameters: topology
            .pools
            .iter()
            .filter_map(|pool| pool.looked_up.as_ref())
            .any(requested::reads_parameter),
        node_roles,
        control_plane_role: eks.map(|eks| eks.role_arn.clone()),
    }
}
