//! The partition of a region, from its name (AWS General Reference, "Amazon Resource Names").

/// Beginnings of the names of regions that are not in the partition `aws`.
const OTHERS: [(&str, &str); 7] = [
    ("cn-", "aws-cn"),
    ("us-gov-", "aws-us-gov"),
    ("us-iso-", "aws-iso"),
    ("us-isob-", "aws-iso-b"),
    ("eu-isoe-", "aws-iso-e"),
    ("us-isof-", "aws-iso-f"),
    ("eusc-", "aws-eusc"),
];

/// The partition of a region.
pub(in crate::control_plane::eks) fn partition(region: &str) -> &'static str {
    OTHERS.iter().find(|(prefix, _)| region.starts_with(prefix)).map_or("aws", |(_, partition)| partition)
}

#[cfg(test)]
mod tests {
    use super::partition;

    #[test]
    fn partitions_follow_from_the_prefix_of_the_region() {
        for (region, expected) in [
            ("eu-central-1", "aws"),
            ("us-east-1", "aws"),
            ("cn-north-1", "aws-cn"),
            ("us-gov-west-1", "aws-us-gov"),
            ("us-iso-east-1", "aws-iso"),
            ("us-isob-east-1", "aws-iso-b"),
            ("eusc-de-east-1", "aws-eusc"),
        ] {
            assert_eq!(partition(region), expected, "{region}");
        }
    }
}
