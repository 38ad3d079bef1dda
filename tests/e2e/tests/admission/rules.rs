//! Every rule: what breaks it is refused with its message, what is just within it is accepted.

use super::server::{Kind, cluster, is_refusal, on_server, pool, with};
use anyhow::Result;
use serde_json::{Value, json};

fn mix() -> Value {
    json!({"overrides": [{"instanceType": "m7i.large"}, {"instanceType": "m6i.large"}]})
}

/// Every field that a user may write, each with a value that differs from its default.
fn full_pool() -> Value {
    json!({
        "maxSize": 20,
        "autoscaling": {"minSize": 1, "maxSize": 20, "defaultInstanceWarmupSeconds": 300},
        "mixedInstances": {
            "overrides": [{"instanceType": "m7i.large"}, {"instanceType": "m6i.large"}],
            "onDemandBase": 1,
            "onDemandPercentage": 25,
            "onDemandStrategy": "lowest-price",
            "spotStrategy": "capacity-optimized-prioritized",
            "spotMaxPrice": "0.125",
        },
        "ami": {"ids": {"x86_64": "ami-0a000000000000001", "arm64": "ami-0a000000000000002"}},
        "iamInstanceProfile": "nodes.foo.com",
        "sshKeyName": "operators",
        "securityGroups": [{"id": "sg-1"}, {"tags": {"role": "node"}}],
        "rootVolume": {
            "sizeGiB": 100, "type": "gp3", "iops": 4000, "throughput": 250, "encrypted": true,
            "kmsKeyID": "alias/nodes", "deleteOnTermination": false,
        },
        "volumes": [{
            "deviceName": "/dev/xvdb", "sizeGiB": 500, "type": "st1", "snapshotID": "snap-0a", "initializationRate": 300,
        }],
        "metadataOptions": {
            "httpTokens": "optional", "httpPutResponseHopLimit": 2, "httpEndpoint": "enabled",
            "httpProtocolIPv6": "enabled",
        },
        "detailedMonitoring": true,
        "associatePublicIPAddress": false,
        "tenancy": "dedicated",
        "cpuOptions": {"coreCount": 2, "threadsPerCore": 1, "amdSEVSNP": "disabled"},
        "bandwidthWeighting": "vpc-1",
        "nitroEnclaves": true,
        "privateDNSNameOptions": {
            "hostnameType": "resource-name", "enableResourceNameDNSARecord": true,
            "enableResourceNameDNSAAAARecord": false,
        },
        "placement": {"groupName": "a group (1)", "partitionNumber": 7},
        "capacityReservation": {"preference": "open"},
        "licenseConfigurations": ["arn:aws:license-manager:eu-central-1:123456789012:license-configuration:lic-0a"],
        "launchTemplateOverlay": {
            "BlockDeviceMappings": [
                {"DeviceName": "/dev/xvdb", "Ebs": {"EbsCardIndex": 1}},
                {"DeviceName": "/dev/xvdc", "NoDevice": ""},
                {"DeviceName": "/dev/xvdd", "VirtualName": "ephemeral23"},
            ],
            "CpuOptions": {"NestedVirtualization": "disabled"},
            "DisableApiStop": true,
            "DisableApiTermination": false,
            "EbsOptimized": true,
            "InstanceInitiatedShutdownBehavior": "terminate",
            "KernelId": "aki-0a",
            "MaintenanceOptions": {"AutoRecovery": "disabled"},
            "RamDiskId": "ari-0a",
            "SecondaryInterfaces": [{
                "DeviceIndex": 1, "NetworkCardIndex": 2, "PrivateIpAddressCount": 3, "SecondarySubnetId": "ss-0a",
            }],
            "TagSpecifications": [
                {"ResourceType": "network-interface", "Tags": [{"Key": "team", "Value": "platform"}, {"Key": "a b", "Value": ""}]},
            ],
        },
        "subnets": [{"id": "subnet-1"}, {"tags": {"tier": "private", "team": ""}}],
        "scaleIn": {"policy": "Newest", "maxConcurrentDrains": 3, "stabilizationSeconds": 30},
        "rollout": {
            "strategy": "OnDelete", "maxSurge": "25%", "maxUnavailable": 2, "readyTimeoutSeconds": 600,
            "onFailure": "Rollback",
        },
        "maxInstanceLifetimeSeconds": 2_592_000,
        "maintenanceWindows": [
            {
                "days": ["Saturday", "Sunday"], "start": "02:00", "durationSeconds": 14_400,
                "timeZone": "Europe/Berlin",
            },
            {"start": "23:59", "durationSeconds": 900},
        ],
        "remediation": {
            "enabled": false, "maxInFlight": "10%", "unhealthyLimit": 3, "joinTimeoutSeconds": 0,
        },
        "targetGroups": ["arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/web/0123456789abcdef"],
        "classicLoadBalancers": ["legacy-Web1"],
        "vpcLatticeTargetGroups": ["arn:aws:vpc-lattice:eu-central-1:123456789012:targetgroup/tg-0123456789abcdef0"],
        "targetHealth": {
            "requiredForAvailability": false, "replaceUnhealthy": false, "gracePeriodSeconds": 60,
        },
        "lifecycleHooks": [
            {
                "name": "boot/config_1-a", "transition": "Launching", "heartbeatTimeoutSeconds": 30,
                "defaultResult": "Abandon",
                "notificationTargetARN": "arn:aws:sqs:eu-central-1:123456789012:waits",
                "roleARN": "arn:aws:iam::123456789012:role/path/a.hooks.infrastructure.foo.com",
                "notificationMetadata": "{\"team\": \"a\"}\n",
            },
            {"name": "evict", "transition": "Terminating", "heartbeatTimeoutSeconds": 7_200, "defaultResult": "Continue"},
        ],
        "suspendedProcesses": ["AlarmNotification", "InstanceRefresh"],
        "notifications": [
            {"topicARN": "arn:aws:sns:eu-central-1:123456789012:ops", "types": ["Launch", "TerminateError"]},
        ],
        "deletionPolicy": "Retain",
        "tags": {"team": "platform", "cost-center": "42"},
    })
}

