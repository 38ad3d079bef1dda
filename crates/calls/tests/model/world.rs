//! What a cloud, a status and managers can do next.

use crate::domain::{Boxes, Call, Desired, Item, List, Observed, Record, TICK, lost, refused};
use foo_calls::report::{Deletion, Report as _};
use foo_calls::{Outcome, Plan, Process};
use foo_model::{Reason, Timestamp};
use stateright::{Model, Property};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

const TWICE: &str = "nothing is created twice";
pub(crate) const FORGOTTEN: &str = "nothing recorded is forgotten";
const FOREIGN: &str = "nothing foreign is touched";
const RULES: &str = "no plan breaks a rule";

/// The box of another owner, in the role of the first own one.
const FOREIGN_ITEM: Item = Item { id: 0, role: 0, own: false };

/// How much may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Budget {
    pub(crate) ticks: u8,
    /// Crashes, hand-overs, cancelled passes, lost responses, lost and refused calls.
    pub(crate) faults: u8,
    /// Reads that show what was before their tick.
    pub(crate) stale: u8,
}

/// Whether the order of a pass is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Sound,
    /// The status is written when all calls have an outcome.
    RecordsAfterwards,
    /// A refused or lost call counts as carried out.
    TakesFailureForSuccess,
    /// Calls are not noted before they are sent.
    ForgetsWhatIsSent,
}

#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) boxes: u8,
    pub(crate) budget: Budget,
    pub(crate) engine: Engine,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct World {
    now: u8,
    items: BTreeSet<Item>,
    /// At the beginning of the tick.
    before: BTreeSet<Item>,
    next_id: u8,
    /// Calls on their way.
    wire: Vec<OnTheWire>,
    status: Record,
    /// The last one leads.
    managers: Vec<Manager>,
    being_deleted: bool,
    /// The object was removed.
    removed: bool,
    left: Budget,
    wrong: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct OnTheWire {
    call: Call,
    sent: u8,
    /// Which manager waits for the response.
    by: Option<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Manager {
    number: u8,
    process: Process<Boxes>,
    list: Option<List>,
    stage: Stage,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    Idle,
    /// The status has to be written.
    Planned(Box<Plan<Boxes>>),
    /// The calls may be sent.
    Recorded(Vec<Call>),
    /// This many have no outcome yet.
    Sent(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Read(Sight),
    Plan,
    Write,
    Send(usize),
    /// The call of this place on the wire is carried out, and its response arrives.
    Done(usize),
    /// It is carried out, and its response is lost.
    DoneUnheard(usize),
    Refused(usize),
    NeverArrives(usize),
    /// The pass ends in the middle; the process continues.
    Cancel,
    Crash,
    /// A second manager leads. The first one still sends what it recorded.
    HandOver,
    /// The user deletes the object.
    Delete,
    Tick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    Present,
    /// As it was before the tick.
    Before,
}

impl Model for Scenario {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            now: 0,
            items: [FOREIGN_ITEM].into(),
            before: [FOREIGN_ITEM].into(),
            next_id: 1,
            wire: Vec::new(),
            status: Record::default(),
            managers: vec![Manager::new(0, Record::default())],
            being_deleted: false,
            removed: false,
            left: self.budget,
            wrong: None,
        }]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        if world.removed || world.wrong.is_some() {
            return;
        }
        let leader = world.leader();
        match &leader.stage {
            Stage::Idle => {
                steps.push(Step::Read(Sight::Present));
                if world.left.stale > 0 && world.before != world.items {
                    steps.push(Step::Read(Sight::Before));
                }
                steps.push(Step::Plan);
            }
            Stage::Planned(_) => steps.push(Step::Write),
            Stage::Recorded(_) | Stage::Sent(_) => {}
        }
        for (index, manager) in world.managers.iter().enumerate() {
            if matches!(manager.stage, Stage::Recorded(_)) {
                steps.push(Step::Send(index));
            }
        }
        for (index, on_the_wire) in world.wire.iter().enumerate() {
            steps.push(Step::Done(index));
            if world.left.faults > 0 {
                steps.extend([Step::DoneUnheard(index), Step::Refused(index)]);
            }
            if world.left.faults > 0 || on_the_wire.by.is_none() {
                steps.push(Step::NeverArrives(index));
            }
        }
        if world.left.faults > 0 {
            steps.extend([Step::Crash, Step::HandOver]);
            if leader.stage != Stage::Idle {
                steps.push(Step::Cancel);
            }
        }
        if !world.being_deleted {
            steps.push(Step::Delete);
        }
        if world.left.ticks > 0 && world.wire.iter().all(|it| it.sent == world.now) {
            steps.push(Step::Tick);
        }
    }

    fn next_state(&self, last: &World, step: Step) -> Option<World> {
        let mut world = last.clone();
        self.happen(&mut world, step);
        (world != *last).then_some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(TWICE, |_, world: &World| {
                let roles: BTreeSet<u8> = world.own().map(|it| it.role).collect();
                roles.len() == world.own().count()
            }),
            Property::always(FORGOTTEN, |_, world: &World| {
                let status = &world.status;
                let is_recorded = |it: &Item| {
                    let part = status.parts.get(&it.role);
                    part.is_some_and(|part| part.id == it.id) || status.intents.contains_key(&it.role)
                };
                let may_appear = world.wire.iter().any(|it| matches!(it.call, Call::Create { .. }));
                let is_left = world.own().next().is_some() || may_appear;
                world.own().all(is_recorded) && !(world.removed && is_left)
            }),
            Property::always(FOREIGN, |_, world: &World| {
                let names = |it: &OnTheWire| it.call == Call::Delete { id: FOREIGN_ITEM.id };
                world.items.contains(&FOREIGN_ITEM) && !world.wire.iter().any(names)
            }),
            Property::always(RULES, |_, world: &World| world.wrong.is_none()),
            Property::sometimes("all boxes are created", |model: &Self, world: &World| {
                world.own().count() == usize::from(model.boxes) && world.left.faults == 0
            }),
            Property::sometimes("all boxes were created and are deleted", |model: &Self, world: &World| {
                world.removed && world.next_id > model.boxes && world.left.faults == 0
            }),
        ]
    }
}

