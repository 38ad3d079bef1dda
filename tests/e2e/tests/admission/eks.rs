//! FooControlPlanes in mode eks: what EKS cannot have, and what it cannot change, is refused when it is written.

use super::server::{Kind, Server, on_server, with};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};

const ROLE: &str = "arn:aws:iam::123456789012:role/eks";
const KEY: &str = "arn:aws:kms:eu-central-1:123456789012:key/a";

fn eks(fields: Value) -> Value {
    json!({"version": "v1.34.0", "eks": with(json!({"roleARN": ROLE}), fields)})
}

/// Refused in a FooControlPlane, and in a template.
async fn refuses(server: Server, fields: Value, message: &str) -> Result<()> {
    let spec = eks(fields);
    server.refuses(Kind::ControlPlane, spec.clone(), message).await?;
    server.refuses(Kind::ControlPlaneTemplate, json!({"template": {"spec": spec}}), message).await
}

#[test]
fn a_cluster_of_eks_can_have_everything_at_once() {
    on_server(async |server| {
        let principal = "arn:aws:iam::123456789012:role/team/admin";
        let spec = eks(json!({
            "name": "shop_1", "subnets": ["subnet-1", "subnet-2"], "securityGroups": ["sg-1"],
            "endpointAccess": {"public": true, "private": true, "publicCIDRs": ["192.0.2.0/24", "2001:db8::/32"]},
            "logging": ["api", "audit"], "encryption": {"kmsKeyARN": KEY}, "serviceCIDR": "172.20.0.0/16", "ipFamily": "ipv4",
            "authenticationMode": "API_AND_CONFIG_MAP",
            "accessEntries": [
                {"principalARN": principal, "username": "admin", "groups": ["team:admins"],
                 "policies": [{"name": "AmazonEKSViewPolicy", "namespaces": ["team-*"]}]},
                {"principalARN": ROLE, "type": "EC2_LINUX"},
            ],
            "addons": [
                {"name": "vpc-cni", "version": "v1.18.3-eksbuild.1", "configurationValues": {"env": {"A": "b"}}, "customNetworking": true, "resolveConflicts": "OVERWRITE"},
                {"name": "aws-ebs-csi-driver", "podIdentities": [{"serviceAccount": "ebs", "roleARN": ROLE}], "preserve": true},
            ],
            "maintenanceWindows": [
                {"days": ["Saturday", "Sunday"], "start": "02:00", "durationSeconds": 14_400, "timeZone": "Europe/Berlin"},
                {"start": "23:59", "durationSeconds": 900},
            ],
            "podIdentityAssociations": [{"namespace": "default", "serviceAccount": "a", "roleARN": ROLE}],
            "oidcProvider": true, "upgrade": {"force": false}, "upgradePolicy": {"supportType": "EXTENDED"}, "zonalShift": true,
            "scalingTier": "tier-xl",
            "identityProvider": {
                "name": "people", "issuerURL": "https://id.example.com/realms/a", "clientID": "kubernetes", "usernameClaim": "email",
                "usernamePrefix": "-", "groupsClaim": "groups", "groupsPrefix": "oidc:", "requiredClaims": {"hd": "example.com"},
            },
            "deletionProtection": true, "deletionPolicy": "Retain", "tags": {"team": "a"}, "adopt": true,
        }));
        let kept = server.accepts(Kind::ControlPlane, &spec).await?;
        let first = kept.pointer("/eks/addons/0/configurationValues/env/A").context("values are kept")?;
        anyhow::ensure!(first == "b");
        server.accepts(Kind::ControlPlaneTemplate, &json!({"template": {"spec": spec}})).await.map(drop)
    });
}

