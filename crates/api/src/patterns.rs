//! Patterns that user input must match before it becomes part of a path, a host name or a request.
//!
//! Each is a pattern in the CRDs and nothing else, except those for names of objects: names also come from
//! Cluster API's objects, whose CRDs do not check them, so the manager does.

/// Name of an object (Kubernetes, "Object Names and IDs": DNS subdomain names).
pub const OBJECT_NAME: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
/// An AWS region: it becomes part of the names of AWS's hosts.
pub const REGION: &str = r"^[a-z]{2,}(-[a-z]+)+-[0-9]+$";
/// An Availability Zone: the region's name and a letter.
pub const AVAILABILITY_ZONE: &str = r"^[a-z]{2,}(-[a-z]+)+-[0-9]+[a-z]$";
/// Id of anything in EC2 (`ami-…`, `subnet-…`, `sg-…`, `vpc-…`).
pub const RESOURCE_ID: &str = r"^[a-z]+-[0-9a-f]+$";
/// Name or ARN of an SSM parameter, perhaps with a version or label after a `:` (Systems Manager API Reference,
/// `GetParameters`), in which `{version}` and `{arch}` may stand for their values.
pub const IMAGE_PARAMETER: &str = r"^([A-Za-z0-9_.:/-]|\{version\}|\{arch\})+$";
/// Name of an image (EC2 API Reference, `CreateImage`) with wildcards, in which `{version}` and `{arch}` may stand
/// for their values.
pub const IMAGE_NAME: &str = r"^([A-Za-z0-9()\[\] ./'@_*?-]|\{version\}|\{arch\})+$";
/// Owner of images (EC2 API Reference, `DescribeImages`).
pub const IMAGE_OWNER: &str = r"^([0-9]{12}|self|amazon|aws-marketplace)$";
/// Id of an instance.
pub const INSTANCE_ID: &str = r"^i-[0-9a-f]+$";
/// Provider id of an instance.
pub const PROVIDER_ID: &str = r"^aws:///[a-z0-9-]+/i-[0-9a-f]+$";
/// Name of an Auto Scaling group and of a launch template (EC2 API Reference, CreateLaunchTemplate; groups allow more).
pub const AWS_NAME: &str = r"^[A-Za-z0-9][A-Za-z0-9_./()-]{2,127}$";
/// An instance type.
pub const INSTANCE_TYPE: &str = r"^[a-z0-9.-]+$";
/// Instance types with `*` for any text (Auto Scaling API Reference, `InstanceRequirements`).
pub const INSTANCE_TYPES: &str = r"^[a-z0-9.*-]+$";
/// Name of an accelerator (Auto Scaling API Reference, `InstanceRequirements`).
pub const ACCELERATOR: &str = r"^[a-z0-9-]+$";
/// A decimal number of at least zero with up to three digits after the point.
pub const DECIMAL: &str = r"^[0-9]+(\.[0-9]{1,3})?$";
/// Name of an instance profile (IAM API Reference, `InstanceProfileName`).
pub const INSTANCE_PROFILE: &str = r"^[A-Za-z0-9_+=,.@-]+$";
/// The same, in which `*` at the end stands for any text and `{namespace}` for a namespace. A character that no namespace can have
/// follows it: what begins with `team-` would be a name of namespace `team-a`, too.
pub const INSTANCE_PROFILE_OR_PREFIX: &str = r"^([A-Za-z0-9_+=,.@-]|\{namespace\}([_+=,.@]|$))*\*?$";
/// ARN of a target group (Elastic Load Balancing API Reference, `CreateTargetGroup`).
pub const TARGET_GROUP_ARN: &str =
    r"^arn:[a-z-]+:elasticloadbalancing:[a-z0-9-]+:[0-9]{12}:targetgroup/[A-Za-z0-9-]{1,32}/[0-9a-f]+$";
/// ARN of a target group of VPC Lattice (VPC Lattice API Reference, `TargetGroupSummary`).
pub const LATTICE_TARGET_GROUP_ARN: &str =
    r"^arn:[a-z-]+:vpc-lattice:[a-z0-9-]+:[0-9]{12}:targetgroup/tg-[0-9a-z]+$";