impl Scenario {
    fn happen(&self, world: &mut World, step: Step) {
        match step {
            Step::Read(sight) => world.read(sight),
            Step::Plan => self.plan(world),
            Step::Write => world.write(),
            Step::Send(index) => self.send(world, index),
            Step::Done(index) => {
                let outcome = world.carry_out(index);
                self.ends(world, index, outcome);
            }
            Step::DoneUnheard(index) => {
                world.left.faults -= 1;
                drop(world.carry_out(index));
                self.ends(world, index, lost());
            }
            Step::Refused(index) => {
                world.left.faults -= 1;
                self.ends(world, index, refused(Reason::ResourceInUse));
            }
            Step::NeverArrives(index) => {
                if world.wire.get(index).is_some_and(|it| it.by.is_some()) {
                    world.left.faults -= 1;
                }
                self.ends(world, index, lost());
            }
            Step::Cancel => {
                world.left.faults -= 1;
                let number = world.leader().number;
                world.forget_listener(number);
                world.lead().stage = Stage::Idle;
            }
            Step::Crash => {
                world.left.faults -= 1;
                let crashed = world.managers.pop().unwrap();
                world.forget_listener(crashed.number);
                let next = Manager::new(crashed.number + 1, world.status.clone());
                world.managers.push(next);
            }
            Step::HandOver => {
                world.left.faults -= 1;
                let next = Manager::new(world.leader().number + 1, world.status.clone());
                world.managers.push(next);
            }
            Step::Delete => world.being_deleted = true,
            Step::Tick => world.tick(),
        }
    }

    fn plan(&self, world: &mut World) {
        let desired = Desired { roles: self.boxes, being_deleted: world.being_deleted };
        let observed = Observed { now: world.moment(), list: world.leader().list.clone() };
        let leader = world.lead();
        let (plan, violations) = leader.process.plan(&desired, &observed);
        if !violations.is_empty() {
            world.wrong = Some("a plan breaks a rule");
            return;
        }
        if self.engine == Engine::RecordsAfterwards && !plan.actions.is_empty() {
            leader.process.accept(&plan);
            leader.stage = Stage::Recorded(plan.actions);
            return;
        }
        if leader.process.is_recorded(&plan) || plan.actions.is_empty() {
            world.accept(plan);
        } else {
            leader.stage = Stage::Planned(Box::new(plan));
        }
    }

    fn send(&self, world: &mut World, index: usize) {
        let (now, sent) = (world.moment(), world.now);
        let manager = world.managers.get_mut(index).unwrap();
        let stage = std::mem::replace(&mut manager.stage, Stage::Idle);
        let Stage::Recorded(calls) = stage else { return };
        if self.engine != Engine::ForgetsWhatIsSent {
            manager.process.sent(&calls, now);
        }
        manager.stage = Stage::Sent(calls.len());
        let by = Some(manager.number);
        world.wire.extend(calls.into_iter().map(|call| OnTheWire { call, sent, by }));
    }