fn full_identity() -> Value {
    let in_tiers = json!({"key": "tier", "operator": "In", "values": ["gold"]});
    json!({
        "allowedNamespaces": {
            "list": ["a", "b"],
            "selector": {"matchLabels": {"team": "x"}, "matchExpressions": [in_tiers]},
        },
        "role": {
            "arn": "arn:aws-us-gov:iam::123456789012:role/path/pools",
            "externalID": "of-this-cluster:1",
            "sessionName": "foo@prod",
            "source": {"name": "base"},
        },
    })
}

#[test]
fn an_identity_is_exactly_one_thing() {
    on_server(async |server| {
        let one = "set exactly one of controller, secret and role";
        let (own, secret) = (json!({"controller": {}}), json!({"secret": {"name": "keys"}}));
        server.accepts(Kind::ClusterIdentity, &own).await?;
        server.accepts(Kind::ClusterIdentity, &secret).await?;
        server.refuses(Kind::ClusterIdentity, json!({}), one).await?;
        server.refuses(Kind::ClusterIdentity, with(own.clone(), secret.clone()), one).await?;
        server.refuses(Kind::ClusterIdentity, with(full_identity(), secret.clone()), one).await?;
        // It may become another.
        server.accepts_change(Kind::ClusterIdentity, own.clone(), secret).await?;
        let role =
            |role: Value| json!({"role": with(json!({"arn": "arn:aws:iam::123456789012:role/x"}), role)});
        server.accepts(Kind::ClusterIdentity, &role(json!({}))).await?;
        for (wrong, field) in [
            (json!({"arn": "arn:aws:iam::123456789012:user/x"}), "spec.role.arn"),
            (json!({"arn": "x"}), "spec.role.arn"),
            (json!({"externalID": "with a blank"}), "spec.role.externalID"),
            (json!({"sessionName": "a/b"}), "spec.role.sessionName"),
            (json!({"sessionName": "x"}), "spec.role.sessionName"),
        ] {
            server.refuses(Kind::ClusterIdentity, role(wrong), field).await?;
        }
        Ok(())
    });
}

/// In Kubernetes an empty selector selects all, in other providers none: users should not have to know.
#[test]
fn an_identity_names_the_namespaces_that_it_allows() {
    on_server(async |server| {
        let allowing = |allowed: Value| json!({"controller": {}, "allowedNamespaces": allowed});
        for good in [json!({}), json!({"list": ["a"]}), json!({"selector": {"matchLabels": {"a": "b"}}})] {
            server.accepts(Kind::ClusterIdentity, &allowing(good)).await?;
        }
        server
            .refuses(Kind::ClusterIdentity, allowing(json!({"list": []})), "should have at least 1 items")
            .await?;
        for empty in [json!({}), json!({"matchLabels": {}}), json!({"matchExpressions": []})] {
            let message = "selector must not be empty";
            server.refuses(Kind::ClusterIdentity, allowing(json!({"selector": empty})), message).await?;
        }
        Ok(())
    });
}

#[test]
fn a_full_object_of_each_kind_is_stored_as_it_was_written() {
    on_server(async |server| {
        let control_plane =
            json!({"version": "v1.36.3", "external": {"kubeconfigSecretRef": {"name": "existing"}}});
        let full_cluster = json!({
            "region": "eu-central-1",
            "identityRef": {"name": "prod"},
            "network": {
                "existing": {
                    "vpcID": "vpc-1",
                    "subnets": [{"id": "subnet-1"}, {"tags": {"tier": "private"}}],
                    "securityGroups": [{"id": "sg-1"}, {"tags": {"role": "node"}}],
                },
            },
            "controlPlaneEndpoint": {"host": "api.example.com", "port": 443},
        });
        let written_by_us = json!({
            "groupName": "a-group-of-that-name", "launchTemplateName": "another-name", "adopt": true,
            "providerID": "arn:aws:autoscaling:::x", "providerIDList": [],
        });
        let metadata = json!({"labels": {"a": "b"}, "annotations": {"c": "d"}});
        let template = |spec: &Value| json!({"template": {"metadata": metadata, "spec": spec}});
        let machine = json!({"providerID": "aws:///eu-west-1a/i-1", "instanceID": "i-1"});
        let on_spot = with(
            full_pool(),
            json!({
                "mixedInstances": null, "instanceType": "m7i.large", "spot": {"maxPrice": "0.1"}, "capacityReservation": null,
            }),
        );
        let warmed = with(
            full_pool(),
            json!({
                "mixedInstances": null, "instanceType": "m7i.large",
                "warmPool": {"minSize": 1, "maxPreparedCapacity": 5, "state": "Running"},
                "associatePublicIPAddress": null,
                "networkInterfaces": [{"networkCard": 1, "count": 2, "securityGroups": [{"id": "sg-1"}, {"tags": {"a": "b"}}]}],
            }),
        );
        let in_block = with(
            full_pool(),
            json!({
                "mixedInstances": null, "instanceType": "m7i.large", "autoscaling": null,
                "capacityReservation": {"block": {"id": "cr-0a", "drainLeadSeconds": 600}},
            }),
        );
        for (kind, spec) in [
            (Kind::MachinePool, with(full_pool(), written_by_us)),
            (Kind::MachinePool, on_spot),
            (Kind::MachinePool, in_block),
            (Kind::MachinePool, warmed),
            (Kind::MachinePoolTemplate, template(&full_pool())),
            (Kind::Cluster, full_cluster.clone()),
            (Kind::ClusterTemplate, template(&full_cluster)),
            (Kind::ControlPlane, control_plane.clone()),
            (Kind::ControlPlaneTemplate, template(&control_plane)),
            (Kind::Machine, machine),
            (Kind::ClusterIdentity, full_identity()),
        ] {
            let stored = server.accepts(kind, &spec).await?;
            is_within(&spec, &stored, &format!("{kind:?}"));
        }
        Ok(())
    });
}

/// Fails unless all that was written is there; defaults may have come to it.
fn is_within(written: &Value, stored: &Value, path: &str) {
    match (written, stored) {
        (Value::Object(fields), Value::Object(_)) => {
            for (name, value) in fields {
                is_within(value, &stored[name.as_str()], &format!("{path}.{name}"));
            }
        }
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            for (item, other) in items.iter().zip(others) {
                is_within(item, other, path);
            }
        }
        _ => assert_eq!(written, stored, "{path}"),
    }
}

