//! What regions have: zones to choose from, and names of services.

use foo_model::Zone;
use foo_model::network::ZoneInfo;
use std::collections::BTreeMap;

/// Zones, by id, in which Amazon EKS has no control planes (Amazon EKS User Guide, "View Amazon EKS networking requirements
/// for VPC and subnets"). The planner does not choose them; a spec that names one gets it.
const WITHOUT_EKS: [&str; 3] = ["use1-az3", "usw1-az2", "cac1-az3"];

/// Services whose names begin with `cn.` in China (AWS CDK, `getDefaultEndpointPrefix`; the gateway of S3 is not one of them:
/// eksctl, `chinaPartitionServiceHasChinaPrefix`).
const WITH_CN: [&str; 7] = ["autoscaling", "ec2", "ecr.api", "ecr.dkr", "eks", "sqs", "sts"];

/// The zones that may be chosen, by name.
pub fn choosable(zones: &BTreeMap<Zone, ZoneInfo>) -> impl Iterator<Item = &Zone> {
    let may_be = |info: &&ZoneInfo| {
        info.is_availability_zone && info.available && !WITHOUT_EKS.contains(&info.id.as_str())
    };
    zones.values().filter(may_be).map(|info| &info.name)
}

/// The whole name of an AWS service in a region, as VPC endpoints have it; `None` in regions of which it is not known.
pub fn service_name(region: &str, service: &str) -> Option<String> {
    if region.contains("-iso") || region.starts_with("eusc-") {
        return None;
    }
    let prefix = if region.starts_with("cn-") && WITH_CN.contains(&service) { "cn." } else { "" };
    Some(format!("{prefix}com.amazonaws.{region}.{service}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_that_cannot_be_used_are_not_chosen() {
        let zone = |name: &str, id: &str, available, is_availability_zone| {
            let name = Zone::new(name);
            (name.clone(), ZoneInfo { name, id: id.to_owned(), available, is_availability_zone })
        };
        let zones = BTreeMap::from([
            zone("us-east-1a", "use1-az1", true, true),
            zone("us-east-1b", "use1-az2", false, true),
            zone("us-east-1c", "use1-az3", true, true),
            zone("us-east-1-bos-1a", "use1-bos1-az1", true, false),
        ]);
        assert_eq!(choosable(&zones).collect::<Vec<_>>(), [&Zone::new("us-east-1a")]);
    }

    #[test]
    fn services_have_the_names_of_their_partition() {
        let name = service_name;
        assert_eq!(name("eu-central-1", "ec2").as_deref(), Some("com.amazonaws.eu-central-1.ec2"));
        assert_eq!(name("cn-north-1", "ec2").as_deref(), Some("cn.com.amazonaws.cn-north-1.ec2"));
        assert_eq!(name("cn-north-1", "s3").as_deref(), Some("com.amazonaws.cn-north-1.s3"));
        assert_eq!((name("us-iso-east-1", "ec2"), name("eusc-de-east-1", "s3")), (None, None));
    }
}
