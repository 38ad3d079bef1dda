//! Boxes in a grid, and arrows between their sides: parts and who calls whom, states and what leads from one to another.

use super::canvas::{Area, Canvas, Edge, Place, Point, Stroke, Tint};
use anyhow::Result;

/// Diameter of a begin or end.
const DOT: i32 = 16;

/// Sizes in pixels, of boxes and of what is between them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) gap_x: i32,
    pub(super) gap_y: i32,
}

impl Grid {
    /// The area from a column to the one that many further right.
    fn cell(self, column: i32, row: i32, columns: i32) -> Area {
        let left = column * (self.width + self.gap_x);
        let width = columns * self.width + (columns - 1) * self.gap_x;
        Area::at(left, row * (self.height + self.gap_y), width, self.height)
    }
}

/// A box, frame or dot that arrows lead to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node(Area);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Top,
    Bottom,
}

/// An end of an arrow: the middle of a side.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    side: Side,
    at: Point,
}

impl Node {
    pub(super) fn left(self) -> End {
        End { side: Side::Left, at: Point { x: self.0.left, y: self.0.center().y } }
    }

    pub(super) fn right(self) -> End {
        End { side: Side::Right, at: Point { x: self.0.right, y: self.0.center().y } }
    }

    pub(super) fn top(self) -> End {
        End { side: Side::Top, at: Point { x: self.0.center().x, y: self.0.top } }
    }

    pub(super) fn bottom(self) -> End {
        End { side: Side::Bottom, at: Point { x: self.0.center().x, y: self.0.bottom } }
    }
}

impl End {
    /// That far from the middle of the side, to the right or downwards.
    pub(super) fn by(mut self, distance: i32) -> Self {
        match self.side {
            Side::Left | Side::Right => self.at.y += distance,
            Side::Top | Side::Bottom => self.at.x += distance,
        }
        self
    }

    /// On the same side, in line with the other end.
    pub(super) fn facing(mut self, other: Self) -> Self {
        match self.side {
            Side::Left | Side::Right => self.at.y = other.at.y,
            Side::Top | Side::Bottom => self.at.x = other.at.x,
        }
        self
    }

    fn is_level(self) -> bool {
        matches!(self.side, Side::Left | Side::Right)
    }
}

/// The corners of an arrow whose parts are level or upright. `bend`: see [`Boxes::arrow_bent`].
fn route(from: End, to: End, bend: i32) -> Vec<Point> {
    let (a, b) = (from.at, to.at);
    let middle = match (from.side, to.side) {
        (Side::Left, Side::Left) => a.x.min(b.x) - bend,
        (Side::Right, Side::Right) => a.x.max(b.x) + bend,
        (Side::Top, Side::Top) => a.y.min(b.y) - bend,
        (Side::Bottom, Side::Bottom) => a.y.max(b.y) + bend,
        _ if from.is_level() => a.x.midpoint(b.x) + bend,
        _ => a.y.midpoint(b.y) + bend,
    };
    if from.side != to.side && (a.x == b.x || a.y == b.y) {
        return vec![a, b];
    }
    match (from.is_level(), to.is_level()) {
        (true, true) => vec![a, Point { x: middle, y: a.y }, Point { x: middle, y: b.y }, b],
        (false, false) => vec![a, Point { x: a.x, y: middle }, Point { x: b.x, y: middle }, b],
        (true, false) => vec![a, Point { x: b.x, y: a.y }, b],
        (false, true) => vec![a, Point { x: a.x, y: b.y }, b],
    }
}

/// A diagram while it is described.
pub(super) struct Boxes {
    canvas: Canvas,
    grid: Grid,
}

impl Boxes {
    pub(super) fn new(title: &'static str, about: &'static str, grid: Grid) -> Self {
        Self { canvas: Canvas::new(title, about), grid }
    }

    /// A box in that column and row.
    pub(super) fn node(&mut self, column: i32, row: i32, tint: Tint, text: &str) -> Node {
        self.wide(column, row, 1, tint, text)
    }

    /// A box over several columns.
    pub(super) fn wide(&mut self, column: i32, row: i32, columns: i32, tint: Tint, text: &str) -> Node {
        let area = self.grid.cell(column, row, columns);
        self.canvas.boxed(area, tint, text);
        Node(area)
    }

    /// Where paths begin or end.
    pub(super) fn dot(&mut self, column: i32, row: i32) -> Node {
        let Point { x, y } = self.grid.cell(column, row, 1).center();
        let area = Area::at(x - DOT / 2, y - DOT / 2, DOT, DOT);
        self.canvas.dot(area);
        Node(area)
    }

    /// A frame around the cells from one to another.
    pub(super) fn frame(&mut self, from: (i32, i32), to: (i32, i32), edge: Edge, name: &str) -> Node {
        let mut area = self.grid.cell(from.0, from.1, 1).with(self.grid.cell(to.0, to.1, 1)).wider(14);
        match edge {
            Edge::Top => area.top -= 10,
            Edge::Bottom => area.bottom += 10,
        }
        self.canvas.frame(area, edge, name);
        Node(area)
    }

    /// An arrow, straight or with corners.
    pub(super) fn arrow(&mut self, from: End, to: End) -> Drawn<'_> {
        self.arrow_bent(from, to, 0)
    }

    /// An arrow whose middle part is that far beyond both boxes, if both ends are on the same side, or further right or
    /// down than the middle between them.
    pub(super) fn arrow_bent(&mut self, from: End, to: End, bend: i32) -> Drawn<'_> {
        let points = route(from, to, bend);
        self.canvas.arrow(&points, Stroke::Full);
        Drawn { canvas: &mut self.canvas, points }
    }

    pub(super) fn drawn(self) -> Result<String> {
        self.canvas.finish()
    }
}

/// An arrow that may get a text.
pub(super) struct Drawn<'c> {
    canvas: &'c mut Canvas,
    points: Vec<Point>,
}

impl Drawn<'_> {
    /// A text beside the part of the arrow that begins at that corner, from 0.
    pub(super) fn says(self, part: usize, place: Place, text: &str) {
        let mut ends = self.points.iter().skip(part);
        let (Some(a), Some(b)) = (ends.next(), ends.next()) else {
            return self.canvas.fault(format!("the arrow of {text:?} has no part {part}"));
        };
        let middle = Point { x: a.x.midpoint(b.x), y: a.y.midpoint(b.y) };
        self.canvas.beside(middle, place, text);
    }
}
