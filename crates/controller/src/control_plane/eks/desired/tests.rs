use super::*;
use foo_api::cluster::SubnetStatus;
use foo_eks::desired::{AddonVersion, DesiredAddon, DesiredEntry, KnownSubnet, SubnetChoice};
use foo_model::eks::{
    AccessPolicy, AccessScope, EndpointAccess, EntryKind, IdentityProviderSettings, Placement,
    ResolveConflicts,
};
use foo_model::{Adoption, Maintenance, SubnetId};
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn known() -> Known<'static> {
    Known {
        id: "id",
        uid: "uid",
        begun_before: false,
        name: "team-a_blue",
        cluster: ("team-a", "blue"),
        installation: "installation",
        adopt_from: None,
        adoption_allowed: false,
        neighbours: BTreeSet::new(),
        region: "eu-central-1",
        account: Some("123456789012"),
        own_principal: None,
        own_principal_is_guessed: false,
        network: None,
        node_profiles: BTreeSet::new(),
        nodes_settled: true,
        oldest_kubelet: None,
        maintenance: Maintenance::Always,
        being_deleted: false,
        deletion_confirmed: true,
    }
}

fn eks(fields: Value) -> Eks {
    let mut spec = json!({ "roleARN": "arn:aws:iam::123456789012:role/eks" });
    if let (Value::Object(spec), Value::Object(fields)) = (&mut spec, fields) {
        spec.extend(fields);
    }
    serde_json::from_value(spec).unwrap()
}

fn of(fields: Value) -> Desired {
    desired("v1.34.2", &eks(fields), &known()).unwrap()
}

#[test]
fn a_minimal_spec_gets_every_default() {
    let desired = of(json!({}));
    assert_eq!((desired.name.as_str(), desired.cluster.as_str()), ("team-a_blue", "team-a/blue"));
    assert_eq!((desired.partition.as_str(), desired.version), ("aws", Minor(34)));
    assert_eq!(desired.placement, None);
    let anywhere = ["0.0.0.0/0".to_owned()].into();
    assert_eq!(desired.access, EndpointAccess { public: true, private: true, public_cidrs: anywhere });
    assert_eq!((desired.ip_family, desired.authentication_mode), (IpFamily::Ipv4, AuthenticationMode::Api));
    assert_eq!((desired.deletion, desired.may_unprotect), (None, true));
    assert!(desired.entries.is_empty() && desired.addons.is_empty() && desired.pod_identities.is_empty());
}

#[test]
fn every_spelling_of_a_version_has_its_minor() {
    for version in ["v1.34.0", "1.34.0", "v1.34.2-eks-113cf36", "1.34.9+x"] {
        assert_eq!(desired(version, &eks(json!({})), &known()).unwrap().version, Minor(34), "{version}");
    }
}

#[test]
fn an_invalid_version_is_reported_unless_the_cluster_is_being_deleted() {
    let blocked = desired("v2.0.0", &eks(json!({})), &known()).unwrap_err();
    assert_eq!(blocked.reason, Reason::VersionNotOffered);
    assert!(blocked.message.contains("v2.0.0"), "{}", blocked.message);
    let deleted = Known { being_deleted: true, ..known() };
    assert!(desired("v2.0.0", &eks(json!({})), &deleted).unwrap().being_deleted);
}

fn network(subnets: &[(&str, bool)]) -> NetworkStatus {
    let subnet = |(id, public): &(&str, bool)| SubnetStatus {
        id: (*id).to_owned(),
        zone: "eu-central-1a".to_owned(),
        public: *public,
        name: None,
        cidr: None,
        ipv6_cidr: None,
    };
    NetworkStatus { subnets: subnets.iter().map(subnet).collect(), ..NetworkStatus::default() }
}

fn placed(fields: Value, network: &NetworkStatus) -> Vec<String> {
    let known = Known { network: Some(network), ..known() };
    let placement = desired("v1.34.0", &eks(fields), &known).unwrap().placement.unwrap();
    placement.subnets.iter().map(|id: &SubnetId| id.as_str().to_owned()).collect()
}

