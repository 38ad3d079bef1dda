//! Parameter Store's actions (Systems Manager API Reference), with their parameters in JSON.

use super::json_fields::{flag, number, required, text, texts};
use super::operation::JsonOperation;
use crate::core::Region;
use crate::core::error::{AwsError, AwsResult};
use crate::core::ssm::{ParameterType, ParameterVersion, Parameters};
use serde_json::{Value, json};

/// Most names of one GetParameters or DeleteParameters.
const NAMES: usize = 10;

/// All actions.
pub(super) const ACTIONS: [(&str, JsonOperation); 6] = [
    ("GetParameter", get),
    ("GetParameters", get_many),
    ("GetParametersByPath", by_path),
    ("PutParameter", put),
    ("DeleteParameter", |region, body, _| {
        region.parameters.delete(required(body, "Name")?).map(|()| json!({}))
    }),
    ("DeleteParameters", delete_many),
];

/// The ARNs of the parameters of a request (Systems Manager User Guide, "Restricting access to Parameter Store
/// parameters using IAM policies"); ARNs of public parameters contain no account.
pub(super) fn resources_of(region: &Region, action: &str, body: &Value) -> Vec<String> {
    let named: Vec<&str> = match action {
        "GetParametersByPath" => body.get("Path").and_then(Value::as_str).into_iter().collect(),
        "GetParameters" | "DeleteParameters" => {
            let names = body.get("Names").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            names.iter().filter_map(Value::as_str).collect()
        }
        _ => body.get("Name").and_then(Value::as_str).into_iter().collect(),
    };
    let arn = |name: &str| {
        let (name, _) = Parameters::name_of(name);
        let account = if name.starts_with("/aws/") { "" } else { region.account.as_str() };
        format!("arn:aws:ssm:{}:{account}:parameter/{}", region.name, name.trim_start_matches('/'))
    };
    let named: Vec<String> = named.into_iter().map(arn).collect();
    if named.is_empty() { vec![arn("*")] } else { named }
}

fn get(region: &mut Region, body: &Value, _: &str) -> AwsResult<Value> {
    let name = required(body, "Name")?;
    Ok(json!({ "Parameter": show(region, region.parameters.find(name)?) }))
}

fn get_many(region: &mut Region, body: &Value, _: &str) -> AwsResult<Value> {
    let names = names(body)?;
    let (mut found, mut invalid) = (Vec::new(), Vec::new());
    for name in names {
        match region.parameters.find(name) {
            Ok(version) => found.push(show(region, version)),
            Err(_) => invalid.push(name),
        }
    }
    Ok(json!({ "Parameters": found, "InvalidParameters": invalid }))
}

fn by_path(region: &mut Region, body: &Value, _: &str) -> AwsResult<Value> {
    let path = required(body, "Path")?;
    if !path.starts_with('/') {
        return Err(AwsError::new(
            "ValidationException",
            "The parameter doesn't meet the parameter name requirements.",
        ));
    }
    if !body.get("ParameterFilters").is_none_or(|filters| filters.is_null() || filters == &json!([])) {
        return Err(AwsError::new("ValidationException", "ParameterFilters are not simulated."));
    }
    let most = usize::try_from(number(body, "MaxResults", 1, 10)?.unwrap_or(10)).unwrap_or(10);
    let after = text(body, "NextToken")?;
    let recursive = flag(body, "Recursive")?.unwrap_or(false);
    let mut below = region.parameters.below(path, recursive, after);
    let page: Vec<ParameterVersion<'_>> = below.by_ref().take(most).collect();
    let more = below.next().is_some();
    let token = page.last().filter(|_| more).map(|last| last.parameter.name.clone());
    let shown: Vec<Value> = page.into_iter().map(|version| show(region, version)).collect();
    let mut response = json!({ "Parameters": shown });
    if let (Some(token), Some(response)) = (token, response.as_object_mut()) {
        response.insert("NextToken".to_owned(), Value::String(token));
    }
    Ok(response)
}

fn put(region: &mut Region, body: &Value, _: &str) -> AwsResult<Value> {
    let kind = match text(body, "Type")? {
        None => ParameterType::default(),
        Some(kind) => kind.parse().map_err(|_| {
            AwsError::new("UnsupportedParameterType", format!("The parameter type {kind} isn't supported."))
        })?,
    };
    let overwrite = flag(body, "Overwrite")?.unwrap_or(false);
    let value = required(body, "Value")?.to_owned();
    let now = region.now();
    let version = region.parameters.put(required(body, "Name")?, kind, value, overwrite, now)?;
    Ok(json!({ "Version": version, "Tier": "Standard" }))
}

fn delete_many(region: &mut Region, body: &Value, _: &str) -> AwsResult<Value> {
    let (mut deleted, mut invalid) = (Vec::new(), Vec::new());
    for name in names(body)? {
        match region.parameters.delete(name) {
            Ok(()) => deleted.push(name),
            Err(_) => invalid.push(name),
        }
    }
    Ok(json!({ "DeletedParameters": deleted, "InvalidParameters": invalid }))
}

fn names(body: &Value) -> AwsResult<Vec<&str>> {
    let names = texts(body, "Names")?;
    if names.is_empty() || names.len() > NAMES {
        return Err(AwsError::new(
            "ValidationException",
            format!("Between 1 and {NAMES} Names can be given."),
        ));
    }
    Ok(names)
}

fn show(region: &Region, version: ParameterVersion<'_>) -> Value {
    let ParameterVersion { parameter, number, value, written } = version;
    let kind: &'static str = parameter.kind.into();
    let account = if parameter.is_public() { "" } else { region.account.as_str() };
    let slash = if parameter.name.starts_with('/') { "" } else { "/" };
    json!({
        "Name": parameter.name,
        "Type": kind,
        "Value": value,
        "Version": number,
        // Seconds since 1970 (Smithy, "AWS JSON 1.1 protocol"); without the fraction.
        "LastModifiedDate": written.0 / 1_000,
        "ARN": format!("arn:aws:ssm:{}:{account}:parameter{slash}{}", region.name, parameter.name),
        "DataType": "text",
    })
}

#[cfg(test)]
mod tests {
    use super::resources_of;
    use crate::{Simulator, SimulatorConfig};
    use serde_json::{Value, json};

    /// Service Authorization Reference, "Resource types defined by AWS Systems Manager": parameter. AWS's own parameters
    /// have no account.
    #[test]
    fn a_call_is_about_each_parameter_by_its_name() {
        let region = Simulator::new(SimulatorConfig::stepped()).region("eu-central-1");
        let about = |action: &str, body: Value| {
            region.with(|region| resources_of(region, action, &body)).expect("the region exists")
        };
        let own = |name: &str| format!("arn:aws:ssm:eu-central-1:123456789012:parameter/{name}");
        for name in ["own/secret", "/own/secret", "/own/secret:1", &own("own/secret")] {
            assert_eq!(about("GetParameter", json!({ "Name": name })), [own("own/secret")], "{name}");
        }
        assert_eq!(
            about("GetParameters", json!({ "Name": "/a", "Names": ["/b", "/c/d"] })),
            [own("b"), own("c/d")]
        );
        assert_eq!(about("GetParametersByPath", json!({ "Name": "/a", "Path": "/b" })), [own("b")]);
        assert_eq!(
            about("GetParameter", json!({ "Name": "/aws/service/x" })),
            ["arn:aws:ssm:eu-central-1::parameter/aws/service/x"]
        );
        assert_eq!(about("DescribeParameters", json!({})), [own("*")]);
    }
}
