//! The layout of a dashboard: its panels where Grafana places them, with their titles and how they show values. Read from
//! the JSON that Grafana imports.

use super::canvas::{Anchor, Area, Canvas, Font, LINE, Tint};
use anyhow::{Context as _, Result};
use serde::Deserialize;

/// Pixels of a column and of a row of Grafana's grid.
const COLUMN: i32 = 34;
const ROW: i32 = 12;
/// Free around a panel.
const GAP: i32 = 3;

#[derive(Deserialize)]
struct Dashboard {
    title: String,
    description: String,
    panels: Vec<Panel>,
}

#[derive(Deserialize)]
struct Panel {
    title: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "gridPos")]
    place: Place,
}

#[derive(Deserialize)]
struct Place {
    x: i32,
    y: i32,
    w: i32,
    h: i32,
}

impl Place {
    fn area(&self) -> Area {
        Area::at(self.x * COLUMN, self.y * ROW, self.w * COLUMN, self.h * ROW).wider(-GAP)
    }
}

/// The picture of a dashboard in Grafana's JSON.
pub(super) fn drawn(json: &str) -> Result<String> {
    let dashboard: Dashboard = serde_json::from_str(json).context("a dashboard")?;
    let mut canvas = Canvas::new(&dashboard.title, &dashboard.description);
    for panel in &dashboard.panels {
        let area = panel.place.area();
        if panel.kind == "row" {
            let top = area.center().y - LINE / 2;
            let width = Font::Bold.width(&panel.title);
            canvas.text(&panel.title, Font::Bold, Anchor::Start, Area::at(area.left, top, width, LINE));
        } else {
            let width = area.right - area.left;
            let text = wrapped(&panel.title, width - 16);
            canvas.note(area, Tint::Plain, &text);
            canvas.mark(area, &panel.kind);
        }
    }
    canvas.finish()
}

/// A title in lines that are not wider than that.
fn wrapped(title: &str, width: i32) -> String {
    let mut lines = vec![String::new()];
    for word in title.split(' ') {
        let Some(line) = lines.last_mut() else { break };
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if line.is_empty() || Font::Normal.width(&longer) <= width {
            *line = longer;
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}
