//! Which permissions a call needs: actions on resources, with their condition keys (Service Authorization Reference,
//! "Amazon EC2 Auto Scaling" and "Amazon EC2").
//!
//! [`launches`] has the permissions for launches, which a call needs that makes a group refer to a template.
//! Service-linked roles are not checked.

pub(crate) mod account;
mod capacity;
pub(crate) mod eks;
pub(crate) mod launches;
mod networks;

use crate::core::Region;
use crate::core::ec2::templates::{Template, TemplateKey};
use crate::iam::ask::{arn, ask, knows_tags};
use crate::iam::policy::{Ask, VALUES_END};
use crate::request::params::{Params, tags_of};
use crate::service::Service;
use foo_model::{GroupName, ImageId, InstanceId, LaunchTemplateId};
use std::collections::BTreeMap;

/// Everything that must be allowed before the call is carried out.
pub(crate) fn of_call(region: &Region, service: Service, action: &str, params: &Params) -> Vec<Ask> {
    match service {
        Service::AutoScaling => of_auto_scaling(region, action, params),
        Service::Ec2 => of_ec2(region, action, params),
        Service::Sts if action == "AssumeRole" => {
            vec![ask("sts:AssumeRole".to_owned(), params.text("RoleArn").unwrap_or("*"))]
        }
        // STS API Reference, GetCallerIdentity: no permissions are required. `wire::json` checks the services that
        // speak JSON.
        Service::ElasticLoadBalancing => networks::of_load_balancing(region, action, params),
        Service::Iam => account::of_call(&region.account, action, params),
        Service::Sts | Service::Sqs | Service::Ssm | Service::ServiceQuotas | Service::Eks | Service::S3 => {
            Vec::new()
        }
    }
}

fn of_auto_scaling(region: &Region, action: &str, params: &Params) -> Vec<Ask> {
    let full = format!("autoscaling:{action}");
    if action.starts_with("Describe") {
        return vec![ask(full, "*")];
    }
    let tags: BTreeMap<String, String> = tags_of(params.list("Tags"));
    let mut asks: Vec<Ask> = groups_of(region, action, params)
        .into_iter()
        .map(|name| {
            let Some(group) = region.group(&name) else {
                let arn = format!(
                    "arn:aws:autoscaling:{}:{}:autoScalingGroup:*:autoScalingGroupName/{name}",
                    region.name, region.account
                );
                return ask(full.clone(), arn);
            };
            let asked = ask(full.clone(), group.arn.clone());
            if !knows_tags(region, group.created) {
                return asked;
            }
            asked.on_resource(Service::AutoScaling, group.tags.iter().map(|(key, tag)| (key, &tag.value)))
        })
        .map(|ask| if action == "DeleteTags" { ask } else { ask.with_tags("aws:RequestTag", &tags) })
        .map(|ask| match params.text("ForceDelete") {
            // Service Authorization Reference, "Condition keys for Amazon EC2 Auto Scaling".
            Some(force) => ask.with("autoscaling:ForceDelete", force),
            None => ask,
        })
        .collect();
    if asks.is_empty() {
        asks.push(ask(full, "*"));
    }
    // Service Authorization Reference, "Actions defined by Amazon EC2 Auto Scaling": it needs `iam:PassRole` for a hook's role.
    let hooks = params.list("LifecycleHookSpecificationList");
    let roles = std::iter::once(params).chain(hooks).filter_map(|hook| hook.text("RoleARN"));
    asks.extend(roles.filter(|role| !role.is_empty()).map(|role| {
        ask("iam:PassRole".to_owned(), role).with("iam:PassedToService", "autoscaling.amazonaws.com")
    }));
    asks
}

/// The groups that a call acts on.
fn groups_of(region: &Region, action: &str, params: &Params) -> Vec<GroupName> {
    let member = |id: &str| region.instance(&InstanceId::new(id)).and_then(|instance| instance.group.clone());
    let named = params.text("AutoScalingGroupName").map(GroupName::new);
    let of_tags =
        params.list("Tags").into_iter().filter_map(|tag| tag.text("ResourceId").map(GroupName::new));
    let of_instance = params.text("InstanceId").and_then(member);
    // Calls for one instance act on the instance's group, even if they name another group.
    let of_one = matches!(action, "TerminateInstanceInAutoScalingGroup" | "SetInstanceHealth");
    if let (true, Some(group)) = (of_one, &of_instance) {
        return vec![group.clone()];
    }
    match named {
        Some(name) => vec![name],
        None => of_tags.chain(of_instance).collect(),
    }
}