#[test]
fn the_control_plane_is_in_the_private_subnets_or_in_all_or_in_those_of_the_spec() {
    let both = network(&[("subnet-1", true), ("subnet-2", false), ("subnet-3", false)]);
    assert_eq!(placed(json!({}), &both), ["subnet-2", "subnet-3"]);
    let public = network(&[("subnet-1", true), ("subnet-2", true)]);
    assert_eq!(placed(json!({}), &public), ["subnet-1", "subnet-2"]);
    assert_eq!(placed(json!({ "subnets": ["subnet-8", "subnet-9"] }), &both), ["subnet-8", "subnet-9"]);
    let listed = of(json!({ "subnets": ["subnet-8"], "securityGroups": ["sg-1"] })).placement;
    let expected = Placement { subnets: ["subnet-8".into()].into(), security_groups: ["sg-1".into()].into() };
    assert_eq!(listed, Some(expected), "no network is needed for it");
}

#[test]
fn zones_of_subnets_are_known_and_ipv6_ranges_of_those_that_the_provider_created() {
    let mut network = network(&[("subnet-1", false), ("subnet-2", false)]);
    let subnets = |network: &NetworkStatus, fields: Value| {
        let known = Known { network: Some(network), ..known() };
        let desired = desired("v1.34.0", &eks(fields), &known).unwrap();
        (desired.subnet_choice, desired.known_subnets)
    };
    let (choice, known) = subnets(&network, json!({}));
    assert_eq!(choice, SubnetChoice::Network);
    let unknown = KnownSubnet { zone: "eu-central-1a".to_owned(), has_ipv6: None };
    assert_eq!(known.get(&SubnetId::new("subnet-2")), Some(&unknown), "an existing network");
    network.id = Some("id".to_owned());
    network.subnets[0].ipv6_cidr = Some("2001:db8::/64".to_owned());
    let group = json!({ "subnets": ["subnet-1", "subnet-2"], "securityGroups": ["sg-1"] });
    let (choice, known) = subnets(&network, group);
    assert_eq!(choice, SubnetChoice::Listed);
    let has: Vec<Option<bool>> = known.values().map(|it| it.has_ipv6).collect();
    assert_eq!(has, [Some(true), Some(false)]);
}

#[test]
fn ranges_mean_nothing_without_the_public_endpoint() {
    let access = |fields: Value| of(json!({ "endpointAccess": fields })).access;
    let private = access(json!({ "public": false }));
    assert_eq!((private.public, private.private, private.public_cidrs.len()), (false, true, 0));
    let some = access(json!({ "private": false, "publicCIDRs": ["203.0.113.0/24"] }));
    assert_eq!(some.public_cidrs, ["203.0.113.0/24".to_owned()].into());
    let both: BTreeSet<String> = ["0.0.0.0/0".to_owned(), "::/0".to_owned()].into();
    assert_eq!(of(json!({ "ipFamily": "ipv6" })).access.public_cidrs, both);
}

#[test]
fn ranges_are_compared_as_eks_returns_them() {
    let desired = of(json!({
        "serviceCIDR": "10.100.3.0/16",
        "endpointAccess": { "publicCIDRs": ["203.0.113.7/24", "203.0.113.0/24", "2001:db8:0:0::1/32", "nonsense/8"] },
    }));
    assert_eq!(desired.service_ipv4.as_deref(), Some("10.100.0.0/16"));
    let shown: Vec<&str> = desired.access.public_cidrs.iter().map(String::as_str).collect();
    assert_eq!(shown, ["2001:db8::/32", "203.0.113.0/24", "nonsense/8"]);
}

#[test]
fn policies_are_those_of_the_partition() {
    let principal = "arn:aws-cn:iam::123456789012:role/dev";
    let entry = json!({
        "principalARN": principal,
        "groups": ["devs"],
        "policies": [
            { "name": "AmazonEKSViewPolicy" },
            { "name": "AmazonEKSEditPolicy", "namespaces": ["dev-*"] },
        ],
    });
    let known = Known { region: "cn-north-1", ..known() };
    let desired = desired("v1.34.0", &eks(json!({ "accessEntries": [entry] })), &known).unwrap();
    let policy = |name: &str, scope| AccessPolicy {
        arn: format!("arn:aws-cn:eks::aws:cluster-access-policy/{name}"),
        scope,
    };
    let namespaces = AccessScope::Namespaces(["dev-*".to_owned()].into());
    let expected = DesiredEntry {
        kind: EntryKind::Standard,
        username: None,
        groups: ["devs".to_owned()].into(),
        policies: [
            policy("AmazonEKSViewPolicy", AccessScope::Cluster),
            policy("AmazonEKSEditPolicy", namespaces),
        ]
        .into(),
    };
    assert_eq!(desired.entries, BTreeMap::from([(principal.to_owned(), expected)]));
}

