//! A picture while it is drawn: elements of SVG, and the areas that they cover.
//!
//! Pictures have no renderer here that a test could ask. So texts are measured with the widths of DejaVu Sans, the widest
//! of the common sans-serif fonts, and a picture in which something overlaps is refused.

use anyhow::{Result, ensure};
use std::fmt::Write as _;

/// Heights of texts in pixels.
pub(super) const SIZE: i32 = 13;
/// From one line of a text to the next.
pub(super) const LINE: i32 = 17;
/// Between a box and the text in it.
const PADDING: i32 = 6;
/// Between a line and the text beside it.
const BESIDE: i32 = 6;

/// Colours for light and dark themes. A picture has a background of its own: a page may have another theme than the
/// browser, and the picture stays readable.
const STYLE: &str = "text{font:13px sans-serif;fill:#1f2328}.t{font-weight:bold}.m{font:13px monospace}.b{paint-order:stroke;stroke:#fff;stroke-width:4px}
.s{font-size:11px;fill:#59636e}.g{fill:#fff}.n{fill:#f6f8fa}.f{fill:#ddf4ff}.k{fill:#dafbe1}.a{fill:#fff1d6}.o{fill:none;stroke-dasharray:5 4}
.n,.f,.k,.a,.o{stroke:#818b98}.l{fill:none;stroke:#59636e;stroke-width:1.5}.d{stroke-dasharray:5 4}.v{stroke:#818b98;stroke-dasharray:2 4}.h{fill:#59636e}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.b{stroke:#0d1117}.s{fill:#9198a1}.g{fill:#0d1117}
.n{fill:#21262d}.f{fill:#0c2d4d}.k{fill:#12361f}.a{fill:#4a2f06}.n,.f,.k,.a,.o{stroke:#656c76}.l{stroke:#9198a1}.h{fill:#9198a1}}";

/// A place, in pixels from the upper left corner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) x: i32,
    pub(super) y: i32,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) right: i32,
    pub(super) bottom: i32,
}

impl Area {
    pub(super) fn at(left: i32, top: i32, width: i32, height: i32) -> Self {
        Self { left, top, right: left + width, bottom: top + height }
    }

    pub(super) fn center(self) -> Point {
        Point { x: self.left.midpoint(self.right), y: self.top.midpoint(self.bottom) }
    }

    /// The smallest area that has both.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// With this much more on each side.
    pub(super) fn wider(self, by: i32) -> Self {
        Self { left: self.left - by, top: self.top - by, right: self.right + by, bottom: self.bottom + by }
    }

    fn overlaps(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn contains(self, other: Self) -> bool {
        self.with(other) == self
    }

    /// The smallest area that has all of these points.
    fn around(first: Point, points: &[Point]) -> Self {
        points.iter().fold(Self::between(first, first), |all, it| all.with(Self::between(*it, *it)))
    }

    fn between(a: Point, b: Point) -> Self {
        Self { left: a.x.min(b.x), top: a.y.min(b.y), right: a.x.max(b.x), bottom: a.y.max(b.y) }
    }
}

/// Whose part a box is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tint {
    /// Of users, and facts.
    Plain,
    /// Of the provider.
    Provider,
    /// Of Kubernetes and Cluster API.
    Kubernetes,
    /// Of AWS.
    Aws,
}

impl Tint {
    fn class(self) -> &'static str {
        match self {
            Self::Plain => "n",
            Self::Provider => "f",
            Self::Kubernetes => "k",
            Self::Aws => "a",
        }
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    Full,
    Dashed,
}

/// Where a text is, seen from a point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Above,
    Left,
    Right,
}

/// Which part of a text stays where it is if a font has other widths.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Where the name of a frame is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Edge {
    Top,
    Bottom,
}

/// The font of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Font {
    Normal,
    /// Readable upon a line.
    Raised,
    Bold,
    Small,
    Monospace,
}

