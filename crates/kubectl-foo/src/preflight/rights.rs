//! Rights of the manager: each statement of the published policies (docs/reference) becomes a request that IAM simulates for the
//! manager's role or user (IAM API Reference, SimulatePrincipalPolicy).
//!
//! Requests have the account, region and names of the Cluster, and otherwise examples: a policy that is narrower than the published
//! one may allow other names only. What depends on a condition key that a request does not have is not known.

use super::account::refusal;
use crate::aws::Aws;
use anyhow::{Context as _, Result};
use foo_model::names::TAG_CLUSTER;
use futures::{StreamExt as _, TryStreamExt as _};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Simulations at the same time.
const AT_A_TIME: usize = 3;
/// What stands for `*` in names and ids.
const EXAMPLE: &str = "example";

/// What Clusters of some form need, with the name of the file that has it.
const POOLS: (&str, &str) = ("iam-policy.json", include_str!("../../../../docs/reference/iam-policy.json"));
const NETWORKS: (&str, &str) =
    ("iam-network-policy.json", include_str!("../../../../docs/reference/iam-network-policy.json"));
const CONTROL_PLANES: (&str, &str) = (
    "iam-control-plane-policy.json",
    include_str!("../../../../docs/reference/iam-control-plane-policy.json"),
);

/// Where the network of a Cluster is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Network {
    /// It exists, in this VPC if that is known.
    Existing(Option<String>),
    /// The provider creates it.
    Created,
    /// The provider creates it in a VPC that exists.
    InGivenVpc,
}

impl Network {
    fn is_created(&self) -> bool {
        matches!(self, Self::Created | Self::InGivenVpc)
    }
}

impl Default for Network {
    fn default() -> Self {
        Self::Existing(None)
    }
}

/// What of the policies a Cluster needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// `<namespace>/<cluster>`.
    pub cluster: String,
    /// Region.
    pub region: String,
    /// Where its network is from.
    pub network: Network,
    /// Its control plane is on EKS.
    pub eks: bool,
    /// Its EKS cluster gets an OIDC provider in IAM.
    pub issuer: bool,
    /// A pool reads its image from an SSM parameter.
    pub parameters: bool,
    /// ARNs of the roles of its Nodes.
    pub node_roles: BTreeSet<String>,
    /// ARN of the role of its control plane.
    pub control_plane_role: Option<String>,
}

/// What IAM was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Request {
    /// Statement and file.
    statement: String,
    actions: Vec<String>,
    resources: Vec<String>,
    /// Condition keys and their value.
    context: BTreeMap<String, String>,
}

