//! From text to commands. A script is read as a whole before any of it is played.

use super::commands::{self, POOL_OPTIONS};
use super::forms::{Act, Form};
use super::words::Words;
use crate::world::{Pool, World, pool};

/// One line, and what it says to do.
pub(super) struct Line<'t> {
    pub(super) number: usize,
    pub(super) text: &'t str,
    pub(super) step: Step,
}

pub(super) enum Step {
    /// A comment or an empty line.
    None,
    Begin(fn(Pool) -> World, Box<Pool>),
    Act(Act),
}

/// What a line says that cannot be read or played.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) line: usize,
    pub(super) text: String,
}

impl Mistake {
    /// A mistake of the command on this line.
    pub(super) fn at(line: usize, command: &str, text: &str) -> Self {
        let name = command.split_whitespace().next().unwrap_or_default();
        Self { line, text: format!("{name}: {text}") }
    }

    /// As compilers write it.
    pub(super) fn of(&self, file: &str) -> String {
        format!("{file}:{}: {}", self.line, self.text)
    }
}

/// What was read so far.
#[derive(Default)]
struct Reader {
    pool: Option<Pool>,
    begun: bool,
    /// A comment stands before what comes next.
    explained: bool,
    /// The last command printed.
    printed: bool,
}

/// The lines without those that were printed; or everything that is wrong.
pub(super) fn read(script: &str) -> Result<Vec<Line<'_>>, Vec<Mistake>> {
    let mut reader = Reader::default();
    let mut lines = Vec::new();
    let mut mistakes = Vec::new();
    for (index, text) in script.lines().enumerate() {
        let number = index + 1;
        if text.starts_with('|') {
            if !reader.printed {
                let text = "a printed line must follow a command that prints".to_owned();
                mistakes.push(Mistake { line: number, text });
            }
            continue;
        }
        match reader.line(text) {
            Ok(step) => lines.push(Line { number, text, step }),
            Err(mistake) => {
                mistakes.push(Mistake::at(number, text, &mistake));
                // Whether it should have printed is unknown.
                reader.printed = true;
            }
        }
    }
    if mistakes.is_empty() { Ok(lines) } else { Err(mistakes) }
}

impl Reader {
    fn line(&mut self, text: &str) -> Result<Step, String> {
        if text.trim().is_empty() {
            (self.explained, self.printed) = (false, false);
            return Ok(Step::None);
        }
        if text.starts_with('#') {
            self.explained = true;
            return Ok(Step::None);
        }
        let mut words = Words::new(text);
        let name = words.word("a command")?;
        let command = commands::all()
            .find(|command| command.name == name)
            .ok_or("there is no such command; README.md lists them")?;
        let step = self.command(command.form, &mut words);
        self.explain(command.form)?;
        step
    }

    fn command(&mut self, form: Form, words: &mut Words<'_>) -> Result<Step, String> {
        match form {
            Form::Pool if self.begun || self.pool.is_some() => {
                Err("the pool is described once, before everything else".to_owned())
            }
            Form::Pool => {
                // What cannot be read is reported once, not at every line that needs the pool.
                let described = described(words);
                self.pool = Some(pool());
                self.pool = Some(described?);
                Ok(Step::None)
            }
            Form::Begin(_) if self.begun => Err("the world has begun already".to_owned()),
            Form::Begin(begin) => {
                words.end()?;
                let pool = self.pool.take().ok_or("`pool` comes first")?;
                self.begun = true;
                Ok(Step::Begin(begin, Box::new(pool)))
            }
            _ if !self.begun => Err("`new` or `running` comes first".to_owned()),
            form => form.read(words).map(Step::Act),
        }
    }

    /// Every step says what it proves: a comment, commands, and one plan with what is shown after it.
    fn explain(&mut self, form: Form) -> Result<(), String> {
        let shows_the_same = matches!(form, Form::Show(_)) && self.printed;
        let explained = self.explained || shows_the_same;
        self.printed = form.prints();
        self.explained = explained && !self.printed;
        if explained {
            Ok(())
        } else {
            Err("a comment before it has to say what this step proves".to_owned())
        }
    }
}

fn described(words: &mut Words<'_>) -> Result<Pool, String> {
    let mut described = pool();
    let mut seen = Vec::new();
    while let Some(word) = words.next() {
        let (name, value) =
            word.split_once('=').ok_or_else(|| format!("expected OPTION=VALUE, found {word:?}"))?;
        let option = POOL_OPTIONS
            .iter()
            .find(|option| option.name == name)
            .ok_or_else(|| format!("there is no option {name:?}; README.md lists them"))?;
        if seen.contains(&name) {
            return Err(format!("{name} stands there twice"));
        }
        seen.push(name);
        described = option.value.set(described, value).map_err(|mistake| format!("{name}: {mistake}"))?;
    }
    Ok(described)
}
