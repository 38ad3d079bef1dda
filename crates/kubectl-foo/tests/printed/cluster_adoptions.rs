//! What `kubectl foo adopt-cluster` writes for EKS clusters, in the shapes in which the AWS CLI prints them.

use crate::commands::{run, world};
use crate::is_printed;
use foo_api::{FooCluster, FooControlPlane};
use foo_apiserver_fake::FakeApiServer;
use kubectl_foo::access::Reads;
use kubectl_foo::adopt_cluster::found::{Entry, Found, Policy};
use kubectl_foo::adopt_cluster::{Adopter, Adoption, Identity, check_free, notes, of_found};
use kubectl_foo::refused::Usage;
use kubectl_foo::terminal::{Format, Out, Screen};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn adopter() -> Adopter {
    Adopter {
        namespace: "team".to_owned(),
        name: "prod".to_owned(),
        region: "eu-central-1".to_owned(),
        identity: None,
    }
}

/// An identity that allows what these fields say.
fn identity(fields: &Value) -> Identity {
    let mut spec = json!({"controller": {}, "allowedNamespaces": {}, "allowAdoption": true});
    spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    Identity::Known(Box::new(serde_json::from_value(spec).unwrap()))
}

/// A cluster as `aws eks create-cluster` creates it with no more than it needs.
fn plain() -> Value {
    json!({
        "name": "team_prod", "arn": "arn:aws:eks:eu-central-1:123456789012:cluster/team_prod", "createdAt": "2026-11-21T12:00:00+00:00",
        "version": "1.34", "endpoint": "https://1.gr7.eu-central-1.eks.amazonaws.com", "roleArn": "arn:aws:iam::123456789012:role/eks",
        "resourcesVpcConfig": {
            "subnetIds": ["subnet-1", "subnet-2"], "securityGroupIds": [], "clusterSecurityGroupId": "sg-9", "vpcId": "vpc-1",
            "endpointPublicAccess": true, "endpointPrivateAccess": false, "publicAccessCidrs": ["0.0.0.0/0"],
        },
        "kubernetesNetworkConfig": {
            "serviceIpv4Cidr": "10.100.0.0/16", "ipFamily": "ipv4", "elasticLoadBalancing": {"enabled": false},
        },
        "logging": {"clusterLogging": [
            {"types": ["api", "audit", "authenticator", "controllerManager", "scheduler"], "enabled": false},
        ]},
        "identity": {"oidc": {"issuer": "https://oidc.eks.eu-central-1.amazonaws.com/id/1"}},
        "status": "ACTIVE", "certificateAuthority": {"data": "Q0E="}, "platformVersion": "eks.9", "tags": {}, "health": {"issues": []},
        "accessConfig": {"authenticationMode": "API"}, "upgradePolicy": {"supportType": "EXTENDED"},
        "zonalShiftConfig": {"enabled": false}, "computeConfig": {"enabled": false}, "storageConfig": {"blockStorage": {"enabled": false}},
        "deletionProtection": false, "controlPlaneScalingConfig": {"tier": "standard"},
    })
}

/// What the AWS CLI prints, as it is read.
fn read<T: DeserializeOwned>(printed: Value) -> T {
    serde_json::from_value(printed).unwrap()
}

fn found(cluster: Value) -> Found {
    Found { cluster: read(cluster), ..Found::default() }
}

fn adoption(found: &Found) -> Adoption {
    of_found(found, &adopter(), &identity(&json!({}))).unwrap()
}

/// The spec of the FooControlPlane.
fn eks(found: &Found) -> Value {
    adoption(found).objects[2]["spec"]["eks"].clone()
}

/// Manifests and notes, as they are printed.
fn printed(adoption: &Adoption) -> String {
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let mut out = Out::new(&mut output, &mut errors, Screen::Lines);
    out.manifests(Format::Yaml, &adoption.objects).unwrap();
    String::from_utf8(output).unwrap() + "(standard error)\n" + &notes(adoption)
}

/// The objects can be decoded as the manager decodes them.
fn are_objects(adoption: &Adoption) {
    let network: FooCluster = read(adoption.objects[1].clone());
    let control_plane: FooControlPlane = read(adoption.objects[2].clone());
    assert!(control_plane.spec.eks.unwrap().adopt && network.spec.network.managed.is_none());
}

