//! Security groups and their rules.

use super::calls::{done, field, received, tagged};
use crate::networks::rules::{Purpose, permissions};
use crate::networks::shapes;
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types as aws;
use foo_cloud::{Operation, Result};
use foo_model::network::{Parts, Rule, SecurityGroup, Tags};
use foo_model::{SecurityGroupId, VpcId};
use std::collections::BTreeSet;

/// The response does not contain the rules: EC2 adds one that allows all outbound traffic.
pub(super) async fn create(
    client: &Client,
    vpc: &VpcId,
    name: &str,
    description: &str,
    tags: &Tags,
) -> Result<Parts> {
    const OPERATION: Operation = Operation::CreateSecurityGroup;
    let call = client
        .create_security_group()
        .vpc_id(vpc.as_str())
        .group_name(name)
        .description(description)
        .set_tag_specifications(tagged(aws::ResourceType::SecurityGroup, tags));
    let response = received(OPERATION, call.send().await)?;
    let group = SecurityGroup {
        id: field(OPERATION, response.group_id(), "groupId")?.into(),
        vpc: vpc.clone(),
        name: name.to_owned(),
        description: description.to_owned(),
        ingress: BTreeSet::new(),
        egress: BTreeSet::new(),
        tags: shapes::tags(response.tags()),
    };
    Ok(Parts { security_groups: [(group.id.clone(), group)].into(), ..Parts::default() })
}

pub(super) async fn authorize_ingress(
    client: &Client,
    group: &SecurityGroupId,
    rules: &BTreeSet<Rule>,
) -> Result<Parts> {
    let call = client.authorize_security_group_ingress().group_id(group.as_str());
    let call = call.set_ip_permissions(Some(permissions(rules, Purpose::Authorize)));
    done(Operation::AuthorizeSecurityGroupIngress, call.send().await)
}

pub(super) async fn authorize_egress(
    client: &Client,
    group: &SecurityGroupId,
    rules: &BTreeSet<Rule>,
) -> Result<Parts> {
    let call = client.authorize_security_group_egress().group_id(group.as_str());
    let call = call.set_ip_permissions(Some(permissions(rules, Purpose::Authorize)));
    done(Operation::AuthorizeSecurityGroupEgress, call.send().await)
}

pub(super) async fn revoke_ingress(
    client: &Client,
    group: &SecurityGroupId,
    rules: &BTreeSet<Rule>,
) -> Result<Parts> {
    let call = client.revoke_security_group_ingress().group_id(group.as_str());
    let call = call.set_ip_permissions(Some(permissions(rules, Purpose::Revoke)));
    done(Operation::RevokeSecurityGroupIngress, call.send().await)
}

pub(super) async fn revoke_egress(
    client: &Client,
    group: &SecurityGroupId,
    rules: &BTreeSet<Rule>,
) -> Result<Parts> {
    let call = client.revoke_security_group_egress().group_id(group.as_str());
    let call = call.set_ip_permissions(Some(permissions(rules, Purpose::Revoke)));
    done(Operation::RevokeSecurityGroupEgress, call.send().await)
}

/// The rules with the descriptions that they are to have; an empty one takes the description away.
pub(super) async fn describe_ingress(
    client: &Client,
    group: &SecurityGroupId,
    rules: &BTreeSet<Rule>,
) -> Result<Parts> {
    let call = client.update_security_group_rule_descriptions_ingress().group_id(group.as_str());
    let call = call.set_ip_permissions(Some(permissions(rules, Purpose::Authorize)));
    done(Operation::UpdateSecurityGroupRuleDescriptionsIngress, call.send().await)
}

pub(super) async fn delete(client: &Client, group: &SecurityGroupId) -> Result<Parts> {
    let call = client.delete_security_group().group_id(group.as_str());
    done(Operation::DeleteSecurityGroup, call.send().await)
}
