//! What the policies allow, and what they do not.

use super::files;
use super::guards::{Guard, guard};
use super::pools::{GROUPS, NODE_ROLES};
use super::statement::{Effect, Statement};
use super::{control_planes, extension, leftovers, networks, pools, user_data};
use foo_cloud::Operation;
use foo_model::names::{TAG_ADOPTED, TAG_CLUSTER, TAG_NETWORK};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use strum::IntoEnumIterator as _;

const POLICIES: [(&str, &str); 6] = [
    ("Policy", "docs/reference/iam-policy.json"),
    ("NetworkPolicy", "docs/reference/iam-network-policy.json"),
    ("LeftoversPolicy", "docs/reference/iam-leftovers-policy.json"),
    ("ControlPlanePolicy", "docs/reference/iam-control-plane-policy.json"),
    ("AdoptionPolicy", "docs/reference/iam-adoption-policy.json"),
    ("UserDataPolicy", "docs/reference/iam-user-data-policy.json"),
];

fn text(path: &str) -> String {
    files().unwrap().into_iter().find(|it| it.path == path).unwrap().text
}

fn statements() -> Vec<Statement> {
    let of_networks = networks::statements().into_iter().chain(leftovers::statements());
    let of_eks = control_planes::statements().into_iter().chain(control_planes::adoption());
    let others = of_networks.chain(of_eks).chain(user_data::statements());
    pools::statements().into_iter().chain(pools::adoption()).chain(others).collect()
}

fn allowing() -> Vec<Statement> {
    statements().into_iter().filter(|statement| statement.effect == Effect::Allow).collect()
}

/// The statement of a guard; the manager has no right to what only the extension does.
fn sid(guard: Guard) -> Option<&'static str> {
    let sid = match guard {
        Guard::ReadsOfExtension => return None,
        Guard::OffersOfEks => "DescribeWhatEksOffers",
        Guard::ReadsClusters => "DescribeClusters",
        Guard::ReadsRoles => "ReadRoles",
        Guard::NewCluster => "CreateClusters",
        Guard::OwnCluster => "ChangeOwnClusters",
        Guard::PartOfCluster => "ChangeOwnPartsOfClusters",
        Guard::TagsOfClusters => "TagClusters",
        Guard::UntagsClusters => "UntagOwnClusters",
        Guard::ReadsIssuers => "ReadIssuers",
        Guard::NewIssuer => "CreateIssuers",
        Guard::OwnIssuer => "DeleteOwnIssuers",
        Guard::ReadOnly => "Describe",
        Guard::Parameter => "ReadImageParameters",
        Guard::NewObject => "StoreUserData",
        Guard::OwnObject => "DeleteStoredUserData",
        Guard::ReadsObjects => "FindStoredUserData",
        Guard::GroupWithOurTag => "CreateGroups",
        Guard::OwnGroup => "ChangeOwnGroups",
        Guard::TemplateWithOurTag => "CreateTemplates",
        Guard::OwnTemplate => "ChangeOwnTemplates",
        Guard::TaggedQueue => "ReadEvents",
        Guard::ReadsNetworks => "DescribeNetworks",
        Guard::NewPart => "CreateNetworks",
        Guard::NewPartOfVpc => "CreatePartsOfVpcs",
        Guard::NewConnection => "CreateConnections",
        Guard::OwnPart => "ChangeOwnNetworks",
        Guard::TagsOfOwnPart => "UntagOwnNetworks",
        Guard::LeftLoadBalancer => "DeleteLeftLoadBalancers",
        Guard::LeftInterface => "DeleteLeftInterfaces",
    };
    Some(sid)
}

