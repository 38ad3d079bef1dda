//! AWS's token buckets, refilled in virtual time.
//!
//! EC2's sizes are published (EC2 Developer Guide, "Request throttling for the Amazon EC2 API"); Auto Scaling has one
//! bucket for all actions, of unpublished size **(A)**. The sizes of Elastic Load Balancing, Service Quotas, EKS and IAM
//! are unpublished, too **(A)**.

use crate::service::Service;
use foo_model::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Size and refill of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BucketSize {
    /// Capacity in tokens: calls that can be made at once.
    pub burst: f64,
    /// Tokens that are added per second of virtual time.
    pub per_second: f64,
}

/// Whether and how calls are throttled.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Throttling {
    /// All Auto Scaling calls of an account and region together; `None` never throttles.
    pub autoscaling: Option<BucketSize>,
    /// All calls of Elastic Load Balancing of an account and region together, all of Service Quotas, all of EKS, and all of IAM;
    /// `None` never throttles.
    pub rare: Option<BucketSize>,
    /// Whether EC2's published buckets, one per action, apply.
    pub ec2: Ec2Throttling,
}

/// Whether EC2's buckets apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ec2Throttling {
    /// The sizes AWS publishes.
    #[default]
    Published,
    /// Never throttled.
    Off,
}

impl Throttling {
    /// No throttling.
    pub const OFF: Self = Self { autoscaling: None, rare: None, ec2: Ec2Throttling::Off };
}

impl Default for Throttling {
    fn default() -> Self {
        Self {
            autoscaling: Some(BucketSize { burst: 100.0, per_second: 10.0 }),
            rare: Some(BucketSize { burst: 40.0, per_second: 10.0 }),
            ec2: Ec2Throttling::Published,
        }
    }
}

/// The buckets of all regions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buckets {
    levels: BTreeMap<(String, String), (f64, Timestamp)>,
}

impl Buckets {
    /// Takes a token for a call. `false` if there is none.
    pub(crate) fn admit(
        &mut self,
        rules: &Throttling,
        now: Timestamp,
        region: &str,
        service: Service,
        action: &str,
    ) -> bool {
        let (key, size) = match service {
            Service::AutoScaling => ("autoscaling".to_owned(), rules.autoscaling),
            Service::Ec2 if rules.ec2 == Ec2Throttling::Published => {
                (action.to_owned(), Some(ec2_bucket(action)))
            }
            Service::ElasticLoadBalancing | Service::ServiceQuotas | Service::Eks | Service::Iam => {
                (service.name().to_owned(), rules.rare)
            }
            Service::Ec2 | Service::Sts | Service::Sqs | Service::Ssm | Service::S3 => return true,
        };
        let Some(size) = size else { return true };
        let (level, last) = self.levels.entry((region.to_owned(), key)).or_insert((size.burst, now));
        *level = (*level + last.until(now).as_secs_f64() * size.per_second).min(size.burst);
        *last = now.max(*last);
        if *level < 1.0 {
            return false;
        }
        *level -= 1.0;
        true
    }

    pub(crate) fn clear(&mut self) {
        self.levels.clear();
    }
}

fn ec2_bucket(action: &str) -> BucketSize {
    let (burst, per_second) = match action {
        "TerminateInstances" | "CreateLaunchTemplateVersion" | "ModifyLaunchTemplate" => (100.0, 5.0),
        "CreateTags" => (100.0, 10.0),
        "CreateVpcEndpoint" | "ModifyVpcEndpoint" | "DeleteVpcEndpoints" => (4.0, 0.3),
        describe if describe.starts_with("Describe") => (100.0, 20.0),
        _ => (50.0, 5.0),
    };
    BucketSize { burst, per_second }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn all_auto_scaling_calls_share_a_bucket_that_refills_in_virtual_time() {
        let (mut buckets, rules) = (Buckets::default(), Throttling::default());
        let start = Timestamp(0);
        let mut call = |now, action| buckets.admit(&rules, now, "eu-central-1", Service::AutoScaling, action);
        assert_eq!((0..150).filter(|n| call(start, if n % 2 == 0 { "A" } else { "B" })).count(), 100);
        let later = start.plus(Duration::from_secs(2));
        assert_eq!((0..50).filter(|_| call(later, "A")).count(), 20);
    }

    #[test]
    fn ec2_has_a_bucket_per_action_and_region() {
        let (mut buckets, rules) = (Buckets::default(), Throttling::default());
        let mut call = |region, action| buckets.admit(&rules, Timestamp(0), region, Service::Ec2, action);
        assert_eq!((0..80).filter(|_| call("a", "CreateLaunchTemplate")).count(), 50);
        assert!(call("b", "CreateLaunchTemplate"));
        assert!(call("a", "DescribeInstances"));
    }
}
