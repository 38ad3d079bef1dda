//! `cargo xtask measure`: a few numbers about how easy the code is to maintain.
//!
//! They are printed, not judged: `cargo xtask tidy` judges. Code is read as rustfmt leaves it, line by line: a function ends with
//! the brace that stands as far left as the line it begins with.

use crate::files::{self, File};
use crate::imports::{self, Circle};
use anyhow::Result;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// A function of more lines does not fit on a screen.
const SCREEN: usize = 60;

/// What [`of`] found.
pub struct Measures {
    /// Lines by crate.
    lines: BTreeMap<String, Lines>,
    /// Functions of the products, the longest first.
    functions: Vec<Function>,
    circles: Vec<Circle>,
    module_circles: Vec<Circle>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lines {
    production: usize,
    test: usize,
}

#[derive(Debug, PartialEq, Eq)]
struct Function {
    path: String,
    line: usize,
    name: String,
    lines: usize,
}

/// Measures the work tree at `root`.
pub fn of(root: &Path) -> Result<Measures> {
    let files: Vec<File> = files::read(root)?.into_iter().filter(|file| crate::is_rust(&file.path)).collect();
    let mut lines: BTreeMap<String, Lines> = BTreeMap::new();
    let mut functions = Vec::new();
    for file in &files {
        let production = production(file);
        let of_crate = lines.entry(crate_of(&file.path)).or_default();
        of_crate.production += production.len();
        of_crate.test += file.lines().count() - production.len();
        functions.extend(self::functions(&file.path, &production));
    }
    functions.sort_by(|a, b| b.lines.cmp(&a.lines).then_with(|| a.path.cmp(&b.path)));
    let (mut circles, mut module_circles) = (Vec::new(), Vec::new());
    for name in lines.keys() {
        let code = || files.iter().map(|file| (file.path.as_str(), file.text.as_str()));
        circles.extend(imports::circles(&format!("{name}/src"), code())?);
        module_circles.extend(imports::module_circles(&format!("{name}/src"), code())?);
    }
    Ok(Measures { lines, functions, circles, module_circles })
}

impl fmt::Display for Measures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:24} {:>10} {:>10}", "lines", "production", "test")?;
        for (name, lines) in &self.lines {
            writeln!(f, "{name:24} {:>10} {:>10}", lines.production, lines.test)?;
        }
        let sum = |part: fn(&Lines) -> usize| self.lines.values().map(part).sum::<usize>();
        writeln!(f, "{:24} {:>10} {:>10}", "all", sum(|it| it.production), sum(|it| it.test))?;
        let long: Vec<&Function> = self.functions.iter().filter(|it| it.lines > SCREEN).collect();
        let longest = self.functions.first().map_or(0, |it| it.lines);
        writeln!(f, "\nlongest function: {longest} lines; functions over {SCREEN} lines: {}", long.len())?;
        for Function { path, line, name, lines } in long {
            writeln!(f, "  {path}:{line} {name}: {lines}")?;
        }
        let in_circles: usize = self.circles.iter().map(|circle| circle.files.len()).sum();
        write!(f, "\nfiles in circles: {in_circles}, in {} circles", self.circles.len())?;
        self.circles.iter().try_for_each(|circle| write!(f, "\n  {circle}"))?;
        write!(f, "\ncircles of sibling modules: {}", self.module_circles.len())?;
        self.module_circles.iter().try_for_each(|circle| write!(f, "\n  {circle}"))
    }
}

/// `crates/planner`, `tests/e2e`.
fn crate_of(path: &str) -> String {
    path.split('/').take(2).collect::<Vec<_>>().join("/")
}

/// The lines of a file that are not a test's, with their numbers.
fn production(file: &File) -> Vec<(usize, &str)> {
    let is_test = |part: &str| {
        matches!(part, "tests" | "tests.rs" | "examples" | "test_support.rs") || part.ends_with("_tests.rs")
    };
    if file.path.split('/').any(is_test) {
        return Vec::new();
    }
    let mut kept = Vec::new();
    let mut lines = file.lines();
    while let Some((number, line)) = lines.next() {
        if line.trim_start() != "#[cfg(test)]" {
            kept.push((number, line));
            continue;
        }
        // Other attributes, the item, and what is in it.
        let indent = indent(line);
        let _ = lines.find(|(_, line)| ends(line, indent));
    }
    kept
}

fn functions(path: &str, lines: &[(usize, &str)]) -> Vec<Function> {
    let mut found = Vec::new();
    for (index, (number, line)) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else { continue };
        let rest = lines.get(index..).unwrap_or_default();
        let end = rest.iter().position(|(_, later)| ends(later, indent(line)));
        let lines = end.map_or(rest.len(), |end| end + 1);
        found.push(Function { path: path.to_owned(), line: *number, name: name.to_owned(), lines });
    }
    found
}

/// The name of the function that a line begins.
fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.trim_start().split_once("fn ")?;
    let is_qualifier = |word: &str| {
        matches!(word, "const" | "async" | "unsafe") || word.starts_with("pub") || word == "super)"
    };
    let name = after.split(['(', '<']).next().filter(|name| !name.is_empty() && !name.contains(' '))?;
    before.split_whitespace().all(is_qualifier).then_some(name)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether an item that begins so far from the left ends with this line.
fn ends(line: &str, from_the_left: usize) -> bool {
    indent(line) == from_the_left && (line.ends_with(';') || line.ends_with('}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "\
use a::b;

pub(crate) async fn first<'a>(
    text: &'a str,
) -> u8 {
    let fn_like = \"fn not_one(\";
    1
}

#[cfg(test)]
mod helpers;

impl X {
    const fn short() {}
    fn declared(&self);
    #[cfg(test)]
    fn for_tests() {
        2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn in_tests() {}
}
";

    fn file(path: &str) -> File {
        File { path: path.to_owned(), text: CODE.to_owned() }
    }

    #[test]
    fn functions_are_found_with_their_lines_and_those_of_tests_are_not() {
        let found = functions("a.rs", &production(&file("a.rs")));
        let found: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.line, it.lines)).collect();
        assert_eq!(found, [("first", 3, 6), ("short", 14, 1), ("declared", 15, 1)]);
    }

    #[test]
    fn lines_are_a_tests_by_their_file_or_by_their_attribute() {
        let count = |path: &str| production(&file(path)).len();
        assert_eq!(count("crates/a/src/a.rs"), CODE.lines().count() - 2 - 4 - 5);
        for path in ["crates/a/tests/a.rs", "crates/a/src/tests/b.rs", "tests/e2e/src/lib.rs"] {
            assert_eq!(count(path), 0, "{path}");
        }
    }
}