/// The statements that an operation needs besides that of its guard, since it is about several things.
fn further(operation: Operation) -> &'static [&'static str] {
    match operation {
        // Of a new group: by the tag in the request; of one that exists: by its own tag.
        Operation::CreateOrUpdateTags => &["CreateGroups", "AdoptGroups"],
        Operation::CreateTags => &["TagNewParts", "TagNewTemplates", "TagNewInstances"],
        Operation::CreateSubnet
        | Operation::CreateEgressOnlyInternetGateway
        | Operation::CreateNatGateway
        | Operation::CreateRouteTable
        | Operation::CreateSecurityGroup
        | Operation::CreateVpcEndpoint => &["UseOwnNetworks", "UseGivenVpcs"],
        Operation::AttachInternetGateway | Operation::DetachInternetGateway => &["UseGivenVpcs"],
        Operation::RevokeSecurityGroupEgress => {
            &["DeleteLeftSecurityGroups", "DeleteLeftGroupsOfEks", "DeleteGroupsOfGuardDuty"]
        }
        Operation::DeleteSecurityGroup | Operation::RevokeSecurityGroupIngress => &[
            "DeleteLeftSecurityGroups",
            "DeleteLeftGroupsOfEks",
            "DeleteGroupsOfGuardDuty",
            "ConnectGroupsOfClusters",
        ],
        Operation::AuthorizeSecurityGroupIngress => &["ConnectGroupsOfClusters"],
        Operation::DeleteVpcEndpoints => &["DeleteEndpointsOfGuardDuty"],
        Operation::DeleteNetworkInterface => &["DeleteIdleInterfacesOfNodes"],
        Operation::DeleteLoadBalancer | Operation::DeleteTargetGroup => &["DeleteLeftServices"],
        Operation::GetInstanceProfile => &["ReadRoles", "FindNodeRoles"],
        // With the ownership tag in the request, or on the resource.
        Operation::TagResource => &["UntagOwnClusters", "AdoptClusters"],
        Operation::CreateAddon | Operation::UpdateAddon | Operation::DeleteAddon => {
            &["ChangeIdentitiesOfAddons"]
        }
        _ => &[],
    }
}

#[test]
fn who_gets_a_role_gets_only_those_of_its_kind() {
    let passed = |service: &str| -> Vec<&str> {
        let passing = |statement: &&Statement| {
            let to = statement.condition.as_ref().map(ToString::to_string).unwrap_or_default();
            statement.actions.contains(&"iam:PassRole".to_owned()) && to.contains(&format!("\"{service}"))
        };
        allowing().iter().filter(passing).flat_map(|it| it.resources.clone()).collect()
    };
    let role = |kind: &str| format!("arn:*:iam::*:role/*.{kind}.infrastructure.foo.com");
    // Of pools, and of access entries that let nodes in.
    assert_eq!(passed("ec2.amazonaws.com"), [role("nodes"), role("nodes")]);
    assert_eq!(passed("autoscaling.amazonaws.com"), [role("hooks")]);
    assert_eq!(passed("pods.eks.amazonaws.com"), [role("pods")]);
    assert_eq!(passed("eks.amazonaws.com"), [role("eks"), role("pods")]);
}

/// EKS tags the security group that it creates for a cluster with the name of that.
#[test]
fn rules_for_nodes_are_added_only_to_groups_of_the_clusters_that_the_stack_names() {
    let stack = crate::yaml::parse(&text("deploy/aws/iam.yaml")).unwrap().remove(0);
    let statements = &stack["Resources"]["ControlPlanePolicy"]["Properties"]["PolicyDocument"]["Statement"];
    let mut statements = statements.as_array().unwrap().iter();
    let connects = statements.find(|it| it["Sid"] == "ConnectGroupsOfClusters").unwrap();
    let names = json!({"Fn::Sub": "${ControlPlaneNames}"});
    assert_eq!(connects["Condition"], json!({"StringLike": {"aws:ResourceTag/aws:eks:cluster-name": names}}));
}