/// Name of a Classic Load Balancer (Elastic Load Balancing API Reference, version 2012-06-01, `CreateLoadBalancer`).
pub const CLASSIC_LOAD_BALANCER: &str = r"^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$";
/// ARN of an SNS topic or an SQS queue. EC2 Auto Scaling sends to none that is FIFO.
pub const NOTIFICATION_TARGET_ARN: &str =
    r"^arn:[a-z-]+:(sns|sqs):[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}$";
/// ARN of an SNS topic that is not FIFO.
pub const TOPIC_ARN: &str = r"^arn:[a-z-]+:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}$";
/// ARN of an IAM role.
pub const ROLE_ARN: &str = r"^arn:[a-z-]+:iam::[0-9]{12}:role/[A-Za-z0-9_+=,.@/-]+$";
/// Name of a lifecycle hook (Auto Scaling API Reference, `PutLifecycleHook`).
pub const HOOK_NAME: &str = r"^[A-Za-z0-9_/-]+$";
/// ARN, id or alias of a role or a key, with `*` and `{namespace}` in the same way.
pub const ARN_OR_PREFIX: &str = r"^([A-Za-z0-9_+=,.@:/-]|\{namespace\}([_+=,.@:/]|$))*\*?$";
/// Name of a key pair, in the same way.
pub const KEY_PAIR_OR_PREFIX: &str = r"^([^*{}]|\{namespace\}([^a-z0-9*{}-]|$))*\*?$";
/// Name of a placement group: printable ASCII (EC2 API Reference, `CreatePlacementGroup`). `*` stands for any text in lists of names.
pub const PLACEMENT_GROUP: &str = r"^[ -)+-~]+$";
/// Id of a placement group.
pub const PLACEMENT_GROUP_ID: &str = r"^pg-[0-9a-f]+$";
/// Id of a Capacity Reservation.
pub const CAPACITY_RESERVATION: &str = r"^cr-[0-9a-f]+$";
/// Id of an EBS snapshot.
pub const SNAPSHOT: &str = r"^snap-[0-9a-f]+$";
/// Id of a kernel image.
pub const KERNEL: &str = r"^aki-[0-9a-f]+$";
/// Id of a RAM disk image.
pub const RAM_DISK: &str = r"^ari-[0-9a-f]+$";
/// Name of an instance store volume (EC2 API Reference, LaunchTemplateBlockDeviceMappingRequest).
pub const INSTANCE_STORE: &str = r"^ephemeral([0-9]|1[0-9]|2[0-3])$";
/// Id of a secondary subnet (EC2 API Reference, `CreateSecondarySubnet`).
pub const SECONDARY_SUBNET: &str = r"^ss-[0-9a-f]+$";
/// Key or value of a tag: EC2 refuses control characters or changes them.
pub const TAG_TEXT: &str = r"^[^\x00-\x1f\x7f]*$";
/// ARN of a resource group.
pub const RESOURCE_GROUP_ARN: &str =
    r"^arn:[a-z-]+:resource-groups:[a-z0-9-]+:[0-9]{12}:group/[A-Za-z0-9_./-]+$";
/// ARN of a license configuration.
pub const LICENSE_CONFIGURATION: &str =
    r"^arn:[a-z-]+:license-manager:[a-z0-9-]+:[0-9]{12}:license-configuration:lic-[0-9a-f]+$";
/// Name, id or ARN of a placement group, reservation, resource group or license configuration, with `*` and `{namespace}` in the
/// same way as in [`KEY_PAIR_OR_PREFIX`].
pub const CAPACITY_OR_PREFIX: &str = r"^([ -)+-z|~]|\{namespace\}([!-)+,./:-`|~]|$))*\*?$";
/// Id of an EBS snapshot, or `*` for any.
pub const SNAPSHOT_OR_ANY: &str = r"^(snap-[0-9a-f]+|\*)$";
/// Name of a bucket, in the same way.
pub const BUCKET_OR_PREFIX: &str = r"^([a-z0-9-]|\{namespace\}$)*\*?$";
/// Name of an EKS cluster, in which `*` stands for any text (EKS API Reference, CreateCluster).
pub const CONTROL_PLANE_NAME_OR_PREFIX: &str = r"^([0-9A-Za-z][0-9A-Za-z_-]*)?\*?$";
/// Name of a bucket without dots, with which a certificate of S3 would not be valid (Amazon S3 User Guide, "General purpose bucket
/// naming rules").
pub const BUCKET: &str = r"^[a-z0-9][a-z0-9-]*[a-z0-9]$";
/// What keys of objects begin with.
pub const KEY_PREFIX: &str = r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$";
/// Name of an EKS cluster (Amazon EKS API Reference, CreateCluster): it becomes part of what a node signs.
pub const EKS_CLUSTER: &str = r"^[0-9A-Za-z][A-Za-z0-9_-]*$";
/// A time of day, hours and minutes.
pub const TIME_OF_DAY: &str = r"^([01][0-9]|2[0-3]):[0-5][0-9]$";
/// Name of a time zone (IANA, "Theory and pragmatics of the tz code and data").
pub const TIME_ZONE: &str = r"^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$";
/// Characters of an IPv4 or IPv6 address; what it means is read later.
pub const IP_ADDRESS: &str = r"^[0-9a-fA-F.:]+$";

