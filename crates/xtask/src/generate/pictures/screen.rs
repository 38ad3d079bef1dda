//! A terminal with what a command prints.

use super::canvas::{Anchor, Area, Canvas, Font, LINE};
use anyhow::Result;

/// Columns of the terminal: a longer line is cut, as the plugin cuts it when it redraws a screen.
const COLUMNS: usize = 120;
/// Free around the text.
const MARGIN: i32 = 10;

/// The picture of a command and its output.
pub(super) fn drawn(title: &str, about: &str, command: &str, output: &str) -> Result<String> {
    let mut canvas = Canvas::new(title, about);
    let lines: Vec<String> = output.lines().map(|line| line.chars().take(COLUMNS).collect()).collect();
    let height = i32::try_from(lines.len()).unwrap_or(i32::MAX) * LINE;
    let full = Font::Monospace.width(&"x".repeat(COLUMNS));
    canvas.surface(Area::at(0, -2 * LINE, full, height + 2 * LINE).wider(MARGIN));
    let prompt = format!("$ {command}");
    let area = Area::at(0, -2 * LINE, Font::Monospace.width(&prompt), LINE);
    canvas.text(&prompt, Font::Monospace, Anchor::Start, area);
    for (row, line) in (0..).zip(&lines) {
        for (column, part) in parts(line) {
            let left = Font::Monospace.width(&line.chars().take(column).collect::<String>());
            let area = Area::at(left, row * LINE, Font::Monospace.width(part), LINE);
            canvas.text(part, Font::Monospace, Anchor::Start, area);
        }
    }
    canvas.finish()
}

/// The parts of a line between two or more spaces, each with its column: drawn one by one they stay below each other, even
/// if a font has another width.
fn parts(line: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut column = 0;
    for part in line.split("  ") {
        let spaces = part.chars().take_while(|c| *c == ' ').count();
        let text = part.trim();
        if !text.is_empty() {
            found.push((column + spaces, text));
        }
        column += part.chars().count() + 2;
    }
    found
}
