//! The manager itself: leadership, reconciles, queues, caches, the API server, the process.

use super::model::{Dashboard, Row, Unit, Variable, View, panel, rate, slowest};

const N: &str = r#"namespace=~"$namespace""#;
const C: &str = r#"namespace=~"$namespace",controller=~"$controller""#;

pub(super) fn dashboard() -> Dashboard {
    Dashboard {
        file: "manager",
        title: "Foo / Manager",
        about: "The manager's processes: who leads, how long reconciles take and wait, whether caches are up to date, requests to \
                the API server, CPU and memory.",
        variables: vec![Variable::Namespace, Variable::Controller],
        rows: vec![health(), reconciles(), queues(), caches(), kubernetes(), process()],
    }
}

fn health() -> Row {
    let panels = vec![
        panel(
            "Leaders",
            View::Number,
            Unit::Count,
            "1 for each Lease that a manager holds. 0: its objects are not reconciled. 2 for longer than a scrape: two \
             installations use one name of a Lease.",
        )
        .bad_below(1.0, 1.0)
        .read_on("FooNoLeader")
        .shows("{{namespace}} {{lease}}", format!("sum by (namespace, lease) (foo_leader{{{N}}})")),
        panel(
            "Versions",
            View::Number,
            Unit::Count,
            "Processes by version. Two versions for longer than an upgrade takes: one Deployment was not upgraded.",
        )
        .shows("{{version}}", format!("count by (version) (foo_build_info{{{N}}})")),
        panel(
            "Changes of the leader",
            View::Number,
            Unit::Count,
            "In the last day. More than the upgrades of that day: the API server was slow, or the process was killed, for \
             example for its memory.",
        )
        .bad_above(3.0, 10.0)
        .read_on("FooNoLeader")
        .shows("changes", format!("max(increase(foo_leader_transitions_total{{{N}}}[1d]))")),
        panel(
            "Running since",
            View::Number,
            Unit::Moment,
            "When the process began that started last. More recent than the last upgrade: it was restarted; the log of the \
             container before has the cause.",
        )
        .shows("{{namespace}}", format!("1000 * max by (namespace) (process_start_time_seconds{{{N}}})")),
        panel(
            "Tasks that are late",
            View::Lines,
            Unit::Seconds,
            "Normally 0. A task that is a minute late hangs: /livez fails, and Kubernetes restarts the container. Please \
             report the log.",
        )
        .bad_above(10.0, 60.0)
        .read_on("FooTaskStandsStill")
        .shows("{{task}}", format!("max by (task) (foo_task_overdue_seconds{{{N}}})")),
        panel(
            "Tasks that were restarted",
            View::Lines,
            Unit::Count,
            "In the last hour: tasks that panicked or took too long. Their work is delayed; please report the log.",
        )
        .bad_above(1.0, 3.0)
        .read_on("FooTaskRestarts")
        .shows("{{task}}", format!("sum by (task) (increase(foo_task_restarts_total{{{N}}}[1h]))")),
        panel(
            "Clocks",
            View::Lines,
            Unit::Seconds,
            "By how much the manager's clock is ahead of the API server's and of AWS's. Beyond a minute, one of the clocks is \
             wrong: synchronize them with NTP.",
        )
        .bad_above(30.0, 60.0)
        .read_on("FooClocksDiffer")
        .shows("{{clock}}", format!("max by (clock) (abs(foo_clock_difference_seconds{{{N}}}))")),
        panel(
            "Plans that break an invariant",
            View::Lines,
            Unit::Count,
            "In the last hour. The manager refused them and did nothing. Any is a bug: please report it with /debug/pools.",
        )
        .bad_above(1.0, 1.0)
        .read_on("FooInvariantViolated")
        .shows("{{invariant}}", format!("sum by (invariant) (increase(foo_invariant_violations_total{{{N}}}[1h])) > 0 or sum by (namespace) (increase(foo_invariant_violations_total{{{N}}}[1h]))")),
    ];
    Row { title: "Health", panels }
}