impl Font {
    fn class(self) -> &'static str {
        match self {
            Self::Normal => "",
            Self::Raised => " class=\"b\"",
            Self::Bold => " class=\"t\"",
            Self::Small => " class=\"s\"",
            Self::Monospace => " class=\"m\"",
        }
    }

    /// The width of a text of one line, in pixels, rounded up.
    pub(super) fn width(self, text: &str) -> i32 {
        let hundredths: i32 = text.chars().map(|c| if self == Self::Monospace { 61 } else { width(c) }).sum();
        let (size, more) = match self {
            Self::Normal | Self::Raised | Self::Monospace => (SIZE, 100),
            Self::Bold => (SIZE, 112),
            Self::Small => (11, 100),
        };
        hundredths * size * more / 10_000 + 1
    }
}

/// The width of a character of DejaVu Sans, in hundredths of the height of the font.
fn width(character: char) -> i32 {
    match character {
        '\'' | 'i' | 'j' | 'l' | 'I' | 'J' => 30,
        ' ' | ',' | '.' | '/' | ':' | ';' | '\\' | '|' | '·' => 34,
        'f' | '-' => 37,
        '(' | ')' | '[' | ']' | 't' | '!' | 'r' => 42,
        '"' | '*' | '_' | '`' | '–' => 50,
        'c' | 's' | 'z' | '?' => 55,
        'F' | 'L' | 'P' | 'T' | 'Y' | 'a' | 'e' | 'k' | 'o' | 'v' | 'x' | 'y' => 62,
        '$' | '0'..='9' | 'E' | 'S' | 'b' | 'd' | 'g' | 'h' | 'n' | 'p' | 'q' | 'u' | '{' | '}' => 64,
        'A' | 'B' | 'C' | 'K' | 'R' | 'V' | 'X' | 'Z' => 70,
        'D' | 'G' | 'H' | 'N' | 'O' | 'Q' | 'U' | '&' => 79,
        '#' | '+' | '<' | '=' | '>' | '^' | '~' | 'M' | 'w' => 87,
        _ => 100,
    }
}

/// Who draws a picture, and styles of its own beside those of all pictures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// A sentence for whoever opens the file.
    pub(super) about: &'static str,
    pub(super) style: &'static str,
}

/// The pictures in the repository.
const GENERATED: Origin = Origin {
    about: "Generated by `cargo xtask generate` from crates/xtask/src/generate/pictures.",
    style: "",
};

/// A picture.
pub(super) struct Canvas {
    origin: Origin,
    /// What it is called, and what it shows: a browser shows neither, a screen reader reads both.
    title: String,
    about: String,
    elements: String,
    covered: Option<Area>,
    shapes: Vec<Area>,
    texts: Vec<(String, Area)>,
    lines: Vec<(Point, Point)>,
    /// Of frames: lines may cross them, texts may not.
    edges: Vec<(Point, Point)>,
    faults: Vec<String>,
}

impl Canvas {
    pub(super) fn new(title: &str, about: &str) -> Self {
        Self::of(GENERATED, title, about)
    }

