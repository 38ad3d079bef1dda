//! How to recognise what Amazon GuardDuty creates in a VPC for its agent on Nodes (Runtime Monitoring with automated agents): an
//! endpoint and its security group.

/// A tag of both (policy `AmazonGuardDutyServiceRolePolicy`).
pub(crate) const TAG: &str = "GuardDutyManaged";

/// How the name of the group begins; the id of the VPC follows.
pub(crate) const GROUP: &str = "GuardDutyManagedSecurityGroup-";

/// Whether an endpoint is for the service that the agent sends events to.
pub(crate) fn is_service(service: &str) -> bool {
    service.ends_with(".guardduty-data") || service.ends_with(".guardduty-data-fips")
}
