//! Rights of the manager: each statement of the published policies (docs/reference) becomes a request that IAM simulates for the
//! manager's role or user (IAM API Reference, SimulatePrincipalPolicy).
//!
//! Requests have the account, the region and the names of the Cluster's resources. Ids that AWS gives are examples. What is denied
//! and depends on a condition key that a request does not have is not known, unless the provider's own calls do not have it either.

use crate::aws::{Aws, refusal};
use anyhow::{Context as _, Result};
use foo_model::names::{TAG_CLUSTER, TAG_PREFIX};
use futures::StreamExt as _;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Simulations at the same time.
const AT_A_TIME: usize = 3;
/// What stands for `*` in ids that AWS gives.
const EXAMPLE: &str = "example";

/// A published policy: its file, and its text.
type Published = (&'static str, &'static str);

const POOLS: Published = ("iam-policy.json", include_str!("../../../../docs/reference/iam-policy.json"));
const USER_DATA: Published =
    ("iam-user-data-policy.json", include_str!("../../../../docs/reference/iam-user-data-policy.json"));
const NETWORKS: Published =
    ("iam-network-policy.json", include_str!("../../../../docs/reference/iam-network-policy.json"));
const LEFTOVERS: Published =
    ("iam-leftovers-policy.json", include_str!("../../../../docs/reference/iam-leftovers-policy.json"));
const CONTROL_PLANES: Published = (
    "iam-control-plane-policy.json",
    include_str!("../../../../docs/reference/iam-control-plane-policy.json"),
);
const ADOPTION: Published =
    ("iam-adoption-policy.json", include_str!("../../../../docs/reference/iam-adoption-policy.json"));

/// What of the policies a Cluster needs, and the names of what it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// `<namespace>/<cluster>`.
    pub cluster: String,
    /// Region.
    pub region: String,
    /// Where its network is from.
    pub network: Network,
    /// Features that not every Cluster uses.
    pub features: BTreeSet<Feature>,
    /// Id of its VPC, if it is known.
    pub vpc: Option<String>,
    /// Names of its Auto Scaling groups, as far as they are known.
    pub groups: BTreeSet<String>,
    /// Name of its EKS cluster, if that is known.
    pub eks_cluster: Option<String>,
    /// Names of instance profiles.
    pub profiles: BTreeSet<String>,
    /// Names of key pairs.
    pub key_pairs: BTreeSet<String>,
    /// Names of SSM parameters that users wrote.
    pub parameters: BTreeSet<String>,
    /// Names of buckets for user data.
    pub buckets: BTreeSet<String>,
    /// ARNs of the roles of its Nodes.
    pub node_roles: BTreeSet<String>,
    /// ARNs of the roles of lifecycle hooks.
    pub hook_roles: BTreeSet<String>,
    /// ARN of the role of its control plane.
    pub control_plane_role: Option<String>,
    /// ARNs of the roles of add-ons and of pods.
    pub pod_roles: BTreeSet<String>,
}

/// What a Cluster may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Feature {
    /// A control plane on EKS.
    Eks,
    /// An OIDC provider in IAM for it.
    Issuer,
    /// Images from public SSM parameters.
    PublicParameters,
    /// VPC endpoints with private names.
    Endpoints,
    /// What workloads left in the network is deleted with it.
    Leftovers,
    /// Nodes are connected with the security group that EKS creates.
    ConnectedNodes,
    /// A group or an EKS cluster is adopted.
    Adoption,
}

/// Where the network of a Cluster is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Network {
    /// It exists.
    #[default]
    Existing,
    /// The provider creates it.
    Created,
    /// The provider creates it in a VPC that exists.
    InGivenVpc,
}

/// What IAM is asked.
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

/// The decision about an action: the most restrictive one of those about its resources.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Evaluation {
    eval_action_name: String,
    eval_decision: String,
    #[serde(default)]
    missing_context_values: Vec<String>,
    #[serde(default)]
    resource_specific_results: Vec<OnResource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct OnResource {
    eval_resource_name: String,
    eval_resource_decision: String,
    #[serde(default)]
    missing_context_values: Vec<String>,
}

