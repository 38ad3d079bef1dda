//! Who sends what to whom, from top to bottom: a column for each party, an arrow for each message.

use super::canvas::{Area, Canvas, LINE, Place, Point, Stroke, Tint};
use anyhow::Result;

/// Width of the head of a column.
const HEAD: i32 = 150;
/// From the middle of a column to the middle of the next.
const COLUMN: i32 = 200;
const HEAD_HEIGHT: i32 = 42;
/// Between two steps.
const GAP: i32 = 12;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lane(i32);

impl Lane {
    fn x(self) -> i32 {
        self.0 * COLUMN
    }
}

enum Step {
    Message { from: Lane, to: Lane, stroke: Stroke, text: &'static str },
    Note { first: Lane, last: Lane, tint: Tint, text: &'static str },
}

impl Step {
    fn height(&self) -> i32 {
        let (Self::Message { text, .. } | Self::Note { text, .. }) = self;
        let lines = i32::try_from(text.lines().count()).unwrap_or(i32::MAX) * LINE;
        match self {
            Self::Message { .. } => lines + 4,
            Self::Note { .. } => lines + 12,
        }
    }
}

/// A diagram while it is described.
pub(super) struct Sequence {
    title: &'static str,
    about: &'static str,
    lanes: Vec<(&'static str, Tint)>,
    steps: Vec<Step>,
}

impl Sequence {
    pub(super) fn new(title: &'static str, about: &'static str) -> Self {
        Self { title, about, lanes: Vec::new(), steps: Vec::new() }
    }

    /// A column, right of the ones before.
    pub(super) fn lane(&mut self, name: &'static str, tint: Tint) -> Lane {
        let lane = Lane(i32::try_from(self.lanes.len()).unwrap_or(i32::MAX));
        self.lanes.push((name, tint));
        lane
    }

    /// A message, with lines of text above its arrow.
    pub(super) fn sends(&mut self, from: Lane, to: Lane, text: &'static str) {
        self.steps.push(Step::Message { from, to, stroke: Stroke::Full, text });
    }

    /// A response, or a message that has no effect: dashed.
    pub(super) fn returns(&mut self, from: Lane, to: Lane, text: &'static str) {
        self.steps.push(Step::Message { from, to, stroke: Stroke::Dashed, text });
    }

    /// What happens in a column.
    pub(super) fn does(&mut self, lane: Lane, text: &'static str) {
        let tint = usize::try_from(lane.0).ok().and_then(|at| self.lanes.get(at)).map(|(_, tint)| *tint);
        self.steps.push(Step::Note { first: lane, last: lane, tint: tint.unwrap_or(Tint::Plain), text });
    }

    /// What is true now, over several columns.
    pub(super) fn note(&mut self, first: Lane, last: Lane, text: &'static str) {
        self.steps.push(Step::Note { first, last, tint: Tint::Plain, text });
    }

    pub(super) fn drawn(&self) -> Result<String> {
        self.canvas().finish()
    }

    pub(super) fn canvas(&self) -> Canvas {
        let mut canvas = Canvas::new(self.title, self.about);
        let end = self.steps.iter().fold(HEAD_HEIGHT + GAP, |y, step| y + step.height() + GAP);
        // Lines first: boxes are drawn upon them.
        for (index, _) in (0..).zip(&self.lanes) {
            let x = Lane(index).x();
            canvas.rule(Point { x, y: HEAD_HEIGHT }, Point { x, y: end });
        }
        for (index, (name, tint)) in (0..).zip(&self.lanes) {
            canvas.boxed(Area::at(Lane(index).x() - HEAD / 2, 0, HEAD, HEAD_HEIGHT), *tint, name);
        }
        let mut y = HEAD_HEIGHT + GAP;
        for step in &self.steps {
            let bottom = y + step.height();
            match step {
                Step::Message { from, to, stroke, text } => {
                    let (from, to) = (Point { x: from.x(), y: bottom }, Point { x: to.x(), y: bottom });
                    canvas.arrow(&[from, to], *stroke);
                    canvas.beside(Point { x: from.x.midpoint(to.x), y: bottom }, Place::Above, text);
                }
                Step::Note { first, last, tint, text } => {
                    let left = first.x() - COLUMN / 2 + 8;
                    let area = Area { left, top: y, right: last.x() + COLUMN / 2 - 8, bottom };
                    canvas.note(area, *tint, text);
                }
            }
            y = bottom + GAP;
        }
        canvas
    }
}
