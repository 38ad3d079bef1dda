//! Networks of FooClusters: what can be written, and what of it can change at any time.

use super::server::{Kind, Server, on_server, with};
use anyhow::Result;
use serde_json::{Value, json};

const LISTED_NODES: &str = "nodes";

/// A FooCluster with such a network.
#[expect(clippy::needless_pass_by_value, reason = "callers write it on the spot")]
pub(crate) fn managed(network: Value) -> Value {
    json!({"region": "eu-central-1", "network": {"managed": network}})
}

fn existing() -> Value {
    json!({"region": "eu-central-1", "network": {"existing": {"subnets": [{"id": "subnet-1"}]}}})
}

/// Refused in a FooCluster and in its template alike.
async fn refused(server: Server, network: Value, message: &str) -> Result<()> {
    let template = json!({"template": {"spec": managed(network.clone())}});
    server.refuses(Kind::ClusterTemplate, template, message).await?;
    server.refuses(Kind::Cluster, managed(network), message).await
}

async fn accepted(server: Server, networks: impl IntoIterator<Item = Value>) -> Result<()> {
    for network in networks {
        server.accepts(Kind::Cluster, &managed(network.clone())).await?;
        server.accepts(Kind::ClusterTemplate, &json!({"template": {"spec": managed(network)}})).await?;
    }
    Ok(())
}

pub(crate) async fn may_become(server: Server, from: Value, to: Value) -> Result<()> {
    server.accepts_change(Kind::Cluster, managed(from), managed(to)).await
}

pub(crate) fn subnet(name: &str, kind: &str, cidr: &str) -> Value {
    json!({"name": name, "type": kind, "zone": "eu-central-1a", "cidr": cidr})
}

/// A list of a public and a private subnet, and others.
pub(crate) fn list(others: &[Value]) -> Value {
    let two = [subnet("edge", "Public", "10.0.0.0/24"), subnet(LISTED_NODES, "Private", "10.0.1.0/24")];
    let all: Vec<Value> = two.iter().chain(others).cloned().collect();
    json!({"subnets": {"list": all}})
}

#[test]
fn a_network_exists_or_is_managed_and_stays_so() {
    on_server(async |server| {
        let message = "set either existing, for a network that exists already, or managed";
        let neither = json!({"region": "eu-central-1", "network": {}});
        let both = with(
            existing(),
            json!({"network": {"managed": {}, "existing": {"subnets": [{"id": "subnet-1"}]}}}),
        );
        for spec in [neither, both] {
            server.refuses(Kind::Cluster, spec.clone(), message).await?;
            server.refuses(Kind::ClusterTemplate, json!({"template": {"spec": spec}}), message).await?;
        }
        let message = "network cannot turn from existing to managed or back";
        server.refuses_change(Kind::Cluster, existing(), managed(json!({})), message).await?;
        server.refuses_change(Kind::Cluster, managed(json!({})), existing(), message).await
    });
}

#[test]
fn an_empty_managed_network_has_defaults() {
    on_server(async |server| {
        let spec = server.accepts(Kind::Cluster, &managed(json!({}))).await?;
        let defaults = json!({
            "egress": "NAT", "ipv6": false, "driftPolicy": "Enforce",
            "deletion": {"leftovers": "Wait"}, "deletionPolicy": "Delete",
        });
        anyhow::ensure!(spec["network"]["managed"] == defaults, "{spec:#}");
        Ok(())
    });
}

