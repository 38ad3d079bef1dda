//! AWS services that endpoints can connect to (AWS PrivateLink Guide, "AWS services that integrate with AWS
//! PrivateLink"), limited to those that clusters need.

use foo_model::PrefixListId;
use std::collections::BTreeMap;

/// Services with endpoints of type Gateway, and the prefix lists of their addresses.
const GATEWAY: [(&str, &str); 2] = [("s3", "pl-6ea54007"), ("dynamodb", "pl-66a5400f")];

/// Services with endpoints of type Interface.
const INTERFACE: [&str; 24] = [
    "autoscaling",
    "cloudformation",
    "dynamodb",
    "ec2",
    "ec2messages",
    "ecr.api",
    "ecr.dkr",
    "eks",
    "eks-auth",
    "elasticfilesystem",
    "elasticloadbalancing",
    "events",
    "guardduty-data",
    "kms",
    "lambda",
    "logs",
    "monitoring",
    "s3",
    "secretsmanager",
    "sns",
    "sqs",
    "ssm",
    "ssmmessages",
    "sts",
];

/// A service of a region, by the name of its endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointService {
    short: &'static str,
    /// The prefix list of its gateway endpoints, if it has any.
    prefixes: Option<&'static str>,
    /// Whether it has interface endpoints.
    pub has_interfaces: bool,
}

impl EndpointService {
    /// All services, by name.
    pub fn all(region: &str) -> BTreeMap<String, Self> {
        let shorts = GATEWAY.iter().map(|(short, _)| *short).chain(INTERFACE);
        let names = shorts.map(|short| format!("com.amazonaws.{region}.{short}"));
        names.filter_map(|name| Self::find(region, &name).map(|service| (name, service))).collect()
    }

    /// `com.amazonaws.<region>.<service>`.
    pub(super) fn find(region: &str, name: &str) -> Option<Self> {
        let short = name.strip_prefix("com.amazonaws.")?.strip_prefix(region)?.strip_prefix('.')?;
        let gateway = GATEWAY.iter().find(|(service, _)| *service == short);
        let interface = INTERFACE.iter().find(|service| **service == short);
        let short = gateway.map(|(service, _)| *service).or_else(|| interface.copied())?;
        Some(Self { short, prefixes: gateway.map(|(_, list)| *list), has_interfaces: interface.is_some() })
    }

    /// The prefix list that a gateway endpoint adds to route tables.
    pub fn prefix_list(self) -> Option<PrefixListId> {
        self.prefixes.map(PrefixListId::from)
    }

    /// The DNS name of the service inside a VPC with private DNS.
    pub fn domain(self, region: &str) -> String {
        let host = match self.short.split_once('.') {
            Some((service, part)) => format!("{part}.{service}"),
            None => self.short.to_owned(),
        };
        // Registries have names of their own below dkr.ecr; api.ecr is a name itself.
        let host = if host == "dkr.ecr" { format!("*.{host}") } else { host };
        format!("{host}.{region}.amazonaws.com")
    }
}