#[test]
fn a_warm_pool_has_on_demand_instances_and_numbers_that_fit() {
    on_server(async |server| {
        let warms = |warm_pool: Value| with(pool(), json!({"warmPool": warm_pool}));
        let mixed = |percentage: i32| {
            let mixed = with(mix(), json!({"onDemandBase": 1, "onDemandPercentage": percentage}));
            with(warms(json!({"minSize": 1})), json!({"instanceType": null, "mixedInstances": mixed}))
        };
        let external = json!({"autoscaling": {"minSize": 0, "maxSize": 5}});
        for good in [
            warms(json!({"minSize": 1})),
            warms(json!({"minSize": 5, "maxPreparedCapacity": 5})),
            warms(json!({"maxPreparedCapacity": 1})),
            with(warms(json!({})), external.clone()),
            mixed(100),
        ] {
            server.accepts(Kind::MachinePool, &good).await?;
        }
        let spot = "EC2 Auto Scaling has no warm pools of spot instances";
        let none = "warmPool needs minSize or maxPreparedCapacity";
        let stored =
            json!({"iamInstanceProfile": "nodes", "userDataStorage": {"s3": {"bucket": "user-data"}}});
        for (bad, message) in [
            (warms(json!({})), none),
            (warms(json!({"maxPreparedCapacity": 0})), none),
            (with(warms(json!({"maxPreparedCapacity": 0})), external), none),
            (with(warms(json!({"minSize": 1})), stored), "warmPool cannot be combined with userDataStorage"),
            (
                warms(json!({"minSize": 2, "maxPreparedCapacity": 1})),
                "minSize must not exceed maxPreparedCapacity",
            ),
            (warms(json!({"minSize": -1})), "warmPool.minSize"),
            (warms(json!({"minSize": 1, "state": "Hibernated"})), "warmPool.state"),
            (with(warms(json!({"minSize": 1})), json!({"spot": {}})), spot),
            (mixed(99), spot),
        ] {
            server.refuses(Kind::MachinePool, bad, message).await?;
        }
        Ok(())
    });
}

#[test]
fn a_pool_has_either_one_type_or_a_mix() {
    on_server(async |server| {
        let either = "set either instanceType or mixedInstances";
        server.refuses(Kind::MachinePool, with(pool(), json!({"mixedInstances": mix()})), either).await?;
        server.refuses(Kind::MachinePool, with(pool(), json!({"instanceType": null})), either).await?;
        let mixed = with(pool(), json!({"instanceType": null, "mixedInstances": mix()}));
        server.accepts(Kind::MachinePool, &mixed).await?;
        // One may become the other.
        server.accepts_change(Kind::MachinePool, pool(), mixed.clone()).await?;
        let spot = with(mixed, json!({"spot": {}}));
        server
            .refuses(
                Kind::MachinePool,
                spot,
                "spot cannot be combined with mixedInstances: set mixedInstances.onDemandPercentage and mixedInstances.spotMaxPrice",
            )
            .await?;
        server.accepts(Kind::MachinePool, &with(pool(), json!({"spot": {}}))).await?;
        let nothing = with(pool(), json!({"instanceType": null, "mixedInstances": {"overrides": []}}));
        server.refuses(Kind::MachinePool, nothing, "should have at least 1 items").await
    });
}

#[test]
fn lifetimes_and_maintenance_windows_have_limits() {
    on_server(async |server| {
        let of = |fields: Value| with(pool(), fields);
        for seconds in [3_600, 31_536_000] {
            let lives = of(json!({"maxInstanceLifetimeSeconds": seconds}));
            server.accepts(Kind::MachinePool, &lives).await?;
        }
        for (seconds, message) in
            [(3_599, "greater than or equal to 3600"), (31_536_001, "less than or equal to")]
        {
            let lives = of(json!({"maxInstanceLifetimeSeconds": seconds}));
            server.refuses(Kind::MachinePool, lives, message).await?;
        }
        let window = json!({"start": "02:00", "durationSeconds": 3_600});
        let windows = |list: Vec<Value>| of(json!({"maintenanceWindows": list}));
        server.accepts(Kind::MachinePool, &windows(vec![window.clone(); 10])).await?;
        let many = windows(vec![window.clone(); 11]);
        server.refuses(Kind::MachinePool, many, "must have at most 10 items").await?;
        for (changed, message) in [
            (json!({"start": "24:00"}), "should match"),
            (json!({"start": "2:00"}), "start"),
            (json!({"durationSeconds": 899}), "greater than or equal to 900"),
            (json!({"durationSeconds": 604_801}), "less than or equal to 604800"),
            (json!({"timeZone": "Europe/Berlin\n"}), "should match"),
            (json!({"timeZone": "../UTC"}), "should match"),
            (json!({"days": ["Monday", "Monday"]}), "Duplicate value"),
            (json!({"days": ["Mon"]}), "Unsupported value"),
            (json!({"durationSeconds": null}), "Required value"),
        ] {
            let changed = windows(vec![with(window.clone(), changed)]);
            server.refuses(Kind::MachinePool, changed, message).await?;
        }
        Ok(())
    });
}

#[test]
fn user_data_in_s3_need_a_role_and_a_bucket_that_can_be_one() {
    on_server(async |server| {
        let of = |bucket: &str, prefix: &str| {
            let s3 = json!({"bucket": bucket, "prefix": prefix});
            with(pool(), json!({"iamInstanceProfile": "workers", "userDataStorage": {"s3": s3}}))
        };
        for prefix in ["a", "clusters/team-a/0.1_b", &"a".repeat(32)] {
            server.accepts(Kind::MachinePool, &of("my-user-data-1", prefix)).await?;
        }
        let without = with(of("nodes", "a"), json!({"iamInstanceProfile": null}));
        server.refuses(Kind::MachinePool, without, "userDataStorage needs iamInstanceProfile").await?;
        for (bucket, prefix, message) in [
            ("with.dots", "a", "should match"),
            ("Upper", "a", "should match"),
            ("no", "a", "should be at least 3"),
            ("nodes", "/a", "should match"),
            ("nodes", "a/", "should match"),
            ("nodes", "../a", "should match"),
            ("nodes", "a b", "should match"),
            ("nodes", "abcdefghijklmnopqrstuvwxyz0123456", "may not be more than 32"),
        ] {
            server.refuses(Kind::MachinePool, of(bucket, prefix), message).await?;
        }
        server.accepts_change(Kind::MachinePool, pool(), of("nodes", "a")).await
    });
}