#[test]
fn a_plain_cluster_has_a_short_manifest_and_one_next_step() {
    let adoption = adoption(&found(plain()));
    are_objects(&adoption);
    is_printed("adopt-cluster", &printed(&adoption));
}

/// Everything that a FooControlPlane can have.
fn rich() -> Found {
    let mut cluster = plain();
    cluster["resourcesVpcConfig"] = json!({
        "subnetIds": ["subnet-2", "subnet-1"], "securityGroupIds": ["sg-1"], "clusterSecurityGroupId": "sg-9", "vpcId": "vpc-1",
        "endpointPublicAccess": true, "endpointPrivateAccess": true, "publicAccessCidrs": ["192.0.2.0/24", "198.51.100.0/24"],
    });
    cluster["logging"] = json!({"clusterLogging": [
        {"types": ["scheduler", "audit"], "enabled": true}, {"types": ["api"], "enabled": false},
    ]});
    cluster["encryptionConfig"] = json!([
        {"resources": ["secrets"], "provider": {"keyArn": "arn:aws:kms:eu-central-1:123456789012:key/1"}},
    ]);
    cluster["accessConfig"] = json!({"authenticationMode": "API_AND_CONFIG_MAP"});
    cluster["upgradePolicy"] = json!({"supportType": "STANDARD"});
    cluster["zonalShiftConfig"] = json!({"enabled": true});
    cluster["controlPlaneScalingConfig"] = json!({"tier": "tier-2xl"});
    cluster["deletionProtection"] = json!(true);
    cluster["tags"] = json!({
        "team": "blue", "aws:cloudformation:stack-name": "eksctl-prod-cluster", "alpha.eksctl.io/cluster-name": "team_prod",
        "infrastructure.foo.com/adoptable": "team/prod",
    });
    let role = |name: &str| format!("arn:aws:iam::123456789012:role/{name}");
    let association =
        |id: &str| format!("arn:aws:eks:eu-central-1:123456789012:podidentityassociation/team_prod/{id}");
    let cni = "arn:aws:eks:eu-central-1:123456789012:addon/team_prod/vpc-cni/1";
    Found {
        addons: read(json!([
            {
                "addonName": "coredns", "addonVersion": "v1.11.4-eksbuild.2", "status": "ACTIVE",
                "configurationValues": "{\"replicaCount\": 3, \"autoScaling\": {\"enabled\": false}}",
            },
            {
                "addonName": "aws-ebs-csi-driver", "addonVersion": "v1.48.0-eksbuild.1", "status": "DEGRADED",
                "serviceAccountRoleArn": role("ebs"),
            },
            {
                "addonName": "vpc-cni", "addonVersion": "v1.19.2-eksbuild.1", "status": "ACTIVE", "addonArn": cni,
                "podIdentityAssociations": [association("a-1")],
            },
        ])),
        entries: vec![
            Entry {
                policies: read(json!([
                    {
                        "policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy",
                        "accessScope": {"type": "cluster", "namespaces": []},
                    },
                    {
                        "policyArn": "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy",
                        "accessScope": {"type": "namespace", "namespaces": ["web-*"]},
                    },
                ])),
                ..read(json!({
                    "principalArn": role("admin"), "type": "STANDARD", "kubernetesGroups": [],
                    "username": "arn:aws:sts::123456789012:assumed-role/admin/{{SessionName}}",
                }))
            },
            read(json!({
                "principalArn": "arn:aws:iam::123456789012:user/jane", "type": "STANDARD", "kubernetesGroups": ["readers"],
                "username": "jane",
            })),
            read(json!({
                "principalArn": role("nodes"), "type": "EC2_LINUX", "kubernetesGroups": ["system:nodes"],
                "username": "system:node:{{EC2PrivateDNSName}}",
            })),
        ],
        associations: read(json!([
            {
                "associationId": "a-1", "associationArn": association("a-1"), "namespace": "kube-system", "serviceAccount": "aws-node",
                "roleArn": role("cni"), "ownerArn": cni,
            },
            {
                "associationId": "a-2", "associationArn": association("a-2"), "namespace": "web", "serviceAccount": "front",
                "roleArn": role("front"), "disableSessionTags": false,
            },
        ])),
        audiences: Some(vec!["sts.amazonaws.com".to_owned()]),
        identity_providers: read(json!([{
            "identityProviderConfigName": "people", "identityProviderConfigArn": "arn:people", "clusterName": "team_prod",
            "issuerUrl": "https://id.example.com", "clientId": "kubernetes", "usernameClaim": "email", "groupsClaim": "groups",
            "groupsPrefix": "oidc:", "requiredClaims": {"hd": "example.com"}, "status": "ACTIVE", "tags": {},
        }])),
        groups: read(json!([
            {"AutoScalingGroupName": "workers", "VPCZoneIdentifier": "subnet-1,subnet-3", "Tags": []},
            {"AutoScalingGroupName": "gpu (old)", "VPCZoneIdentifier": "subnet-1", "Tags": []},
            {
                "AutoScalingGroupName": "eks-managed-1", "VPCZoneIdentifier": "subnet-4",
                "Tags": [{"Key": "eks:nodegroup-name", "Value": "managed"}],
            },
        ])),
        ..found(cluster)
    }
}

