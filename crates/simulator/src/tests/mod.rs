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