#[test]
fn a_pool_names_its_image_in_exactly_one_way() {
    on_server(async |server| {
        let one = "set exactly one of id, ids, ssmParameter, lookup and recommended";
        let ids = || json!({"ids": {"x86_64": "ami-0a000000000000001", "arm64": "ami-0a000000000000002"}});
        let of = |ami: Value| json!({"instanceType": "m7i.large", "ami": ami});
        let parameter = || json!({"ssmParameter": "/images/{version}/{arch}:3"});
        let lookup = |fields: Value| json!({"lookup": with(json!({"owner": "self", "name": "node-{version}-*"}), fields)});
        let recommended = |fields: Value| json!({"recommended": with(json!({"family": "AL2023"}), fields)});
        for good in [
            ids(),
            parameter(),
            json!({"ssmParameter": "arn:aws:ssm:eu-central-1:123456789012:parameter/images/node"}),
            lookup(json!({"architecture": "arm64"})),
            lookup(json!({"owner": "123456789012"})),
            recommended(json!({})),
            recommended(json!({"variant": "Neuron"})),
            recommended(json!({"family": "Bottlerocket", "variant": "Fips"})),
            with(recommended(json!({"family": "Ubuntu2404"})), json!({"policy": "Latest"})),
        ] {
            server.accepts(Kind::MachinePool, &of(good)).await?;
        }
        for (bad, message) in [
            (json!({}), one),
            (json!({"policy": "Latest"}), one),
            (with(parameter(), recommended(json!({}))), one),
            (with(parameter(), json!({"id": "ami-0a000000000000001"})), one),
            (with(ids(), json!({"id": "ami-0a000000000000001"})), one),
            (with(ids(), json!({"policy": "Latest"})), "policy is for an image that the provider looks up"),
            (json!({"ids": {"x86_64": "ami-0a000000000000001"}}), "arm64"),
            (json!({"ids": {"x86_64": "m7i.large", "arm64": "ami-0a000000000000002"}}), "should match"),
            (
                json!({"id": "ami-0a000000000000001", "policy": "Pinned"}),
                "policy is for an image that the provider looks up",
            ),
            (json!({"ssmParameter": "/images/{region}"}), "should match"),
            (json!({"ssmParameter": "/images/a b"}), "should match"),
            (json!({"lookup": {"name": "node-*"}}), "owner"),
            (lookup(json!({"owner": "anyone"})), "should match"),
            (lookup(json!({"name": "node-{arch"})), "should match"),
            (recommended(json!({"family": "Ubuntu2404", "variant": "Nvidia"})), "one variant of Ubuntu only"),
            (
                recommended(json!({"family": "Bottlerocket", "variant": "Neuron"})),
                "only AL2023 has the variant Neuron",
            ),
            (recommended(json!({"variant": "Fips"})), "only Bottlerocket has the variant Fips"),
            (with(recommended(json!({})), json!({"policy": "Never"})), "Unsupported value"),
        ] {
            server.refuses(Kind::MachinePool, of(bad), message).await?;
        }
        // One may follow the other.
        server.accepts_change(Kind::MachinePool, of(parameter()), of(recommended(json!({})))).await
    });
}

#[test]
fn sizes_are_in_order() {
    on_server(async |server| {
        let sized = |max_size: Value, min: i32, max: i32| {
            with(pool(), json!({"maxSize": max_size, "autoscaling": {"minSize": min, "maxSize": max}}))
        };
        server.accepts(Kind::MachinePool, &sized(json!(5), 5, 5)).await?;
        server.accepts(Kind::MachinePool, &sized(Value::Null, 0, 5)).await?;
        server.accepts(Kind::MachinePool, &with(pool(), json!({"maxSize": 0}))).await?;
        server.refuses(Kind::MachinePool, sized(json!(5), 4, 3), "minSize must not exceed maxSize").await?;
        server
            .refuses(Kind::MachinePool, sized(json!(5), 1, 6), "autoscaling.maxSize must not exceed maxSize")
            .await?;
        server
            .refuses(Kind::MachinePool, with(pool(), json!({"maxSize": -1})), "greater than or equal to 0")
            .await?;
        let drains = with(pool(), json!({"scaleIn": {"maxConcurrentDrains": 0}}));
        server.refuses(Kind::MachinePool, drains, "greater than or equal to 1").await
    });
}

#[test]
fn shares_are_numbers_or_percentages() {
    on_server(async |server| {
        let places = [
            ("rollout", "maxSurge"),
            ("rollout", "maxUnavailable"),
            ("remediation", "maxInFlight"),
            ("remediation", "unhealthyLimit"),
        ];
        for (part, field) in places {
            let share = |value: Value| with(pool(), json!({part: {field: value}}));
            for good in [json!(0), json!(10_000), json!("0%"), json!("7%"), json!("100%")] {
                server.accepts(Kind::MachinePool, &share(good)).await?;
            }
            for bad in
                [json!(-1), json!(10_001), json!("101%"), json!("5"), json!("5 %"), json!("-5%"), json!("")]
            {
                server
                    .refuses(Kind::MachinePool, share(bad), "a number from 0 to 10000 or a percentage")
                    .await?;
            }
        }
        let too_short = with(pool(), json!({"rollout": {"readyTimeoutSeconds": 59}}));
        server.refuses(Kind::MachinePool, too_short, "greater than or equal to 60").await
    });
}

