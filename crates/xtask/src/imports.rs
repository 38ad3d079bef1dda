//! Which file of a crate uses which other one, and that no two of them need each other.
//!
//! Read from the tokens, not from the compiler: `use` declarations, whatever is nested in them, and paths in the code that begin
//! with `crate`, `super`, `self` or the name of a module below. Who uses a re-export uses the file that it leads to, and who only
//! re-exports uses nothing. Tests do not count: they may use anything.

use anyhow::{Context as _, Result};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// Way to a module from the root of its crate; the root's is empty.
type Module = Vec<String>;

/// A file of a crate.
struct Room {
    path: String,
    /// Every path in it that may lead to another file.
    paths: BTreeSet<Path>,
}

/// A path as it is written, for instance `super::names::machine_name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Path {
    segments: Vec<String>,
    /// What it is known as in this file, if a `use` declares it.
    known_as: Option<String>,
    /// Whether it is only re-exported (`pub use`).
    passed_on: bool,
}

/// Where in the code a path stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Code,
    Use,
    PubUse,
}

/// The files of one crate below `src`, by module.
struct House {
    rooms: BTreeMap<Module, Room>,
}

/// Files or modules of one crate that need each other.
pub(crate) struct Circle {
    folder: String,
    pub(crate) files: Vec<String>,
    /// The shortest way from one of them to itself.
    shortest: Vec<String>,
}

impl fmt::Display for Circle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { folder, files, shortest } = self;
        let (all, example) = (files.join(", "), shortest.join(" uses "));
        let what = if files.iter().all(|file| file.contains('/')) { "files" } else { "modules" };
        write!(f, "{folder}: {} {what} need each other: {all}; for instance {example}", files.len())
    }
}

/// Each circle of files in the crate whose source folder is `folder` (`crates/planner/src`).
pub(crate) fn circles<'a>(
    folder: &str,
    files: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<Circle>> {
    let house = House::read(folder, files)?;
    let uses = house.uses();
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for module in uses.keys() {
        let circle = around(module, &uses);
        if circle.is_empty() || !seen.is_disjoint(&circle) {
            continue;
        }
        found.push(Circle {
            folder: folder.to_owned(),
            files: house.names(&circle),
            shortest: house.names(&way(module, module, &uses)),
        });
        seen.extend(circle);
    }
    Ok(found)
}

/// Each circle of sibling modules in that crate: files of a folder use files of another one, and the other way round, also where no two
/// files need each other.
pub(crate) fn module_circles<'a>(
    folder: &str,
    files: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<Circle>> {
    let house = House::read(folder, files)?;
    let mut siblings = BTreeMap::<Module, BTreeMap<Module, BTreeSet<Module>>>::new();
    let mut examples = BTreeMap::new();
    for (user, used) in house.uses() {
        for used in used {
            let Some((one, other)) = where_they_part(&user, &used) else { continue };
            let files = house.names([&user, &used]).join(" uses ");
            examples.entry((one.clone(), other.clone())).or_insert_with(Vec::new).push(files);
            let parent = one.split_last().map(|(_, parent)| parent.to_vec()).unwrap_or_default();
            siblings.entry(parent).or_default().entry(one).or_default().insert(other);
        }
    }
    let mut found = Vec::new();
    for uses in siblings.values() {
        let mut seen = BTreeSet::new();
        for module in uses.keys() {
            let circle = around(module, uses);
            if circle.is_empty() || !seen.is_disjoint(&circle) {
                continue;
            }
            let way = way(module, module, uses);
            let steps = way.iter().zip(way.iter().skip(1));
            let example = |(one, other): (&Module, &Module)| {
                examples.get(&(one.clone(), other.clone()))?.first().cloned()
            };
            found.push(Circle {
                folder: folder.to_owned(),
                files: circle.iter().map(|module| module.join("::")).collect(),
                shortest: vec![steps.filter_map(example).collect::<Vec<_>>().join(", ")],
            });
            seen.extend(circle);
        }
    }
    Ok(found)
}

