//! EKS's actions: [`requests`] reads, [`render`] writes (EKS API Reference).

mod access;
pub(crate) mod addons;
mod clusters;
mod insights;
mod page;
mod pods;
mod providers;
mod render;
pub(crate) mod requests;
mod tags;
mod updates;
mod versions;

use crate::request::call::Route;

/// All actions.
pub(crate) const ROUTES: [Route; 45] = [
    ("CreateCluster", "POST", "/clusters", clusters::create),
    ("ListClusters", "GET", "/clusters", clusters::list),
    ("DescribeCluster", "GET", "/clusters/{name}", clusters::describe),
    ("DeleteCluster", "DELETE", "/clusters/{name}", clusters::delete),
    ("UpdateClusterConfig", "POST", "/clusters/{name}/update-config", updates::config),
    ("UpdateClusterVersion", "POST", "/clusters/{name}/updates", updates::version),
    (
        "AssociateEncryptionConfig",
        "POST",
        "/clusters/{name}/encryption-config/associate",
        updates::encryption,
    ),
    ("ListUpdates", "GET", "/clusters/{name}/updates", updates::list),
    ("DescribeUpdate", "GET", "/clusters/{name}/updates/{updateId}", updates::describe),
    ("CancelUpdate", "POST", "/clusters/{name}/updates/{updateId}/cancel-update", updates::cancel),
    ("DescribeClusterVersions", "GET", "/cluster-versions", versions::describe),
    ("ListInsights", "POST", "/clusters/{name}/insights", insights::list),
    ("DescribeInsight", "GET", "/clusters/{name}/insights/{id}", insights::describe),
    ("StartInsightsRefresh", "POST", "/clusters/{name}/insights-refresh", insights::refresh),
    ("DescribeInsightsRefresh", "GET", "/clusters/{name}/insights-refresh", insights::describe_refresh),
    ("CreateAccessEntry", "POST", "/clusters/{name}/access-entries", access::create),
    ("ListAccessEntries", "GET", "/clusters/{name}/access-entries", access::list),
    ("DescribeAccessEntry", "GET", "/clusters/{name}/access-entries/{principalArn}", access::describe),
    ("UpdateAccessEntry", "POST", "/clusters/{name}/access-entries/{principalArn}", access::update),
    ("DeleteAccessEntry", "DELETE", "/clusters/{name}/access-entries/{principalArn}", access::delete),
    (
        "AssociateAccessPolicy",
        "POST",
        "/clusters/{name}/access-entries/{principalArn}/access-policies",
        access::associate,
    ),
    (
        "ListAssociatedAccessPolicies",
        "GET",
        "/clusters/{name}/access-entries/{principalArn}/access-policies",
        access::associated,
    ),
    (
        "DisassociateAccessPolicy",
        "DELETE",
        "/clusters/{name}/access-entries/{principalArn}/access-policies/{policyArn}",
        access::disassociate,
    ),
    ("ListAccessPolicies", "GET", "/access-policies", access::policies),
    ("CreateAddon", "POST", "/clusters/{name}/addons", addons::create),
    ("ListAddons", "GET", "/clusters/{name}/addons", addons::list),
    ("DescribeAddon", "GET", "/clusters/{name}/addons/{addonName}", addons::describe),
    ("UpdateAddon", "POST", "/clusters/{name}/addons/{addonName}/update", addons::update),
    ("DeleteAddon", "DELETE", "/clusters/{name}/addons/{addonName}", addons::delete),
    ("DescribeAddonVersions", "GET", "/addons/supported-versions", addons::versions),
    ("DescribeAddonConfiguration", "GET", "/addons/configuration-schemas", addons::configuration),
    ("CreatePodIdentityAssociation", "POST", "/clusters/{name}/pod-identity-associations", pods::create),
    ("ListPodIdentityAssociations", "GET", "/clusters/{name}/pod-identity-associations", pods::list),
    (
        "DescribePodIdentityAssociation",
        "GET",
        "/clusters/{name}/pod-identity-associations/{associationId}",
        pods::describe,
    ),
    (
        "UpdatePodIdentityAssociation",
        "POST",
        "/clusters/{name}/pod-identity-associations/{associationId}",
        pods::update,
    ),
    (
        "DeletePodIdentityAssociation",
        "DELETE",
        "/clusters/{name}/pod-identity-associations/{associationId}",
        pods::delete,
    ),
    (
        "AssociateIdentityProviderConfig",
        "POST",
        "/clusters/{name}/identity-provider-configs/associate",
        providers::associate,
    ),
    ("ListIdentityProviderConfigs", "GET", "/clusters/{name}/identity-provider-configs", providers::list),
    (
        "DescribeIdentityProviderConfig",
        "POST",
        "/clusters/{name}/identity-provider-configs/describe",
        providers::describe,
    ),
    (
        "DisassociateIdentityProviderConfig",
        "POST",
        "/clusters/{name}/identity-provider-configs/disassociate",
        providers::disassociate,
    ),
    ("TagResource", "POST", "/tags/{resourceArn}", tags::tag),
    ("UntagResource", "DELETE", "/tags/{resourceArn}", tags::untag),
    ("ListTagsForResource", "GET", "/tags/{resourceArn}", tags::list),
    ("ListNodegroups", "GET", "/clusters/{name}/node-groups", clusters::no_node_groups),
    ("ListFargateProfiles", "GET", "/clusters/{name}/fargate-profiles", clusters::no_fargate_profiles),
];
