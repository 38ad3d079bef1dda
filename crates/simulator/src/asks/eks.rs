//! Which actions on which resources a call of EKS asks for.
//!
//! Resources and condition keys: Service Authorization Reference, "Actions, resources, and condition keys for Amazon Elastic
//! Kubernetes Service" (its tables of June 2026). Creations and look-ups of parts are about the part, or, where it has no name yet,
//! about the cluster. Condition keys of EKS itself (`eks:…`) are not given. Roles that EKS is to use are passed: `iam:PassRole` (EKS
//! User Guide, "Identity-based policies", and the pages that say "must have `iam:PassRole`").

use crate::core::Region;
use crate::core::eks::cluster::Cluster;
use crate::iam::ask::{ask, knows_tags};
use crate::iam::policy::{Ask, VALUES_END};
use crate::request::call::Call;
use crate::service::Service;
use foo_model::Timestamp;
use foo_model::network::Tags;
use serde_json::Value;

/// Everything that must be allowed before the call is carried out.
pub(crate) fn of_call(region: &Region, action: &str, call: &Call<'_>) -> Vec<Ask> {
    let full = format!("eks:{action}");
    let (resource, found) = target(region, action, call);
    let mut main = ask(full, resource);
    if let Some((_, tags)) = found.filter(|(made, _)| knows_tags(region, *made)) {
        main = main.on_resource(Service::Eks, tags);
    }
    let tags = given_tags(call);
    if !tags.is_empty() || action == "UntagResource" {
        let named = call.queries("tagKeys");
        let keys: Vec<&str> = tags.keys().chain(&named).map(String::as_str).collect();
        main =
            main.with_tags("aws:RequestTag", &tags).with("aws:TagKeys", keys.join(&VALUES_END.to_string()));
    }
    let mut asks = vec![main];
    asks.extend(tagging(region, action, call, &tags));
    asks.extend(identities_of_addon(region, action, call));
    asks.extend(passed(action, call));
    if region.settings.eks.keys_need_rights {
        asks.extend(keys(action, call));
    }
    asks
}

fn given_tags(call: &Call<'_>) -> Tags {
    call.field("tags").and_then(|tags| serde_json::from_value(tags.clone()).ok()).unwrap_or_default()
}

/// Creation with tags needs the right to tag what is new. The reference does not list it; callers without it are refused
/// (aws/aws-cdk, issue 7163).
fn tagging(region: &Region, action: &str, call: &Call<'_>, tags: &Tags) -> Option<Ask> {
    if tags.is_empty() {
        return None;
    }
    let (of, last) = match action {
        "CreateCluster" => ("cluster", ""),
        "CreateAddon" => ("addon", "/*"),
        "CreateAccessEntry" => ("access-entry", "/*"),
        "CreatePodIdentityAssociation" => ("podidentityassociation", "/*"),
        "AssociateIdentityProviderConfig" => ("identityproviderconfig", "/*"),
        _ => return None,
    };
    let name = call.field("name").and_then(Value::as_str).filter(|_| of == "cluster");
    let name = name.unwrap_or_else(|| call.path("name"));
    let arn = format!("arn:aws:eks:{}:{}:{of}/{name}{last}", region.name, region.account);
    Some(ask("eks:TagResource".to_owned(), arn).with_tags("aws:RequestTag", tags))
}

/// Pod identity associations that come and go with an add-on are a resource of the same action.
fn identities_of_addon(region: &Region, action: &str, call: &Call<'_>) -> Option<Ask> {
    let (name, addon) = (call.path("name"), call.path("addonName"));
    let has_some = match action {
        "CreateAddon" | "UpdateAddon" => {
            call.field("podIdentityAssociations").is_some_and(|it| !it.is_null())
        }
        "DeleteAddon" => {
            let cluster = region.eks.cluster(name);
            cluster.and_then(|it| it.addons.get(addon)).is_some_and(|it| !it.spec.pod_identities.is_empty())
        }
        _ => false,
    };
    let arn = || format!("arn:aws:eks:{}:{}:podidentityassociation/{name}/*", region.name, region.account);
    has_some.then(|| ask(format!("eks:{action}"), arn()))
}

