//! A deletion that is cut short again and again costs hardly more time than one that is not: what was being deleted is not waited
//! for once more.

use crate::create::full;
use crate::faults::assert_gone;
use crate::world::*;
use foo_network::Desired;
use foo_network::desired::*;
use std::time::Duration;

/// What one crash may cost: the reads of the next process.
const EACH: Duration = Duration::from_secs(5);

/// An idle network, and how many calls and how long its deletion takes if nothing goes wrong.
fn calm(desired: &Desired) -> (World, usize, Duration) {
    let mut world = World::new(desired.clone());
    world.rest();
    let settled = world.clone();
    let (sent, start) = (world.sent, world.aws.now);
    world.delete();
    (settled, world.sent - sent, start.until(world.aws.now))
}

fn networks() -> [(&'static str, Desired); 3] {
    [
        ("one zone", desired("a")),
        ("three zones", desired("abc")),
        ("all at once", Desired { nat: NatMode::Single, ..full() }),
    ]
}

#[test]
fn a_crash_after_one_deletion_costs_seconds() {
    for (name, desired) in networks() {
        let (settled, calls, time) = calm(&desired);
        let mut most = Duration::ZERO;
        for at in 0..calls {
            let mut world = settled.clone();
            world.faults.insert(world.sent + at, Fault::CrashAfter);
            let start = world.aws.now;
            world.delete();
            assert_gone(&world);
            let more = start.until(world.aws.now).saturating_sub(time);
            assert!(more <= EACH, "{name}: {more:?} after call {at}\n{}", world.story());
            most = most.max(more);
        }
        println!("{name}: {calls} calls in {time:?}; a crash after one of them costs at most {most:?}");
    }
}

#[test]
fn a_crash_after_each_deletion_costs_seconds_each() {
    for (name, desired) in networks() {
        let (mut world, calls, time) = calm(&desired);
        for at in 0..10 * calls {
            world.faults.insert(world.sent + at, Fault::CrashAfter);
        }
        let (sent, start) = (world.sent, world.aws.now);
        world.delete();
        assert_gone(&world);
        let (sent, taken) = (world.sent - sent, start.until(world.aws.now));
        println!("{name}: {calls} calls in {time:?}; with a crash after each {sent} calls in {taken:?}");
        assert_eq!(sent, calls, "nothing is sent twice\n{}", world.story());
        let crashes = u32::try_from(sent).unwrap();
        assert!(taken <= time + EACH * crashes, "{name}: {taken:?}\n{}", world.story());
    }
}

/// Reads show what was before for a while: a part that is gone is deleted once more, and AWS's response is no reason to
/// wait.
#[test]
fn a_crash_costs_seconds_while_reads_lag() {
    // One call is hidden, or all of the last twenty.
    for lag in [Duration::from_millis(150), Duration::from_secs(2)] {
        let mut settled = World::new(desired("a"));
        settled.rest();
        settled.aws.set_lag(lag);
        let calm = {
            let mut world = settled.clone();
            world.delete();
            (world.sent - settled.sent, settled.aws.now.until(world.aws.now))
        };
        let mut most = Duration::ZERO;
        for at in 0..calm.0 {
            let mut world = settled.clone();
            world.faults.insert(world.sent + at, Fault::CrashAfter);
            world.delete();
            assert_gone(&world);
            let more = settled.aws.now.until(world.aws.now).saturating_sub(calm.1);
            // After the last call the reads show the network of before its last calls, all of which are refused now.
            // That its VPC is gone is believed by a read that is half a minute younger.
            let unseen = at + 1 == calm.0 && lag > Duration::from_secs(1);
            let each = if unseen { EACH + Duration::from_secs(30) } else { EACH };
            assert!(more <= each, "{more:?} after call {at}\n{}", world.story());
            most = most.max(more);
        }
        println!("while reads lag {lag:?}: {calm:?}; a crash costs at most {most:?}");
    }
}