    /// A call is no longer on the wire; its sender learns the outcome.
    fn ends(&self, world: &mut World, index: usize, outcome: Outcome<Option<u8>>) {
        let now = world.moment();
        let OnTheWire { call, by, .. } = world.wire.remove(index);
        let outcome = match (&outcome, self.engine) {
            (Outcome::Refused(_) | Outcome::Lost(_), Engine::TakesFailureForSuccess) => Outcome::Done(None),
            _ => outcome,
        };
        let Some(manager) = world.managers.iter_mut().find(|it| Some(it.number) == by) else { return };
        manager.process.ended(&call, now, outcome);
        let Stage::Sent(left) = manager.stage else { return };
        manager.stage = if left > 1 { Stage::Sent(left - 1) } else { Stage::Idle };
        if self.engine == Engine::RecordsAfterwards && manager.stage == Stage::Idle {
            world.status = manager.process.record.clone();
        }
    }
}

impl World {
    fn own(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|it| it.own)
    }

    fn moment(&self) -> Timestamp {
        Timestamp::default().plus(TICK * u32::from(self.now))
    }

    fn leader(&self) -> &Manager {
        self.managers.last().unwrap()
    }

    fn lead(&mut self) -> &mut Manager {
        self.managers.last_mut().unwrap()
    }

    fn read(&mut self, sight: Sight) {
        let items = match sight {
            Sight::Present => self.items.clone(),
            Sight::Before => {
                self.left.stale -= 1;
                self.before.clone()
            }
        };
        let list = Some(List { begun: self.moment(), items });
        self.lead().list = list;
    }

    fn write(&mut self) {
        let stage = std::mem::replace(&mut self.lead().stage, Stage::Idle);
        if let Stage::Planned(plan) = stage {
            self.accept(*plan);
        }
    }

    /// The status is written; the plan is carried out from here on.
    fn accept(&mut self, plan: Plan<Boxes>) {
        self.status.clone_from(&plan.record);
        self.removed = plan.report.deletion() == Deletion::Done;
        let leader = self.lead();
        leader.process.accept(&plan);
        leader.stage = if plan.actions.is_empty() { Stage::Idle } else { Stage::Recorded(plan.actions) };
    }

    fn carry_out(&mut self, index: usize) -> Outcome<Option<u8>> {
        match self.wire.get(index).unwrap().call {
            Call::Create { role } => {
                let id = self.next_id;
                self.next_id += 1;
                self.items.insert(Item { id, role, own: true });
                Outcome::Done(Some(id))
            }
            Call::Delete { id } => match self.items.iter().find(|it| it.id == id).copied() {
                Some(item) => {
                    self.items.remove(&item);
                    Outcome::Done(None)
                }
                None => refused(Reason::NotFound),
            },
        }
    }

    fn forget_listener(&mut self, number: u8) {
        for on_the_wire in self.wire.iter_mut().filter(|it| it.by == Some(number)) {
            on_the_wire.by = None;
        }
    }

    /// A manager that no longer leads has ended by now.
    fn tick(&mut self) {
        self.left.ticks -= 1;
        self.now += 1;
        self.before.clone_from(&self.items);
        while self.managers.len() > 1 {
            let ended = self.managers.remove(0);
            self.forget_listener(ended.number);
        }
    }
}

impl Manager {
    fn new(number: u8, status: Record) -> Self {
        Self { number, process: Process::new(status), list: None, stage: Stage::Idle }
    }
}

impl Hash for Manager {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
        self.list.hash(state);
        self.process.record.hash(state);
        let calls = &self.process.memory.calls;
        (calls.started, &calls.record).hash(state);
        calls.sent.iter().for_each(|it| (it.action, it.at).hash(state));
        calls.effects.iter().for_each(|it| (it.action, it.response, it.at).hash(state));
        for it in &calls.failures {
            (it.action, it.refusal.reason, it.lost, it.lost_at, it.times, it.first, it.at).hash(state);
        }
        match &self.stage {
            Stage::Idle => 0.hash(state),
            Stage::Planned(plan) => (1, &plan.record, &plan.actions).hash(state),
            Stage::Recorded(calls) => (2, calls).hash(state),
            Stage::Sent(left) => (3, left).hash(state),
        }
    }
}