#[test]
fn a_full_managed_network_is_stored_as_it_was_written() {
    on_server(async |server| {
        let rule = json!({
            "name": "office", "description": "from the office", "protocol": "TCP",
            "ports": {"first": 22, "last": 23}, "from": {"cidr": "192.0.2.0/24"},
        });
        let full = json!({
            "cidr": "10.2.0.0/16",
            "secondaryCIDRs": ["100.64.0.0/16", "10.3.0.0/16"],
            "zones": {"names": ["eu-central-1a", "eu-central-1b"]},
            "subnets": {
                "types": ["Public", "Private", "Pods"],
                "sizes": {"private": 20, "public": 24, "pods": 18},
                "tags": {"pods": {"cost": "pods"}},
            },
            "nat": "Single", "egress": "NAT",
            "endpoints": [
                {"name": "S3"}, {"name": "ECR"},
                {"service": "com.amazonaws.eu-central-1.kms", "type": "Interface"},
            ],
            "ipv6": true,
            "securityGroups": {
                "controlPlane": [rule], "node": [rule], "additional": [{"name": "bastion", "rules": [rule]}],
                "clusterSecurityGroup": "Connected",
            },
            "tags": {"team": "platform"},
            "driftPolicy": "Warn", "deletion": {"leftovers": "Delete"}, "deletionPolicy": "Retain",
        });
        let spec = server.accepts(Kind::Cluster, &managed(full.clone())).await?;
        anyhow::ensure!(spec["network"]["managed"] == full, "{spec:#}");
        let template = json!({"template": {"spec": managed(full.clone())}});
        let spec = server.accepts(Kind::ClusterTemplate, &template).await?;
        anyhow::ensure!(spec["template"]["spec"]["network"]["managed"] == full, "{spec:#}");
        Ok(())
    });
}

#[test]
fn ranges_are_private_and_of_sizes_that_aws_allows() {
    on_server(async |server| {
        let good = [
            "10.0.0.0/16",
            "172.16.0.0/28",
            "172.31.0.0/20",
            "192.168.0.0/16",
            "100.64.0.0/16",
            "100.127.0.0/16",
            "198.19.0.0/16",
        ];
        accepted(server, good.map(|range| json!({"cidr": range}))).await?;
        accepted(server, good[1..].iter().map(|range| json!({"secondaryCIDRs": [range]}))).await?;
        let size = "must be an IPv4 range of /16 to /28";
        for bad in [
            "10.0.0.0/8",
            "10.0.0.0/15",
            "10.0.0.0/29",
            "10.0.0.0",
            "10.0.0.256/16",
            "10.0.0/16",
            "010.0.0.0/16",
            "::/16",
        ] {
            refused(server, json!({"cidr": bad}), size).await?;
            refused(server, json!({"secondaryCIDRs": ["10.9.0.0/16", bad]}), size).await?;
        }
        let private = "must be private: in 10.0.0.0/8";
        for bad in [
            "8.8.0.0/16",
            "11.0.0.0/16",
            "172.15.0.0/16",
            "172.32.0.0/16",
            "192.169.0.0/16",
            "100.63.0.0/16",
            "100.128.0.0/16",
            "198.18.0.0/16",
            "0.0.0.0/16",
            "169.254.0.0/16",
        ] {
            refused(server, json!({"cidr": bad}), private).await?;
            refused(server, json!({"secondaryCIDRs": [bad]}), private).await?;
        }
        let five = ["10.1.0.0/16", "10.2.0.0/16", "10.3.0.0/16", "10.4.0.0/16", "10.5.0.0/16"];
        refused(server, json!({"secondaryCIDRs": five}), "must have at most 4 items").await?;
        refused(server, json!({"secondaryCIDRs": ["10.1.0.0/16", "10.1.0.0/16"]}), "Duplicate value").await
    });
}

#[test]
fn ranges_begin_with_their_first_address() {
    on_server(async |server| {
        let good =
            ["10.0.0.0/16", "10.0.128.0/17", "10.0.64.0/18", "10.0.1.0/24", "10.0.0.128/25", "10.0.0.240/28"];
        accepted(server, good.map(|range| json!({"cidr": range}))).await?;
        let message = "must begin with the first address of the range";
        for bad in [
            "10.0.1.0/16",
            "10.0.0.1/16",
            "10.0.64.0/17",
            "10.0.1.0/23",
            "10.0.0.1/24",
            "10.0.0.64/25",
            "10.0.0.8/28",
        ] {
            refused(server, json!({"cidr": bad}), message).await?;
            refused(server, json!({"secondaryCIDRs": ["10.9.0.0/16", bad]}), message).await?;
        }
        refused(server, list(&[subnet("more", "Private", "10.0.2.16/24")]), message).await
    });
}

