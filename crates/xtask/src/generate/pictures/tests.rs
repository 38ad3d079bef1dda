//! What pictures are refused, and what every picture has.

use super::boxes::{Boxes, Grid};
use super::canvas::{Area, Canvas, Font, Place, Point, Stroke, Tint};
use super::sequence::Sequence;
use super::{files, grid, machine, screen};

const GRID: Grid = Grid { width: 100, height: 30, gap_x: 60, gap_y: 40 };

fn faults(draw: impl FnOnce(&mut Canvas)) -> Vec<String> {
    let mut canvas = Canvas::new("a", "b");
    draw(&mut canvas);
    let faults = canvas.faults();
    assert_eq!(canvas.finish().is_err(), !faults.is_empty(), "{faults:?}");
    faults
}

#[test]
fn every_picture_is_small_well_formed_and_described() {
    let files = files().unwrap();
    assert_eq!(files.len(), 13, "eight pictures, and one for each dashboard");
    for file in files {
        let text = &file.text;
        assert!(text.len() < 16_000, "{}: {} bytes", file.path, text.len());
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"), "{}", file.path);
        assert!(text.contains("<title>") && text.contains("<desc>"), "{}", file.path);
        assert!(text.contains("prefers-color-scheme:dark"), "{}", file.path);
        elements_are_closed(&file.path, text);
    }
}

#[test]
fn the_states_of_a_machine_are_those_of_its_page() {
    let page = std::fs::read_to_string(crate::root().join("docs/concepts/machines.md")).unwrap();
    let (table, _) = page.split_once("\n## ").unwrap();
    let named = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let mut named: Vec<&str> = named.filter(|it| !it.starts_with("kubectl")).collect();
    let svg = machine::life().unwrap();
    let mut drawn: Vec<&str> = svg.lines().filter(|line| !line.contains("class=\"b\"")).collect();
    drawn.retain(|line| line.starts_with("<text "));
    let mut drawn: Vec<&str> =
        drawn.iter().map(|line| line.split('>').nth(1).unwrap().split('<').next().unwrap()).collect();
    named.sort_unstable();
    drawn.sort_unstable();
    assert_eq!(drawn, named);
}

/// XML without a parser: every element ends, in order, and no text has a character that begins one.
fn elements_are_closed(path: &str, svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    for part in svg.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or_else(|| panic!("{path}: <{part}"));
        let entities = ["amp;", "lt;", "gt;"];
        let is_escaped =
            text.split('&').skip(1).all(|it| entities.iter().any(|entity| it.starts_with(entity)));
        assert!(is_escaped && !text.contains('>'), "{path}: {text}");
        if tag.starts_with("!--") || tag.ends_with('/') {
            continue;
        }
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{path}"),
            None => open.push(tag.split(' ').next().unwrap()),
        }
    }
    assert!(open.is_empty(), "{path}: {open:?}");
}

#[test]
fn what_overlaps_is_refused() {
    let found = faults(|canvas| {
        canvas.boxed(Area::at(0, 0, 100, 30), Tint::Plain, "a");
        canvas.boxed(Area::at(90, 0, 100, 30), Tint::Plain, "b");
    });
    assert_eq!(found, ["two boxes overlap at Point { x: 50, y: 15 }"]);
    let found = faults(|canvas| {
        canvas.beside(Point { x: 0, y: 0 }, Place::Right, "here");
        canvas.beside(Point { x: 20, y: 5 }, Place::Right, "there");
    });
    assert_eq!(found, ["\"here\" overlaps \"there\""]);
    let found = faults(|canvas| {
        canvas.boxed(Area::at(0, 0, 100, 30), Tint::Plain, "a");
        canvas.beside(Point { x: 120, y: 15 }, Place::Left, "beside");
        canvas.arrow(&[Point { x: 50, y: -20 }, Point { x: 50, y: 60 }], Stroke::Full);
        canvas.beside(Point { x: 30, y: 50 }, Place::Right, "struck");
    });
    assert_eq!(
        found,
        [
            "\"beside\" overlaps a box",
            "\"struck\" overlaps a line",
            "a line runs through the box at Point { x: 50, y: 15 }"
        ]
    );
}

#[test]
fn a_text_fits_into_its_box() {
    let check = |text: &str, fits: bool| {
        let found = faults(|canvas| canvas.boxed(Area::at(0, 0, 60, 40), Tint::Plain, text));
        assert_eq!(found.is_empty(), fits, "{text:?}: {found:?}");
    };
    check("short", true);
    check("much too long", false);
    check("a\nb", true);
    check("a\nb\nc", false);
}

#[test]
fn wide_characters_are_wide() {
    assert!(Font::Normal.width("WWW") > 2 * Font::Normal.width("iii"));
    assert!(Font::Bold.width("text") > Font::Normal.width("text"));
    assert_eq!(Font::Monospace.width("WWW"), Font::Monospace.width("iii"));
}

