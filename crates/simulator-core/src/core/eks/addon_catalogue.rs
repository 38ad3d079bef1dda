//! The add-ons that EKS offers, with their versions (EKS User Guide, "AWS add-ons"). Versions are a choice of those that there
//! are, and which version of Kubernetes they fit is EKS's to say **(A)**.

use foo_model::eks::Minor;

/// An add-on.
#[derive(Clone, Copy, Debug)]
pub struct Addon {
    /// Its name.
    pub name: &'static str,
    /// What it is for, in EKS's words.
    pub kind: &'static str,
    /// The namespace it is in.
    pub namespace: &'static str,
    /// Whether its pods need nodes before it works; others are DaemonSets.
    pub needs_nodes: bool,
    /// The service account that needs rights, with the managed policies that give them.
    pub rights: Option<(&'static str, &'static [&'static str])>,
    /// Its versions, oldest first.
    pub releases: &'static [Release],
    /// The JSON schema of its configuration values.
    pub schema: &'static str,
}

/// A version of an add-on.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    /// Its name.
    pub version: &'static str,
    /// Oldest and newest minor version of Kubernetes that it fits.
    pub fits: (u16, u16),
    /// Whether it is what clusters of these versions get that name none.
    pub default: bool,
}

impl Release {
    /// Whether it fits a version of Kubernetes.
    pub fn fits(&self, version: Minor) -> bool {
        (self.fits.0..=self.fits.1).contains(&version.0)
    }
}

impl Addon {
    /// A version of it.
    pub fn release(&self, version: &str) -> Option<&'static Release> {
        self.releases.iter().find(|it| it.version == version)
    }

    /// What a cluster of a version gets that names no version of the add-on.
    pub fn default_for(&self, version: Minor) -> Option<&'static Release> {
        let fitting = || self.releases.iter().filter(|it| it.fits(version));
        fitting().rfind(|it| it.default).or_else(|| fitting().next_back())
    }
}

/// The add-on of a name.
pub(crate) fn find(name: &str) -> Option<&'static Addon> {
    CATALOGUE.iter().find(|it| it.name == name)
}

const fn release(version: &'static str, from: u16, to: u16) -> Release {
    Release { version, fits: (from, to), default: false }
}

const fn default(version: &'static str, from: u16, to: u16) -> Release {
    Release { version, fits: (from, to), default: true }
}

const REPLICAS: &str = r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false,"properties":{"replicaCount":{"type":"integer"},"affinity":{"type":["object","null"]},"nodeSelector":{"type":"object"},"tolerations":{"type":"array","items":{"type":"object"}},"podAnnotations":{"type":"object"},"podLabels":{"type":"object"},"resources":{"type":"object","additionalProperties":false,"properties":{"limits":{"type":"object"},"requests":{"type":"object"}}},"corefile":{"type":"string"},"autoScaling":{"type":"object","additionalProperties":false,"properties":{"enabled":{"type":"boolean"},"minReplicas":{"type":"integer"},"maxReplicas":{"type":"integer"}}}}}"#;

const VPC_CNI: &str = r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false,"properties":{"env":{"type":"object","additionalProperties":{"type":"string"}},"enableNetworkPolicy":{"type":"string","enum":["true","false"]},"eniConfig":{"type":"object"},"init":{"type":"object"},"livenessProbeTimeoutSeconds":{"type":"integer"},"nodeAgent":{"type":"object"},"nodeSelector":{"type":"object"},"podAnnotations":{"type":"object"},"podLabels":{"type":"object"},"readinessProbeTimeoutSeconds":{"type":"integer"},"resources":{"type":"object"},"tolerations":{"type":"array","items":{"type":"object"}}}}"#;

const KUBE_PROXY: &str = r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false,"properties":{"mode":{"type":"string","enum":["iptables","ipvs","nftables"]},"ipvs":{"type":"object","additionalProperties":false,"properties":{"scheduler":{"type":"string"}}},"podAnnotations":{"type":"object"},"podLabels":{"type":"object"},"resources":{"type":"object"}}}"#;

const AGENT: &str = r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false,"properties":{"agent":{"type":"object","additionalProperties":false,"properties":{"additionalArgs":{"type":"object"}}},"affinity":{"type":["object","null"]},"podAnnotations":{"type":"object"},"podLabels":{"type":"object"},"priorityClassName":{"type":"string"},"resources":{"type":"object"},"tolerations":{"type":"array","items":{"type":"object"}}}}"#;

const EBS: &str = r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","additionalProperties":false,"properties":{"controller":{"type":"object"},"node":{"type":"object"},"sidecars":{"type":"object"},"defaultStorageClass":{"type":"object","additionalProperties":false,"properties":{"enabled":{"type":"boolean"}}}}}"#;

/// The add-ons, by name.
pub const CATALOGUE: [Addon; 6] = [
    Addon {
        name: "aws-ebs-csi-driver",
        kind: "storage",
        namespace: "kube-system",
        needs_nodes: true,
        rights: Some((
            "ebs-csi-controller-sa",
            &["arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"],
        )),
        releases: &[release("v1.48.0-eksbuild.2", 30, 34), default("v1.54.0-eksbuild.1", 30, 36)],
        schema: EBS,
    },
    Addon {
        name: "coredns",
        kind: "networking",
        namespace: "kube-system",
        needs_nodes: true,
        rights: None,
        releases: &[
            default("v1.11.4-eksbuild.2", 30, 32),
            release("v1.12.2-eksbuild.4", 31, 34),
            default("v1.12.4-eksbuild.1", 33, 34),
            default("v1.13.1-eksbuild.1", 35, 35),
            release("v1.13.2-eksbuild.1", 33, 35),
            default("v1.14.3-eksbuild.3", 36, 36),
        ],
        schema: REPLICAS,
    },
    Addon {
        name: "eks-pod-identity-agent",
        kind: "security",
        namespace: "kube-system",
        needs_nodes: false,
        rights: None,
        releases: &[release("v1.3.8-eksbuild.2", 30, 36), default("v1.3.10-eksbuild.1", 30, 36)],
        schema: AGENT,
    },
    Addon {
        name: "kube-proxy",
        kind: "networking",
        namespace: "kube-system",
        needs_nodes: false,
        rights: None,
        releases: &[
            default("v1.30.14-eksbuild.8", 30, 31),
            default("v1.31.10-eksbuild.12", 31, 32),
            default("v1.32.6-eksbuild.12", 32, 33),
            default("v1.33.3-eksbuild.10", 33, 34),
            default("v1.34.1-eksbuild.2", 34, 35),
            default("v1.35.0-eksbuild.2", 35, 36),
            default("v1.36.0-eksbuild.14", 36, 36),
        ],
        schema: KUBE_PROXY,
    },
    Addon {
        name: "metrics-server",
        kind: "observability",
        namespace: "kube-system",
        needs_nodes: true,
        rights: None,
        releases: &[release("v0.7.2-eksbuild.4", 30, 33), default("v0.8.0-eksbuild.3", 30, 36)],
        schema: REPLICAS,
    },
    Addon {
        name: "vpc-cni",
        kind: "networking",
        namespace: "kube-system",
        needs_nodes: false,
        rights: Some(("aws-node", &["arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"])),
        releases: &[
            release("v1.18.6-eksbuild.1", 30, 33),
            release("v1.19.6-eksbuild.7", 30, 33),
            default("v1.20.4-eksbuild.2", 30, 36),
            release("v1.21.1-eksbuild.1", 30, 36),
        ],
        schema: VPC_CNI,
    },
];
