//! Calls to AWS: how many, what they return, how long they take and wait, and the age of what is known.

use super::model::{Dashboard, Row, Unit, Variable, View, panel, rate, slowest};

const N: &str = r#"namespace=~"$namespace""#;
const S: &str = r#"namespace=~"$namespace",service=~"$service""#;

pub(super) fn dashboard() -> Dashboard {
    Dashboard {
        file: "aws-calls",
        title: "Foo / AWS calls",
        about: "Calls to AWS by service and operation, refusals and throttling, rate limits of the manager, and how old its \
                observations of groups are.",
        variables: vec![Variable::Namespace, Variable::Service],
        rows: vec![calls(), limits(), observations()],
    }
}

fn calls() -> Row {
    let panels = vec![
        panel(
            "Calls",
            View::Stack,
            Unit::PerSecond,
            "Finished calls by service; what the SDK repeats counts once. An idle pool has none of its own: the sweeps of \
             all groups are shared.",
        )
        .shows("{{service}}", rate("service", "foo_aws_requests_total", S)),
        panel(
            "Calls that fail",
            View::Lines,
            Unit::PerSecond,
            "By AWS's kind of error. `NotFound` and `ResourceInUse` are normal in the course of a deletion; \
             `AwsUnreachable` and `ResponseLost` point at the network.",
        )
        .bad_above(0.1, 1.0)
        .read_on("FooAwsRefused")
        .shows("{{code}}", rate("code", "foo_aws_requests_total", &format!(r#"{S},code!="ok""#))),
        panel(
            "Refused calls",
            View::Lines,
            Unit::Count,
            "In the last hour: the role lacks a right, or the credentials are not valid. The operation names the statement \
             of the IAM policy that is missing.",
        )
        .bad_above(1.0, 10.0)
        .read_on("FooAwsRefused")
        .shows(
            "{{action}}: {{code}}",
            format!(r#"sum by (action, code) (increase(foo_aws_requests_total{{{S},code=~"AccessDenied|CredentialsInvalid"}}[1h])) > 0 or sum by (code) (increase(foo_aws_requests_total{{{S},code=~"AccessDenied|CredentialsInvalid"}}[1h]))"#),
        ),
        panel(
            "Throttled calls",
            View::Lines,
            Unit::PerSecond,
            "AWS throttles the account. The manager slows down by itself; CloudTrail shows which client calls most.",
        )
        .bad_above(0.05, 0.1)
        .read_on("FooAwsThrottled")
        .shows("{{service}}", rate("service", "foo_aws_requests_total", &format!(r#"{S},code="Throttled""#))),
        panel(
            "The ten most frequent operations",
            View::Lines,
            Unit::PerSecond,
            "Which operations use the rate limits. A change that repeats for hours means that another tool changes it back.",
        )
        .shows("{{action}}", format!("topk(10, {})", rate("action", "foo_aws_requests_total", S))),
        panel(
            "Duration of calls",
            View::Lines,
            Unit::Seconds,
            "95 % were faster, repetitions by the SDK included, the wait for the rate limit not. Beyond ten seconds: AWS \
             fails and the SDK repeats, or the network loses packets.",
        )
        .bad_above(2.0, 10.0)
        .shows(
            "{{service}}",
            slowest("service", "foo_aws_request_seconds", S),
        ),
    ];
    Row { title: "Calls", panels }
}

fn limits() -> Row {
    let panels = vec![
        panel(
            "Wait for the client-side rate limits",
            View::Lines,
            Unit::Seconds,
            "95 % of the calls waited less. Seconds for long: too many groups for the limit, or AWS throttled and the limit \
             was reduced.",
        )
        .bad_above(1.0, 10.0)
        .read_on("FooObservationsOld")
        .shows(
            "{{bucket}}",
            slowest("bucket", "foo_aws_token_wait_seconds", N),
        ),
        panel(
            "Wait of calls by priority",
            View::Lines,
            Unit::Seconds,
            "95 % of the calls waited less. The most urgent calls are sent first: minutes for `hook` mean that heartbeats may \
             be late, minutes for `read` that observations grow old.",
        )
        .bad_above(10.0, 60.0)
        .read_on("FooAwsThrottled")
        .shows(
            "{{priority}}",
            slowest("priority", "foo_aws_token_wait_seconds", N),
        ),
        panel(
            "Calls that wait, by priority",
            View::Stack,
            Unit::Count,
            "Calls that wait for a token at the moment. Many for long: too many groups for the limit, or AWS throttled and the \
             limit was reduced.",
        )
        .read_on("FooObservationsOld")
        .shows("{{priority}}", format!("sum by (priority) (foo_aws_calls_waiting{{{N}}})")),
        panel(
            "Throttled calls by priority",
            View::Lines,
            Unit::PerSecond,
            "The manager repeats throttled calls of the priority `hook` for 30 s, all others with the next reconcile.",
        )
        .read_on("FooAwsThrottled")
        .shows(
            "{{priority}}",
            rate("priority", "foo_aws_requests_total", &format!(r#"{S},code="Throttled""#)),
        ),
        panel(
            "Rate in percent of the configured one",
            View::Lines,
            Unit::Percent,
            "Below 100 after AWS throttled a call; it recovers by itself. Low for long: another client uses up the account's \
             limit.",
        )
        .bad_below(25.0, 100.0)
        .read_on("FooAwsThrottled")
        .shows("{{bucket}}", format!("min by (bucket) (foo_aws_rate_percent{{{N}}})")),
        panel(
            "Tokens left",
            View::Lines,
            Unit::Count,
            "Calls that may be sent at once. 0 for a moment is normal after a start; 0 for long: calls wait.",
        )
        .bad_below(1.0, 5.0)
        .read_on("FooObservationsOld")
        .shows("{{bucket}}", format!("min by (bucket) (foo_aws_tokens_left{{{N}}})")),
    ];
    Row { title: "Rate limits of the manager", panels }
}

fn observations() -> Row {
    let panels = vec![
        panel(
            "Sweeps over all groups",
            View::Stack,
            Unit::PerSecond,
            "Pages of the lists of groups, by result. Anything but `ok` that lasts makes the observations old.",
        )
        .read_on("FooObservationsOld")
        .shows("{{code}}", format!("{} > 0", rate("code", "foo_observer_sweeps_total", N))),
        panel(
            "Age of observations when they are renewed",
            View::Lines,
            Unit::Seconds,
            "How old what the manager knows of a group becomes. 256 s are the objective for 99 %: beyond it the manager \
             reacts late to what AWS does.",
        )
        .bad_above(128.0, 256.0)
        .read_on("FooObservationsLate")
        .quantiles("foo_observation_age_seconds", N),
        panel(
            "The oldest observation",
            View::Lines,
            Unit::Seconds,
            "Computed at each scrape, so it grows while nothing is described. Beyond five minutes: AWS is slow, rejects \
             calls, or the rate limit is too low.",
        )
        .bad_above(120.0, 300.0)
        .read_on("FooObservationsOld")
        .shows("{{namespace}}", format!("max by (namespace) (foo_observations_oldest_seconds{{{N}}})")),
        panel(
            "Groups without an observation",
            View::Lines,
            Unit::Count,
            "Groups that could not be described for two periods: the manager changes nothing there. If the pools show \
             ObservationStale, restart the manager.",
        )
        .bad_above(1.0, 1.0)
        .read_on("FooGroupsUnseen")
        .shows("{{namespace}}", format!("max by (namespace) (foo_groups_unseen{{{N}}})")),
    ];
    Row { title: "Observations of groups", panels }
}
