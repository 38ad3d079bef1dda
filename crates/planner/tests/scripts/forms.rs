//! The forms that commands and options have: from its form follows how a command is read and how it is documented.

use super::words::{self, Words, names, one_of};
use crate::world::{Fault, Pool, World};
use foo_model::{Blocked, InstanceId, MachineName, Reason};

/// Words and what each stands for.
pub(super) type Choices<T> = &'static [(&'static str, T)];

/// What stands behind the name of a command, and what it does.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// `OPTION=VALUE …`
    Pool,
    Begin(fn(Pool) -> World),
    Plain(fn(&mut World)),
    Number(&'static str, fn(&mut World, u32)),
    /// `KEY=NUMBER`, 0 when it is left out.
    OptionalNumber(&'static str, fn(&mut World, u32)),
    Word(&'static str, fn(&mut World, &str)),
    TwoWords([&'static str; 2], fn(&mut World, &str, &str)),
    /// A reason of a condition, and its message.
    Blocked(fn(&mut World, Blocked)),
    Choice(Choices<fn(&mut World)>),
    /// The number of a Machine, counted from 1 by name.
    Machine(fn(&mut World, &MachineName)),
    MachineAndText(&'static str, fn(&mut World, &MachineName, &str)),
    /// The number of an instance, counted from 1 by id.
    Instance(fn(&mut World, &InstanceId)),
    InstanceAndNumber(&'static str, fn(&mut World, &InstanceId, u32)),
    /// What happens to the calls of a plan; printed.
    Plan(fn(&mut World, Fault) -> Vec<String>),
    /// Nothing happens; printed.
    Show(fn(&mut World) -> Vec<String>),
}

/// A command with its arguments: carries itself out, and returns what it prints.
pub(super) type Act = Box<dyn Fn(&mut World) -> Result<Vec<String>, String>>;

/// What may befall the calls of a plan.
const FAULTS: Choices<Fault> = &[
    ("response-lost", Fault::ResponseLost),
    ("request-lost", Fault::RequestLost),
    ("refused", Fault::Refused),
];

impl Form {
    /// What stands behind the name.
    pub(super) fn arguments(self) -> String {
        match self {
            Self::Pool => "OPTION=VALUE …".to_owned(),
            Self::Begin(_) | Self::Plain(_) | Self::Show(_) => String::new(),
            Self::Number(what, _) | Self::Word(what, _) => what.to_owned(),
            Self::OptionalNumber(key, _) => format!("[{key}=NUMBER]"),
            Self::TwoWords(what, _) => what.join(" "),
            Self::Blocked(_) => "REASON MESSAGE …".to_owned(),
            Self::Choice(choices) => names(choices),
            Self::Machine(_) => "MACHINE".to_owned(),
            Self::MachineAndText(what, _) => format!("MACHINE {what} …"),
            Self::Instance(_) => "INSTANCE".to_owned(),
            Self::InstanceAndNumber(what, _) => format!("INSTANCE {what}"),
            Self::Plan(_) => format!("[fault={}]", names(FAULTS)),
        }
    }

    /// Whether lines follow that it printed.
    pub(super) fn prints(self) -> bool {
        matches!(self, Self::Plan(_) | Self::Show(_))
    }

    /// Reads the arguments of all that acts on a world.
    pub(super) fn read(self, words: &mut Words<'_>) -> Result<Act, String> {
        let act: Act = match self {
            Self::Pool | Self::Begin(_) => return Err("does not act on a world".to_owned()),
            Self::Plain(act) => quiet(act),
            Self::Number(what, act) => {
                let number = words.number(what)?;
                quiet(move |world| act(world, number))
            }
            Self::OptionalNumber(key, act) => {
                let number = words.option(key)?.map_or(Ok(0), |value| words::number(key, value))?;
                quiet(move |world| act(world, number))
            }
            Self::Word(what, act) => {
                let word = words.word(what)?.to_owned();
                quiet(move |world| act(world, &word))
            }
            Self::TwoWords([first, second], act) => {
                let (first, second) = (words.word(first)?.to_owned(), words.word(second)?.to_owned());
                quiet(move |world| act(world, &first, &second))
            }
            Self::Blocked(act) => {
                let word = words.word("REASON")?;
                let reason = Reason::parse(word)
                    .ok_or_else(|| format!("expected a reason of a condition, found {word:?}"))?;
                let blocked = Blocked::new(reason, words.text("MESSAGE")?);
                quiet(move |world| act(world, blocked.clone()))
            }
            Self::Choice(choices) => {
                let act = one_of(choices, words.word(&names(choices))?)?;
                quiet(act)
            }
            Self::Machine(_) | Self::MachineAndText(..) => self.read_of_machine(words)?,
            Self::Instance(_) | Self::InstanceAndNumber(..) => self.read_of_instance(words)?,
            Self::Plan(act) => {
                let fault = words.option("fault")?.map_or(Ok(Fault::None), |value| one_of(FAULTS, value))?;
                Box::new(move |world| Ok(act(world, fault)))
            }
            Self::Show(act) => Box::new(move |world| Ok(act(world))),
        };
        words.end()?;
        Ok(act)
    }

    fn read_of_machine(self, words: &mut Words<'_>) -> Result<Act, String> {
        let number = words.number("MACHINE")?;
        let text = match self {
            Self::MachineAndText(what, _) => words.text(what)?.to_owned(),
            _ => String::new(),
        };
        Ok(Box::new(move |world| {
            let mut names: Vec<MachineName> =
                world.kube.machines.iter().map(|machine| machine.name.clone()).collect();
            names.sort();
            let name = nth("Machine", &names, number)?;
            match self {
                Self::Machine(act) => act(world, name),
                Self::MachineAndText(_, act) => act(world, name, &text),
                _ => return Err("is not about a Machine".to_owned()),
            }
            Ok(Vec::new())
        }))
    }

    fn read_of_instance(self, words: &mut Words<'_>) -> Result<Act, String> {
        let number = words.number("INSTANCE")?;
        let amount = match self {
            Self::InstanceAndNumber(what, _) => words.number(what)?,
            _ => 0,
        };
        Ok(Box::new(move |world| {
            let ids = world.instances();
            let id = nth("instance", &ids, number)?;
            match self {
                Self::Instance(act) => act(world, id),
                Self::InstanceAndNumber(_, act) => act(world, id, amount),
                _ => return Err("is not about an instance".to_owned()),
            }
            Ok(Vec::new())
        }))
    }
}

/// One that prints nothing.
fn quiet(act: impl Fn(&mut World) + 'static) -> Act {
    Box::new(move |world| {
        act(world);
        Ok(Vec::new())
    })
}

/// One of them, counted from 1.
fn nth<'i, T>(what: &str, items: &'i [T], number: u32) -> Result<&'i T, String> {
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    index
        .and_then(|index| items.get(index))
        .ok_or_else(|| format!("there is no {what} {number}, they are 1 to {}", items.len()))
}

/// The value of an option of `pool`, and what it changes.
#[derive(Clone, Copy)]
pub(super) enum Value {
    Number(fn(Pool, u32) -> Pool),
    Range(fn(Pool, u32, u32) -> Pool),
    Choice(Choices<fn(Pool) -> Pool>),
}

impl Value {
    pub(super) fn written(self) -> String {
        match self {
            Self::Number(_) => "NUMBER".to_owned(),
            Self::Range(_) => "MIN..MAX".to_owned(),
            Self::Choice(choices) => names(choices),
        }
    }

    /// The pool with this option.
    pub(super) fn set(self, pool: Pool, value: &str) -> Result<Pool, String> {
        Ok(match self {
            Self::Number(set) => set(pool, words::number("the value", value)?),
            Self::Range(set) => {
                let (min, max) = words::range(value)?;
                set(pool, min, max)
            }
            Self::Choice(choices) => one_of(choices, value)?(pool),
        })
    }
}