#[test]
fn names_of_what_is_in_aws_never_change() {
    on_server(async |server| {
        let id = |id: Value| with(pool(), json!({"providerID": id}));
        let immutable = "providerID is written by the provider and cannot be changed";
        server.accepts_change(Kind::MachinePool, pool(), id(json!("arn:1"))).await?;
        server.refuses_change(Kind::MachinePool, id(json!("arn:1")), id(json!("arn:2")), immutable).await?;
        // As `kubectl replace` does it: the provider writes it again.
        server.accepts_change(Kind::MachinePool, id(json!("arn:1")), pool()).await?;

        let group = |name: &str| with(pool(), json!({"groupName": name}));
        let immutable = "groupName cannot be added, changed or removed later";
        server.refuses_change(Kind::MachinePool, group("one"), group("two"), immutable).await?;
        server.refuses_change(Kind::MachinePool, group("one"), pool(), immutable).await?;
        server.refuses_change(Kind::MachinePool, pool(), group("two"), immutable).await?;
        let template = |name: &str| with(group("one"), json!({"launchTemplateName": name}));
        let immutable = "launchTemplateName cannot be added, changed or removed later";
        server.refuses_change(Kind::MachinePool, template("one"), template("two"), immutable).await?;
        server.refuses_change(Kind::MachinePool, group("one"), template("two"), immutable).await?;
        let adopts = |adopt: bool| with(group("one"), json!({"adopt": adopt}));
        server.accepts_change(Kind::MachinePool, adopts(true), adopts(false)).await?;
        let nameless = with(pool(), json!({"adopt": true}));
        server.refuses(Kind::MachinePool, nameless, "adopt needs groupName").await?;
        let same = with(group("one"), json!({"maxSize": 3}));
        server.accepts_change(Kind::MachinePool, group("one"), same).await?;
        server.refuses(Kind::MachinePool, group("a:b"), "spec.groupName").await?;

        let elsewhere = with(cluster(), json!({"region": "us-east-1"}));
        server.refuses_change(Kind::Cluster, cluster(), elsewhere, "region is immutable").await?;
        let network = with(cluster(), json!({"network": {"existing": {"subnets": [{"id": "subnet-2"}]}}}));
        server.accepts_change(Kind::Cluster, cluster(), network).await?;
        let identity = |name: &str| with(cluster(), json!({"identityRef": {"name": name}}));
        server.accepts_change(Kind::Cluster, identity("one"), identity("two")).await?;

        let machine = |id: &str| json!({"providerID": format!("aws:///eu-west-1a/{id}"), "instanceID": id});
        let for_ever = "spec of a FooMachine is immutable";
        server.refuses_change(Kind::Machine, machine("i-1"), machine("i-2"), for_ever).await?;
        server.accepts_change(Kind::Machine, machine("i-1"), machine("i-1")).await
    });
}

#[test]
fn versions_of_control_planes_are_semantic_versions_behind_a_v() {
    on_server(async |server| {
        let control_plane = |version: &str| json!({"version": version, "external": {"kubeconfigSecretRef": {"name": "existing"}}});
        for good in ["v1.36.3", "v1.36.0-rc.1", "v1.36.3-eks-0a1b2c3", "v1.36.3+k3s1", "v1.36.3-x.7.z-1+b.2"]
        {
            server.accepts(Kind::ControlPlane, &control_plane(good)).await?;
        }
        let no_v = "version must begin with v in mode external, as in v1.36.3";
        server.refuses(Kind::ControlPlane, control_plane("1.36.3"), no_v).await?;
        let message = "version must be a semantic version, as in v1.36.3";
        for bad in ["v1.36", "latest", "v1.36.3 ", "v01.2.3", "v1.36.3-", "v1.36.3-rc.01", "v1.36.3\nx"] {
            server.refuses(Kind::ControlPlane, control_plane(bad), message).await?;
            let template = json!({"template": {"spec": control_plane(bad)}});
            server.refuses(Kind::ControlPlaneTemplate, template, message).await?;
        }
        Ok(())
    });
}

#[test]
fn a_template_describes_no_pool_in_particular() {
    on_server(async |server| {
        let template = |spec: Value| json!({"template": {"spec": spec}});
        for field in [
            json!({"providerID": "arn:1"}),
            json!({"providerIDList": ["aws:///eu-west-1a/i-1"]}),
            json!({"groupName": "one"}),
            json!({"launchTemplateName": "one"}),
            json!({"groupName": "one", "adopt": true}),
        ] {
            let message = "providerID, providerIDList, groupName, launchTemplateName and adopt belong to one pool, not to a template";
            server.refuses(Kind::MachinePoolTemplate, template(with(pool(), field)), message).await?;
        }
        // The rules of a pool hold for its template.
        let both = template(with(pool(), json!({"mixedInstances": mix()})));
        server.refuses(Kind::MachinePoolTemplate, both, "set either instanceType or mixedInstances").await?;
        let larger = with(pool(), json!({"instanceType": "m7i.xlarge"}));
        server.accepts_change(Kind::MachinePoolTemplate, template(pool()), template(larger)).await
    });
}

#[test]
fn reserved_tags_of_the_provider_and_of_aws_are_refused() {
    on_server(async |server| {
        let tagged = |key: &str| with(pool(), json!({"tags": {"team": "platform", key: "x"}}));
        let message = "tags must not begin with aws: or infrastructure.foo.com/";
        server.refuses(Kind::MachinePool, tagged("aws:cloudformation:stack-name"), message).await?;
        server.refuses(Kind::MachinePool, tagged("infrastructure.foo.com/pool"), message).await?;
        server.accepts(Kind::MachinePool, &tagged("my-aws:tag")).await?;
        let many: serde_json::Map<String, Value> =
            (0..41).map(|number| (format!("tag-{number}"), json!("x"))).collect();
        server.refuses(Kind::MachinePool, with(pool(), json!({"tags": many})), "at most 40 items").await
    });
}

#[test]
fn a_part_of_the_network_is_named_by_id_or_by_tags() {
    on_server(async |server| {
        let message = "set either id or tags";
        let both = json!([{"id": "x-1", "tags": {"a": "b"}}]);
        for bad in [both, json!([{}])] {
            for field in ["subnets", "securityGroups"] {
                server.refuses(Kind::MachinePool, with(pool(), json!({field: bad})), message).await?;
                let network = with(json!({"subnets": [{"id": "subnet-1"}]}), json!({field: bad}));
                let cluster = with(cluster(), json!({"network": {"existing": network}}));
                let template = json!({"template": {"spec": cluster}});
                server.refuses(Kind::Cluster, cluster, message).await?;
                server.refuses(Kind::ClusterTemplate, template, message).await?;
            }
        }
        let none = with(cluster(), json!({"network": {"existing": {"subnets": []}}}));
        server.refuses(Kind::Cluster, none, "should have at least 1 items").await
    });
}

#[test]
fn enums_and_prices_are_those_of_aws() {
    on_server(async |server| {
        let volume = with(pool(), json!({"rootVolume": {"sizeGiB": 10, "type": "gp9"}}));
        server.refuses(Kind::MachinePool, volume, "Unsupported value: \"gp9\"").await?;
        let mut strategy = mix();
        strategy["spotStrategy"] = json!("cheapest");
        let mixed = with(pool(), json!({"instanceType": null, "mixedInstances": strategy}));
        server.refuses(Kind::MachinePool, mixed, "Unsupported value: \"cheapest\"").await?;
        let price = with(pool(), json!({"spot": {"maxPrice": "$1"}}));
        server.refuses(Kind::MachinePool, price, "spec.spot.maxPrice").await
    });
}

