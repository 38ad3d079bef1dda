//! Text about any kind: tables, ages, conditions in one line, domains.

use comfy_table::{Table, presets};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use std::fmt::Write as _;

/// Whether a domain name is that one, or below it.
pub(crate) fn is_in(domain: &str, of: &str) -> bool {
    domain.strip_suffix(of).is_some_and(|below| below.is_empty() || below.ends_with('.'))
}

/// Rows below their header; nothing if there are none.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: Vec<[String; N]>) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    table.add_rows(
        rows.into_iter().map(|row| row.map(|cell| if cell.contains('\n') { one_line(&cell) } else { cell })),
    );
    // Each cell has a space on both sides.
    table.lines().map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned()).collect()
}

/// When the event, or the last of a series, happened.
pub(crate) fn last_seen(event: &Event) -> Option<Timestamp> {
    let series =
        event.series.as_ref().and_then(|series| series.last_observed_time.as_ref()).map(|time| time.0);
    let last = event.last_timestamp.as_ref().map(|time| time.0);
    let single = event.event_time.as_ref().map(|time| time.0);
    series.or(last).or(single)
}

/// The text in one line.
pub(crate) fn one_line(message: &str) -> String {
    message.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// `Reason: message`, in one line.
pub(crate) fn reported(condition: &Condition) -> String {
    let message = one_line(&condition.message);
    if message.is_empty() { condition.reason.clone() } else { format!("{}: {message}", condition.reason) }
}

/// How long ago the condition got its status.
pub(crate) fn age(condition: &Condition, now: Timestamp) -> String {
    duration(condition.last_transition_time.0, now)
}

/// As kubectl shows ages: `45s`, `12m`, `5h`, `3d`.
pub(crate) fn duration(since: Timestamp, now: Timestamp) -> String {
    span(now.duration_since(since).as_secs())
}

/// A number of seconds as kubectl shows ages.
pub(crate) fn span(seconds: i64) -> String {
    let seconds = seconds.max(0);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// As one word of a shell: a name in AWS may have any character.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Adds a line, unless it is empty.
pub(crate) fn line(text: &mut String, line: &str) {
    if !line.is_empty() {
        text.push_str(line);
        text.push('\n');
    }
}

/// Adds lines below their title; nothing if there are none.
pub(crate) fn section(text: &mut String, title: &str, lines: &[String]) {
    if !lines.is_empty() {
        // A String takes everything.
        let _written = writeln!(text, "{title}:");
        for one in lines {
            line(text, &format!("  {one}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_is_one_word_of_a_shell() {
        for (text, expected) in [("a b", "'a b'"), ("$(id)", "'$(id)'"), ("it's", r"'it'\''s'")] {
            assert_eq!(quoted(text), expected);
        }
    }
}
