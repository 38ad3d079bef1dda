//! Status checks and scheduled events of instances, and single attributes of them.

use crate::core::ec2::instances::{Ec2Instance, state_code};
use crate::core::error::{AwsError, AwsResult};
use crate::core::lookup::View;
use crate::core::region::Region;
use crate::core::time::iso_millis;
use crate::request::params::Params;
use crate::wire::filters::Filters;
use crate::wire::operation::Caller;
use crate::wire::paging::{Page, Paging};
use crate::wire::xml::Xml;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foo_cloud::InstanceState;
use foo_model::InstanceId;
use std::borrow::Cow;

/// Bytes of a console's output that EC2 keeps (EC2 User Guide, "Instance console output").
const CONSOLE: usize = 64 << 10;

const PAGING: Paging = Paging { limit: "MaxResults", default: 100, min: 5, max: 1_000 };

/// DescribeInstanceStatus: of running instances, unless the request asks for all.
pub(super) fn describe(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let page = Page::of(params, &PAGING)?;
    let ids: Vec<InstanceId> = params.texts("InstanceId").into_iter().map(InstanceId::from).collect();
    let all = params.flag("IncludeAllInstances")? == Some(true);
    let filters = Filters::ec2(params)?.only(&[
        "availability-zone",
        "event.code",
        "instance-state-name",
        "instance-status.status",
        "system-status.status",
    ])?;
    let fits = |instance: &Cow<'_, Ec2Instance>| {
        let (_, state) = state_code(instance.state);
        let shown = all || instance.state == InstanceState::Running;
        shown
            && filters.match_with(&instance.tags, |name| match name {
                "availability-zone" => vec![instance.zone.as_str()],
                "event.code" => instance.events.iter().map(|event| event.code.as_str()).collect(),
                "instance-state-name" => vec![state],
                _ => vec![status(region, instance)],
            })
    };
    let (found, next) = if ids.is_empty() {
        let after = page.after.as_deref().map(InstanceId::from);
        page.take(region.instances_seen(after.as_ref()).filter(fits), |instance| instance.id.to_string())
    } else {
        (region.instances_by_id(&ids, View::Lagging)?.into_iter().filter(fits).collect(), None)
    };
    xml.list("instanceStatusSet", "item", found, |xml, instance| write(xml, region, &instance));
    xml.optional("nextToken", next);
    Ok(())
}

fn status(region: &Region, instance: &Ec2Instance) -> &'static str {
    match instance.state {
        InstanceState::Pending => "initializing",
        InstanceState::Running if region.is_unavailable(&instance.zone) => "impaired",
        InstanceState::Running => "ok",
        _ => "not-applicable",
    }
}

fn write(xml: &mut Xml, region: &Region, instance: &Ec2Instance) {
    xml.text("instanceId", instance.id.as_str());
    xml.text("availabilityZone", instance.zone.as_str());
    let (code, name) = state_code(instance.state);
    xml.within("instanceState", |xml| {
        xml.value("code", code);
        xml.text("name", name);
    });
    let status = status(region, instance);
    let reachability = match status {
        "ok" => "passed",
        "impaired" => "failed",
        "initializing" => "initializing",
        _ => "insufficient-data",
    };
    for kind in ["systemStatus", "instanceStatus"] {
        xml.within(kind, |xml| {
            xml.text("status", status);
            xml.list("details", "item", [reachability], |xml, reachability| {
                xml.text("name", "reachability");
                xml.text("status", reachability);
            });
        });
    }
    xml.list("eventsSet", "item", &instance.events, |xml, event| {
        xml.text("instanceEventId", &event.id);
        xml.text("code", &event.code);
        xml.text("description", "The instance is running on degraded hardware");
        xml.text("notBefore", iso_millis(event.not_before));
    });
}

/// DescribeInstanceAttribute, for the attributes that the simulator supports.
pub(super) fn attribute(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let id = InstanceId::new(params.required("InstanceId")?);
    let name = params.required("Attribute")?;
    let found = region.instances_by_id(std::slice::from_ref(&id), View::Lagging)?;
    let instance =
        found.into_iter().next().ok_or_else(|| crate::core::lookup::unknown_instances(&[id.as_str()]))?;
    xml.text("instanceId", instance.id.as_str());
    let value = |xml: &mut Xml, value: &str| xml.within(name, |xml| xml.text("value", value));
    match name {
        "instanceType" => value(xml, instance.instance_type.as_str()),
        "disableApiTermination" | "disableApiStop" | "ebsOptimized" => value(xml, "false"),
        "sourceDestCheck" | "enaSupport" => value(xml, "true"),
        "instanceInitiatedShutdownBehavior" => value(xml, "stop"),
        "rootDeviceName" => value(xml, region.images.get(&instance.image).map_or("", |it| &it.root_device)),
        "userData" => {
            xml.within(name, |xml| xml.optional("value", instance.user_data.as_deref()));
        }
        "groupSet" => xml.list(name, "item", &instance.security_groups, |xml, group| {
            xml.text("groupId", group.as_str());
        }),
        other => {
            return Err(AwsError::invalid_value(format!(
                "Value ({other}) for parameter attribute is invalid. Unknown attribute."
            )));
        }
    }
    Ok(())
}

/// GetConsoleOutput, in base64: what a test bed says that the instance wrote, at most its last 64 KB.
pub(super) fn console(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let id = InstanceId::new(params.required("InstanceId")?);
    let found = region.instances_by_id(std::slice::from_ref(&id), View::Lagging)?;
    let written = found.first().and_then(|instance| instance.console.as_ref());
    xml.text("instanceId", id.as_str());
    xml.text("timestamp", iso_millis(written.map_or_else(|| region.now(), |(_, at)| *at)));
    let output = written.map_or("", |(output, _)| output).as_bytes();
    let kept = output.get(output.len().saturating_sub(CONSOLE)..).unwrap_or_default();
    xml.text("output", STANDARD.encode(kept));
    Ok(())
}