fn reconciles() -> Row {
    let panels = vec![
        panel(
            "Reconciles",
            View::Stack,
            Unit::PerSecond,
            "By result. An idle fleet has only `settled`; a share of `failed` that lasts is a permission, AWS, or the API \
             server.",
        )
        .read_on("FooPassesFail")
        .shows("{{result}}", rate("result", "foo_reconciles_total", C)),
        panel(
            "Duration of reconciles",
            View::Lines,
            Unit::Seconds,
            "95 % are faster. Tens of seconds: AWS or the API server respond slowly, or the calls wait for a rate limit. \
             After four minutes the manager cancels a reconcile.",
        )
        .bad_above(30.0, 120.0)
        .read_on("FooPassesHang")
        .shows(
            "{{controller}}",
            slowest("controller", "foo_reconcile_seconds", C),
        ),
        panel(
            "Reconciles in progress",
            View::Lines,
            Unit::Count,
            "At --concurrency for minutes: more objects change than the manager can handle; raise the flag, and read the \
             queues below.",
        )
        .read_on("FooPassesWait")
        .shows("{{controller}}", format!("sum by (controller) (foo_reconciles_in_flight{{{C}}})")),
        panel(
            "The longest reconcile in progress",
            View::Lines,
            Unit::Seconds,
            "Beyond four minutes the manager cancels it; beyond five something ignores that, and /livez fails.",
        )
        .bad_above(120.0, 300.0)
        .read_on("FooPassesHang")
        .shows("{{controller}}", format!("max by (controller) (foo_reconcile_longest_seconds{{{C}}})")),
    ];
    Row { title: "Reconciles", panels }
}

fn queues() -> Row {
    let panels = vec![
        panel(
            "Objects that wait",
            View::Lines,
            Unit::Count,
            "Objects that changed and are not being reconciled yet. A start has all of them for a moment; a number that \
             grows means too little concurrency or slow reconciles.",
        )
        .read_on("FooPassesWait")
        .shows("{{controller}}", format!("sum by (controller) (foo_reconcile_queue_depth{{{C}}})")),
        panel(
            "The longest wait of now",
            View::Lines,
            Unit::Seconds,
            "How long the object has waited that waits longest. Minutes: every change takes effect that much later.",
        )
        .bad_above(30.0, 120.0)
        .read_on("FooPassesWait")
        .shows("{{controller}}", format!("max by (controller) (foo_reconcile_queue_oldest_seconds{{{C}}})")),
        panel(
            "How long objects waited",
            View::Lines,
            Unit::Seconds,
            "95 % waited less. Changes of pools are collected for 0.2 s, so that is the least there.",
        )
        .bad_above(5.0, 30.0)
        .read_on("FooPassesWait")
        .shows(
            "{{controller}}",
            slowest("controller", "foo_reconcile_queue_seconds", C),
        ),
        panel(
            "Objects that always fail",
            View::Lines,
            Unit::Seconds,
            "How long one object's reconciles have all failed. Half an hour is not a moment's trouble: read the log.",
        )
        .bad_above(600.0, 1800.0)
        .read_on("FooPassesFail")
        .shows("{{controller}}", format!("max by (controller) (foo_reconcile_failing_oldest_seconds{{{C}}})")),
    ];
    Row { title: "Queues", panels }
}

fn caches() -> Row {
    let panels = vec![
        panel(
            "Silence of watches",
            View::Lines,
            Unit::Seconds,
            "Time since a watch received anything, bookmarks included. Normally below two minutes; beyond ten the cache is \
             out of date: the log has the error of the watch.",
        )
        .bad_above(300.0, 600.0)
        .read_on("FooWatchSilent")
        .shows("{{kind}}", format!("max by (kind) (foo_watch_silence_seconds{{{N}}})")),
        panel(
            "Errors of watches",
            View::Lines,
            Unit::PerSecond,
            "A watch that expired (410) counts and is normal now and then. Steady errors: a right is missing, or the API \
             server ends connections.",
        )
        .bad_above(0.05, 0.5)
        .read_on("FooWatchSilent")
        .shows("{{kind}}", rate("kind", "foo_watch_errors_total", N)),
    ];
    Row { title: "Caches", panels }
}

