//! The words behind a command's name, taken one by one.

use std::str::FromStr;

/// What is left of a line.
pub(super) struct Words<'t> {
    left: &'t str,
}

impl<'t> Words<'t> {
    pub(super) fn new(line: &'t str) -> Self {
        Self { left: line.trim() }
    }

    /// The next word, if there is one.
    pub(super) fn next(&mut self) -> Option<&'t str> {
        let (word, rest) = self.left.split_once(char::is_whitespace).unwrap_or((self.left, ""));
        self.left = rest.trim_start();
        (!word.is_empty()).then_some(word)
    }

    pub(super) fn word(&mut self, what: &str) -> Result<&'t str, String> {
        self.next().ok_or_else(|| format!("{what} is missing"))
    }

    pub(super) fn number(&mut self, what: &str) -> Result<u32, String> {
        number(what, self.word(what)?)
    }

    /// All that is left, as one text.
    pub(super) fn text(&mut self, what: &str) -> Result<&'t str, String> {
        let text = std::mem::take(&mut self.left);
        if text.is_empty() { Err(format!("{what} is missing")) } else { Ok(text) }
    }

    /// `KEY=VALUE`, and nothing else, if anything is left.
    pub(super) fn option(&mut self, key: &str) -> Result<Option<&'t str>, String> {
        let Some(word) = self.next() else { return Ok(None) };
        match word.split_once('=') {
            Some((found, value)) if found == key => Ok(Some(value)),
            _ => Err(format!("expected {key}=…, found {word:?}")),
        }
    }

    /// Nothing may be left.
    pub(super) fn end(&self) -> Result<(), String> {
        if self.left.is_empty() { Ok(()) } else { Err(format!("{:?} is one argument too many", self.left)) }
    }
}

pub(super) fn number(what: &str, word: &str) -> Result<u32, String> {
    u32::from_str(word).map_err(|_| format!("expected {what} as a number, found {word:?}"))
}

pub(super) fn range(word: &str) -> Result<(u32, u32), String> {
    let bounds = word.split_once("..").and_then(|(min, max)| Some((min.parse().ok()?, max.parse().ok()?)));
    bounds.filter(|(min, max)| min <= max).ok_or_else(|| format!("expected MIN..MAX, found {word:?}"))
}

/// What one of these words stands for.
pub(super) fn one_of<T: Copy>(choices: &[(&str, T)], word: &str) -> Result<T, String> {
    let chosen = choices.iter().find(|(choice, _)| *choice == word).map(|(_, meaning)| *meaning);
    chosen.ok_or_else(|| format!("expected {}, found {word:?}", names(choices)))
}

/// `a|b|c`.
pub(super) fn names<T>(choices: &[(&str, T)]) -> String {
    choices.iter().map(|(choice, _)| *choice).collect::<Vec<_>>().join("|")
}
