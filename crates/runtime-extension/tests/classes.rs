//! The ClusterClasses of a pair create the same objects from the same variables: the one by inline patches, which are
//! applied here as Cluster API applies them, the other by this extension.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "helpers of tests: what is not as expected is a failure"
)]

use async_trait::async_trait;
use foo_cloud::Cloud;
use foo_runtime_extension::clouds::{Clouds, Connect};
use foo_runtime_extension::settings::Access;
use foo_runtime_sdk::testing;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Patches need no AWS.
struct NoAws;

#[async_trait]
impl Connect for NoAws {
    async fn connect(&self, _: &Access, region: &str) -> anyhow::Result<Arc<dyn Cloud>> {
        anyhow::bail!("a patch asked AWS in {region}")
    }
}

/// A ClusterClass and its templates.
struct Class {
    class: Value,
    templates: Vec<Value>,
}

impl Class {
    fn read(file: &str) -> Self {
        let path = format!("{}/../../deploy/clusterctl/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut objects: Vec<Value> =
            serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        Self { class: objects.remove(0), templates: objects }
    }

    fn template(&self, reference: &Value) -> Value {
        let of = &reference["templateRef"];
        let found = self
            .templates
            .iter()
            .find(|one| one["kind"] == of["kind"] && one["metadata"]["name"] == of["name"]);
        found.unwrap_or_else(|| panic!("no template {of}")).clone()
    }

    /// The templates of a Cluster with one pool of each class: which pool class, and the template.
    fn used(&self) -> Vec<(Option<String>, Value)> {
        let spec = &self.class["spec"];
        let mut used = vec![
            (None, self.template(&spec["infrastructure"])),
            (None, self.template(&spec["controlPlane"])),
        ];
        for class in spec["workers"]["machinePools"].as_array().into_iter().flatten() {
            let name = class["class"].as_str().map(str::to_owned);
            used.push((name.clone(), self.template(&class["infrastructure"])));
            used.push((name, self.template(&class["bootstrap"])));
        }
        used
    }
}

fn spec(template: &Value) -> Value {
    template["spec"].clone()
}

/// The few forms of Go's templates that the class uses: `{{ if CONDITION }}true{{ end }}` and `name: {{ .name }}`.
fn go_template(text: &str, variables: &Map<String, Value>) -> Value {
    let inside =
        text.split("{{").nth(1).and_then(|inside| inside.split("}}").next()).unwrap_or_default().trim();
    match (text.split("{{").next(), inside.strip_prefix("if ")) {
        (Some(""), Some(condition)) => json!(go_condition(condition, variables)),
        (Some(field), None) => json!({field.trim_end_matches(": "): go_text(inside, variables)}),
        (_, _) => panic!("{text}: not one of the forms that are known here"),
    }
}

/// `.name`, `eq .name "value"`, or `and` of two of them, the latter in brackets.
fn go_condition(condition: &str, variables: &Map<String, Value>) -> bool {
    if let Some((name, other)) = condition.strip_prefix("and ").and_then(|both| both.split_once(' ')) {
        let other = other.trim_start_matches('(').trim_end_matches(')');
        return go_condition(name, variables) && go_condition(other, variables);
    }
    match condition.strip_prefix("eq ").and_then(|both| both.split_once(' ')) {
        Some((name, value)) => go_text(name, variables) == value.trim_matches('"'),
        None => !go_text(condition, variables).is_empty(),
    }
}

fn go_text<'a>(name: &str, variables: &'a Map<String, Value>) -> &'a str {
    let name = name.trim_start_matches('.');
    variables.get(name).and_then(Value::as_str).unwrap_or_else(|| panic!("no text {name}"))
}

/// Inline patches, as Cluster API has them (The Cluster API Book, "Writing a ClusterClass").
fn inline(class: &Class, variables: &Map<String, Value>) -> Vec<Value> {
    let mut used = class.used();
    for patch in class.class["spec"]["patches"].as_array().into_iter().flatten() {
        if patch["enabledIf"].as_str().is_some_and(|enabled| go_template(enabled, variables) == false) {
            continue;
        }
        for definition in patch["definitions"].as_array().into_iter().flatten() {
            let classes = &definition["selector"]["matchResources"]["machinePoolClass"]["names"];
            let selected = used.iter_mut().filter(|(class, template)| {
                let of_class = classes.as_array().is_none_or(|names| {
                    class.as_ref().is_some_and(|class| names.iter().any(|name| name == class))
                });
                template["kind"] == definition["selector"]["kind"] && of_class
            });
            for (_, template) in selected {
                apply(template, &definition["jsonPatches"], variables);
            }
        }
    }
    used.iter().map(|(_, template)| spec(template)).collect()
}