#[test]
fn everything_that_a_control_plane_can_have_is_in_its_manifest() {
    let adopter = Adopter { identity: Some("blue".to_owned()), ..adopter() };
    let adoption = of_found(&rich(), &adopter, &identity(&json!({"allowAdoption": false}))).unwrap();
    are_objects(&adoption);
    assert_eq!(adoption.obstacles, [""; 0]);
    is_printed("adopt-cluster-everything", &printed(&adoption));
}

/// As Cluster API Provider AWS, a new EKS and a person at night leave it.
#[test]
fn everything_in_the_way_and_everything_that_stays_beside_the_manifest_is_named() {
    let mut cluster = plain();
    cluster["name"] = json!("prod");
    cluster["status"] = json!("UPDATING");
    cluster["accessConfig"] = json!({"authenticationMode": "CONFIG_MAP"});
    cluster["computeConfig"] = json!({"enabled": true, "nodePools": ["general-purpose"]});
    cluster["controlPlaneScalingConfig"] = json!({"tier": "tier-64xl"});
    cluster["remoteNetworkConfig"] = json!({"remoteNodeNetworks": [{"cidrs": ["10.1.0.0/16"]}]});
    cluster["encryptionConfig"] =
        json!([{"provider": {"keyArn": "arn:aws:kms:eu-central-1:123456789012:alias/a"}}]);
    cluster["logging"] = json!({"clusterLogging": [{"types": ["audit", "newer"], "enabled": true}]});
    cluster["resourcesVpcConfig"]["securityGroupIds"] = json!(["sg-1", "sg-2", "sg-3", "sg-4", "sg-5"]);
    cluster["tags"] =
        json!({"sigs.k8s.io/cluster-api-provider-aws/cluster/team_prod": "owned", "Name": "prod"});
    let admin = "arn:aws:iam::123456789012:role/admin";
    let entry = |principal: &str, kind: &str, username: &str| -> Entry {
        read(json!({"principalArn": principal, "type": kind, "username": username, "kubernetesGroups": []}))
    };
    let unknown: Vec<Policy> =
        read(json!([{"policyArn": "arn:aws:eks::aws:other/x", "accessScope": {"type": "cluster"}}]));
    let service =
        "arn:aws:iam::123456789012:role/aws-service-role/eks.amazonaws.com/AWSServiceRoleForAmazonEKS";
    let found = Found {
        addons: read(json!([
            {"addonName": "coredns", "addonVersion": "v1", "status": "UPDATING", "configurationValues": "replicaCount: 3"},
            {
                "addonName": "vpc-cni", "addonVersion": "v1", "status": "UPDATE_FAILED", "serviceAccountRoleArn": admin,
                "podIdentityAssociations": ["association-1"],
            },
        ])),
        entries: vec![
            entry(service, "STANDARD", "eks:managed"),
            entry("arn:aws:iam::123456789012:role/auto", "EC2", "system:node:{{EC2PrivateDNSName}}"),
            entry("arn:aws:iam::123456789012:root", "STANDARD", "root"),
            entry(admin, "STANDARD", "system:admin"),
            Entry { policies: unknown, ..entry("arn:aws:iam::123456789012:role/new", "STANDARD", "new") },
        ],
        associations: read(json!([
            {
                "associationArn": "association-1", "namespace": "kube-system", "serviceAccount": "aws-node", "roleArn": admin,
                "ownerArn": "addon-1",
            },
            {"namespace": "web", "serviceAccount": "Front", "roleArn": admin},
            {
                "namespace": "web", "serviceAccount": "back", "roleArn": admin, "disableSessionTags": true,
                "targetRoleArn": "arn:aws:iam::210987654321:role/far",
            },
        ])),
        audiences: Some(vec!["other".to_owned()]),
        node_groups: vec!["managed".to_owned()],
        fargate_profiles: vec!["fargate".to_owned()],
        identity_providers: read(
            json!([{"identityProviderConfigName": "okta.com", "issuerUrl": "https://okta.com", "clientId": "c"}]),
        ),
        groups: read(json!([{"AutoScalingGroupName": "my group", "VPCZoneIdentifier": "", "Tags": []}])),
        unread: vec!["aws eks list-addons failed: denied".to_owned()],
        ..found(cluster)
    };
    let limits = json!({
        "allowAdoption": false, "allowedNamespaces": {"list": ["other"]}, "allowedRegions": ["us-east-1"], "allowedVPCs": ["vpc-2"],
        "allowedSubnets": ["subnet-1"], "allowedRoles": ["arn:aws:iam::123456789012:role/{namespace}/*"], "controller": null,
        "role": {"arn": "arn:aws:iam::210987654321:role/foo-manager"},
    });
    let adoption = of_found(&found, &adopter(), &identity(&limits)).unwrap();
    are_objects(&adoption);
    is_printed("adopt-cluster-obstacles", &printed(&adoption));
}

