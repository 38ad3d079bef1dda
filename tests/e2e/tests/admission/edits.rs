//! Networks of FooClusters: what of them can change later, by what their status reports.

use super::networks::{list, managed, may_become, subnet};
use super::server::{Kind, Server, is_refusal, on_server, with};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};

/// As [`may_become`], if the status reports this of the network.
async fn may_become_with(server: Server, status: &Value, from: Value, to: Value) -> Result<()> {
    let changed =
        server.change_with(Kind::Cluster, status, &managed(from.clone()), &managed(to.clone())).await;
    changed.with_context(|| format!("from {from:#} to {to:#} with {status:#}"))
}

async fn must_not_become_with(
    server: Server,
    status: &Value,
    from: Value,
    to: Value,
    message: &str,
) -> Result<()> {
    let changed =
        server.change_with(Kind::Cluster, status, &managed(from.clone()), &managed(to.clone())).await;
    is_refusal(changed, message).with_context(|| format!("from {from:#} to {to:#} with {status:#}"))
}

/// The status of a network of which the parts with these roles exist.
fn with_parts(roles: &[&str]) -> Value {
    let part = |role: &&str| json!({"role": role, "id": format!("id-of-{role}"), "state": "Ready", "since": "2026-01-01T00:00:00Z", "seen": true});
    let parts: Vec<Value> = roles.iter().map(part).collect();
    json!({"network": {"id": "uid", "resources": parts}})
}

/// The status of a network of which the parts with these roles are just being created, and nothing else exists.
fn with_intents(roles: &[&str]) -> Value {
    let intent = |role: &&str| json!({"role": role, "since": "2026-01-01T00:00:00Z", "attempt": 0});
    let intents: Vec<Value> = roles.iter().map(intent).collect();
    json!({"network": {"id": "uid", "intents": intents}})
}

/// The status of a network that was begun and of which nothing exists: parts with these roles are missing.
fn with_missing(roles: &[&str]) -> Value {
    let missing: Vec<Value> = roles.iter().map(|role| json!({"role": role, "state": "Missing"})).collect();
    json!({"network": {"id": "uid", "resources": missing}})
}

/// That status, with more of the network in it.
fn and(status: &Value, fields: Value) -> Value {
    json!({"network": with(status["network"].clone(), fields)})
}

/// The roles of the subnets in these zones, which are given by their letters.
fn subnets_in(letters: &str) -> Vec<String> {
    let both = |zone: char| ["private", "public"].map(|tier| format!("subnet/{tier}/eu-central-1{zone}"));
    letters.chars().flat_map(both).collect()
}

/// The status of a network that has subnets in these zones.
fn with_subnets_in(letters: &str) -> Value {
    let subnets = subnets_in(letters);
    let roles: Vec<&str> = std::iter::once("vpc").chain(subnets.iter().map(String::as_str)).collect();
    with_parts(&roles)
}

#[test]
fn ranges_that_a_vpc_has_stay() {
    on_server(async |server| {
        let (one, other) = (json!({"cidr": "10.1.0.0/16"}), json!({"cidr": "10.2.0.0/16"}));
        let message = "network.managed.cidr cannot be changed once it is used";
        for status in [with_parts(&["vpc"]), with_intents(&["vpc"])] {
            must_not_become_with(server, &status, one.clone(), other.clone(), message).await?;
            must_not_become_with(server, &status, json!({}), other.clone(), message).await?;
            must_not_become_with(server, &status, other.clone(), json!({}), message).await?;
            // The default, written out.
            may_become_with(server, &status, json!({}), json!({"cidr": "10.0.0.0/16"})).await?;
        }
        may_become(server, one.clone(), other.clone()).await?;
        for status in [with_missing(&["vpc"]), with_parts(&["internet-gateway"])] {
            may_become_with(server, &status, one.clone(), other.clone()).await?;
        }
        let ranges = |ranges: &[&str]| and(&with_parts(&["vpc"]), json!({"cidrs": ranges}));
        must_not_become_with(server, &ranges(&["10.1.0.0/16"]), one.clone(), other.clone(), message).await?;
        // The VPC was created before the spec was changed.
        may_become_with(server, &ranges(&["10.2.0.0/16"]), one, other).await?;

        let more = |ranges: &[&str]| json!({"secondaryCIDRs": ranges});
        let both = ranges(&["10.0.0.0/16", "10.1.0.0/16"]);
        may_become_with(server, &both, json!({}), more(&["10.1.0.0/16"])).await?;
        may_become_with(server, &both, more(&["10.1.0.0/16"]), more(&["100.64.0.0/16", "10.1.0.0/16"]))
            .await?;
        let removed = "ranges that the VPC has cannot be removed from network.managed.secondaryCIDRs";
        must_not_become_with(server, &both, more(&["10.1.0.0/16"]), json!({}), removed).await?;
        must_not_become_with(server, &both, more(&["10.1.0.0/16"]), more(&["10.3.0.0/16"]), removed).await?;
        // One that overlaps another, for example, which the VPC never got.
        may_become_with(server, &both, more(&["10.1.0.0/16", "10.1.8.0/24"]), more(&["10.1.0.0/16"])).await?;
        may_become(server, more(&["10.0.8.0/24"]), json!({})).await
    });
}

