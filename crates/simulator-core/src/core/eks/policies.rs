//! The access policies that there are (EKS User Guide, "Review access policy permissions").

/// The policies that there are.
pub const ACCESS_POLICIES: [&str; 6] = [
    "AmazonEKSAdminPolicy",
    "AmazonEKSAdminViewPolicy",
    "AmazonEKSAutoNodePolicy",
    "AmazonEKSClusterAdminPolicy",
    "AmazonEKSEditPolicy",
    "AmazonEKSViewPolicy",
];

/// The ARN of a policy.
pub fn policy_arn(name: &str) -> String {
    format!("arn:aws:eks::aws:cluster-access-policy/{name}")
}
