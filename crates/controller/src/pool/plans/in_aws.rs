//! The settings of a pool's group in AWS, as a FooPlan shows what differs. Instances are no settings: the plan names them.

use crate::plans::fields::{Fields, Resources, by_name, fields, in_aws};
use foo_api::plan::SettingInAws;
use foo_model::group::TemplateChoice;
use foo_model::{Group, LaunchTemplate, LaunchTemplateId, TemplateVersion, TrafficSource, TrafficSourceKind};
use foo_planner::Observed;
use foo_planner::forecast::{End, Forecast, PLANNED_TEMPLATE};
use serde_json::{Map, Value, json};

/// The settings of the group that differ between what is observed now and at the end of the forecast.
pub(super) fn settings(now: &Observed, forecast: &Forecast) -> Vec<SettingInAws> {
    match forecast.end {
        End::Settled | End::Waiting => {}
        // The last sizes that it foresees may be those of a moment.
        End::Unfinished => return Vec::new(),
    }
    let then = &forecast.observed;
    // What was not read now is assumed then.
    let knows_hook = now.hook.seen().is_some();
    let resources = |observed: &Observed| -> Resources {
        let group = observed.group.seen().and_then(Option::as_ref);
        by_name(group.map(|group| one(group, observed, knows_hook)))
    };
    in_aws(&resources(now), &resources(then))
}

fn one(group: &Group, observed: &Observed, knows_hook: bool) -> (String, Fields) {
    let Group {
        name,
        arn: _,
        sizes,
        template,
        mix,
        settings,
        traffic_sources,
        suspended,
        tags,
        status: _,
        deletion_protection: _,
        warm_pool,
        instances: _,
    } = group;
    let attached = |kind: TrafficSourceKind| -> Vec<&str> {
        let of_kind = traffic_sources.iter().filter(|source| source.kind() == kind);
        of_kind.map(TrafficSource::identifier).collect()
    };
    let processes: Vec<&str> = suspended.keys().map(|process| process.name()).collect();
    let hook = observed.hook.seen().filter(|_| knows_hook);
    let templates = observed.template.seen().and_then(Option::as_ref);
    let all = json!({
        "min_size": sizes.min,
        "max_size": sizes.max,
        "desired_capacity": sizes.desired,
        "launch_template": template.as_ref().map(|(id, choice)| launch_template(id, choice, templates)),
        "mix": mix,
        "classic_load_balancers": attached(TrafficSourceKind::ClassicLoadBalancer),
        "target_groups": attached(TrafficSourceKind::TargetGroup),
        "vpc_lattice_target_groups": attached(TrafficSourceKind::LatticeTargetGroup),
        "suspended_processes": processes,
        "lifecycle_hook": hook,
        "lifecycle_hooks": observed.hook.seen().filter(|_| knows_hook).map(|_| &observed.other_hooks),
        "notifications": observed.notifications.seen(),
        "warm_pool": warm_pool.map(|pool| pool.settings),
        "tags": tags,
    });
    let mut all = fields(&all);
    // A new setting of groups is shown without another line here.
    all.extend(fields(&json!(settings)));
    (format!("Auto Scaling group {name}"), all)
}

/// What new instances are launched from. Of the content only hashes can be read back.
fn launch_template(id: &LaunchTemplateId, choice: &TemplateChoice, known: Option<&LaunchTemplate>) -> Value {
    let is_new = id.as_str() == PLANNED_TEMPLATE;
    let id = if is_new { "a new one" } else { id.as_str() };
    let version = match choice {
        TemplateChoice::Version(TemplateVersion(number)) => json!(number),
        TemplateChoice::Floating(text) => json!(text),
    };
    let of_group = known.filter(|template| is_new || template.id.as_str() == id);
    let record = of_group.and_then(|template| {
        template.versions.iter().find(|record| *choice == TemplateChoice::Version(record.version))
    });
    let mut fields = Map::from_iter([("id".to_owned(), json!(id)), ("version".to_owned(), version)]);
    if let Some(record) = record {
        // A version that the provider did not create has no hashes.
        fields.insert("content".to_owned(), json!(record.spec_hash));
        fields.insert("user_data_and_tags".to_owned(), json!(record.data_hash));
    }
    Value::Object(fields)
}
