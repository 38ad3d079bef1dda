//! Names of what a pool owns in AWS, in one place.

use foo_api::FooMachinePool;
use foo_api::names::{GROUP_NAME_ANNOTATION, POOL_FINALIZER};
use foo_model::GroupName;
use kube::ResourceExt;
use sha2::{Digest, Sha256};

/// Maximum length of a launch template's name (EC2 API Reference, CreateLaunchTemplate). A group's name may
/// be longer, but both have the same name.
const LONGEST: usize = 128;

/// Name of a pool's group and launch template: the one in the spec; otherwise the present one; otherwise
/// `<namespace>-<cluster>-<pool>`, with `_` as separator if namespace or cluster contain a `-`. Kubernetes
/// names have no `_`, so no two pools share a default name.
///
/// Up to version 0.1 the separator always was `-`, and `a-b`/`c` and `a`/`b-c` got the same name. A group is
/// never renamed: an existing pool keeps its name, which its ARN has, or, before the ARN is recorded, the
/// annotation that is added with our finalizer. A pool with our finalizer and without the annotation was
/// created by such a version.
pub(super) fn group_name(pool: &FooMachinePool, cluster: &str) -> GroupName {
    if let Some(name) = &pool.spec.group_name {
        return GroupName::new(name.as_str());
    }
    if let Some(name) = pool.spec.provider_id.as_deref().and_then(group_of_arn) {
        return GroupName::new(name);
    }
    let (namespace, name) = (pool.metadata.namespace.as_deref().unwrap_or_default(), pool.name_any());
    let familiar = joined('-', namespace, cluster, &name);
    if !namespace.contains('-') && !cluster.contains('-') {
        return familiar;
    }
    let unambiguous = joined('_', namespace, cluster, &name);
    let begun_as = pool.annotations().get(GROUP_NAME_ANNOTATION).map(String::as_str);
    let begun = pool.finalizers().iter().any(|finalizer| finalizer == POOL_FINALIZER);
    match begun_as {
        Some(name) if name == familiar.as_str() => familiar,
        Some(name) if name == unambiguous.as_str() => unambiguous,
        Some(_) | None if begun => familiar,
        Some(_) | None => unambiguous,
    }
}

/// The joined parts, cut and hashed if too long.
fn joined(separator: char, namespace: &str, cluster: &str, pool: &str) -> GroupName {
    let full = format!("{namespace}{separator}{cluster}{separator}{pool}");
    if full.len() <= LONGEST {
        return GroupName::new(full);
    }
    let hash = hex(&Sha256::digest(full.as_bytes()), 10);
    let kept: String = full.chars().take(LONGEST - hash.len() - 1).collect();
    GroupName::new(format!("{kept}-{hash}"))
}

/// The group's name in its ARN (`…:autoScalingGroupName/<name>`).
pub(super) fn group_of_arn(arn: &str) -> Option<&str> {
    let (_, name) = arn.split_once(":autoScalingGroupName/")?;
    (!name.is_empty()).then_some(name)
}

/// The first `digits` hexadecimal digits of some bytes.
pub(super) fn hex(bytes: &[u8], digits: usize) -> String {
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles.take(digits).filter_map(|nibble| char::from_digit(u32::from(nibble), 16)).collect()
}

/// SHA-256, in hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes), 64)
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

    fn pool(namespace: &str, name: &str) -> FooMachinePool {
        let mut pool = FooMachinePool::new(name, foo_api::FooMachinePoolSpec::default());
        pool.metadata.namespace = Some(namespace.to_owned());
        pool
    }

    fn named(namespace: &str, cluster: &str, name: &str) -> String {
        group_name(&pool(namespace, name), cluster).as_str().to_owned()
    }

    #[test]
    fn the_users_name_wins() {
        let mut pool = pool("ns", "p");
        pool.spec.group_name = Some("mine".to_owned());
        assert_eq!(group_name(&pool, "c").as_str(), "mine");
    }

    #[test]
    fn no_two_pools_share_a_default_name() {
        let parts = ["a", "b", "a-b", "b-a", "a-b-a", "a.b", "x-", "-x"];
        let mut seen = std::collections::BTreeMap::new();
        for namespace in parts {
            for cluster in parts {
                for name in parts {
                    let before = seen.insert(named(namespace, cluster, name), (namespace, cluster, name));
                    assert_eq!(before, None, "{namespace}/{cluster}/{name}");
                }
            }
        }
        assert_eq!(named("a", "b", "c-d"), "a-b-c-d");
        assert_eq!(named("a", "b-c", "d"), "a_b-c_d");
    }

    #[test]
    fn a_started_pool_keeps_its_name() {
        let begun = |annotation: Option<&str>, arn: Option<&str>| {
            let mut pool = pool("a-b", "p");
            pool.finalizers_mut().push(POOL_FINALIZER.to_owned());
            let annotation = annotation.map(|name| (GROUP_NAME_ANNOTATION.to_owned(), name.to_owned()));
            pool.annotations_mut().extend(annotation);
            pool.spec.provider_id = arn.map(str::to_owned);
            group_name(&pool, "c").as_str().to_owned()
        };
        let arn = "arn:aws:autoscaling:r:1:autoScalingGroup:u:autoScalingGroupName/what/it-is";
        assert_eq!(begun(Some("a-b_c_p"), Some(arn)), "what/it-is");
        assert_eq!(begun(None, None), "a-b-c-p", "begun by a version that wrote no annotation");
        assert_eq!(begun(Some("a-b_c_p"), None), "a-b_c_p");
        assert_eq!(begun(Some("a-b-c-p"), None), "a-b-c-p");
        assert_eq!(begun(Some("another-owners"), None), "a-b-c-p");
    }

    #[test]
    fn a_long_name_is_cut_and_stays_unique() {
        let one = named("ns", "c", &format!("{}1", "p".repeat(200)));
        let two = named("ns", "c", &format!("{}2", "p".repeat(200)));
        assert_eq!(one.len(), LONGEST);
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