#[test]
fn a_brought_vpc_needs_a_range() {
    on_server(async |server| {
        let brought = |id: &str| json!({"vpcID": id, "cidr": "172.31.64.0/20"});
        accepted(server, [brought("vpc-1")]).await?;
        refused(server, json!({"vpcID": "vpc-1"}), "with vpcID, set cidr").await?;
        let ranges = with(brought("vpc-1"), json!({"secondaryCIDRs": ["172.30.0.0/16"]}));
        refused(server, ranges, "secondaryCIDRs cannot be set with vpcID").await?;
        refused(server, brought("subnet-1"), "should match").await
    });
}

#[test]
fn zones_are_counted_or_named() {
    on_server(async |server| {
        let count = |count: i32| json!({"zones": {"count": count}});
        let names = |letters: &str| {
            let names: Vec<String> = letters.chars().map(|letter| format!("eu-central-1{letter}")).collect();
            json!({"zones": {"names": names}})
        };
        accepted(server, [count(1), count(6), names("a"), names("abcdef")]).await?;
        let both = json!({"zones": {"count": 1, "names": ["eu-central-1a"]}});
        refused(server, both, "set either count or names").await?;
        refused(server, json!({"zones": {}}), "set either count or names").await?;
        refused(server, count(0), "should be greater than or equal to 1").await?;
        refused(server, count(7), "should be less than or equal to 6").await?;
        refused(server, json!({"zones": {"names": ["eu-central-1"]}}), "should match").await?;
        refused(server, json!({"zones": {"names": []}}), "should have at least 1 items").await?;
        refused(server, names("aa"), "Duplicate value").await?;
        let with_list = with(list(&[]), count(1));
        refused(server, with_list, "zones cannot be set with subnets.list").await
    });
}

#[test]
fn subnets_have_types_and_sizes_or_are_listed() {
    on_server(async |server| {
        let types = |types: &[&str]| json!({"subnets": {"types": types}, "egress": "None"});
        let sizes = |sizes: Value| json!({"subnets": {"sizes": sizes}});
        accepted(
            server,
            [
                types(&["Private"]),
                types(&["Private", "Public"]),
                sizes(json!({"private": 16, "public": 28})),
                sizes(json!({})),
                list(&[]),
            ],
        )
        .await?;
        refused(server, types(&["Public"]), "a network needs private subnets").await?;
        refused(server, types(&[]), "should have at least 1 items").await?;
        refused(server, types(&["Secret"]), "Unsupported value: \"Secret\"").await?;
        refused(server, sizes(json!({"private": 15})), "should be greater than or equal to 16").await?;
        refused(server, sizes(json!({"public": 29})), "should be less than or equal to 28").await?;
        for other in [json!({"types": ["Private"]}), json!({"sizes": {"private": 20}})] {
            let both = json!({"egress": "None", "subnets": with(list(&[])["subnets"].clone(), other)});
            refused(server, both, "types and sizes cannot be set with list").await?;
        }
        let public =
            json!({"egress": "None", "subnets": {"list": [subnet("edge", "Public", "10.0.0.0/24")]}});
        refused(server, public, "a network needs a private subnet").await?;
        refused(
            server,
            list(&[subnet("more", "Private", "10.0.1.0/24")]),
            "two subnets cannot have the same cidr",
        )
        .await?;
        refused(server, list(&[subnet(LISTED_NODES, "Private", "10.0.2.0/24")]), "Duplicate value").await?;
        refused(
            server,
            list(&[subnet("more", "Private", "10.0.2.0/30")]),
            "must be an IPv4 range of /16 to /28",
        )
        .await?;
        refused(server, list(&[subnet("More", "Private", "10.0.2.0/24")]), "should match").await?;
        refused(
            server,
            list(&[subnet(&"m".repeat(41), "Private", "10.0.2.0/24")]),
            "may not be more than 40 bytes",
        )
        .await
    });
}