fn apply(template: &mut Value, patches: &Value, variables: &Map<String, Value>) {
    for patch in patches.as_array().into_iter().flatten() {
        let from = &patch["valueFrom"];
        let value = match (from["variable"].as_str(), from["template"].as_str()) {
            (Some(name), _) => variables[name].clone(),
            (None, Some(text)) => go_template(text, variables),
            (None, None) => {
                assert_eq!(patch["op"], "remove", "no value: {patch}");
                Value::Null
            }
        };
        let operation = json!([{"op": patch["op"], "path": patch["path"], "value": value}]);
        let operation: json_patch::Patch = serde_json::from_value(operation).expect("a JSON patch");
        json_patch::patch(template, &operation).expect("a patch that fits");
    }
}

/// What the extension patches.
async fn external(class: &Class, variables: &Map<String, Value>) -> Vec<Value> {
    let mut used = class.used();
    let items: Vec<Value> = used
        .iter()
        .enumerate()
        .map(|(index, (class, template))| {
            let pool =
                json!({"name": "builtin", "value": {"machinePool": {"class": class, "version": "v1.36.3"}}});
            json!({"uid": index.to_string(), "holderReference": {}, "object": template, "variables": [pool]})
        })
        .collect();
    let variables: Vec<Value> =
        variables.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    let extension = foo_runtime_extension::extension(Clouds::new(Arc::new(NoAws))).expect("an extension");
    let path = foo_runtime_sdk::hooks::path("GeneratePatches", Some("patches"));
    let handler = extension.at(&path).expect("a handler");
    let response = testing::call(handler, &json!({"variables": variables, "items": items})).await;
    assert_eq!(response["status"], "Success", "{response}");
    let response: foo_runtime_sdk::hooks::GeneratePatchesResponse =
        serde_json::from_value(response).expect("a response");
    for item in response.items {
        let change: Value = serde_json::from_slice(&item.patch).expect("JSON");
        let template = &mut used[item.uid.parse::<usize>().expect("an index")].1;
        if change.is_array() {
            let operations: json_patch::Patch = serde_json::from_value(change).expect("a JSON patch");
            json_patch::patch(template, &operations).expect("a patch that fits");
        } else {
            json_patch::merge(template, &change);
        }
    }
    used.iter().map(|(_, template)| spec(template)).collect()
}

/// Variables of a Cluster: those that are given, and the defaults of the others, which core writes into it.
fn with_defaults(class: &Class, given: &Value) -> Map<String, Value> {
    let mut all = given.as_object().expect("an object").clone();
    for variable in class.class["spec"]["variables"].as_array().into_iter().flatten() {
        let name = variable["name"].as_str().unwrap_or_default();
        let default = &variable["schema"]["openAPIV3Schema"]["default"];
        if !default.is_null() {
            all.entry(name).or_insert_with(|| default.clone());
        }
    }
    all
}

/// A ClusterClass with inline patches, and the one of the same kind for the extension.
fn pair(name: &str) -> (Class, Class) {
    let read = |name: &str| Class::read(&format!("clusterclass-{name}.yaml"));
    (read(name), read(&format!("{name}-extension")))
}

/// Both of a pair create the same objects from variables, and these differ from the templates.
async fn create_the_same((by_hand, by_extension): &(Class, Class), given: &Value) -> Vec<Value> {
    let variables = with_defaults(by_hand, given);
    let expected = inline(by_hand, &variables);
    assert_eq!(expected.len(), 6);
    assert_ne!(expected[0], by_hand.used()[0].1["spec"], "the patches of the class do something");
    similar_asserts::assert_eq!(external(by_extension, &variables).await, expected);
    for spec in &expected {
        assert!(!spec.to_string().contains("set-by-variable"), "{spec:#}");
    }
    expected
}