/// One number among the capacities, and cluster-autoscaler drops the whole group without a word.
#[test]
fn capacities_are_strings() {
    on_server(async |server| {
        server.create(Kind::MachinePool, "capacities", pool()).await?;
        let status =
            |status: Value| async move { server.set_status(Kind::MachinePool, "capacities", status).await };
        let refused: Result<()> = status(json!({"capacity": {"cpu": 4}})).await;
        is_refusal(refused, "must be of type string")?;
        status(json!({"capacity": {"cpu": "4", "nvidia.com/gpu": "1"}})).await
    });
}

#[test]
fn a_volume_that_ec2_would_not_launch_is_refused_at_once() {
    on_server(async |server| {
        let data = |volume: Value| {
            let volume = with(json!({"deviceName": "/dev/xvdb", "sizeGiB": 100}), volume);
            with(pool(), json!({"volumes": [volume]}))
        };
        for right in [
            json!({}),
            json!({"iops": 3000, "sizeGiB": 1}),
            json!({"iops": 50_000, "throughput": 2000}),
            json!({"throughput": 750}),
            json!({"type": "io1", "iops": 5000}),
            json!({"type": "io2", "iops": 100_000}),
            json!({"type": "st1", "sizeGiB": 125}),
            json!({"type": "gp2", "sizeGiB": 16_384}),
            json!({"encrypted": true, "kmsKeyID": "alias/nodes"}),
        ] {
            server.accepts(Kind::MachinePool, &data(right)).await?;
        }
        for (wrong, message) in [
            (json!({"type": "io1"}), "io1 and io2 require iops"),
            (json!({"type": "io2"}), "io1 and io2 require iops"),
            (json!({"type": "gp2", "iops": 3000}), "iops can be set for gp3, io1 and io2 only"),
            (json!({"type": "gp2", "throughput": 125}), "throughput can be set for gp3 only"),
            (json!({"iops": 2999}), "gp3 allows 3000 to 80000 iops"),
            (json!({"iops": 50_001}), "at most 500 per GiB"),
            (json!({"throughput": 751}), "at most 0.25 MiB/s"),
            (json!({"type": "io1", "iops": 5001}), "at most 50 per GiB"),
            (json!({"type": "io2", "iops": 100_001}), "at most 1000 iops per GiB"),
            (json!({"type": "st1", "sizeGiB": 124}), "at least 125 GiB"),
            (json!({"type": "io1", "iops": 100, "sizeGiB": 3}), "at least 4 GiB"),
            (json!({"type": "gp2", "sizeGiB": 16_385}), "at most 16384 GiB"),
            (json!({"kmsKeyID": "alias/nodes"}), "kmsKeyID requires encrypted: true"),
            (json!({"kmsKeyID": "alias/nodes", "encrypted": false}), "kmsKeyID requires encrypted: true"),
        ] {
            server.refuses(Kind::MachinePool, data(wrong), message).await?;
        }
        let root = |volume: Value| with(pool(), json!({"rootVolume": volume}));
        let slow = json!({"sizeGiB": 500, "type": "st1"});
        server.refuses(Kind::MachinePool, root(slow), "st1 and sc1 cannot be root volumes").await
    });
}

#[test]
fn options_of_instances_that_contradict_each_other_are_refused_at_once() {
    on_server(async |server| {
        let both = "set both coreCount and threadsPerCore, or neither";
        for (wrong, message) in [
            (json!({"cpuOptions": {"coreCount": 2}}), both),
            (json!({"cpuOptions": {"threadsPerCore": 1, "amdSEVSNP": "enabled"}}), both),
            (json!({"cpuOptions": {}}), "set coreCount and threadsPerCore, or amdSEVSNP"),
            (json!({"cpuOptions": {"coreCount": 2, "threadsPerCore": 3}}), "threadsPerCore"),
            (
                json!({"cpuOptions": {"amdSEVSNP": "enabled"}, "nitroEnclaves": true}),
                "EC2 has either cpuOptions.amdSEVSNP or nitroEnclaves",
            ),
            (json!({"instanceType": "p5.48xlarge", "efa": {"interfaces": 0}}), "interfaces"),
            (json!({"instanceType": "p5.48xlarge", "efa": {"primary": "ENA"}}), "primary"),
            (json!({"instanceType": "p5.48xlarge", "efa": {"others": "efa-only"}}), "others"),
            (
                json!({"instanceType": "p5.48xlarge", "efa": {}, "associatePublicIPAddress": false}),
                "associatePublicIPAddress cannot be combined with efa",
            ),
            (
                json!({"instanceType": null, "efa": {}, "mixedInstances": {"overrides": [{"instanceType": "p5.48xlarge"}]}}),
                "efa needs instanceType",
            ),
            (json!({"networkInterfaces": [{"count": 0}]}), "count"),
            (json!({"networkInterfaces": [{"networkCard": 64}]}), "networkCard"),
            (
                json!({"networkInterfaces": [{"securityGroups": [{"id": "sg-1", "tags": {"a": "b"}}]}]}),
                "set either id or tags",
            ),
            (json!({"networkInterfaces": vec![json!({}); 33]}), "networkInterfaces"),
            (
                json!({"networkInterfaces": [{}], "associatePublicIPAddress": false}),
                "associatePublicIPAddress cannot be combined with networkInterfaces",
            ),
            (json!({"tenancy": "host"}), "tenancy"),
            (
                json!({"autoscaling": {"minSize": 0, "maxSize": 1, "defaultInstanceWarmupSeconds": 3601}}),
                "defaultInstanceWarmupSeconds",
            ),
            (json!({"cpuCredits": "none"}), "cpuCredits"),
            (json!({"instanceType": "m7i.large", "cpuCredits": "standard"}), "cpuCredits is for burstable"),
            (
                json!({"instanceType": "trn1.2xlarge", "cpuCredits": "standard"}),
                "cpuCredits is for burstable",
            ),
            (json!({"bandwidthWeighting": "vpc-2"}), "bandwidthWeighting"),
            (json!({"privateDNSNameOptions": {"hostnameType": "ip"}}), "hostnameType"),
            (json!({"metadataOptions": {"httpEndpoint": "off"}}), "httpEndpoint"),
        ] {
            server.refuses(Kind::MachinePool, with(pool(), wrong), message).await?;
        }
        for right in [
            json!({"cpuOptions": {"amdSEVSNP": "disabled"}, "nitroEnclaves": true}),
            json!({"cpuOptions": {"amdSEVSNP": "enabled"}, "nitroEnclaves": false}),
            json!({"cpuOptions": {"amdSEVSNP": "enabled"}}),
            json!({"instanceType": "t3.large", "cpuCredits": "standard"}),
            json!({"bandwidthWeighting": "default"}),
            json!({"bandwidthWeighting": "ebs-1"}),
            json!({"instanceType": "p5.48xlarge", "efa": {}}),
            json!({"instanceType": "p5.48xlarge", "efa": {}, "networkInterfaces": [{"networkCard": 4}, {"networkCard": 8}]}),
            json!({"networkInterfaces": [], "associatePublicIPAddress": true}),
            json!({"instanceType": null, "mixedInstances": mix(), "networkInterfaces": [{"count": 2}]}),
            json!({
                "instanceType": "g5.48xlarge", "efa": {"interfaces": 1, "primary": "EFA"}, "associatePublicIPAddress": true,
            }),
            json!({"instanceType": "p5.48xlarge", "efa": {"interfaces": 4, "primary": "Interface", "others": "EFAOnly"}}),
        ] {
            server.accepts(Kind::MachinePool, &with(pool(), right)).await?;
        }
        Ok(())
    });
}

