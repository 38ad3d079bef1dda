//! `kubectl foo preflight` finds what AWS would refuse, and what the manager may not do.

use crate::user_of_aws::UserOfAws;
use anyhow::{Result, ensure};
use foo_e2e::{in_world, kubectl_foo_with};
use foo_simulator::{DEFAULT_ACCOUNT, Role};
use foo_testbed::world::kinds::Kind;
use serde_json::{Value, json};

/// The published policy of pools.
const POLICY: &str = include_str!("../../../../docs/reference/iam-policy.json");

#[test]
fn preflight_finds_what_aws_would_refuse_and_what_the_manager_may_not_do() {
    in_world(async |world| {
        let policy: Value = serde_json::from_str(POLICY)?;
        let mut narrow = policy.clone();
        if let Some(statements) = narrow.pointer_mut("/Statement").and_then(Value::as_array_mut) {
            statements.retain(|it| it["Sid"] != "CreateGroups");
        }
        for (name, policy) in [("preflight-narrow", narrow), ("preflight-whole", policy)] {
            let role = json!({"name": name, "policy": policy});
            world.aws().simulator().put_role(serde_json::from_value::<Role>(role)?);
        }
        let role = |name: &str| format!("arn:aws:iam::{DEFAULT_ACCOUNT}:role/{name}");
        let cluster = world.cluster("preflight").await?;
        let image = "ami-0ffffffffffffffff";
        let pool =
            cluster.pool_with("workers", 1, |_, pool| pool["spec"]["ami"] = json!({"id": image})).await?;
        let aws = UserOfAws::of(world).await?;
        let (env, narrow, whole) = (aws.env(), role("preflight-narrow"), role("preflight-whole"));
        let command =
            |principal: &'static str| ["preflight", "preflight", "-n", "preflight", "--principal", principal];
        let (narrow, whole): (&'static str, &'static str) = (narrow.leak(), whole.leak());

        let refused = kubectl_foo_with(world, &command(narrow), &env, "").await;
        let refused = refused.err().map(|error| format!("{error:#}")).unwrap_or_default();
        for expected in [
            &format!("pool workers: image {image} in eu-central-1 does not exist"),
            "CreateGroups of iam-policy.json is not allowed: autoscaling:CreateAutoScalingGroup",
            "exit status: 4",
        ] {
            ensure!(refused.contains(expected), "no {expected}:\n{refused}");
        }
        let usable = foo_simulator::plain_content(b"").image.to_string();
        pool.patch(Kind::FooMachinePool, &json!({"spec": {"ami": {"id": usable}}})).await?;
        let printed = kubectl_foo_with(world, &command(whole), &env, "").await?;
        ensure!(
            printed.stdout.contains("Nothing was found that AWS would refuse"),
            "{}\n{}",
            printed.stdout,
            printed.stderr
        );
        ensure!(printed.stderr.is_empty(), "{}", printed.stderr);
        pool.delete().await?;
        Ok(())
    });
}