#[test]
fn arrows_have_corners_where_sides_need_them() {
    let path = |draw: &dyn Fn(&mut Boxes)| {
        let mut boxes = Boxes::new("a", "b", GRID);
        draw(&mut boxes);
        let svg = boxes.drawn().unwrap();
        let data = svg.split("<path d=\"").nth(2).unwrap();
        data.split('"').next().unwrap().to_owned()
    };
    let straight = path(&|it| {
        let (a, b) = (it.node(0, 0, Tint::Plain, "a"), it.node(0, 1, Tint::Plain, "b"));
        it.arrow(a.bottom(), b.top()).says(0, Place::Right, "c");
    });
    assert_eq!(straight, "M50 30L50 70");
    let corner = path(&|it| {
        let (a, b) = (it.node(0, 0, Tint::Plain, "a"), it.node(1, 1, Tint::Plain, "b"));
        it.arrow(a.right(), b.top());
    });
    assert_eq!(corner, "M100 15L210 15L210 70");
    let two_corners = path(&|it| {
        let (a, b) = (it.node(0, 0, Tint::Plain, "a"), it.node(1, 1, Tint::Plain, "b"));
        it.arrow(a.bottom().by(10), b.top());
    });
    assert_eq!(two_corners, "M60 30L60 50L210 50L210 70");
    let around = path(&|it| {
        let (a, b) = (it.node(0, 0, Tint::Plain, "a"), it.node(0, 1, Tint::Plain, "b"));
        it.arrow_bent(a.left(), b.left(), 20);
    });
    assert_eq!(around, "M0 15L-20 15L-20 85L0 85");
}

#[test]
fn a_text_needs_a_part_of_its_arrow() {
    let mut boxes = Boxes::new("a", "b", GRID);
    let (a, b) = (boxes.node(0, 0, Tint::Plain, "a"), boxes.node(0, 1, Tint::Plain, "b"));
    boxes.arrow(a.bottom(), b.top()).says(1, Place::Right, "c");
    assert!(boxes.drawn().unwrap_err().to_string().contains("the arrow of \"c\" has no part 1"));
}

#[test]
fn a_sequence_has_its_steps_from_top_to_bottom() {
    let mut it = Sequence::new("a", "b");
    let (left, right) = (it.lane("L", Tint::Provider), it.lane("R", Tint::Aws));
    it.sends(left, right, "first & last");
    it.does(right, "works");
    it.returns(right, left, "done");
    let svg = it.drawn().unwrap();
    let y = |text: &str| {
        let line = svg.lines().find(|line| line.contains(text)).unwrap();
        line.split("y=\"").nth(1).unwrap().split('"').next().unwrap().parse::<i32>().unwrap()
    };
    assert!(y("first &amp; last") < y(">works<") && y(">works<") < y(">done<"), "{svg}");
    let dashed: Vec<&str> = svg.lines().filter(|it| it.contains("class=\"l d\" marker-end")).collect();
    assert_eq!(dashed.len(), 1, "{svg}");

    it.sends(left, right, "a text that is wider than the space between two columns");
    assert!(it.drawn().is_ok(), "it has free space on both sides");
    it.does(left, "a text that is wider than a column of the diagram");
    assert!(it.drawn().is_err());
}

#[test]
fn columns_of_a_terminal_stay_below_each_other_and_long_lines_are_cut() {
    let output = format!("NAME    READY\n└─ A b  True\n{}\n", "x".repeat(200));
    let svg = screen::drawn("a", "b", "kubectl foo", &output).unwrap();
    let x = |text: &str| {
        let line = svg.lines().find(|line| line.contains(&format!(">{text}<"))).unwrap();
        line.split("x=\"").nth(1).unwrap().split('"').next().unwrap()
    };
    assert_eq!(x("READY"), x("True"));
    assert_eq!(x("NAME"), x("└─ A b"));
    assert!(svg.contains(&format!(">{}<", "x".repeat(120))), "{svg}");
}

#[test]
fn a_dashboard_has_its_panels_where_grafana_places_them() {
    let panel = |kind: &str, title: &str, x: u32| {
        format!(
            r#"{{"type": "{kind}", "title": "{title}", "gridPos": {{"x": {x}, "y": 1, "w": 6, "h": 5}}}}"#
        )
    };
    let dashboard = |panels: &str| format!(r#"{{"title": "T", "description": "D", "panels": [{panels}]}}"#);
    let two = format!("{},{}", panel("stat", "Pools that wait for something", 0), panel("stat", "B", 6));
    let svg = grid::drawn(&dashboard(&two)).unwrap();
    assert!(svg.contains("<rect x=\"207\" y=\"15\""), "{svg}");
    assert!(svg.contains(">Pools that wait for<") && svg.contains(">something<"), "{svg}");
    let both = format!("{},{}", panel("stat", "A", 0), panel("stat", "B", 5));
    assert!(grid::drawn(&dashboard(&both)).is_err(), "they overlap");
}