#[test]
fn what_eks_cannot_have_twice_or_only_beside_something_else_is_not_in_the_manifest() {
    let mut private = plain();
    private["resourcesVpcConfig"]["endpointPublicAccess"] = json!(false);
    private["resourcesVpcConfig"]["endpointPrivateAccess"] = json!(true);
    assert_eq!(eks(&found(private))["endpointAccess"], json!({"public": false, "private": true}));
    let mut ipv6 = plain();
    ipv6["kubernetesNetworkConfig"] = json!({"serviceIpv6Cidr": "fd00::/108", "ipFamily": "ipv6"});
    let spec = eks(&found(ipv6));
    assert_eq!((&spec["ipFamily"], &spec["serviceCIDR"]), (&json!("ipv6"), &Value::Null));
    // An empty configuration says nothing.
    let addons = json!([{"addonName": "coredns", "addonVersion": "v1", "status": "ACTIVE", "configurationValues": "{}"}]);
    let spec = eks(&Found { addons: read(addons), ..found(plain()) });
    assert_eq!(spec["addons"], json!([{"name": "coredns", "version": "v1"}]));
}

#[test]
fn the_identity_decides_about_names_and_has_to_exist() {
    let mut cluster = plain();
    cluster["name"] = json!("prod");
    let found = found(cluster);
    let obstacles = |identity: &Identity| of_found(&found, &adopter(), identity).unwrap().obstacles;
    let refused = obstacles(&identity(&json!({})));
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(
        refused[0].contains("does not allow the name prod")
            && refused[0].contains("allowedControlPlaneNames")
    );
    assert!(obstacles(&identity(&json!({"allowedControlPlaneNames": ["pro*"]}))).is_empty());
    assert_eq!(
        obstacles(&Identity::Unknown),
        ["not known: what the FooClusterIdentity default allows"],
        "the status is not 0"
    );
    let missing = obstacles(&Identity::Missing);
    assert!(
        missing.len() == 1 && missing[0].starts_with("there is no FooClusterIdentity default"),
        "{missing:?}"
    );
    // Which namespaces have a label is for the administrator to know.
    let labels = json!({"allowedNamespaces": {"list": ["other"], "selector": {"matchLabels": {"a": "b"}}}});
    assert_eq!(obstacles(&identity(&labels)).len(), 1);
    assert_eq!(obstacles(&identity(&json!({"allowedNamespaces": null}))).len(), 2);
}