fn of_ec2(region: &Region, action: &str, params: &Params) -> Vec<Ask> {
    let full = format!("ec2:{action}");
    match action {
        "CreateLaunchTemplate" => {
            let tags: BTreeMap<String, String> = params
                .list("TagSpecification")
                .into_iter()
                .filter(|it| it.text("ResourceType") == Some("launch-template"))
                .flat_map(|it| tags_of(it.list("Tag")))
                .collect();
            let arn = arn(region, "launch-template", "*");
            let mut asks = vec![ask(full, arn.clone()).with_tags("aws:RequestTag", &tags)];
            if !tags.is_empty() {
                // EC2 User Guide, "Grant permission to tag resources during creation".
                let tagging = ask("ec2:CreateTags".to_owned(), arn).with("ec2:CreateAction", action);
                asks.push(tagging.with_tags("aws:RequestTag", &tags));
            }
            asks
        }
        "CreateLaunchTemplateVersion"
        | "ModifyLaunchTemplate"
        | "DeleteLaunchTemplateVersions"
        | "DeleteLaunchTemplate" => {
            vec![of_template(region, full, params)]
        }
        "TerminateInstances" => on_each(region, &full, &params.texts("InstanceId"), &BTreeMap::new()),
        "CreateTags" | "DeleteTags" => {
            let tags = tags_of(params.list("Tag"));
            let keys: Vec<&str> = tags.keys().map(String::as_str).collect();
            let keys = keys.join(&VALUES_END.to_string());
            let new = if action == "CreateTags" { tags.clone() } else { BTreeMap::new() };
            let asks = on_each(region, &full, &params.texts("ResourceId"), &new).into_iter();
            asks.map(|ask| if keys.is_empty() { ask } else { ask.with("aws:TagKeys", &keys) }).collect()
        }
        _ => networks::of_ec2(region, action, params)
            .or_else(|| capacity::of_ec2(region, action, params))
            .unwrap_or_else(|| vec![ask(full, "*")]),
    }
}

fn of_template(region: &Region, action: String, params: &Params) -> Ask {
    let key = match (params.text("LaunchTemplateId"), params.text("LaunchTemplateName")) {
        (Some(id), _) => TemplateKey::Id(LaunchTemplateId::new(id)),
        (None, name) => TemplateKey::Name(name.unwrap_or_default().to_owned()),
    };
    if let Ok(template) = region.templates.find(&key) {
        return on_template(region, action, template);
    }
    ask(action, arn(region, "launch-template", params.text("LaunchTemplateId").unwrap_or("*")))
}

/// An action on an existing template.
pub(super) fn on_template(region: &Region, action: String, template: &Template) -> Ask {
    let asked = ask(action, arn(region, "launch-template", template.id.as_str()));
    if knows_tags(region, template.created) { asked.on_resource(Service::Ec2, &template.tags) } else { asked }
}

fn on_each(region: &Region, action: &str, ids: &[String], new: &BTreeMap<String, String>) -> Vec<Ask> {
    ids.iter()
        .map(|id| {
            let asked = networks::on(region, action, id).or_else(|| capacity::on(region, action, id));
            let asked = asked.unwrap_or_else(|| {
                let (kind, tags) = resource(region, id);
                let ask = ask(action.to_owned(), arn(region, kind, id));
                tags.into_iter().fold(ask, |ask, tags| ask.on_resource(Service::Ec2, tags))
            });
            asked.with_tags("aws:RequestTag", new)
        })
        .collect()
}

/// The kind of a resource in its ARN, and its tags; for resources that are not parts of networks.
fn resource<'a>(region: &'a Region, id: &str) -> (&'static str, Option<&'a BTreeMap<String, String>>) {
    match id.split('-').next().unwrap_or_default() {
        "i" => {
            let known = region.instance(&InstanceId::new(id)).filter(|it| knows_tags(region, it.launched));
            ("instance", known.map(|it| &it.tags))
        }
        "lt" => {
            let key = TemplateKey::Id(LaunchTemplateId::new(id));
            let known = region.templates.find(&key).ok().filter(|it| knows_tags(region, it.created));
            ("launch-template", known.map(|it| &it.tags))
        }
        "ami" => ("image", region.images.get(&ImageId::new(id)).map(|it| &it.tags)),
        _ => ("*", None),
    }
}
