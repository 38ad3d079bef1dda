//! The only way to standard output and standard error, so that no command can forget what makes text safe to print:
//! texts of objects may contain control characters, which a terminal interprets. The lints `print_stdout` and
//! `print_stderr` refuse any other way.

use crate::text::one_line;
use anyhow::{Context as _, Result};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write};

/// Moves the cursor to the upper left corner and clears what is below it.
const CLEARED: &str = "\u{1b}[H\u{1b}[J";

/// A form of output for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// JSON, indented.
    Json,
    /// YAML.
    Yaml,
}

/// A form of output of a command whose text can have further columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Output {
    /// Text with further columns.
    Wide,
    /// JSON, indented.
    Json,
    /// YAML.
    Yaml,
}

/// How much a text shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// What a terminal has room for.
    Narrow,
    /// Further columns.
    Wide,
}

/// What a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text for a person.
    Text(Width),
    /// All facts, for programs.
    Document(Format),
}

impl From<Option<Format>> for Form {
    fn from(format: Option<Format>) -> Self {
        format.map_or(Self::Text(Width::Narrow), Self::Document)
    }
}

impl From<Option<Output>> for Form {
    fn from(output: Option<Output>) -> Self {
        match output {
            None => Self::Text(Width::Narrow),
            Some(Output::Wide) => Self::Text(Width::Wide),
            Some(Output::Json) => Self::Document(Format::Json),
            Some(Output::Yaml) => Self::Document(Format::Yaml),
        }
    }
}

/// What standard output leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Screen {
    /// A terminal, which can be redrawn.
    Terminal,
    /// A pipe or a file.
    Lines,
}

/// Where the output of a command goes.
pub struct Out<'w> {
    output: &'w mut dyn Write,
    errors: &'w mut dyn Write,
    screen: Screen,
}

impl<'w> Out<'w> {
    /// Output to these two; `screen` says what the first one is.
    pub fn new(output: &'w mut dyn Write, errors: &'w mut dyn Write, screen: Screen) -> Self {
        Self { output, errors, screen }
    }

    /// What standard output of this process is.
    pub fn screen_of_process() -> Screen {
        if std::io::stdout().is_terminal() { Screen::Terminal } else { Screen::Lines }
    }

    /// Whether the output can be redrawn.
    pub fn screen(&self) -> Screen {
        self.screen
    }

    /// Prints a text with its line ends.
    ///
    /// # Errors
    /// Standard output is closed; the kind of the `std::io::Error` in it is `BrokenPipe` if the reader has ended.
    pub fn print(&mut self, text: &str) -> Result<()> {
        self.output.write_all(harmless(text).as_bytes())?;
        Ok(self.output.flush()?)
    }

    /// Prints lines of columns with a tab between them, for a shell and not for a person.
    ///
    /// # Errors
    /// As [`Out::print`].
    pub fn columns(&mut self, text: &str) -> Result<()> {
        let columns: Vec<String> = text.split('\t').map(harmless).collect();
        self.output.write_all(columns.join("\t").as_bytes())?;
        Ok(self.output.flush()?)
    }

    /// Prints a text in the place of the one before: on a terminal it replaces the screen, as far as it has room.
    ///
    /// # Errors
    /// As [`Out::print`].
    pub fn redraw(&mut self, text: &str) -> Result<()> {
        let shown = fitted(&harmless(text), size());
        self.output.write_all(CLEARED.as_bytes())?;
        self.output.write_all(shown.as_bytes())?;
        Ok(self.output.flush()?)
    }

    /// Prints a value for programs. Control characters are escaped as JSON has them.
    ///
    /// # Errors
    /// As [`Out::print`].
    pub fn document(&mut self, format: Format, value: &impl Serialize) -> Result<()> {
        let text = document(format, value)?;
        self.output.write_all(text.as_bytes())?;
        Ok(self.output.flush()?)
    }

    /// Prints objects as kubectl applies them: as documents of YAML, or as a List in JSON.
    ///
    /// # Errors
    /// As [`Out::print`].
    pub fn manifests(&mut self, format: Format, objects: &[Value]) -> Result<()> {
        if format == Format::Json {
            return self.document(format, &json!({"apiVersion": "v1", "kind": "List", "items": objects}));
        }
        for object in objects {
            self.print("---\n")?;
            self.document(format, object)?;
        }
        Ok(())
    }

    /// Prints a value in that form.
    ///
    /// # Errors
    /// As [`Out::print`].
    pub fn show<T: Serialize>(
        &mut self,
        form: impl Into<Form>,
        value: &T,
        text: impl FnOnce(&T, Width) -> String,
    ) -> Result<()> {
        match form.into() {
            Form::Text(width) => self.print(&text(value, width)),
            Form::Document(format) => self.document(format, value),
        }
    }

    /// Prints one line about what is incomplete to standard error, as kubectl does. Nothing can be done if that fails.
    pub fn warn(&mut self, text: &str) {
        let _closed = writeln!(self.errors, "warning: {}", harmless(&one_line(text)));
    }