#[test]
fn nat_gateways_egress_and_ipv6_fit_together() {
    on_server(async |server| {
        for nat in ["PerZone", "Single"] {
            accepted(server, [json!({"nat": nat}), json!({"nat": nat, "egress": "NAT"})]).await?;
            let without = json!({"nat": nat, "egress": "None"});
            refused(server, without, "with egress None there are no NAT gateways").await?;
        }
        accepted(server, [json!({"egress": "None"})]).await?;
        refused(server, json!({"nat": "None"}), "Unsupported value: \"None\"").await?;
        let private = json!({"subnets": {"types": ["Private"]}});
        refused(server, private, "egress NAT needs public subnets").await?;
        let listed = json!({"subnets": {"list": [subnet(LISTED_NODES, "Private", "10.0.1.0/24")]}});
        refused(server, listed.clone(), "egress NAT needs a public subnet").await?;
        accepted(server, [with(listed, json!({"egress": "None"}))]).await?;
        accepted(server, [json!({"egress": "None", "ipv6": true})]).await?;
        refused(server, json!({"nat": "Regional"}), "Unsupported value: \"Regional\"").await?;

        may_become(server, json!({"nat": "PerZone"}), json!({"nat": "Single"})).await?;
        may_become(server, json!({}), json!({"egress": "None"})).await?;
        may_become(server, json!({}), json!({"ipv6": true})).await
    });
}

#[test]
fn endpoints_have_a_name_or_a_service_and_are_listed_once() {
    on_server(async |server| {
        let endpoints = |list: Value| json!({"endpoints": list});
        let names = [
            "S3",
            "DynamoDB",
            "ECR",
            "EC2",
            "STS",
            "SSM",
            "AutoScaling",
            "EKS",
            "EKSAuth",
            "ElasticLoadBalancing",
            "SQS",
            "Logs",
        ];
        let all: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
        let kms = json!({"service": "com.amazonaws.eu-central-1.kms"});
        let gateway = json!({"service": "com.amazonaws.eu-central-1.s3", "type": "Gateway"});
        accepted(
            server,
            [endpoints(json!(all)), endpoints(json!([kms, {"name": "S3"}])), endpoints(json!([gateway]))],
        )
        .await?;
        refused(server, endpoints(json!([{"name": "Lambda"}])), "Unsupported value: \"Lambda\"").await?;
        refused(server, endpoints(json!([{}])), "set either name or service").await?;
        refused(
            server,
            endpoints(json!([with(kms.clone(), json!({"name": "S3"}))])),
            "set either name or service",
        )
        .await?;
        let typed = json!([{"name": "S3", "type": "Gateway"}]);
        refused(server, endpoints(typed), "type can be set only with service").await?;
        let once = "each endpoint may be listed only once";
        refused(server, endpoints(json!([{"name": "S3"}, {"name": "S3"}])), once).await?;
        refused(server, endpoints(json!([kms, kms])), once).await?;
        refused(server, endpoints(json!([{"service": "https://x"}])), "should match").await?;
        may_become(server, endpoints(json!([{"name": "S3"}])), endpoints(json!([{"name": "EC2"}]))).await
    });
}

