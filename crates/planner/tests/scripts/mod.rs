//! Scenarios as text: `tests/scenarios/*.txt`, each a test of its own. A line is a command; behind those that print
//! stand the lines they print, each behind a `|`. `tests/scenarios/README.md` lists the commands and is written from
//! the table in [`commands`].
//!
//! Nothing in a script is guessed at or ignored: what cannot be read is an error with file and line.

mod commands;
mod forms;
mod mistakes;
mod print;
mod reference;
mod scenarios;
mod script;
mod stage;
mod words;
