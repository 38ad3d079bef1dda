//! Load balancers and target groups of one VPC, by both APIs of Elastic Load Balancing, and their tags.
//!
//! Neither API has a filter for one VPC: all of the region are read (400 per page) and filtered here. Tags are read
//! separately, twenty resources at a time, only for those in the VPC.

use super::queries::senseless;
use super::reads::{Odd, readable};
use crate::error::{self, Gap};
use aws_sdk_elasticloadbalancing as classic;
use aws_sdk_elasticloadbalancingv2 as v2;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use foo_cloud::{Operation, Result};
use foo_model::VpcId;
use foo_model::network::{LoadBalancer, LoadBalancerKind, Parts, Scope, Tags, TargetGroup};
use std::collections::BTreeMap;

/// Load balancers and target groups per page (Elastic Load Balancing API References, PageSize).
const PAGE: i32 = 400;
/// Resources per DescribeTags call (both API References).
const TAGGED: usize = 20;

/// The load balancers of a VPC: classic ones by name, all others by ARN.
pub(super) async fn describe(classic: &classic::Client, others: &v2::Client, scope: &Scope) -> Result<Parts> {
    let vpc = of_vpc(Operation::DescribeLoadBalancers, scope)?;
    let mut load_balancers = describe_classic(classic, vpc).await?;
    load_balancers.extend(describe_others(others, vpc).await?);
    Ok(Parts { load_balancers, ..Parts::default() })
}

/// The target groups of a VPC, by ARN.
pub(super) async fn describe_target_groups(client: &v2::Client, scope: &Scope) -> Result<Parts> {
    const OPERATION: Operation = Operation::DescribeTargetGroups;
    let vpc = of_vpc(OPERATION, scope)?;
    let call = client.describe_target_groups().page_size(PAGE).into_paginator().items().send();
    let mut found = call.collect::<Result<Vec<_>, _>>().await.map_err(|it| error::of(OPERATION, &it))?;
    found.retain(|group| group.vpc_id() == Some(vpc.as_str()));
    let mut target_groups =
        readable(OPERATION, Odd::SetAside, &found, |it| target_group(it, vpc), |it| it.arn.clone())?;
    let arns: Vec<String> = target_groups.keys().cloned().collect();
    for (arn, tags) in tags_of_others(client, &arns).await? {
        if let Some(group) = target_groups.get_mut(&arn) {
            group.tags = tags;
        }
    }
    Ok(Parts { target_groups, ..Parts::default() })
}

fn of_vpc(operation: Operation, scope: &Scope) -> Result<&VpcId> {
    match scope {
        Scope::Vpc(vpc) => Ok(vpc),
        Scope::TagKey(_) | Scope::Tag(..) | Scope::Ids(_) => {
            Err(senseless(operation, "they are asked for by VPC only"))
        }
    }
}

async fn describe_classic(client: &classic::Client, vpc: &VpcId) -> Result<BTreeMap<String, LoadBalancer>> {
    const OPERATION: Operation = Operation::DescribeLoadBalancers;
    let call = client.describe_load_balancers().page_size(PAGE).into_paginator().items().send();
    let mut found = call.collect::<Result<Vec<_>, _>>().await.map_err(|it| error::of(OPERATION, &it))?;
    found.retain(|it| it.vpc_id() == Some(vpc.as_str()));
    let mut balancers =
        readable(OPERATION, Odd::SetAside, &found, |it| classic_one(it, vpc), |it| it.name.clone())?;
    let names: Vec<String> = balancers.keys().cloned().collect();
    for (name, tags) in tags_of_classic(client, &names).await? {
        if let Some(balancer) = balancers.get_mut(&name) {
            balancer.tags = tags;
        }
    }
    Ok(balancers)
}

async fn describe_others(client: &v2::Client, vpc: &VpcId) -> Result<BTreeMap<String, LoadBalancer>> {
    const OPERATION: Operation = Operation::DescribeLoadBalancers;
    let call = client.describe_load_balancers().page_size(PAGE).into_paginator().items().send();
    let mut found = call.collect::<Result<Vec<_>, _>>().await.map_err(|it| error::of(OPERATION, &it))?;
    found.retain(|it| it.vpc_id() == Some(vpc.as_str()));
    let arn = |it: &LoadBalancer| it.arn.clone().unwrap_or_default();
    let mut balancers = readable(OPERATION, Odd::SetAside, &found, |it| other_one(it, vpc), arn)?;
    let arns: Vec<String> = balancers.keys().cloned().collect();
    for (arn, tags) in tags_of_others(client, &arns).await? {
        if let Some(balancer) = balancers.get_mut(&arn) {
            balancer.tags = tags;
        }
    }
    Ok(balancers)
}

