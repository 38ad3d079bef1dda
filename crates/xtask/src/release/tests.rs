//! The objects of a release, and its files.

use super::entries::{Entry, TEMPLATES};
use super::*;
use serde_json::json;

pub(super) fn objects(entry: &Entry) -> Vec<Value> {
    yaml::parse(&components(&crate::root(), entry, "v0.1.0", IMAGE).unwrap()).unwrap()
}

pub(super) fn of_kind<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    objects.iter().filter(|object| object["kind"] == kind).collect()
}

#[test]
fn the_providers_together_have_every_crd_once() {
    let mut names: Vec<String> = ENTRIES
        .iter()
        .flat_map(|entry| {
            of_kind(&objects(entry), "CustomResourceDefinition")
                .iter()
                .map(|crd| crd["metadata"]["name"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    let mut expected: Vec<String> =
        foo_api::crds().into_iter().map(|crd| crd.metadata.name.unwrap()).collect();
    names.sort();
    expected.sort();
    assert_eq!(names, expected);
}

#[test]
fn the_providers_share_no_object() {
    let ids = |entry: &Entry| -> Vec<String> {
        objects(entry).iter().map(|o| format!("{} {}", o["kind"], o["metadata"]["name"])).collect()
    };
    let mut seen = std::collections::BTreeSet::new();
    let twice: Vec<String> = ENTRIES.iter().flat_map(ids).filter(|id| !seen.insert(id.clone())).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

/// `clusterctl init --target-namespace` puts all into one namespace: with one Lease only one of them would ever work.
#[test]
fn the_managers_of_the_providers_elect_apart() {
    let lease = |entry: &Entry| -> String {
        let objects = objects(entry);
        let args = &of_kind(&objects, "Deployment")[0]["spec"]["template"]["spec"]["containers"][0]["args"];
        let args: Vec<&str> = args.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let leases: Vec<&str> =
            args.iter().filter_map(|arg| arg.strip_prefix("--leader-election-id=")).collect();
        assert_eq!(leases.len(), 1, "{args:?}");
        leases[0].to_owned()
    };
    let leases: std::collections::BTreeSet<String> = ENTRIES.iter().map(lease).collect();
    assert_eq!(leases.len(), ENTRIES.len(), "{leases:?}");
}

/// Cluster API's kubeadm provider reads a Cluster's control plane, whatever its kind, before it makes user data.
#[test]
fn kubeadm_may_read_the_control_planes_version() {
    let objects = objects(&ENTRIES[1]);
    let named = |kind: &str| {
        let found = of_kind(&objects, kind);
        (*found.iter().find(|it| it["metadata"]["name"] == "foo-kubeadm-bootstrap").unwrap()).clone()
    };
    let rules = named("ClusterRole")["rules"].clone();
    assert_eq!(
        rules,
        json!([{"apiGroups": ["controlplane.foo.com"], "resources": ["foocontrolplanes"], "verbs": ["get"]}])
    );
    assert_eq!(
        named("ClusterRoleBinding")["subjects"][0]["name"],
        "system:serviceaccount:capi-kubeadm-bootstrap-system:capi-kubeadm-bootstrap-manager"
    );
}

#[test]
fn references_between_objects_lead_somewhere() {
    for entry in &ENTRIES {
        let objects = objects(entry);
        let there = |kind: &Value, name: &Value| {
            objects.iter().any(|o| o["kind"] == *kind && o["metadata"]["name"] == *name)
        };
        let bindings = [of_kind(&objects, "ClusterRoleBinding"), of_kind(&objects, "RoleBinding")].concat();
        assert_eq!(bindings.len(), if entry.label == "bootstrap-foo" { 2 } else { 3 });
        for binding in bindings {
            assert!(there(&binding["roleRef"]["kind"], &binding["roleRef"]["name"]), "{binding}");
            let subject = &binding["subjects"][0];
            if subject["kind"] == "User" {
                // Another owner's: clusterctl would move a ServiceAccount's namespace.
                assert!(subject["namespace"].is_null(), "{binding}");
                continue;
            }
            assert!(
                there(&subject["kind"], &subject["name"])
                    && there(&json!("Namespace"), &subject["namespace"])
            );
        }
        let deployments = of_kind(&objects, "Deployment");
        assert_eq!(deployments.len(), 1);
        let pod = &deployments[0]["spec"]["template"]["spec"];
        assert!(there(&json!("ServiceAccount"), &pod["serviceAccountName"]));
        assert_eq!(
            deployments[0]["spec"]["selector"]["matchLabels"],
            deployments[0]["spec"]["template"]["metadata"]["labels"]
        );
        let namespace = &of_kind(&objects, "Namespace")[0]["metadata"]["name"];
        for object in &objects {
            let own = &object["metadata"]["namespace"];
            assert!(own.is_null() || own == namespace, "{object}");
        }
    }
}

#[test]
fn the_manager_runs_with_nothing_it_does_not_need() {
    for entry in &ENTRIES {
        let objects = objects(entry);
        let pod = &of_kind(&objects, "Deployment")[0]["spec"]["template"]["spec"];
        let container = &pod["containers"][0];
        // clusterctl looks for this name.
        assert_eq!(container["name"], "manager");
        assert_eq!(container["image"], format!("{IMAGE}:v0.1.0"));
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
        assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault");
        let security = &container["securityContext"];
        assert_eq!(security["readOnlyRootFilesystem"], true);
        assert_eq!(security["allowPrivilegeEscalation"], false);
        assert_eq!(security["capabilities"]["drop"], json!(["ALL"]));
    }
}

/// clusterctl and kustomize may put a provider into another namespace; only what they know to rewrite may name one.
#[test]
fn policies_are_bound_and_name_no_namespace() {
    let mut policies = Vec::new();
    for entry in &ENTRIES {
        let objects = objects(entry);
        let names = |kind: &str, path: &str| -> Vec<String> {
            let mut names: Vec<String> = of_kind(&objects, kind)
                .iter()
                .map(|object| object.pointer(path).unwrap().as_str().unwrap().to_owned())
                .collect();
            names.sort();
            names
        };
        let of_entry = names("ValidatingAdmissionPolicy", "/metadata/name");
        assert_eq!(names("ValidatingAdmissionPolicyBinding", "/spec/policyName"), of_entry);
        assert_eq!(names("ValidatingAdmissionPolicyBinding", "/metadata/name"), of_entry);
        for kind in ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"] {
            for object in of_kind(&objects, kind) {
                assert!(!object.to_string().contains("foo-system"), "{object}");
                assert!(object["metadata"]["namespace"].is_null());
            }
        }
        policies.extend(of_entry);
    }
    let file =
        crate::yaml::parse(&read(&crate::root(), "deploy/policy/kustomization.yaml").unwrap()).unwrap();
    let all = file[0]["resources"].as_array().unwrap().len();
    assert_eq!(policies.len(), all, "each policy belongs to one provider: {policies:?}");
}

#[test]
fn the_policy_and_the_code_name_the_same_annotation() {
    let policy = read(&crate::root(), "deploy/policy/protection.yaml").unwrap();
    let quoted = format!("\"{}\" in oldObject", foo_api::names::PROTECTED_ANNOTATION);
    assert!(policy.contains(&quoted), "{quoted}");
    for path in ["crds", "machines", "control_planes"].map(|it| format!("deploy/policy/{it}.yaml")) {
        let path = path.as_str();
        let policy = read(&crate::root(), path).unwrap();
        let quoted = format!("\"{}\" in oldObject", foo_api::names::DELETION_ALLOWED_ANNOTATION);
        assert!(policy.contains(&quoted), "{path}: {quoted}");
    }
    let policy = read(&crate::root(), "deploy/policy/adoption.yaml").unwrap();
    let quoted = format!("\"{}\" in object", foo_model::names::ADOPT_FROM_ANNOTATION);
    assert!(policy.contains(&quoted), "{quoted}");
}

#[test]
fn every_kind_is_protected_by_its_annotation() {
    let policy = crate::yaml::parse(&read(&crate::root(), "deploy/policy/protection.yaml").unwrap()).unwrap();
    let rules = policy[0]["spec"]["matchConstraints"]["resourceRules"].as_array().unwrap();
    let is_named = |group: &str, plural: &str| {
        let names = |it: &Value, name: &str| it.as_array().unwrap().contains(&json!(name));
        rules.iter().any(|it| names(&it["apiGroups"], group) && names(&it["resources"], plural))
    };
    for crd in foo_api::crds() {
        let (group, plural) = (&crd.spec.group, &crd.spec.names.plural);
        // FooMachines: only Cluster API's core and the manager may delete them at all. Nothing depends on a FooPlan.
        let is_unprotected = ["foomachines", "fooplans"].contains(&plural.as_str());
        assert_ne!(
            is_named(group, plural),
            is_unprotected,
            "deploy/policy/protection.yaml: {plural}.{group}"
        );
    }
}

#[test]
fn core_and_the_autoscaler_get_their_roles() {
    let role = |entry: &Entry, name: &str| -> Value {
        let objects = objects(entry);
        let roles = of_kind(&objects, "ClusterRole");
        (*roles.iter().find(|role| role["metadata"]["name"] == name).unwrap()).clone()
    };
    let names = [
        "foo-aggregate-to-manager",
        "foo-control-plane-aggregate-to-manager",
        "foo-bootstrap-aggregate-to-manager",
    ];
    for (entry, name) in ENTRIES.iter().zip(names) {
        let labels = &role(entry, name)["metadata"]["labels"];
        assert_eq!(labels["cluster.x-k8s.io/aggregate-to-manager"], "true");
    }
    let autoscaler = role(&ENTRIES[0], "foo-cluster-autoscaler").to_string();
    assert!(autoscaler.contains("foomachinepools"), "{autoscaler}");
}

#[test]
fn dollars_are_variables_or_ends_of_patterns() {
    for entry in &ENTRIES {
        let text = components(&crate::root(), entry, "v0.1.0", IMAGE).unwrap();
        let variables: Vec<&str> =
            text.split("${").skip(1).filter_map(|rest| rest.split([':', '}']).next()).collect();
        assert!(variables.iter().all(|name| name.starts_with("FOO_")), "{variables:?}");
        assert!(!text.contains("$$"));
    }
}

#[test]
fn the_same_version_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let release = |name: &str| -> Vec<Vec<u8>> {
        let paths = write_all(&crate::root(), "v0.1.0", IMAGE, &folder.path().join(name)).unwrap();
        assert_eq!(paths.len(), 14 + TEMPLATES.len());
        paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
    };
    assert_eq!(release("a"), release("b"));
}

#[test]
fn versions_that_clusterctl_would_refuse_are_refused() {
    let check = |version: &str, expected: bool| {
        assert_eq!(check_version(&crate::root(), version).is_ok(), expected, "{version}");
    };
    check("v0.1.0", true);
    check("v0.1.7-rc.1", true);
    check("0.1.0", false);
    check("v0.1", false);
    check("v9.9.0", false);
}
