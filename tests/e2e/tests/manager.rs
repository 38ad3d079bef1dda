//! The manager's own life: how it exits and restarts. In a world of its own, because that disturbs other tests.

mod collector;

use anyhow::{Context as _, Result, ensure};
use collector::Collector;
use foo_e2e::SharedWorld;
use foo_testbed::world::kinds::text;
use foo_testbed::world::{Manager, QUIET_PERIOD, SOON, WorldOptions};
use foo_testbed::{Probe, World, nothing_happens, wait_until};
use serde_json::{Value, json};

static WORLD: SharedWorld = SharedWorld::new(module_path!(), WorldOptions::default);

const LEASE: [&str; 6] = [
    "get",
    "lease",
    "controller-leader-election-foo",
    "--namespace=foo-system",
    "--output=json",
    "--ignore-not-found",
];

async fn leader(world: &World) -> Result<String> {
    let lease = world.api().kubectl(LEASE).await?;
    let lease: Value = serde_json::from_str(&lease).context("there is no lease")?;
    Ok(text(&lease, "/spec/holderIdentity").to_owned())
}

/// SIGTERM: the lease is given back, so that the next manager need not wait for its end. The next one sends traces.
#[test]
fn it_shuts_down_in_order_and_its_successor_changes_nothing_that_is_settled() {
    WORLD.run(async |world| {
        let pool = world.cluster("succession").await?.pool("workers", 2).await?;
        pool.settles_at(2).await?;
        let first = leader(world).await?;
        assert_ne!(first, "");
        world.manager().terminate().await?;
        assert_eq!(leader(world).await?, "");

        let of_pool = || -> Result<usize> {
            Ok(world.writes()?.iter().filter(|request| request.namespace == "succession").count())
        };
        let writes = of_pool()?;
        let of_the_first = std::fs::read_to_string(world.manager().log())?.len();
        let collector = Collector::start().await?;
        world.manager().will_send_traces_to(&collector.url());
        world.manager().start().await?;
        wait_until("the successor to lead", SOON, async || {
            let now = leader(world).await?;
            Ok(Probe::when(!now.is_empty() && now != first, || now))
        })
        .await?;
        // Had it waited for the lease of the first to expire, it would have logged the leader that it stands by for.
        let log = std::fs::read_to_string(world.manager().log())?;
        let own = log.get(of_the_first..).context("the log was rewritten")?;
        ensure!(own.contains("standing=Leading") && !own.contains(&first), "{own}");
        nothing_happens("the successor has written", QUIET_PERIOD, async || {
            Ok(Probe::when(of_pool()? == writes, || format!("{:#?}", world.writes())))
        })
        .await?;
        pool.scale(3).await?;
        pool.settles_at(3).await?;
        let spans =
            ["foo-manager", "succession/workers", "autoscaling UpdateAutoScalingGroup", "kubernetes apply"];
        collector.receives(&spans).await
    });
}

/// `docs/operations/logs.md`.
#[test]
fn users_with_the_role_change_the_log_level_while_the_manager_runs() {
    WORLD.run(async |world| {
        let manager = world.manager();
        let writer = another_user(world, "log-level", Some("foo-log-level-writer")).await?;
        let debugger = another_user(world, "debugger", Some("foo-debug-reader")).await?;
        let change = "/debug/log-level?filter=foo_eks=debug&seconds=600";
        let by = async |token: &str, method: &str, status: u16| {
            let what = format!("{method} of the log level to respond with {status}");
            wait_until(&what, SOON, async || {
                let (is, text) = manager.diagnostics_by(method, Some(token), change).await?;
                Ok(if is == status { Probe::Done(text) } else { Probe::NotYet(format!("{is}: {text}")) })
            })
            .await
        };
        let at_start: Value = serde_json::from_str(&by(&debugger, "GET", 200).await?)?;
        assert_eq!(at_start["secondsLeft"], Value::Null);
        by(&debugger, "PUT", 403).await?;
        let changed: Value = serde_json::from_str(&by(&writer, "PUT", 200).await?)?;
        assert_eq!(changed["filter"], format!("{},foo_eks=debug", text(&at_start, "/filter")));
        ensure!(changed["secondsLeft"].as_u64().is_some_and(|left| left <= 600), "{changed}");
        let shown: Value = serde_json::from_str(&by(&debugger, "GET", 200).await?)?;
        assert_eq!(shown["filter"], changed["filter"]);
        let reset: Value = serde_json::from_str(&by(&writer, "DELETE", 200).await?)?;
        assert_eq!(reset, at_start);
        let log = std::fs::read_to_string(manager.log())?;
        ensure!(log.contains("the log level was changed"), "{log}");
        Ok(())
    });
}