    /// Prints one line about why the command failed to standard error. Nothing can be done if that fails.
    pub fn fail(&mut self, text: &str) {
        let _closed = writeln!(self.errors, "error: {}", harmless(&one_line(text)));
    }

    /// Prints a text to standard error as it is, with its line ends. Nothing can be done if that fails.
    pub fn note(&mut self, text: &str) {
        let _closed = write!(self.errors, "{}", harmless(text));
    }
}

/// The value as text that ends with a new line.
fn document(format: Format, value: &impl Serialize) -> Result<String> {
    let json = || serde_json::to_string_pretty(value).map(|json| escaped(&json) + "\n");
    match format {
        Format::Json => Ok(json()?),
        Format::Yaml => {
            let yaml = serde_saphyr::to_string(value).context("writing YAML")?;
            // JSON is YAML, and can escape every character.
            if harmless(&yaml) == yaml { Ok(yaml) } else { Ok(json()?) }
        }
    }
}

/// Whether a terminal may interpret the character instead of showing it: control characters, and changes of the
/// writing direction.
fn is_interpreted(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

/// JSON with those characters in the escapes of JSON: outside of its strings it has none but line ends.
fn escaped(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for character in json.chars() {
        if is_interpreted(character) && character != '\n' {
            // A String takes everything.
            let _written = write!(shown, "\\u{:04x}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    shown
}

/// The same text with these characters as kubectl shows them: `^[` for escape, and so on. New lines stay.
fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => shown.push('\n'),
            '\0'..='\u{1f}' | '\u{7f}' => {
                shown.push('^');
                shown.extend(char::from_u32(u32::from(character) ^ 0x40));
            }
            character if is_interpreted(character) => shown.extend(character.escape_unicode()),
            character => shown.push(character),
        }
    }
    shown
}

/// Rows and columns of a terminal.
#[derive(Clone, Copy)]
struct Size {
    rows: usize,
    columns: usize,
}

#[cfg(unix)]
fn size() -> Option<Size> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    let (rows, columns) = (usize::from(size.ws_row), usize::from(size.ws_col));
    (rows > 1 && columns > 0).then_some(Size { rows, columns })
}

#[cfg(not(unix))]
fn size() -> Option<Size> {
    None
}

/// As much of the text as a terminal of that size shows at once: a longer line would continue in the next row, a longer
/// text would scroll. The last row is for the cursor.
fn fitted(text: &str, size: Option<Size>) -> String {
    let Some(Size { rows, columns }) = size else { return text.to_owned() };
    let lines: Vec<&str> = text.lines().collect();
    let room = rows.saturating_sub(1);
    let cut = |line: &&str| line.chars().take(columns).collect::<String>() + "\n";
    if lines.len() <= room {
        return lines.iter().map(cut).collect();
    }
    let kept = room.saturating_sub(1);
    let more = format!("… {} more lines", lines.len().saturating_sub(kept));
    lines.iter().take(kept).chain([&more.as_str()]).map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn control_sequences_are_printed_and_not_executed() {
        assert_eq!(
            harmless("a\u{1b}[31mred\r\u{7f}\u{9b}0m\u{202e}\n"),
            "a^[[31mred^M^?\\u{9b}0m\\u{202e}\n"
        );
        assert_eq!(harmless("äöü 漢 😀\n"), "äöü 漢 😀\n");
    }

    #[test]
    fn everything_that_is_printed_is_escaped() {
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let mut out = Out::new(&mut output, &mut errors, Screen::Lines);
        out.print("a\u{1b}\n").unwrap();
        out.redraw("b\u{1b}\n").unwrap();
        out.columns("f\u{1b}\tg\n").unwrap();
        out.warn("c\u{1b}");
        out.fail("d\u{1b}");
        out.note("e\u{1b}\n");
        assert_eq!(String::from_utf8(output).unwrap(), format!("a^[\n{CLEARED}b^[\nf^[\tg\n"));
        assert_eq!(String::from_utf8(errors).unwrap(), "warning: c^[\nerror: d^[\ne^[\n");
    }

    #[test]
    fn documents_stay_valid_when_they_are_escaped() {
        let value = json!({"message": "a\u{1b}[31m\u{9b}\u{202e}\n", "count": 1});
        for format in [Format::Json, Format::Yaml] {
            let text = document(format, &value).unwrap();
            assert!(text.chars().all(|it| it == '\n' || !is_interpreted(it)), "{text:?}");
            let read: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
            assert_eq!(read, value, "{text}");
        }
        let text = document(Format::Yaml, &json!({"name": "a", "on": "yes"})).unwrap();
        assert!(text.starts_with("name: a\n"), "{text}");
    }

    #[test]
    fn a_screen_is_not_scrolled() {
        let size = |rows, columns| Some(Size { rows, columns });
        assert_eq!(fitted("abc\nd\n", size(3, 2)), "ab\nd\n");
        assert_eq!(fitted("a\nb\nc\nd\n", size(4, 20)), "a\nb\n… 2 more lines\n");
        assert_eq!(fitted("a\n", None), "a\n");
    }
}