/// Foreign resources are neither changed nor deleted, and get the provider's tags only at their creation and at the adoption of
/// a cluster.
#[test]
fn only_own_clusters_and_parts_of_them_are_changed() {
    let others = ["CreateClusters", "CreateIssuers"];
    let passing = |statement: &Statement| statement.actions.iter().any(|it| it.starts_with("iam:PassRole"));
    let apart = ["FirstUseOfEks", "ConnectGroupsOfClusters"];
    for statement in control_planes::statements().iter().filter(|it| !passing(it) && !apart.contains(&it.sid))
    {
        let Some(condition) = &statement.condition else { continue };
        if statement.sid == "TagClusters" {
            let (owned, adopted) =
                (format!("aws:RequestTag/{TAG_CLUSTER}"), format!("aws:RequestTag/{TAG_ADOPTED}"));
            assert_eq!(condition, &json!({"Null": {owned: "false", adopted: "true"}}));
            continue;
        }
        let key = if others.contains(&statement.sid) { "aws:RequestTag" } else { "aws:ResourceTag" };
        assert_eq!(
            condition,
            &json!({"Null": {format!("{key}/{TAG_CLUSTER}"): "false"}}),
            "{}",
            statement.sid
        );
    }
}

/// The tags of an adoption need the policy for adoption, and the consent of the account in a tag.
#[test]
fn a_cluster_or_group_is_adopted_with_the_policy_for_it_and_with_the_tag_of_its_account() {
    let tags = |statement: &Statement, key: &str| {
        let condition = statement.condition.clone().unwrap();
        condition["Null"].get(format!("{key}/infrastructure.foo.com/adopted")).cloned()
    };
    for (statements, creating, adoption) in [
        (control_planes::statements(), "TagClusters", control_planes::adoption()),
        (pools::statements(), "CreateGroups", pools::adoption()),
    ] {
        let creating = statements.iter().find(|it| it.sid == creating).unwrap();
        assert_eq!(tags(creating, "aws:RequestTag"), Some(json!("true")), "the request does not have it");
        assert_eq!(adoption.len(), 1);
        let adopting = adoption.first().unwrap();
        assert_eq!(tags(adopting, "aws:RequestTag"), Some(json!("false")));
        let consent = "aws:ResourceTag/infrastructure.foo.com/adoptable";
        assert_eq!(adopting.condition.as_ref().unwrap()["Null"][consent], json!("false"));
    }
    assert!(text("deploy/aws/iam.yaml").contains("  Adoption:\n    Type: String\n    Default: \"No\""));
}

/// The parameters of the stack narrow the tags of the request; the group or cluster still has no owner.
#[test]
fn the_stack_adopts_what_has_no_owner() {
    let stack = crate::yaml::parse(&text("deploy/aws/iam.yaml")).unwrap().remove(0);
    let statements = &stack["Resources"]["AdoptionPolicy"]["Properties"]["PolicyDocument"]["Statement"];
    let statements = statements.as_array().unwrap();
    assert_eq!(statements.len(), 2);
    for statement in statements {
        let condition = &statement["Condition"];
        assert_eq!(
            condition["Null"],
            json!({
                format!("aws:RequestTag/{TAG_ADOPTED}"): "false",
                "aws:ResourceTag/infrastructure.foo.com/adoptable": "false",
                format!("aws:ResourceTag/{TAG_CLUSTER}"): "true",
            })
        );
        assert_eq!(
            condition["StringLike"],
            json!({format!("aws:RequestTag/{TAG_CLUSTER}"): {"Fn::Sub": "${Clusters}"}})
        );
    }
}

#[test]
fn a_group_is_never_deleted_by_force() {
    let denied = statements().into_iter().find(|it| it.effect == Effect::Deny).unwrap();
    assert_eq!(denied.actions, ["autoscaling:DeleteAutoScalingGroup"]);
    assert_eq!(denied.condition, Some(json!({"Bool": {"autoscaling:ForceDelete": "true"}})));
}

/// Parameters whose default is narrower than the policy, which cannot know what an installation needs: the quick start
/// needs no more.
const NARROWER: [(&str, &str); 5] = [
    ("KeyPairs", "None"),
    ("GivenVpcs", "None"),
    ("LaunchVpcs", "None"),
    ("InstanceProfiles", "*.nodes.infrastructure.foo.com"),
    ("UserDataBuckets", "foo-user-data*"),
];