fn kubernetes() -> Row {
    let panels = vec![
        panel(
            "Requests",
            View::Stack,
            Unit::PerSecond,
            "Requests to API servers by verb. Writes in an idle fleet mean that another controller writes the same fields.",
        )
        .shows("{{client}} {{verb}}", format!("{} > 0", rate("client, verb", "foo_kube_requests_total", N))),
        panel(
            "Requests that fail",
            View::Lines,
            Unit::PerSecond,
            "By response. `conflict` is normal now and then; `forbidden`: a role lacks a right; `too_many_requests`, `server` \
             and `no_answer`: the API server is overloaded or away.",
        )
        .bad_above(0.2, 2.0)
        .read_on("FooPassesFail")
        .shows(
            "{{client}} {{code}}",
            rate("client, code", "foo_kube_requests_total", &format!(r#"{N},code!="ok""#)),
        ),
        panel(
            "Time to respond",
            View::Lines,
            Unit::Seconds,
            "95 % of the responses began sooner. Beyond two seconds the manager reduces its writes by itself.",
        )
        .bad_above(1.0, 2.0)
        .read_on("FooKubeLimit")
        .shows(
            "{{client}} {{verb}}",
            slowest("client, verb", "foo_kube_request_seconds", &format!(r#"{N},verb!="watch""#)),
        ),
        panel(
            "Wait for the client-side rate limit",
            View::Lines,
            Unit::Seconds,
            "95 % waited less. More than a second for long: raise --kube-api-qps and --kube-api-burst.",
        )
        .bad_above(0.5, 1.0)
        .read_on("FooKubeLimit")
        .shows(
            "{{client}}",
            slowest("client", "foo_kube_wait_seconds", N),
        ),
        panel(
            "Writes and live reads",
            View::Lines,
            Unit::PerSecond,
            "Writes of the controllers, and reads that bypass the caches. Both are 0 while all pools are idle.",
        )
        .shows("writes", format!("sum(rate(foo_kube_writes_total{{{N}}}[$__rate_interval]))"))
        .shows("live reads", format!("sum(rate(foo_kube_live_reads_total{{{N}}}[$__rate_interval]))")),
        panel(
            "Concurrent writes that are allowed",
            View::Lines,
            Unit::Count,
            "32, and fewer while the API server is slow or rejects requests. Low for long: the API server is overloaded.",
        )
        .bad_below(4.0, 16.0)
        .read_on("FooKubeLimit")
        .shows("{{namespace}}", format!("min by (namespace) (foo_kube_writes_at_once{{{N}}})")),
        panel(
            "Kubernetes events",
            View::Lines,
            Unit::PerSecond,
            "`lost` ones are missing in kubectl describe; nothing else depends on them.",
        )
        .bad_above(0.1, 1.0)
        .read_on("FooEventsLost")
        .shows(
            "{{severity}}: {{outcome}}",
            rate("severity, outcome", "foo_events_total", N),
        ),
    ];
    Row { title: "API server", panels }
}

fn process() -> Row {
    let panels = vec![
        panel(
            "CPU",
            View::Lines,
            Unit::Plain,
            "CPUs used. At the limit of the container, reconciles become slow: raise it.",
        )
        .shows("{{namespace}}", format!("max by (namespace) (rate(process_cpu_seconds_total{{{N}}}[$__rate_interval]))")),
        panel(
            "Memory",
            View::Lines,
            Unit::Bytes,
            "Resident memory. It follows the number of objects; growth without more of them is a leak: please report it.",
        )
        .shows("{{namespace}}", format!("max by (namespace) (process_resident_memory_bytes{{{N}}})")),
        panel(
            "File descriptors in use",
            View::Lines,
            Unit::Share,
            "Of those that the process may open. Near 1 new connections fail: please report it, the manager needs few.",
        )
        .bad_above(0.5, 0.9)
        .shows("{{namespace}}", format!("max by (namespace) (process_open_fds{{{N}}} / process_max_fds{{{N}}})")),
    ];
    Row { title: "Process", panels }
}
