//! Quotas of networks in Service Quotas: service and code. Those of vCPUs are [`VcpuQuota`](crate::VcpuQuota).

/// VPCs per region (Amazon VPC User Guide, "Amazon VPC quotas").
pub const VPCS: (&str, &str) = ("vpc", "L-F678F1CE");
/// Internet gateways per region.
pub const INTERNET_GATEWAYS: (&str, &str) = ("vpc", "L-A4707A72");
/// NAT gateways per Availability Zone.
pub const NAT_GATEWAYS: (&str, &str) = ("vpc", "L-FE5A380F");
/// Elastic IP addresses per region (Amazon EC2 User Guide, "Elastic IP addresses").
pub const ADDRESSES: (&str, &str) = ("ec2", "L-0263D0A3");