#[test]
fn a_brought_vpc_stays_once_something_is_in_it() {
    on_server(async |server| {
        let brought = |id: &str| json!({"vpcID": id, "cidr": "172.31.64.0/20"});
        let none = || json!({"cidr": "172.31.64.0/20"});
        let stays =
            "network.managed.vpcID cannot be added, changed or removed once anything of the network exists";
        for status in [with_parts(&["security-group/node"]), with_intents(&["routes/public"])] {
            must_not_become_with(server, &status, brought("vpc-1"), brought("vpc-2"), stays).await?;
            must_not_become_with(server, &status, brought("vpc-1"), none(), stays).await?;
            must_not_become_with(server, &status, none(), brought("vpc-1"), stays).await?;
        }
        // What is the user's is shown, too.
        let users = json!({"network": {"id": "uid", "vpcID": "vpc-1", "resources": [
            {"role": "vpc", "id": "vpc-1", "state": "Ready"},
            {"role": "internet-gateway", "id": "igw-1", "state": "Ready"},
        ]}});
        may_become_with(server, &users, brought("vpc-1"), brought("vpc-2")).await?;
        may_become(server, brought("vpc-1"), brought("vpc-2")).await?;
        let part = |cidr: &str| json!({"vpcID": "vpc-1", "cidr": cidr});
        may_become_with(
            server,
            &with_parts(&["security-group/node"]),
            part("172.31.64.0/20"),
            part("172.31.0.0/20"),
        )
        .await?;
        let used = "network.managed.cidr cannot be changed once it is used";
        let subnet = with_parts(&["subnet/private/eu-central-1a"]);
        must_not_become_with(server, &subnet, part("172.31.64.0/20"), part("172.31.0.0/20"), used).await
    });
}

#[test]
fn zones_with_subnets_stay() {
    on_server(async |server| {
        let count = |count: i32| json!({"zones": {"count": count}});
        let names = |letters: &str| {
            let names: Vec<String> = letters.chars().map(|letter| format!("eu-central-1{letter}")).collect();
            json!({"zones": {"names": names}})
        };
        let two = with_subnets_in("ab");
        for (from, to) in [
            (count(2), count(3)),
            (json!({}), count(3)),
            (count(2), json!({})),
            (names("ab"), names("bac")),
            (count(2), names("ab")),
            (names("ab"), count(2)),
            // More than there are, or one that the region lacks: it has no subnets.
            (count(6), count(2)),
            (json!({}), count(2)),
            (names("abx"), names("abc")),
            (names("abx"), names("ab")),
            (names("abx"), count(2)),
            // The status is ahead of what was named.
            (names("a"), names("ac")),
        ] {
            may_become_with(server, &two, from, to).await?;
        }
        let removed = "zones with subnets cannot be removed from network.managed.zones";
        let creating = subnets_in("b");
        let creating: Vec<&str> = creating.iter().map(String::as_str).collect();
        let intents = with_intents(&creating)["network"]["intents"].clone();
        for status in [two, and(&with_subnets_in("a"), json!({"intents": intents}))] {
            for (from, to) in [
                (count(3), count(1)),
                (json!({}), count(1)),
                (names("abc"), names("ac")),
                (names("ab"), names("acd")),
                (count(2), names("a")),
                (count(2), names("ac")),
                (names("ab"), count(1)),
            ] {
                must_not_become_with(server, &status, from, to, removed).await?;
            }
        }
        let missing = subnets_in("abc");
        let missing: Vec<&str> = missing.iter().map(String::as_str).collect();
        may_become_with(server, &with_missing(&missing), names("abc"), names("d")).await?;
        may_become_with(server, &with_missing(&missing), count(3), count(1)).await?;
        may_become(server, count(3), count(1)).await
    });
}