/// Whether an object can have this name: at most 253 characters, as [`OBJECT_NAME`] has it.
///
/// What is not asked this and is put into a path can become another path, or a query.
pub fn is_object_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_label = |label: &str| {
        label.starts_with(plain) && label.ends_with(plain) && label.chars().all(|c| plain(c) || c == '-')
    };
    name.len() <= 253 && name.split('.').all(is_label)
}

/// Whether [`AWS_NAME`] matches the name.
pub fn is_aws_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric();
    let fits = (3..=128).contains(&name.len()) && name.starts_with(plain);
    fits && name.chars().all(|c| plain(c) || "_./()-".contains(c))
}

/// Whether [`REGION`] matches the name, which has at most 32 characters.
///
/// What is not asked this can become another host, or an option of a program.
pub fn is_region(name: &str) -> bool {
    let is_word = |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
    let parts: Vec<&str> = name.split('-').collect();
    let Some((number, words)) = parts.split_last() else { return false };
    let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    let begins = words.first().is_some_and(|first| first.len() >= 2);
    name.len() <= 32 && is_number && begins && words.len() >= 2 && words.iter().all(is_word)
}

/// Whether [`EKS_CLUSTER`] matches the name, which has 1 to 100 characters (Amazon EKS API Reference, CreateCluster).
pub fn is_eks_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric();
    name.len() <= 100 && name.starts_with(plain) && name.chars().all(|c| plain(c) || c == '-' || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_as_the_pattern_has_them() {
        for good in ["eu-central-1", "us-gov-west-1", "cn-north-1", "ap-southeast-12"] {
            assert!(is_region(good), "{good}");
        }
        for bad in [
            "",
            "eu",
            "eu-1",
            "e-central-1",
            "eu-central",
            "eu-central-1a",
            "eu--1",
            "-eu-central-1",
            "eu-central-1\n",
            "a.b/#-c-1",
        ] {
            assert!(!is_region(bad), "{bad}");
        }
        assert!(!is_region(&format!("eu-{}-1", "a".repeat(32))));
    }

    #[test]
    fn names_of_eks_clusters_are_as_the_pattern_has_them() {
        for good in ["a", "9a_", "team_Prod-1", &"a".repeat(100)] {
            assert!(is_eks_name(good), "{good}");
        }
        for bad in ["", "_a", "-a", "a.b", "a b", "a\n", "file:///a", "ä", &"a".repeat(101)] {
            assert!(!is_eks_name(bad), "{bad}");
        }
    }

    #[test]
    fn names_of_groups_are_as_the_pattern_has_them() {
        for good in ["abc", "9a_", "legacy_workers/(1)", "a.b-c", &"a".repeat(128)] {
            assert!(is_aws_name(good), "{good}");
        }
        for bad in [
            "",
            "ab",
            "_ab",
            "(abc",
            "my group",
            "file:///etc/passwd",
            "[abc]",
            "äbc",
            "abc\n",
            &"a".repeat(129),
        ] {
            assert!(!is_aws_name(bad), "{bad}");
        }
    }

    #[test]
    fn names_of_objects_are_dns_subdomains() {
        for good in ["a", "7", "a-b", "a.b-c.d", "boot-7xk2p", &"a".repeat(253)] {
            assert!(is_object_name(good), "{good}");
        }
        for bad in [
            "", ".", "..", "a..b", "-a", "a-", "a.-b", "A", "a/b", "../a", "?x=", "a?b", "a%2fb", "a b", "ä",
            "a\n",
        ] {
            assert!(!is_object_name(bad), "{bad}");
        }
        assert!(!is_object_name(&"a".repeat(254)));
    }
}
