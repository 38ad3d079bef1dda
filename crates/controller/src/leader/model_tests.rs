//! Every interleaving of two candidates, one API server and a network that delays, reorders and loses
//! messages: two candidates never lead at the same moment.
//!
//! Time does not advance here; everything gets older instead, and names that are only compared are renamed in
//! the order of their appearance. So the number of worlds is finite, and visiting all of them covers runs of
//! any length.

use super::state::{Election, Moment, Record, Step, Timing, Write, Written};
use proptest::prelude::*;
use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// Maximum lateness. Anything older counts as this old.
const NOW: Moment = s(4);
/// The smallest timing that satisfies all its inequalities.
const SMALL: Timing = Timing { lease_duration: s(3), renew_deadline: s(2), retry_period: s(1) };

const fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Whether the server checks the version that a write is based on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Server {
    Checks,
    DoesNotCheck,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct World {
    lease: Option<Record>,
    candidates: [Candidate; 2],
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Candidate {
    election: Election,
    /// What it waits for, if anything.
    waiting: Option<Waiting>,
    /// A write whose response it does not wait for any more; it may still take effect at any time.
    astray: Option<Write>,
    life: Life,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Life {
    /// Works, or sleeps; it may wake too early or too late.
    Runs,
    /// Ended; its process may start again.
    Ended,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Waiting {
    /// A read got a response; the response is on its way. The moment at which it was sent cannot matter.
    Read(Option<Record>),
    ToWrite(Write),
    Wrote(Option<Record>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    TimePasses,
    /// A user deletes the Lease.
    Deletes,
    Runs(usize),
    ServerActs(usize),
    ResponseArrives(usize),
    GivesUp(usize),
    StrayArrives(usize),
    StrayIsLost(usize),
    Releases(usize),
    Restarts(usize),
}

/// Whether faults happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Accidents {
    Happen,
    /// No: time passes, candidates work, the server responds. Each of these runs is also a run with faults,
    /// and there are far fewer: errors in one of them are found at once.
    DoNotHappen,
}

impl Move {
    fn is_accident(self) -> bool {
        match self {
            Self::TimePasses | Self::Runs(_) | Self::ServerActs(_) | Self::ResponseArrives(_) => false,
            Self::Deletes
            | Self::GivesUp(_)
            | Self::StrayArrives(_)
            | Self::StrayIsLost(_)
            | Self::Releases(_)
            | Self::Restarts(_) => true,
        }
    }
}

const NAMES: [&str; 2] = ["a", "b"];
/// A holder of the Lease whose process has ended.
const GHOST: &str = "ghost";

impl World {
    fn new(timing: Timing) -> Self {
        Self { lease: None, candidates: NAMES.map(|name| Candidate::new(name, timing)) }
    }

    fn moves(&self) -> Vec<Move> {
        let mut moves = vec![Move::TimePasses];
        moves.extend(self.lease.is_some().then_some(Move::Deletes));
        for (at, candidate) in self.candidates.iter().enumerate() {
            match &candidate.waiting {
                None if candidate.life == Life::Ended => moves.push(Move::Restarts(at)),
                None => moves.push(Move::Runs(at)),
                // One delayed write of each candidate at a time keeps the number of worlds finite.
                Some(Waiting::ToWrite(_)) if candidate.astray.is_some() => moves.push(Move::ServerActs(at)),
                Some(Waiting::ToWrite(_)) => {
                    moves.extend([Move::ServerActs(at), Move::GivesUp(at)]);
                }
                Some(Waiting::Read(_) | Waiting::Wrote(_)) => {
                    moves.extend([Move::ResponseArrives(at), Move::GivesUp(at)]);
                }
            }
            if candidate.astray.is_some() {
                moves.extend([Move::StrayArrives(at), Move::StrayIsLost(at)]);
            } else if candidate.waiting.is_none() && candidate.election.clone().release(NOW).is_some() {
                moves.push(Move::Releases(at));
            }
        }
        moves
    }

    fn after(mut self, step: Move, server: Server, timing: Timing) -> Self {
        match step {
            Move::TimePasses => self.candidates.iter_mut().for_each(Candidate::ages),
            Move::Deletes => self.lease = None,
            Move::Runs(at) => {
                let lease = self.lease.clone();
                self.candidates[at].runs(lease);
            }
            Move::ServerActs(at) => {
                if let Some(Waiting::ToWrite(write)) = self.candidates[at].waiting.take() {
                    self.candidates[at].waiting = Some(Waiting::Wrote(self.write(&write, server)));
                }
            }
            Move::ResponseArrives(at) => self.candidates[at].receives(),
            Move::GivesUp(at) => self.candidates[at].stops(),
            Move::StrayArrives(at) => {
                if let Some(write) = self.candidates[at].astray.take() {
                    self.write(&write, server);
                }
            }
            Move::StrayIsLost(at) => self.candidates[at].astray = None,
            Move::Releases(at) => {
                let candidate = &mut self.candidates[at];
                candidate.astray = candidate.election.release(NOW);
                candidate.life = Life::Ended;
            }
            Move::Restarts(at) => {
                self.rename(|holder| {
                    if holder == NAMES[at] {
                        GHOST.clone_into(holder);
                    }
                });
                let astray = self.candidates[at].astray.take();
                self.candidates[at] = Candidate { astray, ..Candidate::new(NAMES[at], timing) };
            }
        }
        self.renumber();
        self
    }

    /// The same world with the candidates exchanged.
    fn mirrored(&self) -> Self {
        let mut world = self.clone();
        world.candidates.swap(0, 1);
        world.rename(|name| {
            if let Some(at) = NAMES.iter().position(|known| known == name) {
                NAMES[1 - at].clone_into(name);
            }
        });
        for candidate in &mut world.candidates {
            let other = if candidate.election.name() == NAMES[0] { NAMES[1] } else { NAMES[0] };
            other.clone_into(candidate.election.name_mut());
        }
        world.renumber();
        world
    }

    fn write(&mut self, write: &Write, server: Server) -> Option<Record> {
        let version = self.lease.as_ref().map(|lease| lease.version.clone());
        if server == Server::Checks && version != write.replaces {
            return None;
        }
        self.lease = Some(Record {
            holder: write.holder.clone(),
            duration: write.duration,
            // Left out of the model: it has no influence on decisions and would only multiply the worlds.
            transitions: 0,
            version: "new".to_owned(),
        });
        self.lease.clone()
    }

    /// Everything that contains a record or a write, in a fixed order.
    fn visit(&mut self, mut see: impl FnMut(Option<&mut String>, Option<&mut String>)) {
        if let Some(record) = &mut self.lease {
            see(record.holder.as_mut(), Some(&mut record.version));
        }
        for candidate in &mut self.candidates {
            if let Some(record) = candidate.election.record_mut() {
                record.transitions = 0;
                see(record.holder.as_mut(), Some(&mut record.version));
            }
            let in_flight = candidate.waiting.as_mut().and_then(|waiting| match waiting {
                Waiting::ToWrite(write) => Some(write),
                Waiting::Read(_) | Waiting::Wrote(_) => None,
            });
            for write in in_flight.into_iter().chain(candidate.astray.as_mut()) {
                write.transitions = 0;
                see(write.holder.as_mut(), write.replaces.as_mut());
            }
            if let Some(Waiting::Read(Some(record)) | Waiting::Wrote(Some(record))) = &mut candidate.waiting {
                see(record.holder.as_mut(), Some(&mut record.version));
            }
        }
    }

    fn rename(&mut self, mut edit: impl FnMut(&mut String)) {
        self.visit(|holder, _| {
            if let Some(holder) = holder {
                edit(holder);
            }
        });
    }

    fn renumber(&mut self) {
        let mut known: Vec<String> = Vec::new();
        self.visit(|_, version| {
            if let Some(version) = version {
                let at = known.iter().position(|old| old == version).unwrap_or_else(|| {
                    known.push(version.clone());
                    known.len() - 1
                });
                *version = at.to_string();
            }
        });
    }

    fn leaders(&self) -> usize {
        self.candidates.iter().filter(|candidate| candidate.election.leads(NOW)).count()
    }

    /// Equal for a world and its mirror image.
    fn digest(&self) -> u64 {
        let [one, other] = [self, &self.mirrored()].map(|world| {
            let mut hasher = DefaultHasher::new();
            world.hash(&mut hasher);
            hasher.finish()
        });
        one.min(other)
    }
}

impl Candidate {
    fn new(name: &str, timing: Timing) -> Self {
        Self { election: Election::new(name, timing), waiting: None, astray: None, life: Life::Runs }
    }

    fn ages(&mut self) {
        self.election.aged(s(1));
    }

    fn runs(&mut self, lease: Option<Record>) {
        match self.election.next(NOW) {
            Step::Read => self.waiting = Some(Waiting::Read(lease)),
            Step::Write(write) => self.waiting = Some(Waiting::ToWrite(write)),
            Step::Sleep(_) => {}
            Step::Stop => self.life = Life::Ended,
        }
    }

    fn receives(&mut self) {
        match self.waiting.take() {
            Some(Waiting::Read(record)) => self.election.was_read(NOW, record),
            Some(Waiting::Wrote(Some(record))) => self.election.was_written(NOW, Written::Done(record)),
            Some(Waiting::Wrote(None)) => self.election.was_written(NOW, Written::Conflict),
            Some(Waiting::ToWrite(_)) | None => panic!("there is no response"),
        }
    }

    fn stops(&mut self) {
        match self.waiting.take() {
            Some(Waiting::Read(_)) => self.election.was_not_read(NOW),
            Some(Waiting::ToWrite(write)) => {
                self.astray = Some(write);
                self.election.was_written(NOW, Written::Failed);
            }
            Some(Waiting::Wrote(_)) => self.election.was_written(NOW, Written::Failed),
            None => panic!("there is nothing to give up"),
        }
    }
}

/// What a search has found.
#[derive(Debug)]
struct Found {
    two_leaders: bool,
    any_leader: bool,
    worlds: usize,
    all: bool,
}

/// Visits the worlds, nearest first, until one has two leaders, `most` were visited, or none is left.
fn explore(server: Server, timing: Timing, accidents: Accidents, most: usize) -> Found {
    let start = World::new(timing);
    let mut known = HashSet::from([start.digest()]);
    let mut open = VecDeque::from([start]);
    let mut found = Found { two_leaders: false, any_leader: false, worlds: 1, all: false };
    while let Some(world) = open.pop_front() {
        found.any_leader |= world.leaders() > 0;
        found.two_leaders = world.leaders() > 1;
        if found.two_leaders || found.worlds > most {
            return found;
        }
        let happens = |step: &Move| accidents == Accidents::Happen || !step.is_accident();
        for step in world.moves().into_iter().filter(happens) {
            let next = world.clone().after(step, server, timing);
            if known.insert(next.digest()) {
                found.worlds += 1;
                open.push_back(next);
            }
        }
    }
    Found { all: true, ..found }
}

/// As many as take a few seconds; `FOO_ALL_WORLDS=1` visits all of them.
fn worlds() -> usize {
    if std::env::var_os("FOO_ALL_WORLDS").is_some() { usize::MAX } else { 40_000 }
}

#[test]
fn two_candidates_never_lead_at_the_same_moment() {
    let found = explore(Server::Checks, SMALL, Accidents::Happen, worlds());
    assert!(!found.two_leaders && found.any_leader, "{found:?}");
    assert!(found.all || found.worlds > worlds(), "{found:?}");
}

#[test]
fn without_the_version_check_the_model_finds_two_leaders() {
    assert!(explore(Server::DoesNotCheck, SMALL, Accidents::Happen, usize::MAX).two_leaders);
}

#[test]
fn without_a_term_shorter_than_the_wait_of_others_the_model_finds_two_leaders() {
    let careless = Timing { renew_deadline: s(5), ..SMALL };
    let found = explore(Server::Checks, careless, Accidents::DoNotHappen, usize::MAX);
    assert!(found.two_leaders, "{found:?}");
    let careful = explore(Server::Checks, SMALL, Accidents::DoNotHappen, usize::MAX);
    assert!(!careful.two_leaders && careful.any_leader && careful.all, "{careful:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Random walks with periods in the usual proportions.
    #[test]
    fn two_candidates_do_not_lead_at_the_same_moment_with_usual_periods(
        choices in prop::collection::vec(any::<u16>(), 0..600),
    ) {
        let timing = Timing { lease_duration: s(4), renew_deadline: s(3), retry_period: s(1) };
        let mut world = World::new(timing);
        for choice in choices {
            let moves = world.moves();
            world = world.after(moves[usize::from(choice) % moves.len()], Server::Checks, timing);
            prop_assert!(world.leaders() < 2, "{world:?}");
        }
    }
}
