//! Faults on demand.

use crate::{Bench, pool, refusal, refused};
use foo_apiserver_fake::{Ending, Fault, Verb};
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

fn label(value: &str) -> Patch<serde_json::Value> {
    Patch::Merge(json!({ "metadata": { "labels": { "l": value } } }))
}

#[tokio::test]
async fn a_rule_skips_strikes_and_is_used_up() {
    let bench = Bench::new();
    bench.server.create(&pool("pool-1")).unwrap();
    let rule = Fault::conflict().on(Verb::Patch).kind("FooMachinePool").name("pool-*").skip(1).times(2);
    let rule = bench.server.inject(rule);
    let mut seen = Vec::new();
    for turn in 0..5 {
        seen.push(
            bench.pools.patch("pool-1", &PatchParams::default(), &label(&turn.to_string())).await.is_ok(),
        );
        bench.pools.get("pool-1").await.unwrap();
    }
    assert_eq!(seen, [true, false, false, true, true]);
    assert_eq!(rule.struck(), 2);
}

#[tokio::test]
async fn a_rule_can_strike_each_nth_request_only() {
    let bench = Bench::new();
    bench.server.create(&pool("a")).unwrap();
    let rule = bench.server.inject(Fault::unavailable().on(Verb::Get).skip(1).every(2).times(2));
    let mut seen = Vec::new();
    for _ in 0..8 {
        seen.push(bench.pools.get("a").await.is_ok());
    }
    assert_eq!(seen, [true, true, false, true, false, true, true, true]);
    assert_eq!(rule.struck(), 2);
}

#[tokio::test]
async fn errors_have_the_form_of_the_real_ones() {
    let bench = Bench::new();
    for (fault, expected) in [
        (Fault::conflict(), "409 Conflict"),
        (Fault::internal_error(), "500 InternalError"),
        (Fault::unavailable(), "503 ServiceUnavailable"),
        (Fault::status(404), "404 NotFound"),
        (Fault::status(403), "403 Forbidden"),
        (Fault::gone(), "410 Expired"),
    ] {
        bench.server.inject(fault);
        assert_eq!(refused(bench.pools.get("a").await), expected);
    }
    bench.server.inject(Fault::too_many_requests(7));
    assert_eq!(refusal(bench.pools.get("a").await).details.unwrap().retry_after_seconds, 7);
    bench.server.inject(Fault::conflict());
    assert_eq!(refused(bench.pools.create(&PostParams::default(), &pool("a")).await), "409 AlreadyExists");
}

#[tokio::test]
async fn a_response_can_be_lost_after_the_write() {
    let bench = Bench::new();
    bench.server.inject(Fault::lost_response().on(Verb::Create));
    bench.pools.create(&PostParams::default(), &pool("a")).await.unwrap_err();
    assert!(bench.pools.get_opt("a").await.unwrap().is_some());
    bench.server.inject(Fault::lost_request().on(Verb::Create).name("b"));
    bench.pools.create(&PostParams::default(), &pool("b")).await.unwrap_err();
    assert!(bench.pools.get_opt("b").await.unwrap().is_none());
    let endings: Vec<_> =
        bench.server.requests().writes().iter().map(|one| (one.ending, one.changed)).collect();
    assert_eq!(endings, [(Ending::LostResponse, true), (Ending::LostRequest, false)]);
}

#[tokio::test(start_paused = true)]
async fn delays_run_on_tokios_clock_and_add_to_other_faults() {
    let bench = Bench::new();
    bench.server.inject(Fault::delay(Duration::from_secs(90)));
    bench.server.inject(Fault::unavailable());
    let start = Instant::now();
    assert_eq!(refused(bench.pools.get("a").await), "503 ServiceUnavailable");
    assert_eq!(start.elapsed().as_secs(), 90);
}

#[tokio::test]
async fn rules_choose_clients_managers_and_subresources() {
    let bench = Bench::new();
    bench.server.create(&pool("a")).unwrap();
    let rule = bench.server.inject(Fault::unavailable().client("core").always());
    bench.pools.list(&ListParams::default()).await.unwrap();
    let other: kube::Api<foo_api::FooMachinePool> =
        kube::Api::namespaced(bench.server.client_as("core"), "default");
    other.list(&ListParams::default()).await.unwrap_err();
    bench.server.withdraw(&rule);
    other.list(&ListParams::default()).await.unwrap();
    bench.server.inject(Fault::unavailable().subresource("status").manager("m").always());
    let named = PatchParams { field_manager: Some("m".to_owned()), ..PatchParams::default() };
    bench.pools.patch("a", &named, &label("1")).await.unwrap();
    bench.pools.patch_status("a", &PatchParams::default(), &label("1")).await.unwrap();
    bench.pools.patch_status("a", &named, &label("1")).await.unwrap_err();
    bench.server.heal();
    bench.pools.patch_status("a", &named, &label("1")).await.unwrap();
}

#[tokio::test]
async fn the_log_counts_by_kind_client_and_verb() {
    let bench = Bench::new();
    bench.pools.create(&PostParams::default(), &pool("a")).await.unwrap();
    bench.pools.get("a").await.unwrap();
    bench.machines.list(&ListParams::default()).await.unwrap();
    assert_eq!((bench.server.writes("FooMachinePool"), bench.server.reads("FooMachinePool")), (1, 1));
    assert_eq!(bench.server.requests().client("controller").reads().count(), 2);
    assert_eq!(bench.server.requests().kind("Machine").verb(Verb::List).count(), 1);
    let record = bench.server.requests().writes().into_iter().next().unwrap();
    assert_eq!((record.name.as_str(), record.manager.as_str()), ("a", "controller"));
    bench.server.reset_counts();
    assert!(bench.server.requests().is_empty());
}
