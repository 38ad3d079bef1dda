//! Tests of everything that comes over the wire. Each names the rule it checks; the rules come from AWS's documentation.

mod eks;
mod everyday;
mod faults;
mod fuzz;
mod http;
mod iam;
mod iam_networks;
mod networking;
mod rules;
mod scale;
#[expect(dead_code, reason = "the tests of the core need more of it")]
#[path = "../../../simulator-core/src/tests/scene.rs"]
mod scene;
mod shipped;
mod sqs;
mod ssm;
mod sts;
mod wire;

use crate::AccessKey;

/// The manager's key, with one policy of deploy/aws/iam.yaml.
fn manager_with(policy: &str, given: &[(&str, &str)]) -> AccessKey {
    let policy = shipped::shipped(&[policy], given).expect("the stack");
    let policy = serde_json::from_value(policy).expect("a policy");
    AccessKey { id: "manager".into(), secret: "s".into(), policy: Some(policy) }
}