#[test]
fn the_overlay_has_only_what_ec2_auto_scaling_can_launch_with() {
    on_server(async |server| {
        let over = |fields: Value| json!({ "launchTemplateOverlay": fields });
        let device = |fields: Value| {
            let named = with(json!({"DeviceName": "/dev/xvdb"}), fields);
            over(json!({"BlockDeviceMappings": [named]}))
        };
        let volume = json!({"volumes": [{"deviceName": "/dev/xvdb", "sizeGiB": 1}]});
        let beside_volume = |fields: Value| with(device(fields), volume.clone());
        let tagged = |key: &str, value: &str| {
            let tag = json!({"Key": key, "Value": value});
            over(json!({"TagSpecifications": [{"ResourceType": "network-interface", "Tags": [tag]}]}))
        };
        let half = json!({
            "instanceType": null,
            "mixedInstances": {"overrides": [{"instanceType": "m7i.large"}], "onDemandPercentage": 50},
        });
        let (terminates, stops) =
            (over(json!({"DisableApiTermination": true})), over(json!({"DisableApiStop": true})));
        let further = json!({"networkInterfaces": [{}]});
        // The pool has 30 tags, whose keys begin with `a`, and network interfaces have 11.
        let many_tags = |beginning: &str, fields: &Value| {
            let own: Value =
                (0..30).map(|n| (format!("a{n}"), json!(""))).collect::<serde_json::Map<_, _>>().into();
            let tags: Vec<Value> =
                (0..11).map(|n| json!({"Key": format!("{beginning}{n}"), "Value": "b"})).collect();
            let overlay =
                over(json!({"TagSpecifications": [{"ResourceType": "network-interface", "Tags": tags}]}));
            with(with(overlay, json!({ "tags": own })), fields.clone())
        };
        let one_of = "set exactly one of Ebs, NoDevice and VirtualName";
        let unprotected = "EC2 has no termination protection for spot instances";
        let not_stopped = "DisableApiStop cannot be combined with a warm pool of stopped instances";
        for (wrong, message) in [
            (device(json!({})), one_of),
            (device(json!({"NoDevice": "", "VirtualName": "ephemeral0"})), one_of),
            (device(json!({"NoDevice": "yes"})), "NoDevice"),
            (device(json!({"VirtualName": "ephemeral24"})), "should match"),
            (device(json!({"Ebs": {}})), "EbsCardIndex"),
            (beside_volume(json!({"NoDevice": ""})), "a device of volumes can have Ebs"),
            (beside_volume(json!({"VirtualName": "ephemeral0"})), "a device of volumes can have Ebs"),
            (over(json!({"KernelId": "ami-1"})), "should match"),
            (over(json!({"RamDiskId": "aki-1"})), "should match"),
            (
                over(json!({"InstanceInitiatedShutdownBehavior": "hibernate"})),
                "InstanceInitiatedShutdownBehavior",
            ),
            (over(json!({"MaintenanceOptions": {"AutoRecovery": "enabled"}})), "AutoRecovery"),
            (over(json!({"CpuOptions": {"NestedVirtualization": "on"}})), "NestedVirtualization"),
            (over(json!({"SecondaryInterfaces": [{"DeviceIndex": 0}]})), "SecondarySubnetId"),
            (over(json!({"SecondaryInterfaces": [{"SecondarySubnetId": "subnet-1"}]})), "should match"),
            (over(json!({"TagSpecifications": [{"ResourceType": "instance", "Tags": []}]})), "ResourceType"),
            (tagged("aws:a", "b"), "tags must not begin with aws:"),
            (tagged("infrastructure.foo.com/cluster", "b"), "tags must not begin with aws:"),
            (tagged("a\n", "b"), "should match"),
            (with(terminates.clone(), json!({"spot": {}})), unprotected),
            (with(half.clone(), terminates.clone()), unprotected),
            (with(stops.clone(), json!({"warmPool": {"minSize": 1}})), not_stopped),
            (many_tags("b", &further), "together they can have 40 keys"),
        ] {
            server.refuses(Kind::MachinePool, with(pool(), wrong), message).await?;
        }
        for right in [
            over(json!({})),
            device(json!({"Ebs": {"EbsCardIndex": 0}})),
            beside_volume(json!({"Ebs": {"EbsCardIndex": 0}})),
            tagged("team", ""),
            terminates,
            with(over(json!({"DisableApiTermination": false})), json!({"spot": {}})),
            with(half, over(json!({"DisableApiTermination": false}))),
            with(stops.clone(), json!({"warmPool": {"minSize": 1, "state": "Running"}})),
            with(stops, json!({"spot": {}})),
            many_tags("a", &further),
            many_tags("b", &json!({})),
        ] {
            server.accepts(Kind::MachinePool, &with(pool(), right)).await?;
        }
        Ok(())
    });
}