#[test]
fn rules_of_security_groups_name_their_source() {
    on_server(async |server| {
        let rule = |more: Value| {
            with(json!({"name": "r", "ports": {"first": 22}, "from": {"cidr": "0.0.0.0/0"}}), more)
        };
        let node = |more: Value| json!({"securityGroups": {"node": [rule(more)]}});
        let from = |group: &str| json!({"from": {"securityGroup": group}});
        accepted(
            server,
            [
                node(json!({})),
                node(json!({"from": {"cidr": "2001:db8::/32"}})),
                node(from("node")),
                node(from("controlPlane")),
                node(from("sg-0123")),
                node(json!({"protocol": "UDP", "ports": {"first": 1, "last": 65535}})),
                node(json!({"protocol": "All", "ports": null})),
                node(json!({"protocol": "ICMP", "ports": null})),
                node(json!({"protocol": "ICMPv6", "ports": null})),
            ],
        )
        .await?;
        for (bad, message) in [
            (json!({"from": {}}), "set either cidr or securityGroup"),
            (
                json!({"from": {"cidr": "10.0.0.0/8", "securityGroup": "node"}}),
                "set either cidr or securityGroup",
            ),
            (json!({"from": null}), "Required value"),
            (json!({"from": {"cidr": "10.0.0.0"}}), "must be an IPv4 or IPv6 range"),
            (json!({"from": {"cidr": "10.0.0.0/33"}}), "must be an IPv4 or IPv6 range"),
            (json!({"from": {"cidr": "2001:db8::/129"}}), "must be an IPv4 or IPv6 range"),
            (json!({"ports": null}), "with protocol TCP or UDP, set ports"),
            (json!({"protocol": "All"}), "ports can be set only with protocol TCP or UDP"),
            (json!({"protocol": "SCTP"}), "Unsupported value: \"SCTP\""),
            (json!({"ports": {"first": 0}}), "should be greater than or equal to 1"),
            (json!({"ports": {"first": 65536}}), "should be less than or equal to 65535"),
            (json!({"ports": {"first": 23, "last": 22}}), "last must not be less than first"),
            (json!({"name": "R"}), "should match"),
            (json!({"description": "umlaut ä"}), "should match"),
            (from("bastion"), "from.securityGroup must be node, controlPlane, the name of one of additional"),
        ] {
            refused(server, node(bad.clone()), message).await?;
            let of_control_plane = json!({"securityGroups": {"controlPlane": [rule(bad.clone())]}});
            refused(server, of_control_plane, message).await?;
            let additional =
                json!({"securityGroups": {"additional": [{"name": "more", "rules": [rule(bad)]}]}});
            refused(server, additional, message).await?;
        }
        refused(
            server,
            json!({"securityGroups": {"node": [rule(json!({})), rule(json!({}))]}}),
            "Duplicate value",
        )
        .await
    });
}

#[test]
fn additional_security_groups_have_names_of_their_own() {
    on_server(async |server| {
        let named = |name: &str| json!({"securityGroups": {"additional": [{"name": name}]}});
        let rule = json!({"name": "r", "ports": {"first": 22}, "from": {"securityGroup": "bastion"}});
        let used = json!({"securityGroups": {"node": [rule], "additional": [{"name": "bastion"}]}});
        accepted(server, [named("bastion"), used]).await?;
        refused(server, named("node"), "the groups node, controlPlane and endpoint exist already").await?;
        refused(server, named("controlplane"), "the groups node, controlPlane and endpoint exist already")
            .await?;
        refused(server, named("endpoint"), "the groups node, controlPlane and endpoint exist already")
            .await?;
        refused(server, named("sg-0123"), "names must not look like the id of a security group").await?;
        refused(server, named("Bastion"), "should match").await?;
        may_become(server, named("bastion"), json!({})).await
    });
}