/// With its defaults the stack says what the policies say, or less; `StringLike *` asks for the tag as `Null` does.
#[test]
fn the_stack_is_the_policies_with_parameters() {
    let stack = crate::yaml::parse(&text("deploy/aws/iam.yaml")).unwrap().remove(0);
    let parameters = stack["Parameters"].as_object().unwrap();
    let mut documents =
        POLICIES.map(|(name, _)| stack["Resources"][name]["Properties"]["PolicyDocument"].to_string());
    let narrowing = |name: &str| {
        !matches!(name, "PolicyName" | "Networks" | "Leftovers" | "ControlPlanes" | "Adoption" | "UserData")
    };
    for (name, parameter) in parameters.iter().filter(|(name, _)| narrowing(name)) {
        let placeholder = format!("${{{name}}}");
        assert!(documents.concat().contains(&placeholder), "{name} is not used");
        let default = parameter["Default"].as_str().unwrap();
        let narrower = NARROWER.iter().find(|(narrow, _)| narrow == name);
        assert!(narrower.is_none_or(|(_, expected)| *expected == default), "{name}: {default}");
        let value = narrower.map_or(default, |_| "*");
        documents = documents.map(|text| text.replace(&placeholder, value));
    }
    let parts = |value: &Value| -> Vec<Value> {
        let of = |it: &Value| json!([it["Sid"], it["Effect"], it["Action"]]);
        value["Statement"].as_array().unwrap().iter().map(of).collect()
    };
    for (document, (_, path)) in documents.iter().zip(POLICIES) {
        assert!(!document.contains("${"), "{document}");
        let any = format!("{TAG_CLUSTER}\":\"false");
        assert!(!document.contains(&any), "the value of the ownership tag is a parameter");
        let document: Value = serde_json::from_str(document).unwrap();
        assert_eq!(parts(&document), parts(&serde_json::from_str(&text(path)).unwrap()));
    }
    assert!(documents[0].contains(NODE_ROLES) && documents[0].contains(GROUPS));
    // Pools and control planes: also the resources, which others have in a form of their own.
    for at in [0, 3] {
        let document = documents[at].replace("{\"Fn::Sub\":", "").replace("\"}", "\"");
        let resources = |text: &str| -> Vec<String> {
            text.split("\"Resource\":").skip(1).map(|it| it.split(']').next().unwrap().to_owned()).collect()
        };
        let policy: Value = serde_json::from_str(&text(POLICIES[at].1)).unwrap();
        assert_eq!(resources(&document), resources(&policy.to_string()), "{}", POLICIES[at].0);
    }
    assert_eq!(stack["Resources"]["NetworkPolicy"]["Condition"], "WithNetworks");
    assert_eq!(stack["Resources"]["LeftoversPolicy"]["Condition"], "WithLeftovers");
    assert_eq!(stack["Resources"]["ControlPlanePolicy"]["Condition"], "WithControlPlanes");
}

/// A role for one tenant: neither clusters of others nor their parts, no launch into networks of others, none of their keys.
#[test]
fn the_stack_narrows_each_resource_that_a_tenant_could_share() {
    let stack = crate::yaml::parse(&text("deploy/aws/iam.yaml")).unwrap().remove(0);
    let document = |name: &str| stack["Resources"][name]["Properties"]["PolicyDocument"].clone();
    let statements = |document: &Value| document["Statement"].as_array().unwrap().clone();
    let named: Vec<String> = statements(&document("ControlPlanePolicy"))
        .iter()
        .flat_map(|it| it["Resource"].as_array().unwrap().clone())
        .map(|it| it["Fn::Sub"].as_str().or(it.as_str()).unwrap().to_owned())
        .filter(|it| it.starts_with("arn:*:eks:"))
        .collect();
    let kinds = ["cluster/", "addon/", "access-entry/", "podidentityassociation/", "identityproviderconfig/"];
    for kind in kinds {
        assert!(named.iter().any(|it| it.contains(&format!(":{kind}"))), "{kind}");
    }
    for arn in &named {
        assert!(kinds.iter().any(|kind| arn.contains(&format!(":{kind}${{ControlPlaneNames}}"))), "{arn}");
    }
    for statement in statements(&document("Policy")) {
        let (sid, all) = (statement["Sid"].as_str().unwrap(), statement.to_string());
        let (vpc, key) =
            (all.contains(":subnet/") || all.contains(":security-group/"), all.contains(":key-pair/"));
        let own = all.contains(&format!("aws:ResourceTag/{TAG_CLUSTER}\":{{\"Fn::Sub\":\"${{Clusters}}\"}}"));
        assert!(!vpc || own != all.contains("vpc/${LaunchVpcs}"), "{sid}: {all}");
        assert_eq!(key, all.contains("key-pair/${KeyPairs}"), "{sid}");
        assert_eq!(all.contains(":sqs:"), all.contains("${EventQueues}"), "{sid}");
    }
}