/// What IAM decided.
#[derive(Debug, Default)]
pub(super) struct Rights {
    /// How many actions were simulated.
    pub actions: usize,
    /// What is not allowed: sentences.
    pub missing: Vec<String>,
    /// What is not known: sentences.
    pub unknown: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Policy {
    statement: Vec<Statement>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Statement {
    sid: String,
    effect: String,
    action: Vec<String>,
    resource: Vec<String>,
    #[serde(default)]
    condition: BTreeMap<String, Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Simulated {
    evaluation_results: Vec<Evaluation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Evaluation {
    eval_action_name: String,
    #[serde(default)]
    eval_resource_name: String,
    eval_decision: String,
    #[serde(default)]
    missing_context_values: Vec<String>,
}

/// Simulates everything that the Cluster needs for that role or user.
pub(super) async fn read(aws: &Aws, principal: &str, needs: &Needs) -> Result<Rights> {
    let account = principal.split(':').nth(4).unwrap_or_default();
    let partition = principal.split(':').nth(1).unwrap_or("aws");
    let requests = requests(needs, partition, account)?;
    let mut rights =
        Rights { actions: requests.iter().map(|it| it.actions.len()).sum(), ..Rights::default() };
    let simulated = futures::stream::iter(&requests).map(async |request| {
        let context: Vec<Value> = request.context.iter().map(entry).collect();
        let context = Value::Array(context).to_string();
        let mut command = vec!["iam", "simulate-principal-policy", "--policy-source-arn", principal];
        command.push("--action-names");
        command.extend(request.actions.iter().map(String::as_str));
        command.push("--resource-arns");
        command.extend(request.resources.iter().map(String::as_str));
        if !request.context.is_empty() {
            command.extend(["--context-entries", &context]);
        }
        anyhow::Ok((request, aws.read::<Simulated>(&command).await?))
    });
    let simulated: Result<Vec<_>> = simulated.buffered(AT_A_TIME).try_collect().await;
    let simulated = match simulated {
        Ok(simulated) => simulated,
        Err(error) => {
            let text = format!("{error:#}");
            let why =
                refusal(&text).map_or_else(|| text.clone(), |(code, message)| format!("{code}: {message}"));
            rights.unknown.push(format!("the rights of {principal}: {why}"));
            return Ok(rights);
        }
    };
    for (request, Simulated { evaluation_results }) in simulated {
        judge(request, &evaluation_results, &mut rights);
    }
    Ok(rights)
}

fn entry((key, value): (&String, &String)) -> Value {
    json!({"ContextKeyName": key, "ContextKeyValues": [value], "ContextKeyType": "string"})
}

/// One sentence for what a statement has and IAM does not allow.
fn judge(request: &Request, results: &[Evaluation], rights: &mut Rights) {
    let (mut missing, mut unknown, mut keys) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for result in results.iter().filter(|it| it.eval_decision != "allowed") {
        let denied = if result.eval_decision == "explicitDeny" { " (denied)" } else { "" };
        let on = match request.resources.as_slice() {
            [_] => String::new(),
            _ => format!(" on {}", result.eval_resource_name),
        };
        let what = format!("{}{on}{denied}", result.eval_action_name);
        if result.missing_context_values.is_empty() {
            missing.insert(what);
        } else {
            unknown.insert(what);
            keys.extend(result.missing_context_values.iter().cloned());
        }
    }
    let joined = |all: BTreeSet<String>| all.into_iter().collect::<Vec<_>>().join(", ");
    if !missing.is_empty() {
        rights.missing.push(format!("{} is not allowed: {}", request.statement, joined(missing)));
    }
    if !unknown.is_empty() {
        let (keys, what) = (joined(keys), joined(unknown));
        rights.unknown.push(format!("{}: it depends on {keys}: {what}", request.statement));
    }
}

/// The requests of all policies that the Cluster needs.
fn requests(needs: &Needs, partition: &str, account: &str) -> Result<Vec<Request>> {
    let policies = [(POOLS, true), (NETWORKS, needs.network.is_created()), (CONTROL_PLANES, needs.eks)];
    let mut requests = Vec::new();
    for ((file, text), _) in policies.into_iter().filter(|(_, needed)| *needed) {
        let policy: Policy = serde_json::from_str(text).with_context(|| format!("reading {file}"))?;
        for statement in policy.statement.into_iter().filter(|it| it.effect == "Allow") {
            let fill = |pattern: &String| filled(pattern, partition, &needs.region, account);
            let resources = match resources(&statement.sid, needs) {
                Resources::Unneeded => continue,
                Resources::Examples => statement.resource.iter().map(fill).collect(),
                Resources::Those(those) => those,
            };
            let context = context(&statement, needs, &fill);
            let statement_name = format!("{} of {file}", statement.sid);
            requests.push(Request {
                statement: statement_name,
                actions: statement.action,
                resources,
                context,
            });
        }
    }
    Ok(requests)
}

/// On what a statement is tried.
#[derive(Debug, PartialEq, Eq)]
enum Resources {
    /// This Cluster does not need it.
    Unneeded,
    /// Examples.
    Examples,
    /// These.
    Those(Vec<String>),
}

/// Statements that not every Cluster needs, or whose resources are known. What only optional features need, and what AWS needs
/// once in an account, is left out.
fn resources(sid: &str, needs: &Needs) -> Resources {
    let when = |needed: bool| if needed { Resources::Examples } else { Resources::Unneeded };
    let those =
        |roles: Vec<String>| if roles.is_empty() { Resources::Unneeded } else { Resources::Those(roles) };
    match sid {
        "ReadImageParameters" => when(needs.parameters),
        "LaunchIntoOwnNetworks" => when(needs.network.is_created()),
        "LaunchIntoNamedVpcs" => when(!needs.network.is_created()),
        "UseGivenVpcs" => when(needs.network == Network::InGivenVpc),
        "GiveNodesTheirRole" | "LetNodesIn" => those(needs.node_roles.iter().cloned().collect()),
        "GiveClustersTheirRole" => those(needs.control_plane_role.iter().cloned().collect()),
        "ReadIssuers" | "CreateIssuers" | "DeleteOwnIssuers" => when(needs.issuer),
        _ if OPTIONAL.contains(&sid) => Resources::Unneeded,
        _ => Resources::Examples,
    }
}

/// Statements for optional features, and for service-linked roles, which an account gets once.
const OPTIONAL: [&str; 5] =
    ["ReadEvents", "FirstUseOfAutoScaling", "FirstUseOfEks", "GivePodsTheirRole", "NamesOfEndpoints"];

/// An ARN that a pattern of the published policies matches.
fn filled(pattern: &str, partition: &str, region: &str, account: &str) -> String {
    let parts: Vec<&str> = pattern.splitn(6, ':').collect();
    let [arn, _, service, its_region, its_account, resource] = parts.as_slice() else {
        return pattern.to_owned();
    };
    let place = |part: &str, own: &str| if part.is_empty() { String::new() } else { own.to_owned() };
    let (region, account) = (place(its_region, region), place(its_account, account));
    format!("{arn}:{partition}:{service}:{region}:{account}:{}", resource.replace('*', EXAMPLE))
}

/// Values with which the conditions of a statement are true.
fn context(
    statement: &Statement,
    needs: &Needs,
    fill: &impl Fn(&String) -> String,
) -> BTreeMap<String, String> {
    let mut context = BTreeMap::new();
    for (operator, keys) in &statement.condition {
        for (key, values) in keys {
            let first = values.as_array().and_then(|all| all.first()).unwrap_or(values);
            let first = first.as_str().unwrap_or_default().to_owned();
            let value = match operator.as_str() {
                "Null" if first == "true" => continue,
                "Null" if key.ends_with(TAG_CLUSTER) => needs.cluster.clone(),
                "Null" => EXAMPLE.to_owned(),
                "ArnLike" if key == "ec2:Vpc" => vpc(&first, needs, fill),
                "ArnLike" => fill(&first),
                "StringLike" => first.trim_end_matches('*').to_owned(),
                "ForAllValues:StringNotEquals" => continue,
                _ => first,
            };
            context.insert(key.clone(), value);
        }
    }
    context
}

fn vpc(pattern: &String, needs: &Needs, fill: &impl Fn(&String) -> String) -> String {
    let filled = fill(pattern);
    match &needs.network {
        Network::Existing(Some(id)) => filled.replace(&format!("vpc/{EXAMPLE}"), &format!("vpc/{id}")),
        Network::Existing(None) | Network::Created | Network::InGivenVpc => filled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT: &str = "123456789012";

    fn needs() -> Needs {
        Needs { cluster: "team/prod".to_owned(), region: "eu-central-1".to_owned(), ..Needs::default() }
    }

    fn all(needs: &Needs) -> BTreeMap<String, Request> {
        let named = |it: Request| (it.statement.split(' ').next().unwrap().to_owned(), it);
        requests(needs, "aws", ACCOUNT).unwrap().into_iter().map(named).collect()
    }

    #[test]
    fn requests_have_what_the_statements_of_the_policies_require() {
        let pools = all(&Needs { network: Network::Existing(Some("vpc-1".to_owned())), ..needs() });
        let created = &pools["CreateGroups"];
        let group = "arn:aws:autoscaling:eu-central-1:123456789012:autoScalingGroup:example:autoScalingGroupName/example";
        assert_eq!(created.resources, [group]);
        let tag = "aws:RequestTag/infrastructure.foo.com/cluster";
        assert_eq!(created.context, BTreeMap::from([(tag.to_owned(), "team/prod".to_owned())]));
        let launch = &pools["LaunchIntoNamedVpcs"].context;
        assert_eq!(launch["ec2:Vpc"], "arn:aws:ec2:eu-central-1:123456789012:vpc/vpc-1");
        let image = &pools["LaunchOnlyFromTemplates"].resources[4];
        assert_eq!(image, "arn:aws:ec2:eu-central-1::image/example");
        for unneeded in ["LaunchIntoOwnNetworks", "ReadImageParameters", "GiveNodesTheirRole", "ReadEvents"] {
            assert!(!pools.contains_key(unneeded), "{unneeded}");
        }
    }

    #[test]
    fn what_is_needed_follows_from_the_cluster() {
        let role = "arn:aws:iam::123456789012:role/a.nodes.infrastructure.foo.com";
        let everything = Needs {
            network: Network::Created,
            eks: true,
            parameters: true,
            node_roles: BTreeSet::from([role.to_owned()]),
            control_plane_role: Some("arn:aws:iam::123456789012:role/c".to_owned()),
            ..needs()
        };
        let found = all(&everything);
        assert_eq!(found["GiveNodesTheirRole"].resources, [role]);
        assert_eq!(found["LetNodesIn"].context["iam:PassedToService"], "ec2.amazonaws.com");
        assert!(found.contains_key("ChangeOwnNetworks") && found.contains_key("CreateClusters"));
        assert!(!found.contains_key("LaunchIntoNamedVpcs") && !found.contains_key("UseGivenVpcs"));
        let missing = |file: (&str, &str)| serde_json::from_str::<Policy>(file.1).unwrap().statement;
        let sids: BTreeSet<String> =
            [POOLS, NETWORKS, CONTROL_PLANES].into_iter().flat_map(missing).map(|it| it.sid).collect();
        let unknown: Vec<_> = OPTIONAL.iter().filter(|sid| !sids.contains(**sid)).collect();
        assert!(unknown.is_empty(), "no policy has {unknown:?}");
    }

    #[test]
    fn a_denial_is_missing_and_what_depends_on_a_condition_is_unknown() {
        let requests = all(&needs());
        let result = |action: &str, decision: &str, missing: &[&str]| Evaluation {
            eval_action_name: action.to_owned(),
            eval_resource_name: "arn".to_owned(),
            eval_decision: decision.to_owned(),
            missing_context_values: missing.iter().map(|it| (*it).to_owned()).collect(),
        };
        let mut rights = Rights::default();
        let results = [
            result("autoscaling:CreateAutoScalingGroup", "implicitDeny", &["aws:RequestTag/owner"]),
            result("autoscaling:CreateOrUpdateTags", "explicitDeny", &[]),
        ];
        judge(&requests["CreateGroups"], &results, &mut rights);
        let missing =
            "CreateGroups of iam-policy.json is not allowed: autoscaling:CreateOrUpdateTags (denied)";
        assert_eq!(rights.missing, [missing]);
        let unknown = "CreateGroups of iam-policy.json: it depends on aws:RequestTag/owner: autoscaling:CreateAutoScalingGroup";
        assert_eq!(rights.unknown, [unknown]);
        judge(&requests["Describe"], &[result("ec2:DescribeImages", "allowed", &[])], &mut rights);
        assert_eq!((rights.missing.len(), rights.unknown.len()), (1, 1));
    }
}