#[test]
fn tags_of_networks_cannot_use_reserved_keys() {
    on_server(async |server| {
        let tags = |tags: Value| json!({"tags": tags});
        accepted(server, [tags(json!({"team": "a", "kubernetes": "", "my-aws:tag": "x"}))]).await?;
        let reserved =
            "tags must not be named Name or begin with aws:, infrastructure.foo.com/ or kubernetes.io/";
        for key in ["Name", "aws:x", "infrastructure.foo.com/network", "kubernetes.io/role/elb"] {
            refused(server, tags(json!({key: "x"})), reserved).await?;
        }
        refused(server, tags(json!({"k".repeat(129): "x"})), "keys of tags must have 1 to 128 characters")
            .await?;
        refused(server, tags(json!({"": "x"})), "keys of tags must have 1 to 128 characters").await?;
        refused(server, tags(json!({"k": "x\u{7}"})), "tags must not contain control characters").await?;
        refused(server, tags(json!({"k": "x".repeat(257)})), "may not be more than 256 bytes").await?;
        let many: serde_json::Map<String, Value> =
            (0..31).map(|number| (format!("tag-{number}"), json!("x"))).collect();
        refused(server, tags(json!(many)), "at most 30 items").await
    });
}

#[test]
fn tags_of_subnets_and_groups_cannot_use_reserved_keys() {
    on_server(async |server| {
        let keys = |keys: &[&str]| -> Value {
            keys.iter().map(|key| ((*key).to_owned(), json!("x"))).collect::<serde_json::Map<_, _>>().into()
        };
        let of_type = |tags: &Value| json!({"subnets": {"tags": {"private": tags, "public": tags}}});
        let of_group =
            |tags: &Value| json!({"securityGroups": {"tags": {"node": tags, "controlPlane": tags}}});
        let of_additional =
            |tags: &Value| json!({"securityGroups": {"additional": [{"name": "a", "tags": tags}]}});
        let of_subnet = |tags: &Value| {
            let mut one = subnet("a", "Private", "10.0.4.0/24");
            one["tags"] = tags.clone();
            json!({"egress": "None", "subnets": {"list": [one]}})
        };
        let for_others = keys(&["karpenter.sh/discovery", "team"]);
        let elb = keys(&["kubernetes.io/role/elb", "kubernetes.io/role/internal-elb"]);
        let fit =
            [of_type(&for_others), of_group(&for_others), of_additional(&for_others), of_subnet(&for_others)];
        accepted(server, fit).await?;
        accepted(server, [of_type(&elb), of_subnet(&elb)]).await?;
        let reserved =
            "tags must not be named Name or begin with aws:, infrastructure.foo.com/ or kubernetes.io/";
        for key in [
            "Name",
            "aws:x",
            "infrastructure.foo.com/network",
            "kubernetes.io/cluster/other",
            "kubernetes.io/x",
        ] {
            let tags = keys(&[key]);
            for network in [of_type(&tags), of_group(&tags), of_additional(&tags), of_subnet(&tags)] {
                refused(server, network, reserved).await?;
            }
        }
        for network in [of_group(&elb), of_additional(&elb)] {
            refused(server, network, reserved).await?;
        }
        let many: Vec<String> = (0..11).map(|number| format!("tag-{number}")).collect();
        let many = keys(&many.iter().map(String::as_str).collect::<Vec<_>>());
        for network in [of_type(&many), of_group(&many), of_additional(&many), of_subnet(&many)] {
            refused(server, network, "at most 10 items").await?;
        }
        let both = json!({"egress": "None", "subnets": {"tags": {"private": for_others}, "list": of_subnet(&for_others)["subnets"]["list"]}});
        refused(server, both, "tags cannot be set with list").await
    });
}

#[test]
fn unknown_policies_are_refused() {
    on_server(async |server| {
        for field in ["driftPolicy", "deletionPolicy", "egress"] {
            refused(server, json!({field: "Maybe"}), "Unsupported value: \"Maybe\"").await?;
        }
        refused(server, json!({"deletion": {"leftovers": "Maybe"}}), "Unsupported value: \"Maybe\"").await?;
        may_become(
            server,
            json!({}),
            json!({"driftPolicy": "Warn", "deletion": {"leftovers": "Delete"}, "deletionPolicy": "Retain"}),
        )
        .await
    });
}
