//! Settings of instances that EC2 has defaults for, from a launch template to a FooMachinePool.

use super::manifest::of_name;
use super::template::{Cpu, Ebs, Enabled, Metadata, PrivateDns, TemplateData};
use foo_api::FooMachinePoolSpec;
use foo_api::pool::{
    CpuCredits, CpuOptions, HttpTokens, Inclusion, InstanceRequirements, MetadataOptions,
    PrivateDnsNameOptions, Switch, is_burstable,
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// The spec with these settings of the launch template. What no FooMachinePool can have is named.
pub(super) fn with_options(
    spec: FooMachinePoolSpec,
    data: &TemplateData,
    differences: &mut Vec<String>,
) -> FooMachinePoolSpec {
    let is_on = |it: &Option<Enabled>| it.as_ref().is_some_and(|it| it.enabled);
    let credits = data.credit_specification.as_ref().and_then(|it| it.cpu_credits.as_deref());
    let performance = data.network_performance_options.as_ref();
    let weighting = performance.and_then(|it| it.bandwidth_weighting.as_deref());
    FooMachinePoolSpec {
        metadata_options: metadata(data.metadata_options.as_ref(), differences),
        detailed_monitoring: is_on(&data.monitoring),
        cpu_options: data.cpu_options.as_ref().and_then(|it| cpu_options(it, differences)),
        cpu_credits: cpu_credits(&spec, credits, differences),
        bandwidth_weighting: known(weighting, "BandwidthWeighting", differences),
        nitro_enclaves: is_on(&data.enclave_options),
        private_dns_name_options: data
            .private_dns_name_options
            .as_ref()
            .and_then(|it| private_dns(it, differences)),
        ..spec
    }
}

/// Settings of AWS that the spec does not have.
pub(super) fn named<'a>(of: &str, others: &'a BTreeMap<String, Value>) -> impl Iterator<Item = String> + 'a {
    let of = of.to_owned();
    let set = others.iter().filter(|(_, value)| is_set(value));
    set.map(move |(name, _)| format!("{name} of the {of}: a FooMachinePool does not have it"))
}

/// Whether a setting has another value than AWS's default.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => fields.values().any(is_set),
        Value::String(_) | Value::Number(_) => true,
    }
}

/// Whether a volume is deleted with its instance; absent if it is. What the launch template leaves out is as in the image.
pub(super) fn delete_on_termination(ebs: &Ebs, of_image: Option<&Ebs>) -> Option<bool> {
    let of_image = || of_image?.delete_on_termination;
    ebs.delete_on_termination.or_else(of_image).filter(|is_deleted| !is_deleted)
}

/// AWS's word as a FooMachinePool has it. One that it does not have is named.
pub(super) fn known<T: DeserializeOwned>(
    name: Option<&str>,
    what: &str,
    differences: &mut Vec<String>,
) -> Option<T> {
    let name = name?;
    let known = of_name(name);
    if known.is_none() {
        differences.push(format!("{what} {name}: a FooMachinePool does not have it"));
    }
    known
}

/// The API takes them for burstable instance types only.
fn cpu_credits(
    spec: &FooMachinePoolSpec,
    credits: Option<&str>,
    differences: &mut Vec<String>,
) -> Option<CpuCredits> {
    let mixed = spec.mixed_instances.as_ref();
    let named = spec.instance_type.as_deref().into_iter();
    let mut named = named.chain(mixed.iter().flat_map(|mixed| mixed.instance_types()));
    let required = |it: &InstanceRequirements| it.burstable_performance == Some(Inclusion::Required);
    let burstable = named.all(is_burstable) && mixed.iter().all(|mixed| mixed.requirements().all(required));
    if let Some(credits) = credits.filter(|_| !burstable) {
        differences.push(format!(
            "CpuCredits {credits}: a FooMachinePool has them for burstable instance types only"
        ));
        return None;
    }
    known(credits, "CpuCredits", differences)
}

fn cpu_options(cpu: &Cpu, differences: &mut Vec<String>) -> Option<CpuOptions> {
    // Nested virtualization is in the overlay.
    let Cpu { core_count, threads_per_core, amd_sev_snp, nested_virtualization: _, others } = cpu;
    differences.extend(named("CPU options", others));
    if core_count.is_some() != threads_per_core.is_some() {
        differences.push("CPU options with either cores or threads: a FooMachinePool has both".to_owned());
    }
    let (core_count, threads_per_core) = core_count.zip(*threads_per_core).unzip();
    let amd_sev_snp: Option<Switch> = known(amd_sev_snp.as_deref(), "AmdSevSnp", differences);
    let options = CpuOptions { core_count, threads_per_core, amd_sev_snp };
    Some(options).filter(|it| *it != CpuOptions::default())
}

fn private_dns(names: &PrivateDns, differences: &mut Vec<String>) -> Option<PrivateDnsNameOptions> {
    let PrivateDns { hostname_type, enable_resource_name_dns_a_record, enable_resource_name_dns_aaaa_record } =
        names;
    let options = PrivateDnsNameOptions {
        hostname_type: known(hostname_type.as_deref(), "HostnameType", differences),
        enable_resource_name_dns_a_record: *enable_resource_name_dns_a_record,
        enable_resource_name_dns_aaaa_record: *enable_resource_name_dns_aaaa_record,
    };
    Some(options).filter(|it| *it != PrivateDnsNameOptions::default())
}

fn metadata(options: Option<&Metadata>, differences: &mut Vec<String>) -> MetadataOptions {
    let default = MetadataOptions::default();
    let options = options.cloned().unwrap_or_default();
    if options.instance_metadata_tags.as_deref().is_some_and(|tags| tags != "disabled") {
        differences
            .push("tags in the metadata service: instances of a FooMachinePool have none there".to_owned());
    }
    if options.http_tokens.is_none() {
        differences.push(
            "HttpTokens of the metadata service is not set: a FooMachinePool requires tokens".to_owned(),
        );
    }
    if options.http_put_response_hop_limit.is_none() {
        differences.push(
            "HttpPutResponseHopLimit of the metadata service is not set, and may be the image's: a FooMachinePool has 1, with which Pods \
             do not reach the service"
                .to_owned(),
        );
    }
    let tokens: Option<HttpTokens> = known(options.http_tokens.as_deref(), "HttpTokens", differences);
    MetadataOptions {
        http_tokens: tokens.unwrap_or(default.http_tokens),
        http_put_response_hop_limit: options
            .http_put_response_hop_limit
            .unwrap_or(default.http_put_response_hop_limit),
        http_endpoint: known(options.http_endpoint.as_deref(), "HttpEndpoint", differences)
            .filter(|it| *it == Switch::Disabled),
        http_protocol_ipv6: known(options.http_protocol_ipv6.as_deref(), "HttpProtocolIpv6", differences)
            .filter(|it| *it == Switch::Enabled),
    }
}