/// The modules with the same parent in which two files are; none if one is the parent of the other.
fn where_they_part(one: &Module, other: &Module) -> Option<(Module, Module)> {
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let child = |module: &Module| module.get(..=same).map(<[String]>::to_vec);
    Some((child(one)?, child(other)?))
}

impl House {
    fn read<'a>(folder: &str, files: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Self> {
        let mut rooms = BTreeMap::new();
        for (path, text) in files {
            let Some(module) = path.strip_prefix(folder).and_then(module) else { continue };
            let tokens: TokenStream = text.parse().ok().with_context(|| format!("reading {path}"))?;
            let mut paths = BTreeSet::new();
            collect(tokens, &mut paths);
            rooms.insert(module, Room { path: path.to_owned(), paths });
        }
        Ok(Self { rooms })
    }

    fn names<'a>(&self, modules: impl IntoIterator<Item = &'a Module>) -> Vec<String> {
        modules
            .into_iter()
            .filter_map(|module| self.rooms.get(module))
            .map(|room| room.path.clone())
            .collect()
    }

    /// Which files each file uses, itself left out.
    fn uses(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let used = |module: &Module, room: &Room| {
            let used = room.paths.iter().filter(|path| !path.passed_on);
            let leads = used.filter_map(|path| self.leads_to(module, &path.segments, 0));
            leads.filter(|other| other != module).collect()
        };
        self.rooms.iter().map(|(module, room)| (module.clone(), used(module, room))).collect()
    }

    /// The file in which a path that is written in `module` ends; none if it leads out of the crate.
    fn leads_to(&self, module: &Module, segments: &[String], depth: usize) -> Option<Module> {
        let mut at = module.clone();
        let mut rest = segments;
        match segments.first()?.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => {
                while rest.first().is_some_and(|segment| segment == "super") {
                    at.pop()?;
                    rest = rest.get(1..)?;
                }
                return self.below(at, rest, depth);
            }
            child => {
                at.push(child.to_owned());
                if !self.rooms.contains_key(&at) {
                    return None;
                }
            }
        }
        self.below(at, rest.get(1..)?, depth)
    }

    /// Follows the modules, and then, where what is left is re-exported, that.
    fn below(&self, mut at: Module, mut rest: &[String], depth: usize) -> Option<Module> {
        while let [segment, others @ ..] = rest {
            at.push(segment.clone());
            if !self.rooms.contains_key(&at) {
                at.pop();
                break;
            }
            rest = others;
        }
        let room = self.rooms.get(&at)?;
        // A chain of re-exports is short; a circle of them does not compile.
        let reexport = rest.first().filter(|_| depth < 8).and_then(|item| {
            room.paths.iter().find(|path| path.known_as.as_deref() == Some(item)).map(|path| &path.segments)
        });
        match reexport.and_then(|segments| self.leads_to(&at, segments, depth + 1)) {
            Some(origin) => Some(origin),
            None => Some(at),
        }
    }
}

/// The module of a file, by its place below `src`; none for what is compiled for tests alone, and for programs.
fn module(path: &str) -> Option<Module> {
    let path = path.strip_prefix('/')?.strip_suffix(".rs")?;
    let mut module: Module = path.split('/').map(str::to_owned).collect();
    let is_test = |name: &String| name == "tests" || name.ends_with("_tests") || name == "test_support";
    if module.iter().any(is_test) || path == "main" || path.starts_with("bin/") {
        return None;
    }
    if path == "lib" || module.last().is_some_and(|name| name == "mod") {
        module.pop();
    }
    Some(module)
}