#[test]
fn every_operation_is_allowed_by_its_guard_and_by_nothing_else() {
    for operation in Operation::iter() {
        let action = operation.iam_action();
        let allowed: BTreeSet<&str> =
            allowing().iter().filter(|s| s.actions.contains(&action)).map(|s| s.sid).collect();
        let mut expected: BTreeSet<&str> = further(operation).iter().copied().collect();
        expected.extend(sid(guard(operation)));
        assert_eq!(allowed, expected, "{action}");
    }
}

#[test]
fn everything_that_changes_something_has_a_condition() {
    for statement in statements() {
        let reads_only = statement.actions.iter().all(|action| {
            Operation::iter().any(|known| known.iam_action() == *action && !known.is_mutation())
        });
        // Of use only together with a statement that has one; of objects in S3 the folder in the resource says whose they are: AWS has no
        // condition for their deletion.
        let needs_none = ["ChangeIdentitiesOfAddons", "FindStoredUserData", "DeleteStoredUserData"]
            .contains(&statement.sid);
        assert!(needs_none || statement.condition.is_none() == reads_only, "{}", statement.sid);
        assert!(statement.actions.iter().all(|action| !action.contains('*')), "{}", statement.sid);
    }
}

#[test]
fn operations_that_change_something_are_guarded_as_such() {
    for operation in Operation::iter() {
        let reads = matches!(
            guard(operation),
            Guard::ReadOnly
                | Guard::Parameter
                | Guard::ReadsNetworks
                | Guard::ReadsOfExtension
                | Guard::OffersOfEks
                | Guard::ReadsClusters
                | Guard::ReadsRoles
                | Guard::ReadsIssuers
                | Guard::ReadsObjects
        );
        assert_eq!(reads, !operation.is_mutation(), "{operation:?}");
    }
}

/// Which operations these are, a test of the extension compares with what it calls.
#[test]
fn the_extension_may_only_read() {
    let reads: BTreeSet<String> =
        Operation::iter().filter(|it| !it.is_mutation()).map(Operation::iam_action).collect();
    for statement in extension::statements() {
        assert_eq!(statement.effect, Effect::Allow, "{}", statement.sid);
        assert!(statement.actions.iter().all(|action| reads.contains(action)), "{}", statement.sid);
        // The only actions of them with resources in policies.
        let with_resources = [Operation::GetInstanceProfile, Operation::GetRole, Operation::GetParameter];
        let with_resources = with_resources.map(Operation::iam_action);
        let narrow = statement.actions.iter().any(|action| with_resources.contains(action));
        assert_eq!(statement.resources == ["*"], !narrow, "{}", statement.sid);
    }
    for operation in Guard::ReadsOfExtension.operations() {
        let of_it = extension::statements().into_iter().flat_map(|it| it.actions);
        assert_eq!(of_it.filter(|action| *action == operation.iam_action()).count(), 1, "{operation:?}");
    }
}

#[test]
fn the_stack_of_the_extension_is_its_policy() {
    let stack = crate::yaml::parse(&text("deploy/aws/iam-extension.yaml")).unwrap().remove(0);
    let policy: Value = serde_json::from_str(&text("docs/reference/iam-extension-policy.json")).unwrap();
    assert_eq!(stack["Resources"]["Policy"]["Properties"]["PolicyDocument"], policy);
}