/// What every test here relies on: that a right a manager lacks would be seen.
#[test]
fn requests_beyond_a_role_are_refused_and_audited() {
    WORLD.run(async |world| {
        world.check_nothing_forbidden()?;
        let kubeconfig = world.rig().service_account_kubeconfig("foo-system", "default").await?;
        let kubeconfig = format!("--kubeconfig={}", kubeconfig.display());
        let refused = world.api().kubectl(["get", "secrets", "--namespace=default", &kubeconfig]).await;
        assert!(refused.is_err_and(|error| format!("{error:#}").contains("Forbidden")));
        let forbidden = world.forbidden()?;
        let seen = forbidden.iter().any(|request| {
            request.user.ends_with(":default")
                && (request.verb.as_str(), request.resource.as_str()) == ("list", "secrets")
        });
        assert!(seen, "{forbidden:#?}");
        Ok(())
    });
}

/// A new user with the permissions of this role, if any.
async fn another_user(world: &World, name: &str, role: Option<&str>) -> Result<String> {
    world.api().kubectl(["create", "serviceaccount", name, "--namespace=default"]).await?;
    if let Some(role) = role {
        let subject = format!("--serviceaccount=default:{name}");
        let role = format!("--clusterrole={role}");
        world.api().kubectl(["create", "clusterrolebinding", name, &role, &subject]).await?;
    }
    world.api().service_account_token("default", name).await
}

async fn statuses(manager: &Manager, token: Option<&str>) -> Result<(u16, u16)> {
    let (metrics, text) = manager.diagnostics_for(token, "/metrics").await?;
    ensure!(text.contains("foo_leader") == (metrics == 200), "{metrics}: {text}");
    Ok((metrics, manager.diagnostics_for(token, "/debug/pools").await?.0))
}

/// Waits until a token has this access to metrics and to the state of pools: the API server sees a new token or binding a
/// moment after it has stored it, and the manager caches refusals for 10 s.
async fn has_access(manager: &Manager, token: &str, expected: (u16, u16)) -> Result<()> {
    wait_until("the access of a token", SOON, async || {
        let seen = statuses(manager, Some(token)).await?;
        Ok(if seen == expected {
            Probe::Done(())
        } else {
            Probe::NotYet(format!("{seen:?}, not {expected:?}"))
        })
    })
    .await
}

/// With the rights that a release gives its managers, and the roles that it has for others.
#[test]
fn diagnostics_are_for_users_that_the_api_server_authorizes() {
    WORLD.run(async |world| {
        let foreign = another_user(world, "other", None).await?;
        for (manager, prefix) in [
            (world.manager(), "foo-"),
            (world.control_plane_manager(), "foo-control-plane-"),
            (world.bootstrap_manager(), "foo-bootstrap-"),
        ] {
            let reader = async |page: &str| {
                let name = format!("{prefix}{page}-reader");
                another_user(world, &name, Some(&name)).await
            };
            let (scraper, debugger) = (reader("metrics").await?, reader("debug").await?);
            assert_eq!(statuses(manager, None).await?, (401, 401));
            assert_eq!(statuses(manager, Some("guess")).await?, (401, 401));
            has_access(manager, &foreign, (403, 403)).await?;
            has_access(manager, &scraper, (200, 403)).await?;
            has_access(manager, &debugger, (403, 200)).await?;
            let plain = plain_http(manager.diagnostics_port()?, &scraper).await?;
            assert!(!plain.starts_with("HTTP"), "{plain}");
        }
        world.check_nothing_forbidden()
    });
}