#[test]
fn more_than_the_objects_can_have_is_in_the_way() {
    let many = |number: usize, item: &dyn Fn(usize) -> Value| Value::Array((0..number).map(item).collect());
    let mut cluster = plain();
    cluster["resourcesVpcConfig"]["publicAccessCidrs"] =
        many(41, &|index| json!(format!("192.0.2.{index}/32")));
    cluster["resourcesVpcConfig"]["subnetIds"] = many(17, &|index| json!(format!("subnet-{index}")));
    cluster["tags"] = Value::Object((0..41).map(|index| (format!("key-{index}"), json!("a"))).collect());
    let user = |index: usize| json!({"principalArn": format!("arn:aws:iam::123456789012:user/{index}"), "type": "STANDARD"});
    let found = Found {
        addons: read(many(
            51,
            &|index| json!({"addonName": format!("a{index}"), "addonVersion": "v1", "status": "ACTIVE"}),
        )),
        entries: read(many(201, &user)),
        associations: read(many(
            201,
            &|index| json!({"namespace": "web", "serviceAccount": format!("a{index}")}),
        )),
        groups: read(many(
            65,
            &|index| json!({"AutoScalingGroupName": "workers", "VPCZoneIdentifier": format!("subnet-{index}")}),
        )),
        ..found(cluster)
    };
    let obstacles = adoption(&found).obstacles;
    let counted: Vec<&str> = obstacles.iter().map(|it| it.split(':').next().unwrap()).collect();
    let expected = [
        "the cluster has 17 subnets",
        "the cluster has 41 ranges of the public endpoint",
        "the cluster has 201 access entries",
        "the cluster has 51 add-ons",
        "the cluster has 201 pod identity associations",
        "the cluster has 41 tags",
        "the cluster has 65 subnets of control plane and Nodes",
    ];
    assert_eq!(counted, expected);
}

#[test]
fn consent_to_another_cluster_is_in_the_way() {
    let mut cluster = plain();
    cluster["tags"] = json!({"infrastructure.foo.com/adoptable": "team/other"});
    let adoption = adoption(&found(cluster));
    assert_eq!(
        adoption.obstacles,
        ["the owner of the account has consented to the adoption by team/other, not by team/prod"]
    );
}

#[test]
fn what_eks_has_and_the_spec_has_not_is_named_wherever_it_is() {
    let mut cluster = plain();
    cluster["resourcesVpcConfig"]["controlPlaneEgressMode"] = json!("x");
    cluster["controlPlaneScalingConfig"] = json!({"tier": "tier-64xl"});
    let associations = json!([{
        "namespace": "web", "serviceAccount": "front", "roleArn": "arn:aws:iam::123456789012:role/front", "policy": "{}",
    }]);
    let addons = json!([{
        "addonName": "coredns", "addonVersion": "v1", "status": "ACTIVE", "publisher": "eks", "owner": "aws",
        "namespaceConfig": {"namespace": "dns"},
    }]);
    let found = Found { addons: read(addons), associations: read(associations), ..found(cluster) };
    let left = adoption(&found).left;
    for expected in [
        "namespaceConfig of the add-on coredns",
        "policy of the pod identity association of web/front",
        "scaling tier tier-64xl",
        "controlPlaneEgressMode of the VPC configuration",
    ] {
        assert!(left.iter().any(|it| it.starts_with(expected)), "{expected}: {left:#?}");
    }
    assert_eq!(left.len(), 4, "{left:#?}");
}

#[test]
fn what_can_never_be_adopted_is_refused() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut cluster = plain();
        change(&mut cluster);
        format!("{:#}", of_found(&found(cluster), &adopter(), &identity(&json!({}))).unwrap_err())
    };
    for owner in ["control-plane", "cluster", "installation"] {
        let tagged =
            |cluster: &mut Value| cluster["tags"] = json!({format!("infrastructure.foo.com/{owner}"): "x"});
        assert!(refused(&tagged).starts_with("team_prod belongs to x already"), "{owner}");
    }
    assert!(refused(&|it| it["outpostConfig"] = json!({"outpostArns": ["x"]})).contains("on an Outpost"));
    assert!(
        refused(&|it| it["connectorConfig"] = json!({"provider": "OTHER"})).contains("does not run in EKS")
    );
    assert!(refused(&|it| it["status"] = json!("DELETING")).ends_with("is being deleted"));
    assert!(refused(&|it| it["version"] = json!("2.0")).contains("the version \"2.0\""));
    assert!(refused(&|it| it["accessConfig"] = json!({"authenticationMode": "NEWER"})).contains("NEWER"));
}

#[test]
fn each_status_that_is_not_active_says_what_to_wait_for() {
    for (status, expected) in [
        ("ACTIVE", None),
        ("UPDATING", Some("EKS updates the cluster: wait until the update ends")),
        ("CREATING", Some("the cluster is CREATING: wait until it is ACTIVE")),
        ("FAILED", Some("the cluster is FAILED: it has to be ACTIVE")),
    ] {
        let mut cluster = plain();
        cluster["status"] = json!(status);
        assert_eq!(adoption(&found(cluster)).obstacles.first().map(String::as_str), expected, "{status}");
    }
}