/// The ARN of what a call is about, with its age and tags if it is there.
fn target<'a>(region: &'a Region, action: &str, call: &Call<'_>) -> (String, Option<(Timestamp, &'a Tags)>) {
    let arn = |path: &str| format!("arn:aws:eks:{}:{}:{path}", region.name, region.account);
    if action.starts_with("Tag") || action.starts_with("Untag") || action == "ListTagsForResource" {
        let named = call.path("resourceArn");
        return (named.to_owned(), region.eks.clusters().find_map(|cluster| tags_at(cluster, named)));
    }
    let name = match action {
        "CreateCluster" => call.field("name").and_then(Value::as_str).unwrap_or("*"),
        _ => call.path("name"),
    };
    // Lists of everything and look-ups of versions are about no resource.
    if name.is_empty() {
        return ("*".to_owned(), None);
    }
    let cluster = region.eks.cluster(name);
    let of_cluster = (arn(&format!("cluster/{name}")), cluster.map(|it| (it.created, &it.tags)));
    let provider = call.field("identityProviderConfig").and_then(|it| it.get("name")).and_then(Value::as_str);
    let (kind, part) = [
        ("addon", call.path("addonName")),
        ("access-entry", call.path("principalArn")),
        ("podidentityassociation", call.path("associationId")),
        ("identityproviderconfig", provider.unwrap_or_default()),
    ]
    .into_iter()
    .find(|(_, part)| !part.is_empty())
    .unwrap_or_default();
    let Some(cluster) = cluster.filter(|_| !part.is_empty()) else {
        return if part.is_empty() { of_cluster } else { (arn(&format!("{kind}/{name}/*")), None) };
    };
    let found = match kind {
        "addon" => cluster.addons.get(part).map(|it| (&it.arn, it.created, &it.tags)),
        "access-entry" => cluster.entries.get(part).map(|it| (&it.arn, it.created, &it.tags)),
        "identityproviderconfig" => {
            let provider = cluster.identity_provider.as_ref().filter(|it| it.config.name == part);
            provider.map(|it| (&it.config.arn, it.created, &it.config.tags))
        }
        _ => cluster.pod_identities.get(part).map(|it| (&it.arn, it.created, &it.tags)),
    };
    match found {
        Some((arn, made, tags)) => (arn.clone(), Some((made, tags))),
        None => (arn(&format!("{kind}/{name}/*")), None),
    }
}

fn tags_at<'a>(cluster: &'a Cluster, arn: &str) -> Option<(Timestamp, &'a Tags)> {
    let own = [(&cluster.arn, cluster.created, &cluster.tags)];
    let addons = cluster.addons.values().map(|it| (&it.arn, it.created, &it.tags));
    let entries = cluster.entries.values().map(|it| (&it.arn, it.created, &it.tags));
    let pods = cluster.pod_identities.values().map(|it| (&it.arn, it.created, &it.tags));
    let provider = cluster.identity_provider.iter().map(|it| (&it.config.arn, it.created, &it.config.tags));
    let mut all = own.into_iter().chain(addons).chain(entries).chain(pods).chain(provider);
    all.find(|(it, ..)| it.as_str() == arn).map(|(_, made, tags)| (made, tags))
}

/// What EKS does with the key of a cluster in the name of the caller (Amazon EKS User Guide, "Encrypt Kubernetes secrets with KMS").
fn keys(action: &str, call: &Call<'_>) -> Vec<Ask> {
    if !["CreateCluster", "AssociateEncryptionConfig"].contains(&action) {
        return Vec::new();
    }
    let configs = call.field("encryptionConfig").and_then(Value::as_array).into_iter().flatten();
    let keys = configs.filter_map(|it| it.pointer("/provider/keyArn").and_then(Value::as_str));
    let asks = |key: &str| {
        let grant = ask("kms:CreateGrant".to_owned(), key).with("kms:GrantIsForAWSResource", "true");
        [ask("kms:DescribeKey".to_owned(), key), grant]
    };
    keys.flat_map(asks).collect()
}

/// The roles that a call passes on, each to a service.
fn passed(action: &str, call: &Call<'_>) -> Vec<Ask> {
    let pass =
        |role: &str, service: &str| ask("iam:PassRole".to_owned(), role).with("iam:PassedToService", service);
    let text = |body: &Value, field: &str| {
        body.get(field).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let field = |name: &str| call.field(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let mut asks = Vec::new();
    match action {
        "CreateCluster" => asks.extend(field("roleArn").map(|role| pass(role, "eks.amazonaws.com"))),
        "CreateAddon" | "UpdateAddon" => {
            asks.extend(field("serviceAccountRoleArn").map(|role| pass(role, "eks.amazonaws.com")));
            let pods = call.field("podIdentityAssociations").and_then(Value::as_array);
            let roles = pods.into_iter().flatten().filter_map(|it| text(it, "roleArn"));
            asks.extend(roles.map(|role| pass(&role, "pods.eks.amazonaws.com")));
        }
        "CreatePodIdentityAssociation" | "UpdatePodIdentityAssociation" => {
            asks.extend(field("roleArn").map(|role| pass(role, "pods.eks.amazonaws.com")));
        }
        // EKS User Guide, "Create access entries": whoever makes an entry of one of these two types must have `iam:PassRole`. Which
        // service the role is passed to is not said **(A)**.
        "CreateAccessEntry"
            if field("type").is_some_and(|kind| ["EC2_LINUX", "EC2_WINDOWS"].contains(&kind)) =>
        {
            asks.extend(field("principalArn").map(|role| pass(role, "ec2.amazonaws.com")));
        }
        _ => {}
    }
    asks
}