#[test]
fn add_ons_are_latest_and_keep_changes_of_others_by_default() {
    let desired = of(json!({ "addons": [
        { "name": "coredns" },
        {
            "name": "vpc-cni",
            "version": "v1.20.0-eksbuild.1",
            "configurationValues": { "env": { "ENABLE_PREFIX_DELEGATION": "true" } },
            "resolveConflicts": "OVERWRITE",
            "podIdentities": [{ "serviceAccount": "aws-node", "roleARN": "arn:aws:iam::123456789012:role/cni" }],
            "preserve": true,
        },
    ] }));
    let (dns, cni) = (&desired.addons["coredns"], &desired.addons["vpc-cni"]);
    assert_eq!((&dns.version, dns.conflicts), (&AddonVersion::Latest, ResolveConflicts::Preserve));
    assert_eq!(
        (dns.settings.configuration.as_deref(), &dns.pod_identities, dns.preserve),
        (None, &None, false)
    );
    assert_eq!(cni.version, AddonVersion::Exactly("v1.20.0-eksbuild.1".to_owned()));
    assert_eq!(cni.settings.configuration.as_deref(), Some(r#"{"env":{"ENABLE_PREFIX_DELEGATION":"true"}}"#));
    assert_eq!((cni.conflicts, cni.preserve), (ResolveConflicts::Overwrite, true));
    assert_eq!(cni.pod_identities.as_ref().unwrap().len(), 1);
}

/// A network with subnets for Pods in these zones, of those in which they are requested.
fn with_pods(usable: &[&str], requested: &[&str]) -> NetworkStatus {
    let subnet = |zone: &&str| {
        json!({
            "id": format!("subnet-{zone}"), "zone": format!("eu-central-1{zone}"), "public": false,
            "name": format!("pods/eu-central-1{zone}"),
        })
    };
    let resource =
        |zone: &&str| json!({ "role": format!("subnet/pods/eu-central-1{zone}"), "state": "Ready" });
    let status = json!({
        "podSubnets": usable.iter().map(subnet).collect::<Vec<Value>>(),
        "resources": requested.iter().map(resource).collect::<Vec<Value>>(),
    });
    serde_json::from_value(status).unwrap()
}

/// The VPC CNI with custom networking, and this configuration besides.
fn custom(network: Option<&NetworkStatus>, values: &Value) -> DesiredAddon {
    let known = Known { network, ..known() };
    let addon = json!({ "name": "vpc-cni", "customNetworking": true, "configurationValues": values });
    desired("v1.34.0", &eks(json!({ "addons": [addon] })), &known).unwrap().addons.remove("vpc-cni").unwrap()
}

fn configuration(addon: &DesiredAddon) -> Value {
    serde_json::from_str(addon.settings.configuration.as_deref().unwrap()).unwrap()
}

#[test]
fn custom_networking_names_the_subnet_for_pods_of_each_zone() {
    let mut network = with_pods(&["a", "b"], &["a", "b"]);
    let cni = custom(Some(&network), &json!({}));
    let expected = json!({
        "env": {
            "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true",
            "ENI_CONFIG_LABEL_DEF": "topology.kubernetes.io/zone",
        },
        "eniConfig": {
            "create": true,
            "region": "eu-central-1",
            "subnets": { "eu-central-1a": { "id": "subnet-a" }, "eu-central-1b": { "id": "subnet-b" } },
        },
    });
    assert_eq!((configuration(&cni), &cni.awaits), (expected, &None));
    // An ENIConfig has one subnet.
    let another = SubnetStatus {
        id: "subnet-0".to_owned(),
        name: Some("pods/more".to_owned()),
        ..network.pod_subnets[0].clone()
    };
    network.pod_subnets.insert(0, another);
    let cni = configuration(&custom(Some(&network), &json!({})));
    assert_eq!(cni["eniConfig"]["subnets"]["eu-central-1a"]["id"], "subnet-a");
}

#[test]
fn what_the_spec_has_of_custom_networking_stays() {
    let written = json!({
        "env": { "ENABLE_PREFIX_DELEGATION": "true", "ENI_CONFIG_LABEL_DEF": "example.com/eni" },
        "eniConfig": { "subnets": { "eu-central-1a": { "securityGroups": ["sg-1"] } } },
    });
    let cni = configuration(&custom(Some(&with_pods(&["a"], &["a"])), &written));
    let expected = json!({
        "env": {
            "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true",
            "ENABLE_PREFIX_DELEGATION": "true",
            "ENI_CONFIG_LABEL_DEF": "example.com/eni",
        },
        "eniConfig": {
            "create": true,
            "region": "eu-central-1",
            "subnets": { "eu-central-1a": { "id": "subnet-a", "securityGroups": ["sg-1"] } },
        },
    });
    assert_eq!(cni, expected);
}

#[test]
fn custom_networking_waits_for_all_subnets_for_pods() {
    let awaits = |network: Option<&NetworkStatus>| {
        let cni = custom(network, &json!({ "env": { "A": "b" } }));
        assert_eq!(configuration(&cni), json!({ "env": { "A": "b" } }));
        cni.awaits.unwrap()
    };
    assert_eq!(awaits(None), "the FooCluster's network");
    let missing = "subnet pods/eu-central-1b of the FooCluster's network";
    assert_eq!(awaits(Some(&with_pods(&["a"], &["a", "b"]))), missing);
    let without = awaits(Some(&network(&[("subnet-1", false)])));
    assert!(without.starts_with("subnets of type Pods"), "{without}");
    let mut removed = with_pods(&["a"], &["a", "b"]);
    removed.resources[1].state = "NotRequested".to_owned();
    assert_eq!(custom(Some(&removed), &json!({})).awaits, None);
}

#[test]
fn an_identity_provider_and_a_scaling_tier_are_requested_as_they_are_written() {
    let unset = of(json!({}));
    assert_eq!((unset.identity_provider, unset.scaling_tier), (None, None));
    let desired = of(json!({
        "scalingTier": "tier-8xl",
        "identityProvider": {
            "name": "people", "issuerURL": "https://id.example.com", "clientID": "kubernetes", "usernameClaim": "email",
            "usernamePrefix": "-", "groupsClaim": "groups", "groupsPrefix": "oidc:", "requiredClaims": {"hd": "example.com"},
        },
    }));
    assert_eq!(desired.scaling_tier, Some(ScalingTier::EightXl));
    let provider = desired.identity_provider.unwrap();
    let text = |text: &str| Some(text.to_owned());
    let settings = IdentityProviderSettings {
        issuer_url: "https://id.example.com".to_owned(),
        client_id: "kubernetes".to_owned(),
        username_claim: text("email"),
        username_prefix: text("-"),
        groups_claim: text("groups"),
        groups_prefix: text("oidc:"),
        required_claims: [("hd".to_owned(), "example.com".to_owned())].into(),
    };
    assert_eq!((provider.name.as_str(), provider.settings), ("people", settings));
}

#[test]
fn omitted_fields_of_an_adopted_cluster_stay_open() {
    assert!(of(json!({})).left_open.is_empty());
    let nothing_said = of(json!({ "adopt": true }));
    assert_eq!((nothing_said.left_open.len(), nothing_said.may_unprotect), (7, false));
    let all_said = of(json!({
        "adopt": true, "endpointAccess": {}, "subnets": ["subnet-1", "subnet-2"], "securityGroups": ["sg-1"],
        "authenticationMode": "API", "logging": ["api"], "zonalShift": true, "deletionProtection": true,
    }));
    assert!(all_said.left_open.is_empty());
}

#[test]
fn adoption_is_requested_by_the_spec_and_allowed_by_the_identity() {
    let of = |adopt: bool, adoption_allowed| {
        let known = Known { adoption_allowed, ..known() };
        desired("v1.34.0", &eks(json!({ "adopt": adopt })), &known).unwrap().adoption
    };
    assert_eq!((of(false, false), of(false, true)), (Adoption::NotRequested, Adoption::NotRequested));
    assert_eq!((of(true, false), of(true, true)), (Adoption::NotAllowed, Adoption::Allowed));
}

#[test]
fn deletion_protection_in_the_spec_survives_a_deletion() {
    let protected = of(json!({ "deletionProtection": true, "deletionPolicy": "Retain" }));
    assert!(protected.deletion_protection && !protected.may_unprotect);
    assert_eq!(protected.deletion, Some(DeletionPolicy::Retain));
}
