//! FooNodeConfigs: what a family of operating systems cannot have is refused when it is written.

use super::server::{Kind, Server, on_server, with};
use anyhow::Result;
use serde_json::{Value, json};

fn of(family: &str, fields: Value) -> Value {
    with(json!({"family": family}), fields)
}

async fn refuses(server: Server, family: &str, fields: Value, message: &str) -> Result<()> {
    server.refuses(Kind::NodeConfig, of(family, fields.clone()), message).await?;
    let template = json!({"template": {"spec": of(family, fields)}});
    server.refuses(Kind::NodeConfigTemplate, template, message).await
}

/// Everything that all families can have.
fn common() -> Value {
    json!({
        "cluster": {"name": "shop_1-A", "dns": "fd00::a"},
        "labels": {"example.com/team": "a", "b": ""},
        "taints": [
            {"key": "a", "value": "b", "effect": "NoSchedule"},
            {"key": "a", "effect": "NoExecute"},
            {"key": "c", "effect": "PreferNoSchedule"},
        ],
        "kubelet": {
            "maxPods": 58, "kubeReserved": {"cpu": "100m"}, "systemReserved": {"memory": "1Gi"},
            "evictionHard": {"memory.available": "5%"}, "evictionSoft": {"memory.available": "9%"},
            "evictionSoftGracePeriod": {"memory.available": "1m"}, "evictionMaxPodGracePeriod": 30,
            "imageGCHighThresholdPercent": 90, "imageGCLowThresholdPercent": 70, "podPidsLimit": -1,
            "containerLogMaxSize": "10Mi", "containerLogMaxFiles": 3, "cpuManagerPolicy": "static",
            "topologyManagerPolicy": "best-effort", "registryPullQPS": 5, "registryBurst": 10, "cpuCFSQuota": false,
            "seccompDefault": true,
        },
        "extra": "x", "joinWhenInService": true, "compression": "Gzip",
    })
}

#[test]
fn each_family_has_its_fields() {
    on_server(async |server| {
        let mirrors = json!([{"registry": "docker.io", "endpoints": ["https://mirror.example.com"]}]);
        let shell = json!({
            "files": [
                {"path": "/etc/a", "content": "text", "owner": "root:root", "permissions": "0600"},
                {"path": "/etc/b", "content": "AA==", "encoding": "Base64"},
            ],
            "preCommands": ["true"], "postCommands": ["true"],
        });
        let shutdown =
            json!({"kubelet": {"shutdownGracePeriod": "1m", "shutdownGracePeriodCriticalPods": "20s"}});
        let al2023 = with(
            with(common(), shell.clone()),
            json!({"registryMirrors": mirrors, "containerd": "a = 1", "localStorage": "RAID0"}),
        );
        for (family, fields) in [
            ("AL2023", al2023),
            ("AL2023", shutdown.clone()),
            ("Bottlerocket", with(common(), json!({"registryMirrors": mirrors, "localStorage": "RAID0"}))),
            ("Bottlerocket", shutdown),
            ("CloudInit", with(common(), shell)),
            ("CloudInit", json!({"vpcCNI": {"prefixDelegation": true, "customNetworking": true}})),
            ("Bottlerocket", json!({"vpcCNI": {"prefixDelegation": true}, "kubelet": {"podPidsLimit": 100}})),
            ("AL2023", json!({"vpcCNI": {"customNetworking": true}})),
            // The default settings of the VPC CNI.
            ("AL2023", with(common(), json!({"vpcCNI": {}}))),
            ("CloudInit", json!({"storage": "S3"})),
            ("AL2023", json!({"storage": "S3"})),
            ("CloudInit", json!({})),
        ] {
            let spec = of(family, fields);
            server.accepts(Kind::NodeConfig, &spec).await?;
            server.accepts(Kind::NodeConfigTemplate, &json!({"template": {"spec": spec}})).await?;
        }
        Ok(())
    });
}

#[test]
fn fields_of_other_families_are_refused() {
    on_server(async |server| {
        let file = json!([{"path": "/a", "content": ""}]);
        let mirror = json!([{"registry": "*", "endpoints": ["https://a"]}]);
        for (family, fields, message) in [
            ("Bottlerocket", json!({"files": file}), "files: Bottlerocket writes no files"),
            ("Bottlerocket", json!({"preCommands": ["a"]}), "preCommands: Bottlerocket has no shell"),
            ("Bottlerocket", json!({"postCommands": ["a"]}), "postCommands: Bottlerocket has no shell"),
            (
                "Bottlerocket",
                json!({"containerd": "a"}),
                "containerd: Bottlerocket writes containerd's configuration",
            ),
            ("CloudInit", json!({"containerd": "a"}), "containerd: for the family CloudInit"),
            ("CloudInit", json!({"localStorage": "RAID0"}), "localStorage: for the family CloudInit"),
            ("AL2023", json!({"localStorage": "RAID5"}), "Unsupported value: \"RAID5\""),
            ("CloudInit", json!({"registryMirrors": mirror}), "registryMirrors: for the family CloudInit"),
            (
                "CloudInit",
                json!({"kubelet": {"shutdownGracePeriod": "1m"}}),
                "the kubelet has no flag for it",
            ),
            (
                "CloudInit",
                json!({"kubelet": {"shutdownGracePeriodCriticalPods": "1m"}}),
                "the kubelet has no flag for it",
            ),
            ("Windows", json!({}), "Unsupported value: \"Windows\""),
        ] {
            refuses(server, family, fields, message).await?;
        }
        // Without one the family of the pool's image decides: its own document is checked when it is written.
        server.accepts(Kind::NodeConfig, &with(common(), json!({"preCommands": ["x"]}))).await?;
        Ok(())
    });
}

#[test]
fn settings_that_stop_the_kubelet_are_refused() {
    on_server(async |server| {
        let taint = json!({"key": "a", "effect": "NoSchedule"});
        for (fields, message) in [
            (
                json!({"kubelet": {"evictionSoft": {"memory.available": "1%"}}}),
                "evictionSoft requires a grace period",
            ),
            (
                json!({"kubelet": {"evictionSoft": {"pid.available": "1%"}, "evictionSoftGracePeriod": {"memory.available": "1m"}}}),
                "evictionSoft requires a grace period",
            ),
            (
                json!({"kubelet": {"imageGCHighThresholdPercent": 80}}),
                "must be below imageGCHighThresholdPercent",
            ),
            (
                json!({"kubelet": {"imageGCLowThresholdPercent": 85}}),
                "must be below imageGCHighThresholdPercent",
            ),
            (json!({"kubelet": {"maxPods": 0}}), "should be greater than or equal to 1"),
            (
                json!({"kubelet": {"maxPods": 58}, "vpcCNI": {"prefixDelegation": true}}),
                "set either kubelet.maxPods or vpcCNI",
            ),
            (
                json!({"kubelet": {"maxPods": 58}, "vpcCNI": {"customNetworking": true}}),
                "set either kubelet.maxPods or vpcCNI",
            ),
            (json!({"kubelet": {"cpuManagerPolicy": "dynamic"}}), "Unsupported value"),
            (json!({"taints": [taint, taint]}), "Duplicate value"),
            (json!({"taints": [{"key": "a", "effect": "Never"}]}), "Unsupported value"),
            (json!({"files": [{"path": "/a", "content": "", "permissions": "u+x"}]}), "should match"),
            (json!({"cluster": {"name": "a b"}}), "should match"),
            (json!({"cluster": {"dns": "kube-dns"}}), "should match"),
        ] {
            refuses(server, "AL2023", fields, message).await?;
        }
        Ok(())
    });
}