/// Alerts count what the metrics show, and a page shows why an object waits: for each kind that has passes.
#[test]
fn metrics_and_pages_show_the_objects_of_every_kind() {
    const NAME: &str = "kinds";
    WORLD.run(async |world| {
        let cluster = world.cluster(NAME).await?;
        let pool = cluster.pool(NAME, 1).await?;
        let identity = json!({
            "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooClusterIdentity",
            "metadata": {"name": NAME}, "spec": {"secret": {"name": NAME}},
        });
        let node_config = json!({
            "apiVersion": "bootstrap.foo.com/v1alpha1", "kind": "FooNodeConfig",
            "metadata": {"name": NAME, "namespace": cluster.namespace()}, "spec": {"family": "AL2023"},
        });
        world.apply(&identity).await?;
        world.apply(&node_config).await?;
        pool.settles_at(1).await?;
        for (manager, page, controller, kind) in [
            (world.manager(), "/debug/pools", "pool", "FooMachinePool"),
            (world.manager(), "/debug/clusters", "cluster", "FooCluster"),
            (world.manager(), "/debug/identities", "identity", "FooClusterIdentity"),
            (world.control_plane_manager(), "/debug/control-planes", "control-plane", "FooControlPlane"),
            (world.bootstrap_manager(), "/debug/node-configs", "node-config", "FooNodeConfig"),
        ] {
            wait_until(&format!("{page} and the metrics of {kind}"), SOON, async || {
                let shown: Value = serde_json::from_str(&manager.diagnostics(page).await?)?;
                let all = shown.as_array().cloned().unwrap_or_default();
                // Each pass over identities plans.
                let is_planned =
                    |it: &Value| kind != "FooClusterIdentity" || it["planPass"] == it["pass"]["id"];
                let has_passed = all
                    .iter()
                    .any(|it| it["name"] == NAME && it["pass"]["error"].is_null() && is_planned(it));
                let metrics = manager.metrics().await?;
                let [of_kind, of_controller] =
                    [format!("kind=\"{kind}\""), format!("controller=\"{controller}\"")];
                let counted = [
                    is_counted(&metrics, "foo_objects", &of_kind),
                    is_counted(&metrics, "foo_conditions", &of_kind),
                    is_counted(&metrics, "foo_condition_oldest_seconds", &of_kind),
                    is_counted(&metrics, "foo_reconciles_total", &of_controller),
                ];
                let is_shown = has_passed && counted == [true; 4];
                Ok(Probe::when(is_shown, || format!("{counted:?}, {all:?}")))
            })
            .await?;
        }
        Ok(())
    });
}

/// Whether a series of this metric with this label is more than 0.
fn is_counted(metrics: &str, name: &str, label: &str) -> bool {
    let mut series = metrics.lines().filter(|line| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with('{')) && line.contains(label)
    });
    series.any(|line| {
        let value = line.rsplit_once(' ').and_then(|(_, value)| value.parse::<f64>().ok());
        value.is_some_and(|value| value > 0.0)
    })
}

/// What a server responds to a request without TLS.
async fn plain_http(port: u16, token: &str) -> Result<String> {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await?;
    let request = format!("GET /metrics HTTP/1.0\r\nAuthorization: Bearer {token}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut response = Vec::new();
    // The connection may be reset instead of closed.
    let _end = stream.read_to_end(&mut response).await;
    Ok(String::from_utf8_lossy(&response).into_owned())
}

/// The token that Kubernetes writes into the Secret of deploy/monitoring once that is applied.
async fn token_of_scraper(world: &World) -> Result<String> {
    let scraper = std::fs::read_to_string(xtask::root().join("deploy/monitoring/scraper.yaml"))?;
    world.api().apply(&scraper).await?;
    let secret = [
        "get",
        "secret/foo-metrics-scraper-token",
        "--namespace=foo-system",
        "--output=go-template={{with .data}}{{.token | base64decode}}{{end}}",
    ];
    wait_until("the scraper's token", SOON, async || {
        let token = world.api().kubectl(secret).await?;
        Ok(if token.is_empty() { Probe::NotYet("none".to_owned()) } else { Probe::Done(token) })
    })
    .await
}

/// docs/operations/metrics.md describes how to rotate it.
#[test]
fn the_token_that_deploy_monitoring_creates_scrapes_metrics_and_so_does_the_next_one() {
    WORLD.run(async |world| {
        let token = token_of_scraper(world).await?;
        has_access(world.manager(), &token, (200, 403)).await?;
        let file = xtask::root().join("deploy/monitoring/scraper.yaml").display().to_string();
        // Kubernetes may have deleted the Secret with the ServiceAccount before kubectl does.
        world.api().kubectl(["delete", "--ignore-not-found", "-f", file.as_str()]).await?;
        let next = token_of_scraper(world).await?;
        assert_ne!(next, token);
        has_access(world.manager(), &next, (200, 403)).await?;
        Ok(())
    });
}
