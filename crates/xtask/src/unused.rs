//! Finds unused items: dependencies of a crate that its code does not name, entries of the workspace's table that no
//! crate takes, and public items whose name occurs in the code only once, at their declaration.
//!
//! The compiler warns of none of these. From a struct of the name `<Kind>Spec` kube's derive makes the kind, so it counts as used
//! where the kind is.

use anyhow::{Context as _, Result};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

/// Words that stand before the name of a public item.
const DECLARES: [&str; 6] = ["fn", "struct", "enum", "const", "static", "type"];

/// Dependencies that are used without being named: kube's derive names it; the library has another name than its package; it is there
/// for the feature that it selects.
const UNNAMED: [(&str, &str); 3] =
    [("crates/api/", "serde_json"), ("crates/simulator-core/", "md-5"), ("crates/xtask/", "k8s-openapi")];

/// A sentence for each unused item. `files`: path and text of every Rust file and every manifest.
pub(crate) fn findings(files: &[(&str, &str)]) -> Result<Vec<String>> {
    let mut found = dependencies(files)?;
    found.extend(items(files)?);
    Ok(found)
}

fn dependencies(files: &[(&str, &str)]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut taken = BTreeSet::new();
    let mut offered = BTreeSet::new();
    for (path, text) in files.iter().filter(|(path, _)| path.ends_with("Cargo.toml")) {
        let manifest: toml::Table = toml::from_str(text).with_context(|| format!("reading {path}"))?;
        let table = |name: &str| manifest.get(name).and_then(toml::Value::as_table);
        let all = ["dependencies", "dev-dependencies", "build-dependencies"];
        let names: Vec<&String> =
            all.iter().filter_map(|name| table(name)).flat_map(toml::Table::keys).collect();
        if let Some(workspace) = table("workspace").and_then(|it| it.get("dependencies")?.as_table()) {
            offered.extend(workspace.keys().cloned());
        }
        let folder = path.trim_end_matches("Cargo.toml");
        let mut words = BTreeSet::new();
        for (path, text) in files.iter().filter(|(it, _)| it.starts_with(folder) && crate::is_rust(it)) {
            words.extend(idents(text)?);
            let others = included(path, text);
            for (_, text) in files.iter().filter(|(it, _)| others.iter().any(|other| other == it)) {
                words.extend(idents(text)?);
            }
        }
        let selects =
            |name: &str| text.contains(&format!("\"{name}/")) || text.contains(&format!("\"dep:{name}"));
        for name in names {
            taken.insert(name.clone());
            let named = words.contains(&name.replace('-', "_")) || UNNAMED.contains(&(folder, name));
            if !named && !selects(name) {
                found.push(format!("{path}: {name} is a dependency that the code does not name"));
            }
        }
    }
    let left = offered.difference(&taken);
    found.extend(left.map(|name| format!("Cargo.toml: no crate takes {name} from the workspace's table")));
    Ok(found)
}

