//! What networks cost in calls of AWS and in time, by the real controller: `make bench` prints it, and
//! docs/operations/aws.md has the table.
//!
//! Calls are counted by the simulated AWS, page by page. Time is virtual: what is measured is what the provider's own
//! order of calls, reads and waits takes. The simulated AWS responds at once, or each call takes [`RESPONSE_TIME`].

use super::{Census, census, tagged};
use crate::support::World;
use foo_api::cluster::{Egress, ManagedNetwork, NatMode};
use foo_simulator_core::core::Settings;
use foo_simulator_core::{Fault, FaultRule};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// What we may take beyond the slowest resource, which is a NAT gateway.
const OWN_TIME: Duration = Duration::from_secs(15);
/// How long AWS takes to respond, where it does not respond at once.
const RESPONSE_TIME: Duration = Duration::from_millis(500);
/// Changes that get responses this much later than the ones before, in milliseconds, were not sent together with them.
const LATER: i64 = 50;

/// Zones and NAT gateways of each network whose figures are printed; `None` is `egress: None`.
const ALL: [(u32, Option<NatMode>); 5] = [
    (1, Some(NatMode::PerZone)),
    (1, None),
    (3, Some(NatMode::PerZone)),
    (3, Some(NatMode::Single)),
    (3, None),
];

/// What creation or deletion took.
struct Cost {
    changes: u64,
    reads: BTreeMap<String, u64>,
    /// Changes that were sent together, which are ten at most, count as one. Of those that get responses at once this
    /// is unknown.
    in_a_row: usize,
    /// Beyond the NAT gateways.
    own: Duration,
}

fn network(zones: u32, nat: Option<NatMode>) -> ManagedNetwork {
    let spec = serde_json::json!({ "zones": { "count": zones } });
    let egress = if nat.is_some() { Egress::Nat } else { Egress::None };
    ManagedNetwork { nat, egress, ..serde_json::from_value(spec).unwrap() }
}

fn is_read(action: &str) -> bool {
    ["Describe", "Get"].iter().any(|verb| action.starts_with(verb))
}

impl World {
    /// AWS takes [`RESPONSE_TIME`] for each call.
    fn responds_late(&self) {
        let millis = u64::try_from(RESPONSE_TIME.as_millis()).unwrap();
        self.aws.add_fault(FaultRule::on_everything(Fault::Delay { millis }));
    }

    /// What was sent since the last [`World::forgets`], in so much time, `waited` of it for NAT gateways.
    fn cost(&self, began: Instant, waited: Duration) -> Cost {
        let own = began.elapsed().saturating_sub(waited);
        let (reads, changes): (BTreeMap<_, _>, BTreeMap<_, _>) =
            self.ec2_calls().into_iter().partition(|(action, _)| is_read(action));
        let sent = self.aws.recent_calls().into_iter().filter(|call| !is_read(&call.action));
        let moments: Vec<i64> = sent.map(|call| call.at.0).collect();
        let later = moments.windows(2).filter(|pair| pair[1] - pair[0] > LATER).count();
        let in_a_row = later + usize::from(!moments.is_empty());
        Cost { changes: changes.values().sum(), reads, in_a_row, own }
    }
}

impl Cost {
    /// As text, with what it is if AWS takes [`RESPONSE_TIME`] for each call.
    fn beside(&self, late: &Self) -> String {
        assert_eq!(self.changes, late.changes, "slow responses cause no other changes");
        format!(
            "{:2} changes ({} in a row), {:2} reads, {:4.1} s of the provider ({:4.1} s)",
            self.changes,
            late.in_a_row,
            self.reads.values().sum::<u64>(),
            self.own.as_secs_f64(),
            late.own.as_secs_f64()
        )
    }

    fn reads(&self) -> String {
        let reads: Vec<String> =
            self.reads.iter().map(|(action, count)| format!("{count} {action}")).collect();
        reads.join(", ")
    }
}

/// Creation and deletion of one network in a region of its own, and what it consisted of.
async fn costs(zones: u32, nat: Option<NatMode>, prepare: impl Fn(&World)) -> (Cost, Cost, Census) {
    let world = World::empty();
    prepare(&world);
    let Settings { nat_gateway_create, nat_gateway_delete, .. } = world.region.settings();
    let waits = |time: Duration| if nat.is_none() { Duration::ZERO } else { time };
    world.forgets();
    let began = Instant::now();
    world.begins_network(network(zones, nat));
    world.network_gets_ready().await;
    let creation = world.cost(began, waits(nat_gateway_create));
    let whole = census(&tagged(&world.region));
    world.rests().await;
    world.forgets();
    let began = Instant::now();
    world.deletes_network();
    world.network_is_removed().await;
    let deletion = world.cost(began, waits(nat_gateway_delete));
    assert!(census(&tagged(&world.region)).is_empty());
    (creation, deletion, whole)
}

/// `make bench` requests all of them (FOO_FIGURES=whole); otherwise one network is enough to see that the figures are
/// right.
#[tokio::test(start_paused = true)]
async fn creation_and_deletion_take_few_calls_and_little_time_of_the_provider() {
    let whole = std::env::var("FOO_FIGURES").is_ok_and(|it| it == "whole");
    println!(
        "networks (in parentheses: if each call takes {} ms; at most ten changes at a time)",
        RESPONSE_TIME.as_millis()
    );
    for (zones, nat) in if whole { &ALL[..] } else { &ALL[..1] } {
        let (creation, deletion, parts) = costs(*zones, *nat, |_| {}).await;
        let (late_creation, late_deletion, same_parts) = costs(*zones, *nat, World::responds_late).await;
        assert_eq!(parts, same_parts);
        let resources: usize = parts.values().sum();
        let plural = if *zones == 1 { "" } else { "s" };
        println!("{zones} zone{plural}, NAT {nat:?}, {resources} resources");
        println!("  create {}: {}", creation.beside(&late_creation), creation.reads());
        println!("  delete {}: {}", deletion.beside(&late_deletion), deletion.reads());
        for cost in [creation, deletion, late_creation, late_deletion] {
            assert!(cost.own < OWN_TIME, "{zones} zones, {nat:?}: {:?} of our own", cost.own);
        }
    }
}
