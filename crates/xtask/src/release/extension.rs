//! The third provider of a release: the runtime extension. Its objects are the files of deploy/extension, with an image, the
//! release's version and clusterctl's variables.

use super::components::sorted;
use crate::sources::{label, read};
use crate::yaml;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::path::Path;

/// Folder in a repository, and value of the label of its objects.
pub(super) const LABEL: &str = "runtime-extension-foo";
/// Name that clusterctl looks for.
pub(super) const COMPONENTS: &str = "runtime-extension-components.yaml";

/// Annotation on the ExtensionConfig: Cluster API looks for handlers again when anything of it changes, so every version of the
/// extension has to change something.
const VERSION: &str = "infrastructure.foo.com/extension-version";

const FILES: [&str; 8] = [
    "namespace.yaml",
    "service_account.yaml",
    "certificate.yaml",
    "service.yaml",
    "pod_disruption_budget.yaml",
    "network_policy.yaml",
    "deployment.yaml",
    "extension_config.yaml",
];

/// What clusterctl installs as runtime extension.
pub(super) fn components(root: &Path, version: &str, image: &str) -> Result<String> {
    let mut objects = Vec::new();
    for file in FILES {
        let path = format!("deploy/extension/{file}");
        objects.extend(yaml::parse(&read(root, &path)?).with_context(|| format!("in {path}"))?);
    }
    for object in &mut objects {
        adapt(object, version, &format!("{image}:{version}"));
        label(object, LABEL);
    }
    sorted(&mut objects);
    yaml::documents(&objects)
}

fn adapt(object: &mut Value, version: &str, image: &str) {
    match object.get("kind").and_then(Value::as_str) {
        Some("ExtensionConfig") => annotate(object, VERSION, version),
        // As for the manager: empty means none, and clusterctl takes an empty default for none at all.
        Some("ServiceAccount") => {
            annotate(object, "eks.amazonaws.com/role-arn", "${FOO_EXTENSION_IAM_ROLE_ARN:=''}");
        }
        Some("Deployment") => {
            let container =
                object.pointer_mut("/spec/template/spec/containers/0").and_then(Value::as_object_mut);
            if let Some(container) = container {
                container.insert("image".to_owned(), json!(image));
                container.insert("imagePullPolicy".to_owned(), json!("IfNotPresent"));
                container.insert("args".to_owned(), json!(["--log-format=${FOO_LOG_FORMAT:=json}"]));
            }
        }
        _ => {}
    }
}

fn annotate(object: &mut Value, key: &str, value: &str) {
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    let annotations = metadata.map(|metadata| metadata.entry("annotations").or_insert_with(|| json!({})));
    if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
        annotations.insert(key.to_owned(), json!(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::IMAGE;

    fn objects() -> Vec<Value> {
        yaml::parse(&components(&crate::root(), "v0.1.0", IMAGE).unwrap()).unwrap()
    }

    fn of<'a>(objects: &'a [Value], kind: &str) -> &'a Value {
        objects.iter().find(|object| object["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"))
    }

    /// It has no permissions in Kubernetes: an attacker who controls it can read AWS, and nothing else.
    #[test]
    fn the_extension_has_no_right_in_kubernetes() {
        let objects = objects();
        assert!(objects.iter().all(|object| !object["kind"].as_str().unwrap().contains("Role")));
        assert_eq!(of(&objects, "ServiceAccount")["automountServiceAccountToken"], false);
        let pod = &of(&objects, "Deployment")["spec"]["template"]["spec"];
        assert_eq!(pod["automountServiceAccountToken"], false);
        assert_eq!(pod["serviceAccountName"], of(&objects, "ServiceAccount")["metadata"]["name"]);
    }

    #[test]
    fn the_extension_runs_twice_with_nothing_it_does_not_need() {
        let objects = objects();
        let deployment = of(&objects, "Deployment");
        let pod = &deployment["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        assert_eq!(deployment["spec"]["replicas"], 2);
        assert_eq!(of(&objects, "PodDisruptionBudget")["spec"]["maxUnavailable"], 1);
        // clusterctl looks for this name.
        assert_eq!(container["name"], "manager");
        assert_eq!(container["image"], format!("{IMAGE}:v0.1.0"));
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        assert_eq!(container["securityContext"]["readOnlyRootFilesystem"], true);
        assert_eq!(container["securityContext"]["capabilities"]["drop"], json!(["ALL"]));
    }

    /// The address of a Service is known to every pod: who may call it is said here.
    #[test]
    fn only_cluster_api_reaches_the_extension_and_its_client_certificate_can_be_required() {
        let objects = objects();
        let policy = of(&objects, "NetworkPolicy");
        let pod = &of(&objects, "Deployment")["spec"]["template"];
        assert_eq!(policy["spec"]["podSelector"]["matchLabels"], pod["metadata"]["labels"]);
        let ports = pod["spec"]["containers"][0]["ports"].as_array().unwrap();
        for rule in policy["spec"]["ingress"].as_array().unwrap() {
            assert!(ports.iter().any(|it| it["name"] == rule["ports"][0]["port"]), "{rule}");
            assert!(rule["from"][0]["namespaceSelector"]["matchLabels"].is_object(), "{rule}");
        }
        let env = pod["spec"]["containers"][0]["env"].as_array().unwrap();
        assert!(env.iter().any(|it| it["name"] == "FOO_EXTENSION_CLIENT_AUTHORITIES"));
        let mounts = pod["spec"]["containers"][0]["volumeMounts"].as_array().unwrap();
        let mounted = mounts.iter().find(|it| it["mountPath"] == "/client-authorities").unwrap();
        let volumes = pod["spec"]["volumes"].as_array().unwrap();
        let volume = volumes.iter().find(|it| it["name"] == mounted["name"]).unwrap();
        assert_eq!(volume["secret"]["optional"], true);
    }

    /// What Cluster API calls is what the Service names, and what the certificate is for.
    #[test]
    fn the_registration_leads_to_the_pods() {
        let objects = objects();
        let config = of(&objects, "ExtensionConfig");
        let service = of(&objects, "Service");
        let pod = &of(&objects, "Deployment")["spec"]["template"];
        assert_eq!(config["spec"]["clientConfig"]["service"]["name"], service["metadata"]["name"]);
        assert_eq!(config["spec"]["clientConfig"]["service"]["port"], service["spec"]["ports"][0]["port"]);
        assert_eq!(config["metadata"]["annotations"][VERSION], "v0.1.0");
        assert_eq!(service["spec"]["selector"], pod["metadata"]["labels"]);
        assert_eq!(
            of(&objects, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
            pod["metadata"]["labels"]
        );
        let certificate = of(&objects, "Certificate");
        assert_eq!(certificate["spec"]["dnsNames"][0], "foo-extension.foo-extension-system.svc");
        assert_eq!(certificate["spec"]["secretName"], pod["spec"]["volumes"][0]["secret"]["secretName"]);
        let secret =
            config["metadata"]["annotations"]["runtime.cluster.x-k8s.io/inject-ca-from-secret"].as_str();
        assert!(secret.unwrap().ends_with("/foo-extension-certificate"), "{secret:?}");
        let namespace = &of(&objects, "Namespace")["metadata"]["name"];
        for object in &objects {
            let own = &object["metadata"]["namespace"];
            assert!(own.is_null() || own == namespace, "{object}");
            assert_eq!(object["metadata"]["labels"]["cluster.x-k8s.io/provider"], LABEL);
        }
    }
}
