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
