//! values.yaml and its schema: a value that is not in the schema is refused, instead of ignored.

use crate::yaml;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// Where the manager is in a Deployment.
pub(super) const CONTAINER: &str = "/spec/template/spec/containers/0";

/// values.yaml, with the defaults of this Deployment.
pub(super) fn text(deployment: &Value, image: &str) -> Result<String> {
    let of = |pointer: &str| deployment.pointer(pointer).with_context(|| format!("deploy/ has no {pointer}"));
    let resources = of(&format!("{CONTAINER}/resources"))?;
    let tolerations = of("/spec/template/spec/tolerations")?;
    let replicas = of("/spec/replicas")?;
    let [resources, tolerations] = [("resources", resources), ("tolerations", tolerations)]
        .map(|(name, value)| yaml::document(&json!({name: value})));
    Ok(format!(
        "\
image:
  # Without tag.
  repository: {image}
  # Default: the version of the release.
  tag: \"\"
  # sha256:…, instead of a tag.
  digest: \"\"

# Secrets with credentials for the registry: a list of {{name: …}}.
imagePullSecrets: []

# One works; others wait until it ends. Kubernetes starts a new one within seconds.
replicas: {replicas}

# Further flags of the manager, for instance --require-identity.
extraArgs: []

# Further environment variables of the manager, for instance a proxy for AWS.
extraEnv: []

serviceAccount:
  # For IAM roles for service accounts: eks.amazonaws.com/role-arn.
  annotations: {{}}

{}
nodeSelector: {{}}
{}
affinity: {{}}
topologySpreadConstraints: []
priorityClassName: \"\"
",
        resources?, tolerations?
    ))
}

/// JSON schema of the values.
pub(super) fn schema() -> Value {
    let text = json!({"type": "string"});
    let object = json!({"type": "object"});
    let list = json!({"type": "array", "items": {"type": "object"}});
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            // Helm's own.
            "global": object,
            "affinity": object,
            "extraArgs": {"type": "array", "items": {"type": "string", "pattern": "^--"}},
            "extraEnv": list,
            "image": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "digest": {"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"},
                    "repository": {"type": "string", "minLength": 1},
                    "tag": text,
                },
            },
            "imagePullSecrets": list,
            "nodeSelector": object,
            "priorityClassName": text,
            "replicas": {"type": "integer", "minimum": 0},
            "resources": object,
            "serviceAccount": {
                "type": "object",
                "additionalProperties": false,
                "properties": {"annotations": object},
            },
            "tolerations": list,
            "topologySpreadConstraints": list,
        },
    })
}
