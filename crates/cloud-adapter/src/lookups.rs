//! Subnets and security groups that a spec names.

use crate::error::{self, Gap};
use crate::filters::filter;
use crate::numbers::count;
use aws_sdk_ec2::Client;
use aws_sdk_ec2::types as aws;
use foo_cloud::{
    CloudError, ErrorKind, NetworkQuery, Operation, Result, SecurityGroupInfo, SubnetInfo, literal,
};

/// A query to EC2.
enum Selection {
    /// No query: no call at all, since an empty list of ids means everything to EC2.
    Nothing,
    Ids(Vec<String>),
    Filters(Vec<aws::Filter>),
}

pub(crate) async fn describe_subnets(client: &Client, query: &NetworkQuery) -> Result<Vec<SubnetInfo>> {
    const OPERATION: Operation = Operation::DescribeSubnets;
    let call = match selection(query, OPERATION)? {
        Selection::Nothing => return Ok(Vec::new()),
        Selection::Ids(ids) => client.describe_subnets().set_subnet_ids(Some(ids)),
        Selection::Filters(filters) => client.describe_subnets().set_filters(Some(filters)),
    };
    let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    let found = found.map_err(|failed| error::of(OPERATION, &failed))?;
    found.iter().map(|one| subnet(one).map_err(|gap| gap.during(OPERATION))).collect()
}

pub(crate) async fn describe_security_groups(
    client: &Client,
    query: &NetworkQuery,
) -> Result<Vec<SecurityGroupInfo>> {
    const OPERATION: Operation = Operation::DescribeSecurityGroups;
    let call = match selection(query, OPERATION)? {
        Selection::Nothing => return Ok(Vec::new()),
        Selection::Ids(ids) => client.describe_security_groups().set_group_ids(Some(ids)),
        Selection::Filters(filters) => client.describe_security_groups().set_filters(Some(filters)),
    };
    let found = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await;
    let found = found.map_err(|failed| error::of(OPERATION, &failed))?;
    found.iter().map(|one| security_group(one).map_err(|gap| gap.during(OPERATION))).collect()
}

fn selection(query: &NetworkQuery, operation: Operation) -> Result<Selection> {
    match query {
        NetworkQuery::Ids(ids) if ids.is_empty() => Ok(Selection::Nothing),
        NetworkQuery::Ids(ids) => Ok(Selection::Ids(ids.clone())),
        NetworkQuery::Tags { vpc: None, tags } if tags.is_empty() => {
            let everything = "a query without tags and VPC would mean the whole account";
            Err(CloudError::new(operation, ErrorKind::Invalid, None, everything))
        }
        NetworkQuery::Tags { vpc, tags } => {
            let vpc = vpc.iter().map(|vpc| filter("vpc-id", vpc));
            let tags = tags.iter().map(|(key, value)| match value.as_str() {
                // Not the filter `tag-key`: it is allowed only once, and all keys must match.
                "" => filter(&format!("tag:{key}"), "*"),
                value => filter(&format!("tag:{key}"), &literal(value)),
            });
            Ok(Selection::Filters(vpc.chain(tags).collect()))
        }
    }
}

fn subnet(subnet: &aws::Subnet) -> Result<SubnetInfo, Gap> {
    Ok(SubnetInfo {
        id: subnet.subnet_id().ok_or(Gap("subnetId"))?.into(),
        zone: subnet.availability_zone().ok_or(Gap("availabilityZone"))?.into(),
        vpc: subnet.vpc_id().ok_or(Gap("vpcId"))?.to_owned(),
        public: subnet.map_public_ip_on_launch() == Some(true),
        free_addresses: count(subnet.available_ip_address_count(), "availableIpAddressCount")?,
    })
}

fn security_group(group: &aws::SecurityGroup) -> Result<SecurityGroupInfo, Gap> {
    Ok(SecurityGroupInfo {
        id: group.group_id().ok_or(Gap("groupId"))?.into(),
        vpc: group.vpc_id().unwrap_or_default().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn filters(vpc: Option<&str>, tags: &[(&str, &str)]) -> Vec<(String, String)> {
        let tags: BTreeMap<_, _> =
            tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let query = NetworkQuery::Tags { vpc: vpc.map(str::to_owned), tags };
        let Ok(Selection::Filters(filters)) = selection(&query, Operation::DescribeSubnets) else {
            panic!("no filters")
        };
        filters.iter().map(|one| (one.name().unwrap().to_owned(), one.values()[0].clone())).collect()
    }

    #[test]
    fn tags_become_filters_that_mean_what_they_say() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            filters(Some("vpc-1"), &[("role", "a*b"), ("tier", "")]),
            [pair("vpc-id", "vpc-1"), pair("tag:role", "a\\*b"), pair("tag:tier", "*")]
        );
    }

    #[test]
    fn an_empty_question_is_never_sent() {
        let nothing = NetworkQuery::Tags { vpc: None, tags: BTreeMap::new() };
        assert!(selection(&nothing, Operation::DescribeSubnets).is_err());
        assert!(matches!(
            selection(&NetworkQuery::Ids(vec![]), Operation::DescribeSubnets),
            Ok(Selection::Nothing)
        ));
    }
}
