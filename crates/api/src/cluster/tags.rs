//! What tags of a network may be named.

use kube::core::Rule;

/// The provider's own keys, and the tag of the cluster, by which controllers find what is its own (`kubernetes.io/cluster/<name>`).
pub(super) fn subnet_keys() -> Rule {
    Rule::new(
        "self.all(key, key != 'Name' && !key.startsWith('aws:') && !key.startsWith('infrastructure.foo.com/') && \
         (!key.startsWith('kubernetes.io/') || key in ['kubernetes.io/role/elb', 'kubernetes.io/role/internal-elb']))",
    )
    .message(
        "tags must not be named Name or begin with aws:, infrastructure.foo.com/ or kubernetes.io/, except for \
         kubernetes.io/role/elb and kubernetes.io/role/internal-elb",
    )
}

/// The provider's own keys, and those of Kubernetes: only one security group of a node may have the tag of the cluster.
pub(super) fn reserved_keys() -> Rule {
    Rule::new(
        "self.all(key, key != 'Name' && !key.startsWith('aws:') && !key.startsWith('infrastructure.foo.com/') && \
         !key.startsWith('kubernetes.io/'))",
    )
    .message("tags must not be named Name or begin with aws:, infrastructure.foo.com/ or kubernetes.io/")
}

/// What AWS takes as a key.
pub(super) fn lengths_of_keys() -> Rule {
    Rule::new("self.all(key, size(key) >= 1 && size(key) <= 128)")
        .message("keys of tags must have 1 to 128 characters")
}

pub(super) fn no_control_characters() -> Rule {
    Rule::new(
        r"self.all(key, !key.matches('[\\x00-\\x1f\\x7f]') && !self[key].matches('[\\x00-\\x1f\\x7f]'))",
    )
    .message("tags must not contain control characters")
}
