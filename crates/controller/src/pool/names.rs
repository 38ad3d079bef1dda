//! Names of what a pool owns in AWS, in one place.

use foo_cloud::model::GroupName;
use sha2::{Digest, Sha256};

/// Longest name of a launch template (EC2 API Reference, CreateLaunchTemplate); a group's may be longer, and both are
/// called the same.
const LONGEST: usize = 128;

/// Name of a pool's group and launch template: what the user said, else `<namespace>-<cluster>-<pool>`, cut and
/// hashed when it would be too long.
///
/// The separator may occur in the parts as well, so two pools can collide by name; the ownership tags tell them
/// apart, and the second one is refused with a condition.
pub(super) fn group_name(spec_name: Option<&str>, namespace: &str, cluster: &str, pool: &str) -> GroupName {
    if let Some(name) = spec_name {
        return GroupName::new(name);
    }
    let full = format!("{namespace}-{cluster}-{pool}");
    if full.len() <= LONGEST {
        return GroupName::new(full);
    }
    let hash = hex(&Sha256::digest(full.as_bytes()), 10);
    let kept: String = full.chars().take(LONGEST - hash.len() - 1).collect();
    GroupName::new(format!("{kept}-{hash}"))
}

/// The first `digits` hexadecimal digits of some bytes.
pub(super) fn hex(bytes: &[u8], digits: usize) -> String {
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles.take(digits).filter_map(|nibble| char::from_digit(u32::from(nibble), 16)).collect()
}

/// The account in the ARN of an Auto Scaling group.
pub(super) fn account_of_arn(arn: &str) -> Option<&str> {
    arn.split(':').nth(4).filter(|account| !account.is_empty())
}

/// The region in the ARN of an Auto Scaling group (`arn:aws:autoscaling:<region>:…`).
pub(super) fn region_of_arn(arn: &str) -> Option<&str> {
    let mut parts = arn.split(':');
    (parts.next() == Some("arn")).then_some(())?;
    let region = parts.nth(2)?;
    (!region.is_empty()).then_some(region)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_name_wins() {
        assert_eq!(group_name(Some("mine"), "ns", "c", "p").as_str(), "mine");
    }

    #[test]
    fn two_namespaces_give_two_names() {
        assert_ne!(group_name(None, "a", "c", "p"), group_name(None, "b", "c", "p"));
    }

    #[test]
    fn a_long_name_is_cut_and_stays_unique() {
        let one = group_name(None, "ns", "c", &format!("{}1", "p".repeat(200)));
        let two = group_name(None, "ns", "c", &format!("{}2", "p".repeat(200)));
        assert_eq!(one.as_str().len(), LONGEST);
        assert_ne!(one, two);
    }

    #[test]
    fn the_region_stands_in_the_arn() {
        let arn =
            "arn:aws:autoscaling:eu-central-1:123456789012:autoScalingGroup:uuid:autoScalingGroupName/x";
        assert_eq!(region_of_arn(arn), Some("eu-central-1"));
        assert_eq!(region_of_arn("i-1"), None);
        assert_eq!(account_of_arn(arn), Some("123456789012"));
    }
}
