//! The permissions that a caller needs for a group to launch from a template. Auto Scaling checks them when a group
//! refers to the template, with the caller's permissions (Auto Scaling User Guide, "Control Amazon EC2 launch
//! template usage in Auto Scaling groups"), and does not name the missing action in its refusal ("Troubleshoot:
//! launch templates").
//!
//! Each instance profile is assumed to contain a role with its name.

use super::{capacity, networks, on_template};
use crate::core::Region;
use crate::core::ec2::launch_data::LaunchData;
use crate::core::ec2::templates::{Template, TemplateKey};
use crate::core::error::AwsResult;
use crate::iam::ask::{arn, ask};
use crate::iam::policy::{Ask, Verdict};
use crate::iam::{Credentials, refusals};
use crate::request::params::Params;
use foo_model::{GroupName, LaunchTemplateId, SecurityGroupId, SubnetId};

const RUN: &str = "ec2:RunInstances";

/// Refuses a call that makes a group use a template from which the caller may not launch.
pub(crate) fn check(key: &Credentials, region: &Region, action: &str, params: &Params) -> AwsResult<()> {
    for spec in references(action, params) {
        let Some(template) = find(region, spec) else { continue };
        let asks = asks_of(region, template, spec, &subnets(region, params));
        let allowed = |ask: &Ask| key.policies.iter().all(|policy| policy.judge(ask) == Verdict::Allowed);
        if !asks.iter().all(allowed) {
            return Err(refusals::of_template(region, &template.id));
        }
    }
    Ok(())
}

/// The references to templates from which a group is to launch after the call.
fn references<'a>(action: &str, params: &'a Params) -> Vec<&'a Params> {
    let at = match action {
        "CreateAutoScalingGroup" | "UpdateAutoScalingGroup" => Some(params),
        "StartInstanceRefresh" => params.node("DesiredConfiguration"),
        _ => None,
    };
    let mixed = at
        .and_then(|at| at.node("MixedInstancesPolicy"))
        .and_then(|policy| policy.node("LaunchTemplate")?.node("LaunchTemplateSpecification"));
    at.and_then(|at| at.node("LaunchTemplate")).into_iter().chain(mixed).collect()
}

fn find<'a>(region: &'a Region, spec: &Params) -> Option<&'a Template> {
    let key = match (spec.text("LaunchTemplateId"), spec.text("LaunchTemplateName")) {
        (Some(id), _) => TemplateKey::Id(LaunchTemplateId::new(id)),
        (None, name) => TemplateKey::Name(name?.to_owned()),
    };
    region.templates.find(&key).ok()
}

/// The subnets in the call, or else those of the group.
fn subnets(region: &Region, params: &Params) -> Vec<String> {
    if let Some(given) = params.text("VPCZoneIdentifier") {
        return given.split(',').map(|id| id.trim().to_owned()).collect();
    }
    let group = params.text("AutoScalingGroupName").and_then(|name| region.group(&GroupName::new(name)));
    group.map(|group| group.subnets.iter().map(SubnetId::to_string).collect()).unwrap_or_default()
}

/// RunInstances on every resource of a launch, CreateTags for its tags, and PassRole for its role (Service
/// Authorization Reference, "Amazon EC2").
fn asks_of(region: &Region, template: &Template, spec: &Params, subnets: &[String]) -> Vec<Ask> {
    let from = arn(region, "launch-template", template.id.as_str());
    let on = |kind: &str, id: &str| {
        ask(RUN.to_owned(), arn(region, kind, id)).with("ec2:LaunchTemplate", from.clone())
    };
    let mut asks =
        vec![on_template(region, RUN.to_owned(), template).with("ec2:LaunchTemplate", from.clone())];
    asks.extend(["instance", "volume", "network-interface"].map(|kind| on(kind, "*")));
    // Conditions know the VPC and the tags of these (Service Authorization Reference, "Amazon EC2": RunInstances).
    let within = |id: &str| {
        let part = networks::on(region, RUN, id);
        part.map(|it| it.with("ec2:LaunchTemplate", from.clone()))
    };
    asks.extend(subnets.iter().map(|id| within(id).unwrap_or_else(|| on("subnet", id))));
    let Ok(version) = template.version(spec.text("Version").unwrap_or("$Default")) else { return asks };
    let data: &LaunchData = &version.data;
    let groups = data.all_security_groups();
    asks.extend(
        groups
            .iter()
            .map(SecurityGroupId::as_str)
            .map(|id| within(id).unwrap_or_else(|| on("security-group", id))),
    );
    asks.extend(data.image().iter().map(|image| on("image", image.as_str())));
    asks.extend(data.key_name().iter().map(|key| on("key-pair", key)));
    asks.extend(capacity::of_launch(region, data).into_iter().map(|(kind, name)| match kind {
        Some(kind) => on(kind, &name),
        None => ask(RUN.to_owned(), name).with("ec2:LaunchTemplate", from.clone()),
    }));
    for kind in ["instance", "volume", "network-interface"] {
        let tags = data.tags_for(kind);
        if !tags.is_empty() {
            let tagging = ask("ec2:CreateTags".to_owned(), arn(region, kind, "*"));
            asks.push(tagging.with("ec2:CreateAction", "RunInstances").with_tags("aws:RequestTag", &tags));
        }
    }
    if let Some(profile) = data.instance_profile() {
        let name = profile.rsplit('/').next().unwrap_or(profile);
        let role = format!("arn:aws:iam::{}:role/{name}", region.account);
        asks.push(ask("iam:PassRole".to_owned(), role).with("iam:PassedToService", "ec2.amazonaws.com"));
    }
    asks
}