/// Finds the paths in a stretch of code, in also nested ones; skips code that is compiled only for tests.
fn collect(tokens: TokenStream, paths: &mut BTreeSet<Path>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    let mut place = Place::Code;
    let mut public = false;
    while let [token, others @ ..] = rest {
        rest = others;
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                if let [TokenTree::Group(attribute), others @ ..] = rest
                    && is_for_tests(&attribute.stream())
                {
                    rest = after_item(others);
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => (place, public) = (Place::Code, false),
            TokenTree::Ident(word) if word == "pub" => {
                public = true;
                // Where it can be seen (`pub(in crate::a)`) is no use of what is there.
                if let [TokenTree::Group(group), others @ ..] = rest
                    && group.delimiter() == Delimiter::Parenthesis
                {
                    rest = others;
                }
            }
            TokenTree::Ident(word) if word == "use" => {
                place = if public { Place::PubUse } else { Place::Use }
            }
            TokenTree::Ident(word) => {
                public = false;
                rest = path(vec![word.to_string()], rest, place, paths);
            }
            TokenTree::Group(group) => collect(group.stream(), paths),
            _ => {}
        }
    }
}

/// Reads the rest of a path of which some segments are known, and returns what comes after it.
fn path<'a>(
    mut segments: Vec<String>,
    mut rest: &'a [TokenTree],
    place: Place,
    paths: &mut BTreeSet<Path>,
) -> &'a [TokenTree] {
    let declares = place != Place::Code;
    while let [TokenTree::Punct(first), TokenTree::Punct(second), next, others @ ..] = rest {
        if first.as_char() != ':' || second.as_char() != ':' {
            break;
        }
        match next {
            TokenTree::Ident(word) => segments.push(word.to_string()),
            TokenTree::Group(group) if declares && group.delimiter() == Delimiter::Brace => {
                nested(&segments, group.stream(), place, paths);
                return others;
            }
            _ => break,
        }
        rest = others;
    }
    let mut known_as = segments.last().cloned();
    if let [TokenTree::Ident(word), TokenTree::Ident(name), others @ ..] = rest
        && word == "as"
        && declares
    {
        known_as = Some(name.to_string());
        rest = others;
    }
    if segments.last().is_some_and(|last| last == "self") {
        segments.pop();
        known_as = segments.last().cloned();
    }
    if declares || segments.len() > 1 {
        let known_as = known_as.filter(|_| declares);
        paths.insert(Path { segments, known_as, passed_on: place == Place::PubUse });
    }
    rest
}

/// `{a, b::{c, d}}` behind a path.
fn nested(before: &[String], tokens: TokenStream, place: Place, paths: &mut BTreeSet<Path>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    while let [token, others @ ..] = rest {
        rest = others;
        if let TokenTree::Ident(word) = token {
            let segments = before.iter().cloned().chain([word.to_string()]).collect();
            rest = path(segments, rest, place, paths);
        }
    }
}

fn is_for_tests(attribute: &TokenStream) -> bool {
    let text: String = attribute.to_string().split_whitespace().collect();
    text == "test" || (text.starts_with("cfg(") && text.contains("test") && !text.contains("not(test)"))
}

/// What comes after the item that begins here: behind its braces, or its semicolon.
fn after_item(mut rest: &[TokenTree]) -> &[TokenTree] {
    while let [token, others @ ..] = rest {
        rest = others;
        let ends = match token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(punct) => punct.as_char() == ';',
            _ => false,
        };
        if ends {
            break;
        }
    }
    rest
}