    /// A picture that `cargo xtask generate` does not draw.
    pub(super) fn of(origin: Origin, title: &str, about: &str) -> Self {
        Self {
            origin,
            title: title.to_owned(),
            about: about.to_owned(),
            elements: String::new(),
            covered: None,
            shapes: Vec::new(),
            texts: Vec::new(),
            lines: Vec::new(),
            edges: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// A box with a name in bold, and what it is below that; with the name alone it is not bold.
    pub(super) fn boxed(&mut self, area: Area, tint: Tint, text: &str) {
        let font = if text.contains('\n') { Font::Bold } else { Font::Normal };
        self.filled(area, tint, font, text);
    }

    /// A box with lines of text.
    pub(super) fn note(&mut self, area: Area, tint: Tint, text: &str) {
        self.filled(area, tint, Font::Normal, text);
    }

    fn filled(&mut self, area: Area, tint: Tint, first: Font, text: &str) {
        self.rectangle(area, tint.class());
        self.shapes.push(area);
        let count = i32::try_from(text.lines().count()).unwrap_or(i32::MAX);
        let mut y = area.center().y - count * LINE / 2;
        for (index, line) in text.lines().enumerate() {
            let font = if index == 0 { first } else { Font::Normal };
            let width = font.width(line);
            let there = Area::at(area.center().x - width / 2, y, width, LINE);
            if !area.wider(-PADDING + 3).contains(there) {
                self.faults.push(format!("{line:?} does not fit into its box"));
            }
            self.write(line, font, Anchor::Middle, there);
            y += LINE;
        }
    }

    /// A small text in the lower right corner of a box.
    pub(super) fn mark(&mut self, area: Area, text: &str) {
        let width = Font::Small.width(text);
        let there = Area::at(area.right - PADDING - width, area.bottom - LINE, width, LINE);
        self.write(text, Font::Small, Anchor::End, there);
    }

    /// A dashed frame around boxes, with a name at the left of that edge.
    pub(super) fn frame(&mut self, area: Area, edge: Edge, name: &str) {
        self.rectangle(area, "o");
        let Area { left, top, right, bottom } = area;
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        let corners = corners.map(|(x, y)| Point { x, y });
        self.edges.extend(corners.into_iter().zip(corners.into_iter().skip(1)));
        let top = match edge {
            Edge::Top => area.top + 3,
            Edge::Bottom => area.bottom - LINE - 3,
        };
        let there = Area::at(area.left + PADDING, top, Font::Bold.width(name), LINE);
        self.text(name, Font::Bold, Anchor::Start, there);
    }

    /// A surface that texts are written on.
    pub(super) fn surface(&mut self, area: Area) {
        self.rectangle(area, Tint::Plain.class());
    }

    /// A filled circle: the begin or end of a path.
    pub(super) fn dot(&mut self, area: Area) {
        let Point { x, y } = area.center();
        self.element(area, &format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{}\" class=\"h\"/>", y - area.top));
        self.shapes.push(area);
    }

    /// An arrow through these points.
    pub(super) fn arrow(&mut self, points: &[Point], stroke: Stroke) {
        let Some(first) = points.first() else { return };
        let data = path(points);
        let class = if stroke == Stroke::Full { "l" } else { "l d" };
        self.element(
            Area::around(*first, points),
            &format!("<path d=\"{data}\" class=\"{class}\" marker-end=\"url(#e)\"/>"),
        );
        self.lines.extend(points.iter().copied().zip(points.iter().skip(1).copied()));
    }

    /// A line through these points, with a class of the picture's own style. Texts may cover it.
    pub(super) fn curve(&mut self, points: &[Point], class: &str) {
        let Some(first) = points.first() else { return };
        self.element(
            Area::around(*first, points),
            &format!("<path d=\"{}\" class=\"{class}\"/>", path(points)),
        );
    }

    /// A small filled circle around a point, with a class of the picture's own style.
    pub(super) fn spot(&mut self, Point { x, y }: Point, class: &str) {
        let area = Area::at(x, y, 0, 0).wider(3);
        self.element(area, &format!("<circle cx=\"{x}\" cy=\"{y}\" r=\"3\" class=\"{class}\"/>"));
    }

    /// A thin line that texts may cover.
    pub(super) fn rule(&mut self, from: Point, to: Point) {
        let area = Area::between(from, to);
        self.element(area, &format!("<path d=\"M{} {}L{} {}\" class=\"v\"/>", from.x, from.y, to.x, to.y));
    }

    /// Lines of text beside a point.
    pub(super) fn beside(&mut self, point: Point, place: Place, text: &str) {
        let height = i32::try_from(text.lines().count()).unwrap_or(i32::MAX) * LINE;
        let mut y = match place {
            Place::Above => point.y - height - 3,
            Place::Left | Place::Right => point.y - height / 2,
        };
        for line in text.lines() {
            let own = Font::Normal.width(line);
            let (left, anchor) = match place {
                Place::Above => (point.x - own / 2, Anchor::Middle),
                Place::Left => (point.x - BESIDE - own, Anchor::End),
                Place::Right => (point.x + BESIDE, Anchor::Start),
            };
            self.text(line, Font::Raised, anchor, Area::at(left, y, own, LINE));
            y += LINE;
        }
    }

    /// A line of text that nothing may cover.
    pub(super) fn text(&mut self, text: &str, font: Font, anchor: Anchor, area: Area) {
        self.write(text, font, anchor, area);
        self.texts.push((text.to_owned(), area));
    }

    /// A line of text that may cover others, because values decide where it is.
    pub(super) fn label(&mut self, text: &str, font: Font, anchor: Anchor, area: Area) {
        self.write(text, font, anchor, area);
    }

    fn write(&mut self, text: &str, font: Font, anchor: Anchor, area: Area) {
        let (y, class) = (area.bottom - 4, font.class());
        let (x, anchor) = match anchor {
            Anchor::Start => (area.left, ""),
            Anchor::Middle => (area.center().x, " text-anchor=\"middle\""),
            Anchor::End => (area.right, " text-anchor=\"end\""),
        };
        self.element(area, &format!("<text x=\"{x}\" y=\"{y}\"{anchor}{class}>{}</text>", escaped(text)));
    }

    fn rectangle(&mut self, area: Area, class: &str) {
        let Area { left, top, right, bottom } = area;
        let (width, height) = (right - left, bottom - top);
        let places = format!("x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"");
        self.element(area, &format!("<rect {places} rx=\"4\" class=\"{class}\"/>"));
    }

    fn element(&mut self, area: Area, element: &str) {
        self.covered = Some(self.covered.map_or(area, |all| all.with(area)));
        self.elements.push_str(element);
        self.elements.push('\n');
    }

    /// Notes what is wrong with the description of the picture.
    pub(super) fn fault(&mut self, text: String) {
        self.faults.push(text);
    }

    /// What is wrong, in sentences: what overlaps or does not fit.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = self.faults.clone();
        for (index, (text, area)) in self.texts.iter().enumerate() {
            let later = self.texts.iter().skip(index + 1).filter(|(_, other)| area.overlaps(*other));
            faults.extend(later.map(|(other, _)| format!("{text:?} overlaps {other:?}")));
            if self.shapes.iter().any(|shape| shape.overlaps(*area)) {
                faults.push(format!("{text:?} overlaps a box"));
            }
            let mut lines = self.lines.iter().chain(&self.edges);
            if lines.any(|(a, b)| Area::between(*a, *b).wider(1).overlaps(*area)) {
                faults.push(format!("{text:?} overlaps a line"));
            }
        }
        for (index, shape) in self.shapes.iter().enumerate() {
            if self.shapes.iter().skip(index + 1).any(|other| shape.overlaps(*other)) {
                faults.push(format!("two boxes overlap at {:?}", shape.center()));
            }
            // A line may end at a box, not run through it.
            if self.lines.iter().any(|(a, b)| Area::between(*a, *b).wider(1).overlaps(shape.wider(-2))) {
                faults.push(format!("a line runs through the box at {:?}", shape.center()));
            }
        }
        faults
    }

    /// The picture as a file of SVG.
    pub(super) fn finish(self) -> Result<String> {
        let faults = self.faults();
        ensure!(faults.is_empty(), "the picture {:?}:\n  {}", self.title, faults.join("\n  "));
        let Area { left, top, right, bottom } =
            self.covered.unwrap_or_else(|| Area::at(0, 0, 1, 1)).wider(12);
        let (width, height) = (right - left, bottom - top);
        let view = format!("{left} {top} {width} {height}");
        let (title, about) = (escaped(&self.title), escaped(&self.about));
        let Origin { about: origin, style } = self.origin;
        Ok(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"{view}\" role=\"img\">
<!-- {origin} -->
<title>{title}</title>
<desc>{about}</desc>
<style>{STYLE}{style}</style>
<marker id=\"e\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" \
             orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" class=\"h\"/></marker>
<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"6\" class=\"g\"/>
{}</svg>\n",
            self.elements
        ))
    }
}

/// Straight lines from point to point, as SVG writes them.
fn path(points: &[Point]) -> String {
    let mut data = String::new();
    for Point { x, y } in points {
        // A String takes everything.
        let _written = write!(data, "{}{x} {y}", if data.is_empty() { 'M' } else { 'L' });
    }
    data
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