#[test]
fn those_who_bring_their_networks_need_no_rights_to_networks() {
    let actions: BTreeSet<String> = pools::statements().into_iter().flat_map(|it| it.actions).collect();
    for operation in Operation::iter() {
        let of_networks = match guard(operation) {
            Guard::ReadsNetworks
            | Guard::ReadsOfExtension
            | Guard::OffersOfEks
            | Guard::ReadsClusters
            | Guard::ReadsRoles
            | Guard::NewCluster
            | Guard::OwnCluster
            | Guard::PartOfCluster
            | Guard::TagsOfClusters
            | Guard::UntagsClusters
            | Guard::ReadsIssuers
            | Guard::NewIssuer
            | Guard::OwnIssuer
            | Guard::NewPart
            | Guard::NewPartOfVpc
            | Guard::NewConnection
            | Guard::TagsOfOwnPart
            | Guard::LeftLoadBalancer
            | Guard::NewObject
            | Guard::OwnObject
            | Guard::ReadsObjects
            | Guard::LeftInterface => true,
            // Tags are put on templates and instances, too, when they are made.
            Guard::OwnPart => operation != Operation::CreateTags,
            Guard::ReadOnly
            | Guard::Parameter
            | Guard::GroupWithOurTag
            | Guard::OwnGroup
            | Guard::TemplateWithOurTag
            | Guard::OwnTemplate
            | Guard::TaggedQueue => false,
        };
        assert_eq!(!actions.contains(&operation.iam_action()), of_networks, "{operation:?}");
    }
}

/// Existing parts never become the provider's: the network's tag is put on new parts only.
#[test]
fn tags_come_at_the_creation_or_on_what_has_them() {
    let tagging = Operation::CreateTags.iam_action();
    for statement in networks::statements().iter().filter(|it| it.actions.contains(&tagging)) {
        let condition = statement.condition.as_ref().unwrap();
        let tag = |key: &str| condition["Null"][format!("{key}/{TAG_NETWORK}")] == "false";
        let at_creation = tag("aws:RequestTag") && condition["StringEquals"]["ec2:CreateAction"].is_array();
        assert!(at_creation || tag("aws:ResourceTag"), "{}", statement.sid);
    }
}

/// A creation is allowed by the tags in its request on what is new, and on what it uses by the tags of that. Otherwise the tags in
/// the request would let it use what another owner has.
#[test]
fn a_creation_does_not_use_foreign_resources() {
    for operation in Operation::iter() {
        let action = operation.iam_action();
        let of_it = networks::statements().into_iter().filter(|it| it.actions.contains(&action));
        let (new, used): (Vec<_>, Vec<_>) = of_it.partition(|it| {
            it.condition.as_ref().is_some_and(|it| it.to_string().contains("aws:RequestTag"))
        });
        if matches!(guard(operation), Guard::NewPartOfVpc | Guard::NewConnection) {
            let resources: BTreeSet<&str> = new.iter().flat_map(|it| it.resources.clone()).collect();
            assert!(!resources.contains("arn:*:ec2:*:*:vpc/*"), "{action}");
            assert!(used.iter().any(|it| it.resources.contains(&"arn:*:ec2:*:*:vpc/*")), "{action}");
        }
        if guard(operation) == Guard::NewConnection {
            let only_used = ["subnet", "elastic-ip", "route-table", "security-group"];
            for resource in only_used.map(|kind| format!("arn:*:ec2:*:*:{kind}/*")) {
                assert!(
                    new.iter().all(|it| !it.resources.contains(&resource.as_str())),
                    "{action} {resource}"
                );
                assert!(
                    used.iter().any(|it| it.resources.contains(&resource.as_str())),
                    "{action} {resource}"
                );
            }
        }
    }
}