/// Simulates everything that the Cluster needs for that role or user.
///
/// # Errors
/// A published policy cannot be read.
pub(super) async fn read(aws: &Aws, principal: &str, needs: &Needs) -> Result<Rights> {
    let account = principal.split(':').nth(4).unwrap_or_default();
    let partition = principal.split(':').nth(1).unwrap_or("aws");
    let requests = requests(needs, partition, account)?;
    let simulated: Vec<(&Request, Result<Simulated>)> = futures::stream::iter(&requests)
        .map(async |request| {
            let input = json!({
                "PolicySourceArn": principal,
                "ActionNames": request.actions,
                "ResourceArns": request.resources,
                "ContextEntries": request.context.iter().map(entry).collect::<Vec<_>>(),
            });
            (request, aws.ask("iam", "simulate-principal-policy", &input).await)
        })
        .buffered(AT_A_TIME)
        .collect()
        .await;
    let mut rights = Rights::default();
    let mut failures: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (request, simulated) in simulated {
        match simulated {
            Ok(Simulated { evaluation_results }) => {
                rights.actions = rights.actions.saturating_add(request.actions.len());
                judge(request, &evaluation_results, &mut rights);
            }
            Err(error) => {
                let text = format!("{error:#}");
                let why = refusal(&text)
                    .map_or_else(|| text.clone(), |(code, message)| format!("{code}: {message}"));
                failures.entry(why).or_default().push(&request.statement);
            }
        }
    }
    for (why, statements) in failures {
        let all = statements.len() == requests.len();
        let what = if all { "its rights".to_owned() } else { statements.join(", ") };
        rights.unknown.push(format!("{principal}: {what}: {why}"));
    }
    Ok(rights)
}

fn entry((key, value): (&String, &String)) -> Value {
    json!({"ContextKeyName": key, "ContextKeyValues": [value], "ContextKeyType": "string"})
}