#[tokio::test]
async fn both_classes_make_the_same_objects_of_the_same_variables() {
    let pair = pair("foo");
    let least = json!({
        "region": "eu-central-1", "subnets": [{"id": "subnet-1"}], "kubeconfigSecret": "external", "amiID": "ami-1",
        "instanceProfile": "nodes",
    });
    let most = json!({
        "region": "eu-west-1", "identity": "team-a", "vpcID": "vpc-1",
        "subnets": [{"id": "subnet-1"}, {"tags": {"role": "nodes"}}], "securityGroups": [{"id": "sg-1"}],
        "kubeconfigSecret": "external", "amiID": "ami-1", "instanceProfile": "nodes", "instanceType": "c7i.large",
        "instanceTypes": [{"instanceType": "c7i.large"}, {"instanceType": "c6i.large"}], "onDemandBase": 0,
        "onDemandPercentage": 100, "maxSize": 0, "sshKeyName": "operators", "tags": {"team": "a", "cost/center": "7"},
    });
    let managed = json!({
        "region": "eu-central-1", "kubeconfigSecret": "external", "amiID": "ami-1", "instanceProfile": "nodes",
        "networkMode": "Managed",
    });
    let mut described = managed.clone();
    described["vpcID"] = json!("vpc-1");
    described["subnets"] = json!([{"id": "subnet-1"}]);
    described["managedNetwork"] = json!({
        "cidr": "10.8.0.0/16", "zones": {"names": ["eu-central-1a"]}, "nat": "Single", "ipv6": true,
        "endpoints": [{"name": "S3"}], "tags": {"team": "a"}, "deletion": {"leftovers": "Delete"},
    });
    for given in [least, most, managed, described] {
        create_the_same(&pair, &given).await;
    }
}

#[tokio::test]
async fn both_eks_classes_make_the_same_objects_of_the_same_variables() {
    let pair = pair("foo-eks");
    let role = "arn:aws:iam::123456789012:role/eks-control-plane";
    let least = json!({"region": "eu-central-1", "roleARN": role, "instanceProfile": "nodes"});
    let made = create_the_same(&pair, &least).await;
    assert_eq!(
        made[0],
        json!({"template": {"spec": {"region": "eu-central-1", "network": {"managed": {}}}}})
    );
    let most = json!({
        "region": "eu-west-1", "identity": "team-a", "roleARN": role, "instanceProfile": "nodes",
        "managedNetwork": {"cidr": "10.8.0.0/16", "zones": {"count": 2}, "egress": "None"},
        "endpointAccess": {"public": true, "private": true, "publicCIDRs": ["192.0.2.0/24"]},
        "addons": [{"name": "vpc-cni", "configurationValues": {"env": {"ENABLE_PREFIX_DELEGATION": "true"}}, "version": "v1.20.0-eksbuild.1"}],
        "accessEntries": [{
            "principalARN": "arn:aws:iam::123456789012:role/developers", "policies": [{"name": "AmazonEKSViewPolicy"}],
        }],
        "logging": ["audit"], "imagePolicy": "Latest", "instanceType": "c7i.large",
        "instanceTypes": [{"instanceType": "c7g.large"}], "onDemandBase": 0, "onDemandPercentage": 0, "maxSize": 9,
        "tags": {"team": "a"}, "nodeLabels": {"team": "a"},
        "nodeTaints": [{"key": "dedicated", "value": "a", "effect": "NoExecute"}],
    });
    let made = create_the_same(&pair, &most).await;
    let taints: Vec<_> = made.iter().map(|spec| &spec["template"]["spec"]["taints"]).collect();
    assert_eq!(taints.iter().filter(|taints| **taints == &most["nodeTaints"]).count(), 2, "{taints:?}");
    let mut own_image = least.clone();
    own_image["amiID"] = json!("ami-1");
    create_the_same(&pair, &own_image).await;
}

/// Before any patch they differ in nothing but names, so a change to one class that the other lacks is found.
#[test]
fn both_classes_begin_with_the_same_templates() {
    let specs = |class: &Class| {
        class.used().iter().map(|(pool, template)| (pool.clone(), spec(template))).collect::<Vec<_>>()
    };
    for name in ["foo", "foo-eks"] {
        let (by_hand, by_extension) = pair(name);
        similar_asserts::assert_eq!(specs(&by_extension), specs(&by_hand));
    }
}

/// A Node that reads another family's user data does not join.
#[test]
fn nodes_of_the_eks_classes_are_of_the_family_of_their_image() {
    let (by_hand, by_extension) = pair("foo-eks");
    for class in [by_hand, by_extension] {
        let pools: Vec<(Option<String>, Value)> =
            class.used().into_iter().filter(|(pool, _)| pool.is_some()).collect();
        assert_eq!(pools.len(), 4);
        for both in pools.chunks(2) {
            let of = |index: usize| &both[index].1["spec"]["template"]["spec"];
            assert_eq!(of(0)["ami"]["recommended"]["family"], of(1)["family"], "{:?}", both[0].0);
        }
    }
}