#[test]
fn own_tags_are_never_removed() {
    let untag = networks::statements().into_iter().find(|it| it.sid == "UntagOwnNetworks").unwrap();
    let kept = untag.condition.unwrap()["ForAllValues:StringNotEquals"]["aws:TagKeys"].clone();
    for tag in [TAG_CLUSTER, TAG_NETWORK] {
        assert!(kept.as_array().unwrap().contains(&json!(tag)), "{tag}");
    }
}

#[test]
fn each_fits_into_one_managed_policy() {
    for (_, path) in POLICIES {
        // IAM and AWS STS quotas: 6,144 characters, white space not counted.
        let length = text(path).chars().filter(|c| !c.is_whitespace()).count();
        assert!(length <= 6144, "{path}: {length}");
    }
}

/// Narrowed to one namespace of the longest name.
#[test]
fn each_fits_with_long_parameters() {
    let stack = crate::yaml::parse(&text("deploy/aws/iam.yaml")).unwrap().remove(0);
    for (name, _) in POLICIES {
        let document = stack["Resources"][name]["Properties"]["PolicyDocument"].to_string();
        let filled = document.replace("${Clusters}", &format!("{}/*", "n".repeat(63)));
        let filled = filled.replace("{\"Fn::Sub\":", "").replace("\"}", "\"");
        let length = filled.chars().filter(|c| !c.is_whitespace()).count();
        assert!(length <= 6144, "{name}: {length}");
    }
}

/// Whatever the bucket and its prefix, nothing outside the provider's folder is written or deleted, and nothing is read.
#[test]
fn only_the_own_folder_of_buckets_is_touched() {
    for statement in user_data::statements().iter().filter(|it| it.sid != "FindNodeRoles") {
        let folder = format!("/{}/", foo_model::object::OBJECTS_FOLDER);
        let named = |text: &str| text.contains(&folder) || text.contains(&folder[1..]);
        let condition = statement.condition.as_ref().map(ToString::to_string).unwrap_or_default();
        assert!(statement.resources.iter().all(|it| named(it)) || named(&condition), "{}", statement.sid);
        assert!(!statement.actions.iter().any(|it| it.starts_with("s3:Get")), "{}", statement.sid);
    }
}

/// S3 has no condition on tags for deletions: what keeps the role of one tenant away from another one's objects is the folder. A pool
/// may have a prefix before it.
#[test]
fn the_stack_narrows_user_data_to_buckets_and_namespaces() {
    let stack = crate::yaml::parse(&text("deploy/aws/iam.yaml")).unwrap().remove(0);
    let document = stack["Resources"]["UserDataPolicy"]["Properties"]["PolicyDocument"].to_string();
    let filled = document.replace("${UserDataBuckets}", "nodes").replace("${UserDataNamespaces}", "team-a");
    let filled: Value = serde_json::from_str(&filled).unwrap();
    let of = |sid: &str| {
        let statements = filled["Statement"].as_array().unwrap();
        statements.iter().find(|it| it["Sid"] == sid).unwrap().clone()
    };
    for sid in ["StoreUserData", "DeleteStoredUserData"] {
        assert_eq!(of(sid)["Resource"][0]["Fn::Sub"], "arn:*:s3:::nodes/*foo-user-data/team-a/*", "{sid}");
    }
    let listed = of("FindStoredUserData");
    assert_eq!(listed["Condition"]["StringLike"]["s3:prefix"]["Fn::Sub"], "*foo-user-data/team-a/*");
}

/// Who follows docs/nodes.md needs no parameter: the default of one stack fits the default name of the other.
#[test]
fn the_bucket_of_the_stack_and_of_the_page_may_be_used_by_default() {
    let stack = |path: &str| crate::yaml::parse(&text(path)).unwrap().remove(0);
    let default = stack("deploy/aws/iam.yaml")["Parameters"]["UserDataBuckets"]["Default"].clone();
    let begin = default.as_str().unwrap().strip_suffix('*').unwrap();
    assert!(!begin.is_empty());
    let bucket = stack("deploy/aws/user-data-bucket.yaml");
    assert_eq!(bucket["Parameters"]["BucketName"]["Default"], "");
    let name = &bucket["Resources"]["Bucket"]["Properties"]["BucketName"]["Fn::If"][2];
    assert!(name.as_str().unwrap().starts_with(begin), "{name}");
    let page = std::fs::read_to_string(crate::root().join("docs/nodes.md")).unwrap();
    let mut named = page.lines().filter_map(|line| line.trim().strip_prefix("bucket: "));
    assert!(named.clone().count() > 0 && named.all(|name| name.starts_with(begin)));
}