/// What EKS is called by is in a shell's words.
#[test]
fn consent_is_a_command_until_it_is_given() {
    let commands = |cluster: Value, fields: &Value| {
        let adoption = of_found(&found(cluster), &adopter(), &identity(fields)).unwrap();
        (adoption.consent, adoption.permission)
    };
    let (consent, permission) = commands(plain(), &json!({"allowAdoption": false}));
    assert_eq!(
        consent,
        [
            "aws eks tag-resource --region eu-central-1 --resource-arn 'arn:aws:eks:eu-central-1:123456789012:cluster/team_prod' --tags \
          'infrastructure.foo.com/adoptable=team/prod'"
        ]
    );
    let patch = r#"kubectl patch fooclusteridentity default --type merge --patch '{"spec": {"allowAdoption": true}}'"#;
    assert_eq!(permission, [patch]);
    let mut cluster = plain();
    cluster["tags"] = json!({"infrastructure.foo.com/adoptable": "team/other"});
    assert_eq!(commands(cluster.clone(), &json!({})).0.len(), 1, "the tag of another Cluster");
    cluster["tags"] = json!({"infrastructure.foo.com/adoptable": "team/prod"});
    assert_eq!(commands(cluster, &json!({})), (vec![], vec![]));
}

async fn is_free(server: &FakeApiServer, eks: &str) -> Result<(), String> {
    let client = server.client();
    let here = Adopter { namespace: "default".to_owned(), name: "c".to_owned(), ..adopter() };
    check_free(&Reads::new(&client, Some("default")), eks, &here).await.map_err(|error| format!("{error:#}"))
}

#[tokio::test]
async fn objects_that_exist_are_not_changed_unless_they_adopt_the_cluster() {
    let server = FakeApiServer::new();
    assert_eq!(is_free(&server, "prod").await, Ok(()));
    assert_eq!(
        is_free(&world(), "prod").await,
        Err("Cluster c exists: choose another name with --cluster".to_owned())
    );
    let network = |region: &str| -> FooCluster {
        read(json!({
            "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooCluster", "metadata": {"namespace": "default", "name": "c"},
            "spec": {"region": region, "network": {"existing": {"subnets": [{"id": "subnet-1"}]}}},
        }))
    };
    server.create(&network("us-east-1")).unwrap();
    assert_eq!(
        is_free(&server, "prod").await,
        Err("FooCluster c exists: choose another name with --cluster".to_owned())
    );
    let control_plane: FooControlPlane = read(json!({
        "apiVersion": "controlplane.foo.com/v1alpha1", "kind": "FooControlPlane", "metadata": {"namespace": "default", "name": "c"},
        "spec": {"version": "v1.34.0", "eks": {"name": "prod", "roleARN": "arn:aws:iam::123456789012:role/eks", "adopt": true}},
    }));
    server.create(&control_plane).unwrap();
    let other = is_free(&server, "other").await.unwrap_err();
    assert!(other.starts_with("FooControlPlane c exists and does not adopt other"), "{other}");
    assert_eq!(
        is_free(&server, "prod").await,
        Err("FooCluster c exists and is in us-east-1, not in eu-central-1".to_owned())
    );
    let edited = server.edit("default", "c", |it: &mut FooCluster| {
        *it = FooCluster { spec: network("eu-central-1").spec, ..it.clone() }
    });
    edited.unwrap();
    assert_eq!(is_free(&server, "prod").await, Ok(()));
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_before_anything_is_read() {
    let server = world();
    for (command, expected) in [
        ("adopt-cluster prod", "name the region of the EKS cluster with --region"),
        ("adopt-cluster my/prod --region eu-central-1", "my/prod is no name of an EKS cluster"),
        (
            "adopt-cluster prod --region eu-central-1 -A",
            "--all-namespaces does not say where the Cluster is to be",
        ),
        ("adopt-cluster prod --region eu-central-1 --cluster -", "- is no name of a Cluster"),
    ] {
        let ran = run(&server, command).await;
        let error = ran.ended.as_ref().unwrap_err();
        assert!(error.is::<Usage>() && ran.error().contains(expected), "{command}: {}", ran.error());
    }
    let ran = run(&server, "adopt-cluster c --region eu-central-1").await;
    assert_eq!(ran.error(), "Cluster c exists: choose another name with --cluster");
    assert!(ran.output.is_empty() && server.requests().writes().is_empty());
}
