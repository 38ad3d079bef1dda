//! What `kubectl get` shows.

use super::server::{Kind, cluster, on_server, pool};
use serde_json::json;

/// The columns of a table with their first row's cells. Cells are found by the position of their headings: some are
/// empty.
fn first_row(table: &str) -> Vec<(String, String)> {
    let mut lines = table.lines();
    let (heading, row) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let starts: Vec<usize> = heading
        .char_indices()
        .filter(|&(at, letter)| {
            letter != ' ' && (at == 0 || heading.get(..at).is_some_and(|it| it.ends_with(' ')))
        })
        .map(|(at, _)| at)
        .collect();
    let ends = starts.iter().skip(1).copied().chain([usize::MAX]);
    let cell = |text: &str, start: usize, end: usize| {
        text.get(start..end.min(text.len())).unwrap_or_default().trim().to_owned()
    };
    starts.iter().zip(ends).map(|(&start, end)| (cell(heading, start, end), cell(row, start, end))).collect()
}

fn pairs(columns: &[(String, String)]) -> Vec<(&str, &str)> {
    columns.iter().map(|(name, cell)| (name.as_str(), cell.as_str())).collect()
}

#[test]
fn of_a_pool() {
    on_server(async |server| {
        server.create(Kind::MachinePool, "shown", pool()).await?;
        let status = json!({
            "desiredReplicas": 3, "replicas": 4, "readyReplicas": 2, "upToDateReplicas": 1,
            "version": "v1.36.3", "instanceType": "m7i.large",
            "autoScalingGroup": {"name": "the-group", "desiredCapacity": 4, "minSize": 0, "maxSize": 4},
            "launchTemplate": {"id": "lt-1", "version": 7, "specHash": "abc"},
            "conditions": [{
                "type": "Ready", "status": "False", "reason": "Draining", "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }],
        });
        server.set_status(Kind::MachinePool, "shown", status).await?;
        server.kubectl(&["label", "foomp", "shown", "cluster.x-k8s.io/cluster-name=demo"]).await?;
        let narrow = server.kubectl(&["get", "foomachinepools", "shown"]).await?;
        let mut narrow = first_row(&narrow);
        let age = narrow.pop().map(|(name, _)| name);
        assert_eq!(age.as_deref(), Some("AGE"));
        assert_eq!(
            pairs(&narrow),
            [
                ("NAME", "shown"),
                ("CLUSTER", "demo"),
                ("DESIRED", "3"),
                ("REPLICAS", "4"),
                ("READY", "2"),
                ("UP-TO-DATE", "1"),
                ("STATUS", "Draining"),
            ]
        );
        let wide = first_row(&server.kubectl(&["get", "foomp", "shown", "-o", "wide"]).await?);
        assert_eq!(
            pairs(&wide)[8..],
            [("VERSION", "v1.36.3"), ("TYPE", "m7i.large"), ("GROUP", "the-group"), ("TEMPLATE", "7")]
        );
        Ok(())
    });
}

#[test]
fn of_the_other_kinds() {
    on_server(async |server| {
        let machine = json!({"providerID": "aws:///eu-west-1a/i-9", "instanceID": "i-9"});
        let control_plane =
            json!({"version": "v1.36.3", "external": {"kubeconfigSecretRef": {"name": "existing"}}});
        server.create(Kind::Machine, "shown", machine).await?;
        server.create(Kind::Cluster, "shown", cluster()).await?;
        server.create(Kind::ControlPlane, "shown", control_plane).await?;
        for (short, expected) in [
            ("foom", "NAME CLUSTER POOL INSTANCE ZONE STATE AGE TYPE TEMPLATE"),
            ("fooc", "NAME CLUSTER REGION READY STATUS AGE"),
            ("foocp", "NAME CLUSTER VERSION AVAILABLE STATUS ENDPOINT AGE"),
        ] {
            let wide = first_row(&server.kubectl(&["get", short, "shown", "-o", "wide"]).await?);
            let names: Vec<&str> = wide.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names.join(" "), expected);
        }
        // All of them with those of Cluster API.
        let all = server.kubectl(&["get", "cluster-api", "--no-headers"]).await?;
        for kind in ["foomachine", "foocluster", "foocontrolplane"] {
            let name = format!("{kind}.");
            assert!(all.lines().any(|line| line.starts_with(&name) && line.contains("/shown")), "{all}");
        }
        Ok(())
    });
}