/// The files elsewhere that a file takes as its modules (`#[path = "…"]`).
fn included(path: &str, text: &str) -> Vec<String> {
    let paths = text.split("\n#[path = \"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0));
    let resolve = |other: &str| {
        let mut parts: Vec<&str> = path.split('/').collect();
        parts.pop();
        for part in other.split('/') {
            match part {
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        parts.join("/")
    };
    paths.map(resolve).collect()
}

fn items(files: &[(&str, &str)]) -> Result<Vec<String>> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut declared: Vec<(&str, String)> = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| crate::is_rust(path)) {
        let words = idents(text)?;
        let public = words.windows(3).filter_map(|window| match window {
            [visibility, kind, name] if visibility == "pub" && DECLARES.contains(&kind.as_str()) => {
                Some(name)
            }
            _ => None,
        });
        declared.extend(public.map(|name| (*path, name.clone())));
        for word in words {
            *counts.entry(word).or_default() += 1;
        }
    }
    let is_derived_from =
        |name: &str| name.strip_suffix("Spec").is_some_and(|kind| counts.contains_key(kind));
    let once =
        declared.into_iter().filter(|(_, name)| counts.get(name) == Some(&1) && !is_derived_from(name));
    Ok(once.map(|(path, name)| format!("{path}: {name} is not used")).collect())
}

/// The identifiers of a file in their order, without those of comments and texts; what is formatted into a text counts.
/// `pub(crate) async fn` reads as `pub fn`.
fn idents(text: &str) -> Result<Vec<String>> {
    let tokens: TokenStream = text.parse().ok().context("a file that is not Rust")?;
    let mut words = Vec::new();
    collect(tokens, &mut words);
    Ok(words)
}

fn collect(tokens: TokenStream, words: &mut Vec<String>) {
    let mut after_pub = false;
    for token in tokens {
        match token {
            TokenTree::Ident(word) => {
                let word = word.to_string();
                let between = after_pub && word == "async";
                if word == "pub" || !between {
                    words.push(word.trim_start_matches("r#").to_owned());
                }
                after_pub = word == "pub" || between;
            }
            TokenTree::Group(group) => {
                // Of `pub(crate)` nothing is left but `pub`.
                if !(after_pub && group.delimiter() == proc_macro2::Delimiter::Parenthesis) {
                    after_pub = false;
                    collect(group.stream(), words);
                }
            }
            TokenTree::Literal(literal) => {
                after_pub = false;
                words.extend(named_in(&literal.to_string()));
            }
            TokenTree::Punct(_) => after_pub = false,
        }
    }
}

/// The names between braces of a text; a text that is a name altogether, as an attribute has it.
fn named_in(text: &str) -> Vec<String> {
    let inside = text.trim_matches('"');
    let names = inside.split('{').skip(1).filter_map(|part| part.split([':', '}']).next());
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    names.chain([inside]).filter(is_name).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_that_no_code_names_is_found_and_one_that_only_a_feature_selects_is_not() {
        let manifest = "[dependencies]\na-b = '1'\nc = '1'\nd = '1'\n[features]\nx = [\"d/y\"]\n";
        let files = [("crates/a/Cargo.toml", manifest), ("crates/a/src/lib.rs", "use a_b::X; // c")];
        let found = dependencies(&files).unwrap();
        assert_eq!(found, ["crates/a/Cargo.toml: c is a dependency that the code does not name"]);
    }

    #[test]
    fn what_a_file_of_another_crate_names_counts_where_it_is_a_module() {
        let files = [
            ("crates/a/Cargo.toml", "[dev-dependencies]\nb = '1'\n"),
            ("crates/a/examples/x.rs", "//! An example.\n#[path = \"../../c/examples/y.rs\"]\nmod y;"),
            ("crates/c/examples/y.rs", "use b::X;"),
        ];
        assert!(dependencies(&files).unwrap().is_empty());
        assert_eq!(dependencies(&files[..2]).unwrap().len(), 1);
    }

    #[test]
    fn an_entry_of_the_workspace_that_no_crate_takes_is_found() {
        let files = [
            ("Cargo.toml", "[workspace.dependencies]\na = '1'\nb = '1'\n"),
            ("crates/a/Cargo.toml", "[dev-dependencies]\na.workspace = true\n"),
            ("crates/a/tests/x.rs", "use a::B;"),
        ];
        assert_eq!(
            dependencies(&files).unwrap(),
            ["Cargo.toml: no crate takes b from the workspace's table"]
        );
    }

    #[test]
    fn a_public_item_that_is_named_once_is_found() {
        let files = [
            (
                "src/a.rs",
                "/// See [`used`].\npub fn dead() {} pub(crate) async fn gone() {} pub struct Used;",
            ),
            ("src/b.rs", "fn own() -> Used { format!(\"{LIMIT}\"); } pub const LIMIT: u8 = 1;"),
        ];
        assert_eq!(items(&files).unwrap(), ["src/a.rs: dead is not used", "src/a.rs: gone is not used"]);
    }
}