#[test]
fn target_groups_are_arns_of_target_groups_and_health_needs_them() {
    on_server(async |server| {
        let arn =
            "arn:aws-us-gov:elasticloadbalancing:us-gov-west-1:123456789012:targetgroup/web/0123456789abcdef";
        let groups = |arns: Value| with(pool(), json!({"targetGroups": arns}));
        let balancer =
            "arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/net/web/0123456789abcdef";
        let needed = "targetHealth needs targetGroups";
        let lattice = |n: usize| format!("arn:aws:vpc-lattice:eu-central-1:123456789012:targetgroup/tg-{n}");
        let of_lattice = |arns: Value| with(pool(), json!({"vpcLatticeTargetGroups": arns}));
        let classic = |names: Value| with(pool(), json!({"classicLoadBalancers": names}));
        for (wrong, message) in [
            (groups(json!([balancer])), "targetGroups"),
            (groups(json!(["web"])), "targetGroups"),
            (groups(json!([arn, arn])), "Duplicate"),
            (with(pool(), json!({"targetHealth": {}})), needed),
            (with(groups(json!([])), json!({"targetHealth": {}})), needed),
            (with(classic(json!(["web"])), json!({"targetHealth": {}})), needed),
            (with(of_lattice(json!([lattice(1)])), json!({"targetHealth": {}})), needed),
            (classic(json!(["-web"])), "classicLoadBalancers"),
            (classic(json!(["a".repeat(33)])), "classicLoadBalancers"),
            (classic(json!(["web", "web"])), "Duplicate"),
            (of_lattice(json!([arn])), "vpcLatticeTargetGroups"),
            (groups(json!([lattice(1)])), "targetGroups"),
            (of_lattice(json!((0..6).map(lattice).collect::<Vec<_>>())), "vpcLatticeTargetGroups"),
            (
                with(groups(json!([arn])), json!({"targetHealth": {"gracePeriodSeconds": -1}})),
                "gracePeriodSeconds",
            ),
        ] {
            server.refuses(Kind::MachinePool, wrong, message).await?;
        }
        for right in [
            groups(json!([])),
            with(groups(json!([arn])), json!({"targetHealth": {}})),
            classic(json!([])),
            of_lattice(json!((0..5).map(lattice).collect::<Vec<_>>())),
        ] {
            server.accepts(Kind::MachinePool, &right).await?;
        }
        Ok(())
    });
}

#[test]
fn lifecycle_hooks_leave_the_providers_own_alone_and_processes_are_those_that_pools_can_do_without() {
    on_server(async |server| {
        let hook = |fields: Value| {
            let basis = json!({"name": "evict", "transition": "Terminating"});
            with(pool(), json!({"lifecycleHooks": [with(basis, fields)]}))
        };
        let suspends = |processes: Value| with(pool(), json!({"suspendedProcesses": processes}));
        let arn = "arn:aws:sns:eu-central-1:123456789012:waits";
        let role = "arn:aws:iam::123456789012:role/a.hooks.infrastructure.foo.com";
        let together = "notificationTargetARN and roleARN belong together";
        let balancer = json!([
            "arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/web/0123456789abcdef"
        ]);
        let twice = json!({"name": "a", "transition": "Launching"});
        for (wrong, message) in [
            (hook(json!({"name": "foo-drain"})), "foo-drain is the provider's own lifecycle hook"),
            (hook(json!({"name": "a.b"})), "name"),
            (hook(json!({"transition": "Rebooting"})), "transition"),
            (hook(json!({"heartbeatTimeoutSeconds": 29})), "heartbeatTimeoutSeconds"),
            (hook(json!({"heartbeatTimeoutSeconds": 7_201})), "heartbeatTimeoutSeconds"),
            (hook(json!({"defaultResult": "Abandon"})), "Abandon would end foo-drain"),
            (hook(json!({"notificationTargetARN": arn})), together),
            (hook(json!({"roleARN": role})), together),
            (hook(json!({"notificationTargetARN": role, "roleARN": role})), "notificationTargetARN"),
            (hook(json!({"notificationMetadata": "ä"})), "printable ASCII"),
            (with(pool(), json!({"lifecycleHooks": [twice.clone(), twice]})), "Duplicate"),
            (with(pool(), json!({"notifications": [{"topicARN": role, "types": ["Launch"]}]})), "topicARN"),
            (with(pool(), json!({"notifications": [{"topicARN": arn, "types": []}]})), "types"),
            (with(pool(), json!({"notifications": [{"topicARN": arn, "types": ["Test"]}]})), "types"),
            (suspends(json!(["Launch"])), "suspendedProcesses"),
            (suspends(json!(["Terminate"])), "suspendedProcesses"),
            (suspends(json!(["AZRebalance"])), "suspendedProcesses"),
            (suspends(json!(["HealthCheck", "HealthCheck"])), "Duplicate"),
            (
                with(
                    suspends(json!(["AddToLoadBalancer"])),
                    json!({"targetGroups": balancer, "targetHealth": {}}),
                ),
                "targetHealth needs AddToLoadBalancer",
            ),
        ] {
            server.refuses(Kind::MachinePool, wrong, message).await?;
        }
        for right in [
            hook(json!({"notificationTargetARN": arn, "roleARN": role})),
            hook(json!({"transition": "Launching", "defaultResult": "Abandon"})),
            with(suspends(json!(["AddToLoadBalancer"])), json!({ "targetGroups": balancer })),
        ] {
            server.accepts(Kind::MachinePool, &right).await?;
        }
        Ok(())
    });
}

#[test]
fn a_tag_that_aws_would_refuse_or_change_is_refused_at_once() {
    on_server(async |server| {
        let tagged = |key: &str, value: &str| with(pool(), json!({"tags": {key: value}}));
        for (key, value) in [("k", ""), ("käse \u{200f}", "a b=c"), (&"k".repeat(128), &"v".repeat(256))] {
            server.accepts(Kind::MachinePool, &tagged(key, value)).await?;
        }
        let control = "tags must not contain control characters";
        let long = "keys of tags must have 1 to 128 characters";
        for (key, value, message) in [
            ("a\u{1}", "v", control),
            ("a", "line\nbreak", control),
            ("a", "\u{7f}", control),
            ("", "v", long),
            (&"k".repeat(129), "v", long),
            ("k", &"v".repeat(257), "256"),
        ] {
            server.refuses(Kind::MachinePool, tagged(key, value), message).await?;
        }
        Ok(())
    });
}