#[test]
fn computed_subnets_that_exist_keep_type_and_size() {
    on_server(async |server| {
        let there = with_subnets_in("a");
        let private = with_parts(&["vpc", "subnet/private/eu-central-1a"]);
        let types = |types: &[&str]| json!({"subnets": {"types": types}, "egress": "None"});
        let without = json!({"egress": "None"});
        may_become_with(server, &private, types(&["Private"]), types(&["Public", "Private"])).await?;
        may_become_with(server, &private, types(&["Private"]), without.clone()).await?;
        let removed = "types of which there are subnets cannot be removed from network.managed.subnets.types";
        let creating = with_intents(&["subnet/public/eu-central-1a"]);
        for status in [&there, &creating] {
            must_not_become_with(server, status, types(&["Private", "Public"]), types(&["Private"]), removed)
                .await?;
            must_not_become_with(server, status, without.clone(), types(&["Private"]), removed).await?;
        }
        may_become_with(server, &private, types(&["Private", "Public"]), types(&["Private"])).await?;
        may_become(server, without.clone(), types(&["Private"])).await?;
        let pods = with_parts(&["vpc", "subnet/private/eu-central-1a", "subnet/pods/eu-central-1a"]);
        let with_pods = types(&["Private", "Pods"]);
        for to in [types(&["Private"]), without] {
            must_not_become_with(server, &pods, with_pods.clone(), to.clone(), removed).await?;
            may_become_with(server, &private, with_pods.clone(), to).await?;
        }
        may_become_with(server, &private, types(&["Private"]), with_pods.clone()).await?;
        may_become_with(server, &pods, with_pods, types(&["Public", "Private", "Pods"])).await?;

        let sizes = |private: i32| json!({"subnets": {"sizes": {"private": private}}});
        let public = json!({"subnets": {"sizes": {"private": 20, "public": 24}}});
        let fixed =
            "network.managed.subnets.sizes cannot be added, changed or removed once there are such subnets";
        must_not_become_with(server, &there, sizes(20), sizes(21), fixed).await?;
        must_not_become_with(server, &there, sizes(20), json!({}), fixed).await?;
        must_not_become_with(server, &there, json!({}), sizes(20), fixed).await?;
        must_not_become_with(server, &there, sizes(20), public.clone(), fixed).await?;
        may_become_with(server, &there, sizes(20), with(sizes(20), json!({"ipv6": true}))).await?;
        // There are no public ones.
        may_become_with(server, &private, sizes(20), public).await?;
        let for_pods = json!({"subnets": {"sizes": {"private": 20, "pods": 18}}});
        must_not_become_with(server, &pods, sizes(20), for_pods.clone(), fixed).await?;
        may_become_with(server, &private, sizes(20), for_pods).await?;
        may_become_with(server, &with_parts(&["vpc"]), sizes(20), sizes(21)).await
    });
}

#[test]
fn listed_subnets_that_exist_stay_as_they_are() {
    on_server(async |server| {
        let there = with_parts(&["vpc", "subnet/private/nodes", "subnet/public/edge", "subnet/private/more"]);
        let two = with_parts(&["vpc", "subnet/private/nodes", "subnet/public/edge"]);
        let another = subnet("more", "Private", "10.0.2.0/24");
        let with_another = || list(std::slice::from_ref(&another));
        may_become_with(server, &two, list(&[]), with_another()).await?;
        let changed =
            "entries of network.managed.subnets.list whose subnets exist cannot be changed or removed";
        must_not_become_with(server, &there, with_another(), list(&[]), changed).await?;
        let intents = with_intents(&["subnet/private/more"])["network"]["intents"].clone();
        let creating = and(&two, json!({"intents": intents}));
        must_not_become_with(server, &creating, with_another(), list(&[]), changed).await?;
        may_become_with(server, &two, with_another(), list(&[])).await?;
        let tagged = with(another.clone(), json!({"tags": {"karpenter.sh/discovery": "a"}}));
        may_become_with(server, &there, with_another(), list(std::slice::from_ref(&tagged))).await?;
        may_become_with(server, &there, list(&[tagged]), with_another()).await?;
        let mut differs = there.clone();
        differs["network"]["resources"][3]["state"] = json!("Failed");
        for to in [
            subnet("more", "Public", "10.0.2.0/24"),
            subnet("more", "Private", "10.0.2.0/25"),
            with(another.clone(), json!({"zone": "eu-central-1b"})),
        ] {
            let to = list(&[to]);
            must_not_become_with(server, &there, with_another(), to.clone(), changed).await?;
            may_become_with(server, &two, with_another(), to.clone()).await?;
            // AWS has something else already; what has another type is another subnet.
            if to["subnets"]["list"][2]["type"] == "Private" {
                may_become_with(server, &differs, with_another(), to).await?;
            } else {
                must_not_become_with(server, &differs, with_another(), to, changed).await?;
            }
        }
        must_not_become_with(server, &differs, with_another(), list(&[]), changed).await?;
        let whole =
            "network.managed.subnets.list cannot be added or removed as a whole once there are subnets";
        must_not_become_with(server, &with_subnets_in("a"), json!({}), list(&[]), whole).await?;
        must_not_become_with(server, &there, list(&[]), json!({}), whole).await?;
        may_become_with(server, &with_parts(&["vpc"]), json!({}), list(&[])).await
    });
}

#[test]
fn ipv6_stays_once_there_is_a_range() {
    on_server(async |server| {
        let stays = "network.managed.ipv6 cannot be turned off once the network has an IPv6 range";
        let subnet =
            json!({"id": "subnet-1", "zone": "eu-central-1a", "public": false, "ipv6CIDR": "2001:db8::/64"});
        let users_vpc = json!({"network": {"id": "uid", "subnets": [subnet]}});
        for status in [with_parts(&["vpc", "vpc/ipv6"]), with_intents(&["vpc", "vpc/ipv6"]), users_vpc] {
            must_not_become_with(server, &status, json!({"ipv6": true}), json!({}), stays).await?;
        }
        may_become_with(server, &with_subnets_in("a"), json!({"ipv6": true}), json!({})).await
    });
}