/// Everything that uses `module` and is used by it, itself included; empty if there is nothing.
fn around(module: &Module, uses: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<Module> {
    let reached = |from: &Module| {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&Module> = uses.get(from).into_iter().flatten().collect();
        while let Some(next) = open.pop() {
            if reached.insert(next.clone()) {
                open.extend(uses.get(next).into_iter().flatten());
            }
        }
        reached
    };
    reached(module).into_iter().filter(|other| reached(other).contains(module)).collect()
}

/// The shortest way from one file to another, both included; the way to itself leads through others.
fn way(from: &Module, to: &Module, uses: &BTreeMap<Module, BTreeSet<Module>>) -> Vec<Module> {
    let mut open = VecDeque::from([vec![from.clone()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = open.pop_front() {
        for next in way.last().and_then(|last| uses.get(last)).into_iter().flatten() {
            let mut longer = way.clone();
            longer.push(next.clone());
            if next == to {
                return longer;
            }
            if seen.insert(next.clone()) {
                open.push_back(longer);
            }
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        circles("src", files.iter().copied()).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn two_files_that_use_each_other_are_a_circle() {
        let files = [
            ("src/lib.rs", "mod a; mod b; mod c;"),
            ("src/a.rs", "use crate::b::{self, X}; pub struct Y;"),
            ("src/b.rs", "pub struct X; fn f() -> super::a::Y { todo() }"),
            ("src/c.rs", "use crate::a::Y;"),
        ];
        assert_eq!(
            found(&files),
            [
                "src: 2 files need each other: src/a.rs, src/b.rs; for instance src/a.rs uses src/b.rs uses src/a.rs"
            ]
        );
    }

    #[test]
    fn two_folders_that_use_each_other_are_a_circle_although_no_files_are() {
        let files = [
            ("src/a/mod.rs", "mod x; mod y;"),
            ("src/a/x.rs", "use crate::b::z::Z;"),
            ("src/a/y.rs", "pub struct Y;"),
            ("src/b/mod.rs", "pub mod z; mod w;"),
            ("src/b/z.rs", "pub struct Z;"),
            ("src/b/w.rs", "use crate::a::y::Y; use super::z::Z;"),
        ];
        assert!(found(&files).is_empty());
        let circles = module_circles("src", files.iter().copied()).unwrap();
        let circles: Vec<_> = circles.iter().map(ToString::to_string).collect();
        assert_eq!(
            circles,
            [
                "src: 2 modules need each other: a, b; for instance src/a/x.rs uses src/b/z.rs, src/b/w.rs uses src/a/y.rs"
            ]
        );
    }

    #[test]
    fn three_files_are_a_circle_too() {
        let files = [
            ("src/a.rs", "use crate::{b::{x, y}, std::z};"),
            ("src/b/mod.rs", "mod c; fn x() { c::go() }"),
            ("src/b/c.rs", "pub fn go() { let _ = matches!(1, crate::a::ONE); }"),
        ];
        assert_eq!(found(&files).len(), 1);
        assert!(found(&files)[0].starts_with("src: 3 files"));
    }

    #[test]
    fn a_re_export_is_the_file_that_it_leads_to() {
        let files = [
            ("src/lib.rs", "mod a; mod b; pub use a::X; pub(crate) use b::{Y as Z}; pub struct W;"),
            ("src/a.rs", "pub struct X;"),
            ("src/b.rs", "use crate::{W, X}; pub struct Y;"),
            ("src/c.rs", "use crate::Z;"),
        ];
        assert!(found(&files).is_empty());
    }

    #[test]
    fn tests_may_use_anything() {
        let files = [
            ("src/a.rs", "pub fn f() {} #[cfg(test)] mod tests { use crate::b::g; }"),
            ("src/b.rs", "use crate::a::f; #[cfg(test)] use crate::c::h;"),
            ("src/b/tests.rs", "use crate::c::h;"),
            ("src/c.rs", "use crate::b::g;"),
        ];
        assert!(found(&files).is_empty());
    }

    #[test]
    fn who_may_see_something_is_not_used_by_it() {
        let files = [("src/a.rs", "use crate::b::x;"), ("src/b.rs", "pub(in crate::a) fn x() {}")];
        assert!(found(&files).is_empty());
    }

    #[test]
    fn what_stands_in_text_and_comments_does_not_count() {
        let files = [
            ("src/a.rs", "/// See [`crate::b`].\npub fn f() { g(\"crate::b::g\") } // crate::b"),
            ("src/b.rs", "use crate::a::f;"),
        ];
        assert!(found(&files).is_empty());
    }
}