fn classic_one(it: &classic::types::LoadBalancerDescription, vpc: &VpcId) -> Result<LoadBalancer, Gap> {
    Ok(LoadBalancer {
        name: it.load_balancer_name().ok_or(Gap("LoadBalancerName"))?.to_owned(),
        arn: None,
        kind: LoadBalancerKind::Classic,
        vpc: vpc.clone(),
        groups: it.security_groups().iter().map(|id| id.as_str().into()).collect(),
        tags: Tags::new(),
    })
}

fn other_one(it: &v2::types::LoadBalancer, vpc: &VpcId) -> Result<LoadBalancer, Gap> {
    let kind = match it.r#type() {
        Some(v2::types::LoadBalancerTypeEnum::Application) => LoadBalancerKind::Application,
        Some(v2::types::LoadBalancerTypeEnum::Network) => LoadBalancerKind::Network,
        Some(v2::types::LoadBalancerTypeEnum::Gateway) => LoadBalancerKind::Gateway,
        _ => return Err(Gap("Type")),
    };
    Ok(LoadBalancer {
        name: it.load_balancer_name().ok_or(Gap("LoadBalancerName"))?.to_owned(),
        arn: Some(it.load_balancer_arn().ok_or(Gap("LoadBalancerArn"))?.to_owned()),
        kind,
        vpc: vpc.clone(),
        groups: it.security_groups().iter().map(|id| id.as_str().into()).collect(),
        tags: Tags::new(),
    })
}

fn target_group(it: &v2::types::TargetGroup, vpc: &VpcId) -> Result<TargetGroup, Gap> {
    Ok(TargetGroup {
        arn: it.target_group_arn().ok_or(Gap("TargetGroupArn"))?.to_owned(),
        name: it.target_group_name().unwrap_or_default().to_owned(),
        vpc: vpc.clone(),
        tags: Tags::new(),
    })
}

/// Tags by name. If one of twenty does not exist any more, AWS refuses the call, and these are read one by one.
async fn tags_of_classic(client: &classic::Client, names: &[String]) -> Result<BTreeMap<String, Tags>> {
    let mut batches: Vec<&[String]> = names.chunks(TAGGED).collect();
    let mut all = BTreeMap::new();
    while let Some(batch) = batches.pop() {
        match client.describe_tags().set_load_balancer_names(Some(batch.to_vec())).send().await {
            Ok(response) => {
                all.extend(response.tag_descriptions.unwrap_or_default().into_iter().filter_map(|it| {
                    let tags = it.tags.unwrap_or_default().into_iter();
                    Some((it.load_balancer_name?, tags.map(|tag| pair(Some(tag.key), tag.value)).collect()))
                }));
            }
            Err(failed) if is_gone(failed.code()) => batches.extend(alone(batch)),
            Err(failed) => return Err(error::of(Operation::DescribeTags, &failed)),
        }
    }
    Ok(all)
}

/// Tags of the other load balancers and of target groups, by ARN.
async fn tags_of_others(client: &v2::Client, arns: &[String]) -> Result<BTreeMap<String, Tags>> {
    let mut batches: Vec<&[String]> = arns.chunks(TAGGED).collect();
    let mut all = BTreeMap::new();
    while let Some(batch) = batches.pop() {
        match client.describe_tags().set_resource_arns(Some(batch.to_vec())).send().await {
            Ok(response) => {
                all.extend(response.tag_descriptions.unwrap_or_default().into_iter().filter_map(|it| {
                    let tags = it.tags.unwrap_or_default().into_iter();
                    Some((it.resource_arn?, tags.map(|tag| pair(tag.key, tag.value)).collect()))
                }));
            }
            Err(failed) if is_gone(failed.code()) => batches.extend(alone(batch)),
            Err(failed) => return Err(error::of(Operation::DescribeTags, &failed)),
        }
    }
    Ok(all)
}

fn is_gone(code: Option<&str>) -> bool {
    code.is_some_and(|code| code.ends_with("NotFound"))
}

/// The resources of a refused batch, to be read one by one; none if it had only one.
fn alone(batch: &[String]) -> impl Iterator<Item = &[String]> {
    batch.chunks(1).filter(|_| batch.len() > 1)
}

fn pair(key: Option<String>, value: Option<String>) -> (String, String) {
    (key.unwrap_or_default(), value.unwrap_or_default())
}
