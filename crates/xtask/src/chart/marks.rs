//! Marks in objects, in whose places templates are written once the objects are YAML: a template is no YAML itself.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// How marks begin; no text of an object has it.
const MARK: &str = "ChartMark";

/// What stands where a mark is.
enum Template {
    /// A text.
    Text(String),
    /// A field that is left out if the value is empty.
    IfSet(String),
    /// Items of a list.
    Items(String),
}

/// The marks of a file.
#[derive(Default)]
pub(super) struct Marks(Vec<Template>);

impl Marks {
    /// A text.
    pub(super) fn text(&mut self, template: &str) -> Value {
        self.add(Template::Text(template.to_owned()))
    }

    /// The value of a field, which is left out if the value is empty.
    pub(super) fn if_set(&mut self, value: &str) -> Value {
        self.add(Template::IfSet(value.to_owned()))
    }

    /// An item of a list, in whose place the items of a value are.
    pub(super) fn items(&mut self, value: &str) -> Value {
        self.add(Template::Items(value.to_owned()))
    }

    fn add(&mut self, template: Template) -> Value {
        self.0.push(template);
        json!(format!("{MARK}{:04}", self.0.len() - 1))
    }

    /// The text with templates in the places of all marks.
    pub(super) fn resolved(&self, text: &str) -> Result<String> {
        let mut written = String::with_capacity(text.len());
        let mut found = 0;
        for line in text.lines() {
            let Some((before, mark)) = line.split_once(MARK) else {
                writeln!(written, "{line}")?;
                continue;
            };
            let number: Option<usize> = mark.parse().ok();
            let template = number.and_then(|number| self.0.get(number));
            let indent = line.len() - line.trim_start().len();
            let (space, within) = (" ".repeat(indent), indent + 2);
            match template {
                Some(Template::Text(template)) => writeln!(written, "{before}{template}")?,
                Some(Template::IfSet(value)) => {
                    let key = before.trim();
                    writeln!(written, "{space}{{{{- with {value} }}}}")?;
                    writeln!(written, "{space}{key}\n{space}  {{{{- toYaml . | nindent {within} }}}}")?;
                    writeln!(written, "{space}{{{{- end }}}}")?;
                }
                Some(Template::Items(value)) => {
                    writeln!(written, "{space}{{{{- with {value} }}}}")?;
                    writeln!(written, "{space}{{{{- toYaml . | nindent {indent} }}}}")?;
                    writeln!(written, "{space}{{{{- end }}}}")?;
                }
                None => anyhow::bail!("a mark within a text: {line}"),
            }
            found += 1;
        }
        ensure!(found == self.0.len(), "{found} of {} marks are in the file", self.0.len());
        Ok(written)
    }
}