#[test]
fn invalid_eks_settings_are_refused() {
    on_server(async |server| {
        let provider = |fields: Value| {
            let least =
                json!({"name": "people", "issuerURL": "https://id.example.com", "clientID": "kubernetes"});
            json!({"identityProvider": with(least, fields)})
        };
        let entry = |fields: Value| json!({"accessEntries": [with(json!({"principalARN": ROLE}), fields)]});
        let window = json!({"start": "02:00", "durationSeconds": 3_600});
        let changed = |fields: Value| json!({"maintenanceWindows": [with(window.clone(), fields)]});
        for (fields, message) in [
            (json!({"endpointAccess": {"public": false, "private": false}}), "set public or private"),
            (
                json!({"endpointAccess": {"public": false, "publicCIDRs": ["192.0.2.0/24"]}}),
                "publicCIDRs restrict the public endpoint",
            ),
            (json!({"endpointAccess": {"publicCIDRs": []}}), "should have at least 1 items"),
            (
                json!({"serviceCIDR": "172.20.0.0/16", "ipFamily": "ipv6"}),
                "EKS assigns the range of Services",
            ),
            (json!({"serviceCIDR": "172.20.0.0/8"}), "serviceCIDR in body should match"),
            (
                with(entry(json!({})), json!({"authenticationMode": "CONFIG_MAP"})),
                "accessEntries need authenticationMode API",
            ),
            (entry(json!({"username": "system:admin"})), "username must not begin with system:"),
            (entry(json!({"groups": ["a", "system:masters"]})), "groups must not begin with system:"),
            (
                entry(json!({"type": "EC2_LINUX", "groups": ["a"]})),
                "only entries of type STANDARD have a username, groups and policies",
            ),
            (json!({"accessEntries": [{"principalARN": ROLE}, {"principalARN": ROLE}]}), "Duplicate value"),
            (json!({"addons": [{"name": "a"}, {"name": "a"}]}), "Duplicate value"),
            (json!({"addons": [{"name": "a", "version": "newest"}]}), "version in body should match"),
            (
                json!({"addons": [{"name": "a", "serviceAccountRoleARN": ROLE, "podIdentities": []}]}),
                "set either serviceAccountRoleARN or podIdentities",
            ),
            (
                json!({"addons": [{"name": "coredns", "customNetworking": true}]}),
                "customNetworking is an option of the add-on vpc-cni",
            ),
            (
                json!({"ipFamily": "ipv6", "addons": [{"name": "vpc-cni", "customNetworking": true}]}),
                "customNetworking of an add-on is for clusters with ipFamily ipv4",
            ),
            (json!({"tags": {"infrastructure.foo.com/control-plane": "x"}}), "tags must not begin with"),
            (json!({"roleARN": "eks"}), "roleARN in body should match"),
            (json!({"scalingTier": "tier-64xl"}), "Unsupported value"),
            (provider(json!({"issuerURL": "http://id.example.com"})), "issuerURL in body should match"),
            (provider(json!({"issuerURL": "https://id.example.com?a=b"})), "issuerURL in body should match"),
            (provider(json!({"name": "a.b"})), "name in body should match"),
            (provider(json!({"usernamePrefix": "system:"})), "usernamePrefix must not contain system:"),
            (
                provider(json!({"groupsClaim": "groups", "groupsPrefix": "a:system:"})),
                "groupsPrefix must not contain system:",
            ),
            (provider(json!({"groupsPrefix": "oidc:"})), "set groupsClaim"),
            (
                provider(json!({"requiredClaims": {"": "a"}})),
                "names of required claims must have 1 to 63 characters",
            ),
            (json!({"maintenanceWindows": vec![window.clone(); 11]}), "must have at most 10 items"),
            (changed(json!({"start": "24:00"})), "should match"),
            (changed(json!({"durationSeconds": 899})), "greater than or equal to 900"),
            (changed(json!({"timeZone": "../UTC"})), "should match"),
            (changed(json!({"days": ["Monday", "Monday"]})), "Duplicate value"),
            (json!({"name": "-a"}), "name in body should match"),
        ] {
            refuses(server, fields, message).await?;
        }
        let both = with(eks(json!({})), json!({"external": {"kubeconfigSecretRef": {"name": "a"}}}));
        server.refuses(Kind::ControlPlane, both, "set either external or eks").await?;
        let neither = json!({"version": "v1.34.0"});
        server.refuses(Kind::ControlPlane, neither, "set either external or eks").await?;
        let bare = json!({"version": "1.34.0", "external": {"kubeconfigSecretRef": {"name": "a"}}});
        server.refuses(Kind::ControlPlane, bare, "version must begin with v in mode external").await?;
        for version in ["1.34.0", "v1.34.2-eks-113cf36"] {
            server.accepts(Kind::ControlPlane, &with(eks(json!({})), json!({"version": version}))).await?;
        }
        Ok(())
    });
}

#[test]
fn changes_of_immutable_eks_fields_are_refused() {
    on_server(async |server| {
        let mode = |mode: &str| json!({"authenticationMode": mode});
        for (from, to, message) in [
            (json!({"name": "a"}), json!({"name": "b"}), "eks.name is immutable"),
            (json!({}), json!({"roleARN": format!("{ROLE}2")}), "eks.roleARN is immutable"),
            (json!({}), json!({"serviceCIDR": "172.20.0.0/16"}), "eks.serviceCIDR is immutable"),
            (json!({}), json!({"ipFamily": "ipv6"}), "eks.ipFamily is immutable"),
            (
                json!({"encryption": {"kmsKeyARN": KEY}}),
                json!({}),
                "eks.encryption cannot be changed or removed",
            ),
            (
                mode("API"),
                mode("API_AND_CONFIG_MAP"),
                "eks.authenticationMode can only change from CONFIG_MAP",
            ),
            (mode("CONFIG_MAP"), json!({}), "eks.authenticationMode can only change from CONFIG_MAP"),
        ] {
            server.refuses_change(Kind::ControlPlane, eks(from), eks(to), message).await?;
        }
        for (from, to) in [
            (json!({}), json!({"encryption": {"kmsKeyARN": KEY}})),
            (json!({}), json!({"ipFamily": "ipv4"})),
            (mode("CONFIG_MAP"), mode("API_AND_CONFIG_MAP")),
            (mode("API_AND_CONFIG_MAP"), json!({})),
            (json!({"zonalShift": true}), json!({"logging": ["audit"]})),
            (json!({"maintenanceWindows": [{"start": "02:00", "durationSeconds": 900}]}), json!({})),
            (json!({"scalingTier": "tier-xl"}), json!({"scalingTier": "standard"})),
        ] {
            server.accepts_change(Kind::ControlPlane, eks(from), eks(to)).await?;
        }
        let external = json!({"version": "v1.34.0", "external": {"kubeconfigSecretRef": {"name": "a"}}});
        server
            .refuses_change(Kind::ControlPlane, external, eks(json!({})), "cannot turn from external to eks")
            .await
    });
}
