//! docs/reference/iam-policy.json: the least an AWS account has to allow; iam-network-policy.json: what managed networks need in
//! addition; iam-leftovers-policy.json: what deleting leftovers needs; iam-control-plane-policy.json: what control planes on EKS need;
//! iam-adoption-policy.json: what the adoption of groups and EKS clusters needs; iam-user-data-policy.json: what user data in S3 needs; iam-extension-policy.json: what the runtime extension needs; iam-policy.md: why;
//! deploy/aws/iam.yaml and iam-extension.yaml: the same as CloudFormation stacks, the manager's narrowed by parameters.

mod control_planes;
mod extension;
mod guards;
mod leftovers;
mod networks;
mod page;
mod pools;
mod stack;
mod statement;
mod user_data;

use super::Generated;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use statement::{Manager, Statement};

pub(super) fn files() -> Result<Vec<Generated>> {
    let manager = Manager {
        pools: pools::statements(),
        networks: networks::statements(),
        leftovers: leftovers::statements(),
        control_planes: control_planes::statements(),
        adoption: pools::adoption().into_iter().chain(control_planes::adoption()).collect(),
        user_data: user_data::statements(),
    };
    let extension = extension::statements();
    let page = page::page(&manager, &extension)?;
    let extension = policy(&extension);
    let Manager { pools, networks, leftovers, control_planes, adoption, user_data } = manager;
    let policies @ [pools, networks, leftovers, control_planes, adoption, user_data] =
        &[pools, networks, leftovers, control_planes, adoption, user_data]
            .map(|statements| policy(&statements));
    let stack = stack::stack(policies)?;
    let file = |path: &str, text: String| Generated { path: path.to_owned(), text };
    Ok(vec![
        file("docs/reference/iam-policy.json", json_text(pools)?),
        file("docs/reference/iam-network-policy.json", json_text(networks)?),
        file("docs/reference/iam-leftovers-policy.json", json_text(leftovers)?),
        file("docs/reference/iam-control-plane-policy.json", json_text(control_planes)?),
        file("docs/reference/iam-adoption-policy.json", json_text(adoption)?),
        file("docs/reference/iam-user-data-policy.json", json_text(user_data)?),
        file("docs/reference/iam-extension-policy.json", json_text(&extension)?),
        file("docs/reference/iam-policy.md", page),
        file("deploy/aws/iam.yaml", stack),
        file("deploy/aws/user-data-bucket.yaml", user_data::stack()?),
        file("deploy/aws/iam-extension.yaml", extension::stack(&extension)?),
    ])
}

fn policy(statements: &[Statement]) -> Value {
    json!({
        "Version": "2012-10-17",
        "Statement": statements.iter().map(Statement::json).collect::<Vec<_>>(),
    })
}

fn json_text(policy: &Value) -> Result<String> {
    let mut text = serde_json::to_string_pretty(policy).context("writing the policy")?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests;
