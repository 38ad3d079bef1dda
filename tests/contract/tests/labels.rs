//! Label values that Cluster API computes as well: compared by it character by character.

use foo_api::labels::must_format_value;

/// Values computed by `MustFormatValue` of Cluster API v1.14.2 (package util/labels/format).
#[test]
fn pool_name_labels_are_those_of_cluster_api() {
    let check = |name: &str, expected: &str| assert_eq!(must_format_value(name), expected, "{name}");
    check("", "");
    check("pool-1", "pool-1");
    check("p-with.dots_ok", "p-with.dots_ok");
    check(&"p".repeat(63), &"p".repeat(63));
    check(&"p".repeat(64), "hash_X-hqxQ_z");
    check("production-eu-central-1-team-checkout-general-purpose-amd64-nodes-blue", "hash_bqY6zg_z");
    check("-leading-dash", "hash_BOe4rQ_z");
    check("trailing.", "hash_qW0HYQ_z");
    check("a/b", "hash_Oo51wQ_z");
    check("x y", "hash_yso3lA_z");
    check("Größe", "hash_SLNCeg_z");
}
