//! Watches, through kube's own watcher, reflector and controller.

use crate::{Bench, machine, pool};
use foo_api::FooMachinePool;
use foo_api::capi::Machine;
use foo_apiserver_fake::{FakeApiServer, Fault, Verb};
use futures::{StreamExt, TryStreamExt};
use kube::api::WatchParams;
use kube::core::{PartialObjectMeta, WatchEvent};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::reflector::store;
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, reflector, watcher as watch};
use kube::{Api, ResourceExt};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

fn relabel(server: &FakeApiServer, name: &str, value: &str) {
    server
        .edit("default", name, |machine: &mut Machine| {
            machine.labels_mut().insert("l".to_owned(), value.to_owned());
        })
        .unwrap();
}

fn summary(event: Event<impl ResourceExt>) -> String {
    match event {
        Event::Init => "init".to_owned(),
        Event::InitApply(object) => format!("has {}", object.name_any()),
        Event::InitDone => "done".to_owned(),
        Event::Apply(object) => format!("apply {}", object.name_any()),
        Event::Delete(object) => format!("delete {}", object.name_any()),
    }
}

/// A watcher whose events come as text.
struct Told(mpsc::UnboundedReceiver<String>);

impl Told {
    fn start(stream: impl futures::Stream<Item = Result<String, watcher::Error>> + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut stream = std::pin::pin!(stream);
            while let Some(event) = stream.next().await {
                let text = event.unwrap_or_else(|error| match error {
                    watcher::Error::WatchError(status) => format!("error {}", status.code),
                    other => format!("error {other}"),
                });
                if sender.send(text).is_err() {
                    return;
                }
            }
        });
        Self(receiver)
    }

    fn of(bench: &Bench, config: watcher::Config) -> Self {
        Self::start(watch(bench.machines.clone(), config).map_ok(summary))
    }

    async fn next(&mut self, count: usize) -> Vec<String> {
        let mut events = Vec::new();
        for _ in 0..count {
            let next = timeout(Duration::from_secs(5), self.0.recv()).await;
            events.push(next.expect("another event").expect("a watcher that lives"));
        }
        events
    }

    async fn silent(&mut self) {
        let next = timeout(Duration::from_secs(1), self.0.recv()).await;
        assert!(next.is_err(), "unexpected {next:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_watcher_lists_and_follows() {
    for config in [
        watcher::Config::default().page_size(1),
        watcher::Config::default().streaming_lists(),
        watcher::Config::default().any_semantic(),
    ] {
        let bench = Bench::new();
        bench.server.create(&machine("a")).unwrap();
        bench.server.create(&machine("b")).unwrap();
        let mut summary = Told::of(&bench, config);
        assert_eq!(summary.next(4).await, ["init", "has a", "has b", "done"]);
        bench.server.create(&machine("c")).unwrap();
        relabel(&bench.server, "a", "1");
        bench.server.delete::<Machine>("default", "b").unwrap();
        assert_eq!(summary.next(3).await, ["apply c", "apply a", "delete b"]);
        tokio::time::sleep(Duration::from_secs(2000)).await;
        relabel(&bench.server, "a", "2");
        assert_eq!(summary.next(1).await, ["apply a"], "after several timeouts of the watch");
        summary.silent().await;
        assert!(bench.server.requests().verb(Verb::List).count() <= 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_selector_makes_changes_into_arrivals_and_departures() {
    let bench = Bench::new();
    bench.server.create(&machine("a")).unwrap();
    let mut summary = Told::of(&bench, watcher::Config::default().labels("l=in"));
    assert_eq!(summary.next(2).await, ["init", "done"]);
    relabel(&bench.server, "a", "in");
    relabel(&bench.server, "a", "out");
    relabel(&bench.server, "a", "still out");
    assert_eq!(summary.next(2).await, ["apply a", "delete a"]);
    summary.silent().await;
}

#[tokio::test(start_paused = true)]
async fn metadata_watches_work() {
    let bench = Bench::new();
    bench.server.create(&machine("a")).unwrap();
    let machines: Api<PartialObjectMeta<Machine>> = Api::all(bench.server.client());
    let stream = watch(machines, watcher::Config::default()).map_ok(summary);
    let mut summary = Told::start(stream);
    assert_eq!(summary.next(3).await, ["init", "has a", "done"]);
    relabel(&bench.server, "a", "1");
    assert_eq!(summary.next(1).await, ["apply a"]);
}

#[tokio::test(start_paused = true)]
async fn quiet_watches_get_bookmarks_and_end_in_time() {
    let bench = Bench::new();
    let params = WatchParams::default().timeout(150);
    let mut stream = bench.machines.watch(&params, "1").await.unwrap().boxed();
    bench.server.create(&pool("other-kind")).unwrap();
    for _ in 0..3 {
        match stream.next().await {
            Some(Ok(WatchEvent::Bookmark(mark))) => assert_eq!(mark.metadata.resource_version, "2"),
            other => panic!("no bookmark: {other:?}"),
        }
    }
    assert!(stream.next().await.is_none());
    assert_eq!(bench.server.open_watches(), 0);
}

#[tokio::test(start_paused = true)]
async fn watches_without_bookmarks_end_in_time_and_stalled_ones_do_not() {
    let bench = Bench::new();
    let params = WatchParams::default().timeout(150);
    let quiet = bench.server.watches().without_bookmarks();
    let mut stream = bench.machines.watch(&params, "1").await.unwrap().boxed();
    assert!(stream.next().await.is_none());
    quiet.release();
    let mut stream = bench.machines.watch(&params, "1").await.unwrap().boxed();
    let stall = bench.server.watches().kind("Machine").stall();
    bench.server.create(&machine("a")).unwrap();
    let hour = Duration::from_hours(1);
    timeout(hour, stream.next()).await.expect_err("it sends nothing and does not end");
    stall.release();
    assert!(matches!(stream.next().await, Some(Ok(WatchEvent::Added(_)))), "nothing is lost");
}

#[tokio::test(start_paused = true)]
async fn suspended_watches_make_caches_stale_until_resumed() {
    let bench = Bench::new();
    let mut summary = Told::of(&bench, watcher::Config::default());
    assert_eq!(summary.next(2).await, ["init", "done"]);
    let hold = bench.server.watches().kind("Machine").client("controller").hold();
    bench.server.create(&machine("a")).unwrap();
    summary.silent().await;
    assert!(bench.machines.get_opt("a").await.unwrap().is_some(), "reads are not stale");
    hold.release();
    assert_eq!(summary.next(1).await, ["apply a"]);
}

#[tokio::test(start_paused = true)]
async fn closed_watches_resume_and_expired_ones_list_again() {
    let bench = Bench::new();
    bench.server.create(&machine("a")).unwrap();
    bench.server.create(&machine("b")).unwrap();
    let mut summary = Told::of(&bench, watcher::Config::default());
    summary.next(4).await;
    bench.server.watches().close();
    bench.server.delete::<Machine>("default", "a").unwrap();
    assert_eq!(summary.next(1).await, ["delete a"], "nothing is lost");
    let hold = bench.server.watches().hold();
    bench.server.delete::<Machine>("default", "b").unwrap();
    bench.server.watches().expire();
    hold.release();
    assert_eq!(summary.next(3).await, ["error 410", "init", "done"], "no watch reports that b was deleted");
    bench.server.create(&machine("c")).unwrap();
    bench.server.compact();
    summary.next(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_watch_can_be_refused_from_the_start() {
    let bench = Bench::new();
    bench.server.inject(Fault::gone().on(Verb::Watch));
    bench.server.inject(Fault::unavailable().on(Verb::List));
    let mut summary = Told::start(
        watch(bench.machines.clone(), watcher::Config::default()).default_backoff().map_ok(summary),
    );
    let events = summary.next(6).await;
    assert!(events[1].contains("503") || events[1].contains("currently unable"), "{events:?}");
    assert_eq!(events[2..], ["init", "done", "error 410", "init"]);
}

#[tokio::test(start_paused = true)]
async fn reflectors_follow() {
    let bench = Bench::new();
    bench.server.create(&machine("a")).unwrap();
    let (reader, writer) = store::<Machine>();
    let stream = reflector(writer, watch(bench.machines.clone(), watcher::Config::default()));
    tokio::spawn(stream.for_each(|_| std::future::ready(())));
    #[expect(clippy::disallowed_methods, reason = "no other task waits for it")]
    reader.wait_until_ready().await.unwrap();
    bench.server.create(&machine("b")).unwrap();
    bench.server.delete::<Machine>("default", "a").unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    let names: Vec<String> = reader.state().iter().map(|machine| machine.name_any()).collect();
    assert_eq!(names, ["b"]);
}

#[tokio::test(start_paused = true)]
async fn a_controller_runs_on_it() {
    let bench = Bench::new();
    let client = bench.server.client_as("controller");
    let pools: Api<FooMachinePool> = Api::all(client.clone());
    let machines: Api<foo_api::FooMachine> = Api::all(client.clone());
    let run = Controller::new(pools, watcher::Config::default())
        .owns(machines, watcher::Config::default())
        .run(
            |pool: Arc<FooMachinePool>, client: Arc<kube::Client>| async move {
                let api: Api<FooMachinePool> = Api::namespaced((*client).clone(), "default");
                let patch = serde_json::json!({ "metadata": { "annotations": { "seen": "yes" } } });
                api.patch(
                    &pool.name_any(),
                    &kube::api::PatchParams::default(),
                    &kube::api::Patch::Merge(patch),
                )
                .await?;
                Ok::<_, kube::Error>(Action::await_change())
            },
            |_, _, _| Action::requeue(Duration::from_secs(1)),
            Arc::new(client),
        )
        .for_each(|_| std::future::ready(()));
    tokio::spawn(run);
    bench.server.create(&pool("a")).unwrap();
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(bench.server.get::<FooMachinePool>("default", "a").unwrap().annotations()["seen"], "yes");
    let settled = bench.server.resource_version();
    bench.server.reset_counts();
    tokio::time::sleep(Duration::from_hours(1)).await;
    assert_eq!(bench.server.resource_version(), settled);
    assert_eq!(bench.server.writes("FooMachinePool"), 0);
}