/// The variable is IAM's, and reaches it as it is: CloudFormation replaces only what is in `Fn::Sub`.
#[test]
fn the_bucket_gives_each_role_its_own_objects() {
    let stack = crate::yaml::parse(&text("deploy/aws/user-data-bucket.yaml")).unwrap().remove(0);
    let policy = &stack["Resources"]["BucketPolicy"]["Properties"]["PolicyDocument"];
    assert_eq!(*policy, user_data::bucket_policy());
    let statement = &policy["Statement"][0];
    assert_eq!((&statement["Effect"], &statement["Principal"]), (&json!("Deny"), &json!("*")));
    assert_eq!(
        statement["Condition"]["StringNotEquals"]["s3:ExistingObjectTag/foo-node-role"],
        "${aws:PrincipalArn}"
    );
}

#[test]
fn instances_cannot_be_ended_but_through_their_group() {
    for (_, path) in POLICIES {
        let text = text(path);
        for action in
            ["ec2:TerminateInstances", "autoscaling:SetDesiredCapacity", "autoscaling:DetachInstances"]
        {
            assert!(!text.contains(action), "{action}");
        }
    }
}

/// The stack of docs/quickstart.md beside the one of the policies: names that the manager may pass, and what EKS User Guide,
/// "Amazon EKS cluster IAM role" and "Amazon EKS node IAM role", requires.
#[test]
fn the_roles_of_the_quick_start_may_be_passed_and_have_the_policies_that_eks_requires() {
    let roles = std::fs::read_to_string(crate::root().join("deploy/aws/roles.yaml")).unwrap();
    let stack = crate::yaml::parse(&roles).unwrap().remove(0);
    let nodes = ["AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonEKS_CNI_Policy"];
    for (role, suffix, service, policies) in [
        (
            "ControlPlaneRole",
            "eks.infrastructure.foo.com",
            "eks.amazonaws.com",
            &["AmazonEKSClusterPolicy"][..],
        ),
        ("NodeRole", "nodes.infrastructure.foo.com", "ec2.amazonaws.com", &nodes[..]),
    ] {
        let role = &stack["Resources"][role]["Properties"];
        assert_eq!(role["RoleName"], format!("${{Name}}.{suffix}"));
        assert!(text("deploy/aws/iam.yaml").contains(&format!("Default: \"*.{suffix}\"\n")), "{suffix}");
        let trusts = &role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"]["Service"];
        assert_eq!(trusts, service);
        let arns = policies.iter().map(|name| format!("arn:${{AWS::Partition}}:iam::aws:policy/{name}"));
        assert_eq!(role["ManagedPolicyArns"], json!(arns.collect::<Vec<_>>()));
    }
    let class =
        std::fs::read_to_string(crate::root().join("deploy/clusterctl/clusterclass-foo-eks.yaml")).unwrap();
    let mut examples = class.lines().filter_map(|line| line.trim().strip_prefix("example: arn:"));
    assert!(examples.clone().count() > 0 && examples.all(|arn| arn.ends_with(".eks.infrastructure.foo.com")));
    let profile = &stack["Resources"]["NodeProfile"]["Properties"]["InstanceProfileName"];
    assert_eq!(profile, "${Name}.nodes.infrastructure.foo.com");
    let attached = &stack["Resources"]["Manager"]["Properties"]["ManagedPolicyArns"];
    let own = ["", "-networks", "-control-planes"];
    let own =
        own.map(|it| format!("arn:${{AWS::Partition}}:iam::${{AWS::AccountId}}:policy/${{PolicyName}}{it}"));
    assert_eq!(attached, &json!(own));
}