/// One sentence for what a statement has and IAM does not allow.
fn judge(request: &Request, results: &[Evaluation], rights: &mut Rights) {
    let (mut missing, mut unknown, mut keys) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut decided = |action: &str, on: Option<&str>, decision: &str, needed: &[String]| {
        if decision == "allowed" {
            return;
        }
        let denied = if decision == "explicitDeny" { " (denied)" } else { "" };
        let on = on.map(|resource| format!(" on {resource}")).unwrap_or_default();
        let what = format!("{action}{on}{denied}");
        let needed: Vec<&String> = needed.iter().filter(|key| !is_absent_on_purpose(key)).collect();
        if needed.is_empty() {
            missing.insert(what);
        } else {
            unknown.insert(what);
            keys.extend(needed.into_iter().cloned());
        }
    };
    for result in results {
        let Evaluation { eval_action_name: action, eval_decision, missing_context_values, .. } = result;
        for it in &result.resource_specific_results {
            let on = (request.resources.len() > 1).then_some(it.eval_resource_name.as_str());
            decided(action, on, &it.eval_resource_decision, &it.missing_context_values);
        }
        if result.resource_specific_results.is_empty() {
            decided(action, None, eval_decision, missing_context_values);
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

/// Condition keys that the provider's calls do not have where the request does not have them: its own tags, and what is denied only
/// if it is there.
fn is_absent_on_purpose(key: &str) -> bool {
    let tag = key.split_once('/').map_or("", |(_, tag)| tag);
    tag.starts_with(TAG_PREFIX) || ["autoscaling:ForceDelete", "aws:TagKeys"].contains(&key)
}

/// The requests of all policies that the Cluster needs.
fn requests(needs: &Needs, partition: &str, account: &str) -> Result<Vec<Request>> {
    let uses = |feature| needs.features.contains(&feature);
    let policies = [
        (POOLS, true),
        (USER_DATA, !needs.buckets.is_empty()),
        (NETWORKS, needs.network != Network::Existing),
        (LEFTOVERS, uses(Feature::Leftovers)),
        (CONTROL_PLANES, uses(Feature::Eks)),
        (ADOPTION, uses(Feature::Adoption)),
    ];
    let mut requests = Vec::new();
    for ((file, text), _) in policies.into_iter().filter(|(_, needed)| *needed) {
        let policy: Policy = serde_json::from_str(text).with_context(|| format!("reading {file}"))?;
        for statement in policy.statement.into_iter().filter(|it| it.effect == "Allow") {
            let fill = |pattern: &str| filled(pattern, needs, partition, account);
            let resources: Vec<String> = match resources(&statement.sid, needs) {
                Resources::Unneeded => continue,
                Resources::Examples => statement.resource.iter().flat_map(|it| fill(it)).collect(),
                Resources::Those(those) => those,
            };
            if resources.is_empty() {
                continue;
            }
            let context = context(&statement, needs, partition, &fill);
            let name = format!("{} of {file}", statement.sid);
            // No right is needed for it (STS API Reference, GetCallerIdentity).
            let actions = statement.action.into_iter().filter(|it| it != "sts:GetCallerIdentity").collect();
            requests.push(Request { statement: name, actions, resources, context });
        }
    }
    Ok(requests)
}

/// On what a statement is tried.
#[derive(Debug, PartialEq, Eq)]
enum Resources {
    /// This Cluster does not need it.
    Unneeded,
    /// What its patterns name, as far as the Cluster has names, and examples.
    Examples,
    /// These.
    Those(Vec<String>),
}

/// Statements that not every Cluster needs, or whose resources are known.
fn resources(sid: &str, needs: &Needs) -> Resources {
    let when = |needed: bool| if needed { Resources::Examples } else { Resources::Unneeded };
    let uses = |feature| when(needs.features.contains(&feature));
    let those = |roles: &BTreeSet<String>| Resources::Those(roles.iter().cloned().collect());
    match sid {
        "ReadImageParameters" => {
            when(needs.features.contains(&Feature::PublicParameters) || !needs.parameters.is_empty())
        }
        "LaunchIntoOwnNetworks" => when(needs.network != Network::Existing),
        "LaunchIntoNamedVpcs" => when(needs.network == Network::Existing),
        "UseGivenVpcs" => when(needs.network == Network::InGivenVpc),
        "GiveNodesTheirRole" | "LetNodesIn" => those(&needs.node_roles),
        "GiveHooksTheirRole" => those(&needs.hook_roles),
        "GivePodsTheirRole" => those(&needs.pod_roles),
        "GiveClustersTheirRole" => those(&needs.control_plane_role.iter().cloned().collect()),
        "ReadIssuers" | "CreateIssuers" | "DeleteOwnIssuers" => uses(Feature::Issuer),
        "NamesOfEndpoints" => uses(Feature::Endpoints),
        "ConnectGroupsOfClusters" => uses(Feature::ConnectedNodes),
        _ if LEFT_OUT.contains(&sid) => Resources::Unneeded,
        _ => Resources::Examples,
    }
}

/// Statements for the queue of events, which belongs to the manager and not to a Cluster, and for service-linked roles, which an
/// account gets once.
const LEFT_OUT: [&str; 3] = ["ReadEvents", "FirstUseOfAutoScaling", "FirstUseOfEks"];

/// ARNs that a pattern of the published policies matches: with the names that the Cluster has, none if it has nothing of a kind that
/// users name.
fn filled(pattern: &str, needs: &Needs, partition: &str, account: &str) -> Vec<String> {
    let parts: Vec<&str> = pattern.splitn(6, ':').collect();
    let [arn, _, service, its_region, its_account, resource] = parts.as_slice() else {
        return vec![pattern.to_owned()];
    };
    let place = |part: &str, own: &str| if part.is_empty() { String::new() } else { own.to_owned() };
    let (region, account) = (place(its_region, &needs.region), place(its_account, account));
    let prefix = format!("{arn}:{partition}:{service}:{region}:{account}:");
    let with = |names: Vec<&str>| -> Vec<String> {
        let name = |name: &str| format!("{prefix}{}", resource.replacen('*', name, 1).replace('*', EXAMPLE));
        names.into_iter().map(name).collect()
    };
    match (*service, resource.split(['/', ':']).next().unwrap_or_default()) {
        ("autoscaling", "autoScalingGroup") => {
            let names = if needs.groups.is_empty() { vec![EXAMPLE] } else { all(&needs.groups) };
            let name = |it: &str| format!("{prefix}autoScalingGroup:{EXAMPLE}:autoScalingGroupName/{it}");
            names.into_iter().map(name).collect()
        }
        (
            "eks",
            "cluster" | "addon" | "access-entry" | "podidentityassociation" | "identityproviderconfig",
        ) => with(vec![needs.eks_cluster.as_deref().unwrap_or(EXAMPLE)]),
        ("iam", "instance-profile") => with(all(&needs.profiles)),
        ("iam", "role") => {
            let known = needs.node_roles.iter().chain(&needs.control_plane_role).chain(&needs.pod_roles);
            known.cloned().collect()
        }
        ("ec2", "key-pair") => with(all(&needs.key_pairs)),
        ("ec2", "vpc") => with(vec![needs.vpc.as_deref().unwrap_or(EXAMPLE)]),
        ("s3", _) => with(all(&needs.buckets)),
        ("ssm", _) if resource.starts_with("parameter/aws/service/") => {
            if needs.features.contains(&Feature::PublicParameters) { with(vec![EXAMPLE]) } else { Vec::new() }
        }
        ("ssm", _) => with(needs.parameters.iter().map(|it| it.trim_start_matches('/')).collect()),
        _ => with(vec![EXAMPLE]),
    }
}

fn all(names: &BTreeSet<String>) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// Values with which the conditions of a statement are true, and the region of the call, which policies often restrict.
fn context(
    statement: &Statement,
    needs: &Needs,
    partition: &str,
    fill: &impl Fn(&str) -> Vec<String>,
) -> BTreeMap<String, String> {
    // IAM has one region in each partition (AWS General Reference, "IAM endpoints and quotas").
    let is_of_iam = statement.action.iter().all(|action| action.starts_with("iam:"));
    let region = match (is_of_iam, partition) {
        (true, "aws") => "us-east-1",
        (true, "aws-cn") => "cn-north-1",
        (true, "aws-us-gov") => "us-gov-west-1",
        (true | false, _) => needs.region.as_str(),
    };
    let mut context = BTreeMap::from([("aws:RequestedRegion".to_owned(), region.to_owned())]);
    for (operator, keys) in &statement.condition {
        for (key, values) in keys {
            let first = values.as_array().and_then(|all| all.first()).unwrap_or(values);
            let first = first.as_str().unwrap_or_default();
            let value = match operator.as_str() {
                "Null" if first == "true" => continue,
                "ForAllValues:StringNotEquals" => continue,
                "Null" if key.ends_with(TAG_CLUSTER) => needs.cluster.clone(),
                "Null" => EXAMPLE.to_owned(),
                "ArnLike" => fill(first).into_iter().next().unwrap_or_default(),
                "StringLike" => first.replace('*', ""),
                _ => first.to_owned(),
            };
            context.insert(key.clone(), value);
        }
    }
    context
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNT: &str = "123456789012";

    fn needs() -> Needs {
        Needs { cluster: "team/prod".to_owned(), region: "eu-central-1".to_owned(), ..Needs::default() }
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|it| (*it).to_owned()).collect()
    }

    fn all(needs: &Needs) -> BTreeMap<String, Request> {
        let named = |it: Request| (it.statement.split(' ').next().unwrap().to_owned(), it);
        requests(needs, "aws", ACCOUNT).unwrap().into_iter().map(named).collect()
    }

    #[test]
    fn requests_have_the_names_of_the_cluster_and_what_the_statements_require() {
        let pools = all(&Needs { vpc: Some("vpc-1".to_owned()), groups: set(&["team-prod-a"]), ..needs() });
        let created = &pools["CreateGroups"];
        let group = "arn:aws:autoscaling:eu-central-1:123456789012:autoScalingGroup:example:autoScalingGroupName/team-prod-a";
        assert_eq!(created.resources, [group]);
        assert_eq!(created.context["aws:RequestTag/infrastructure.foo.com/cluster"], "team/prod");
        assert_eq!(created.context["aws:RequestedRegion"], "eu-central-1");
        assert!(!created.context.contains_key("aws:RequestTag/infrastructure.foo.com/adopted"));
        let launch = &pools["LaunchIntoNamedVpcs"].context;
        assert_eq!(launch["ec2:Vpc"], "arn:aws:ec2:eu-central-1:123456789012:vpc/vpc-1");
        let launched = &pools["LaunchOnlyFromTemplates"].resources;
        assert!(launched.contains(&"arn:aws:ec2:eu-central-1::image/example".to_owned()), "{launched:?}");
        assert!(!launched.iter().any(|it| it.contains("key-pair")), "no pool has one");
        for unneeded in [
            "LaunchIntoOwnNetworks",
            "ReadImageParameters",
            "GiveNodesTheirRole",
            "GiveHooksTheirRole",
            "ReadEvents",
        ] {
            assert!(!pools.contains_key(unneeded), "{unneeded}");
        }
    }

    /// EKS does not delete a group that a rule of the network names.
    #[test]
    fn the_group_that_nodes_are_connected_with_may_be_deleted_without_the_policy_for_leftovers() {
        let features = BTreeSet::from([Feature::Eks, Feature::ConnectedNodes]);
        let found = all(&Needs { network: Network::Created, features, ..needs() });
        let actions = &found["ConnectGroupsOfClusters"].actions;
        assert!(actions.contains(&"ec2:DeleteSecurityGroup".to_owned()), "{actions:?}");
        assert!(!found.contains_key("DeleteLeftGroupsOfEks"));
    }

    #[test]
    fn what_is_needed_follows_from_the_cluster() {
        use Feature::{Adoption, Eks, Endpoints, Issuer, Leftovers, PublicParameters};
        let role = "arn:aws:iam::123456789012:role/a.nodes.infrastructure.foo.com";
        let everything = Needs {
            network: Network::Created,
            features: BTreeSet::from([Eks, Issuer, PublicParameters, Endpoints, Leftovers, Adoption]),
            eks_cluster: Some("team_prod".to_owned()),
            profiles: set(&["a.nodes.infrastructure.foo.com"]),
            key_pairs: set(&["ops"]),
            parameters: set(&["/images/x"]),
            buckets: set(&["data"]),
            node_roles: set(&[role]),
            hook_roles: set(&["arn:aws:iam::123456789012:role/h"]),
            control_plane_role: Some("arn:aws:iam::123456789012:role/c".to_owned()),
            ..needs()
        };
        let found = all(&everything);
        assert_eq!(found["GiveNodesTheirRole"].resources, [role]);
        let hooks = &found["GiveHooksTheirRole"];
        assert_eq!(hooks.resources, ["arn:aws:iam::123456789012:role/h"]);
        assert_eq!(hooks.context["iam:PassedToService"], "autoscaling.amazonaws.com");
        assert_eq!(found["LetNodesIn"].context["iam:PassedToService"], "ec2.amazonaws.com");
        assert_eq!(found["LetNodesIn"].context["aws:RequestedRegion"], "us-east-1");
        let eks = "arn:aws:eks:eu-central-1:123456789012:";
        assert_eq!(
            found["DescribeClusters"].resources[..2],
            [format!("{eks}cluster/team_prod"), format!("{eks}addon/team_prod/example")]
        );
        let parameters = [
            "arn:aws:ssm:eu-central-1::parameter/aws/service/example",
            "arn:aws:ssm:eu-central-1:123456789012:parameter/images/x",
        ];
        assert_eq!(found["ReadImageParameters"].resources, parameters);
        assert_eq!(found["StoreUserData"].resources, ["arn:aws:s3:::data/foo-user-data/example"]);
        for needed in
            ["ChangeOwnNetworks", "CreateIssuers", "NamesOfEndpoints", "DeleteLeftInterfaces", "AdoptGroups"]
        {
            assert!(found.contains_key(needed), "{needed}");
        }
        assert!(!found.contains_key("LaunchIntoNamedVpcs") && !found.contains_key("UseGivenVpcs"));
        assert!(!found.contains_key("GivePodsTheirRole"), "no add-on has a role");
    }

    #[test]
    fn every_statement_that_is_treated_apart_is_in_a_policy() {
        let statements = |file: Published| serde_json::from_str::<Policy>(file.1).unwrap().statement;
        let policies = [POOLS, USER_DATA, NETWORKS, LEFTOVERS, CONTROL_PLANES, ADOPTION];
        let sids: BTreeSet<String> = policies.into_iter().flat_map(statements).map(|it| it.sid).collect();
        let apart = sids.iter().filter(|sid| resources(sid, &needs()) != Resources::Examples).count();
        assert_eq!(apart, 16, "a name in resources() is wrong");
    }

    fn on_resource(resource: &str, decision: &str, missing: &[&str]) -> OnResource {
        OnResource {
            eval_resource_name: resource.to_owned(),
            eval_resource_decision: decision.to_owned(),
            missing_context_values: missing.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    fn evaluation(action: &str, decision: &str, results: Vec<OnResource>) -> Evaluation {
        Evaluation {
            eval_action_name: action.to_owned(),
            eval_decision: decision.to_owned(),
            missing_context_values: Vec::new(),
            resource_specific_results: results,
        }
    }

    #[test]
    fn a_denial_is_missing_and_what_depends_on_a_condition_is_unknown() {
        let requests = all(&needs());
        let mut rights = Rights::default();
        let results = [
            evaluation(
                "autoscaling:CreateAutoScalingGroup",
                "implicitDeny",
                vec![on_resource("a", "implicitDeny", &["aws:RequestTag/owner"])],
            ),
            evaluation(
                "autoscaling:CreateOrUpdateTags",
                "explicitDeny",
                vec![on_resource("a", "explicitDeny", &[])],
            ),
        ];
        judge(&requests["CreateGroups"], &results, &mut rights);
        let missing =
            "CreateGroups of iam-policy.json is not allowed: autoscaling:CreateOrUpdateTags (denied)";
        assert_eq!(rights.missing, [missing]);
        let unknown = "CreateGroups of iam-policy.json: it depends on aws:RequestTag/owner: autoscaling:CreateAutoScalingGroup";
        assert_eq!(rights.unknown, [unknown]);
        judge(&requests["Describe"], &[evaluation("ec2:DescribeImages", "allowed", Vec::new())], &mut rights);
        assert_eq!((rights.missing.len(), rights.unknown.len()), (1, 1));
    }

    /// The provider's calls do not have its tags on what is not its own, and never delete by force.
    #[test]
    fn keys_that_are_absent_on_purpose_leave_no_doubt() {
        let requests = all(&needs());
        let mut rights = Rights::default();
        let own = "aws:ResourceTag/infrastructure.foo.com/cluster";
        let subnet =
            on_resource("subnet/x", "implicitDeny", &[own, "ec2:ResourceTag/infrastructure.foo.com/cluster"]);
        let allowed = on_resource("security-group/x", "allowed", &["aws:ResourceTag/owner"]);
        judge(
            &requests["LaunchIntoNamedVpcs"],
            &[evaluation("ec2:RunInstances", "implicitDeny", vec![subnet, allowed])],
            &mut rights,
        );
        let missing = "LaunchIntoNamedVpcs of iam-policy.json is not allowed: ec2:RunInstances on subnet/x";
        assert_eq!((rights.missing.as_slice(), rights.unknown.len()), ([missing.to_owned()].as_slice(), 0));
        assert!(
            is_absent_on_purpose("autoscaling:ForceDelete") && !is_absent_on_purpose("aws:RequestTag/team")
        );
    }
}
