//! Words that texts for users must not contain: private ones, and those that the field does not use.
//!
//! Checks the pages, the manifests (descriptions of CRD fields included), the help of flags, and the string literals of the
//! programs. Does not check comments, tests and names in code. `CONTRIBUTING.md` has the reasons.

use anyhow::{Context as _, Result};
use proc_macro2::{Delimiter, Literal, TokenStream, TokenTree};

/// A word (or several), and what to write instead. Lower case; letters right beside it make it another word.
const WORDS: [(&str, &str); 21] = [
    ("wish", "desired, requested"),
    ("wishes", "requests"),
    ("wished", "desired, requested"),
    ("anew", "again"),
    ("lest", "so that … not"),
    ("seldom", "rarely"),
    ("whomever", "whoever, any user who"),
    ("as whom", "which credentials"),
    ("somebody else", "another user or controller"),
    ("but for", "except"),
    ("so many", "this many, a number"),
    ("heed", "handle"),
    ("doomed", "interrupted"),
    ("undercut", "deleted first"),
    ("put right", "repaired"),
    ("shall", "must, is to"),
    ("sick", "unhealthy"),
    ("told of", "reported"),
    ("given up on", "failed, marked for remediation"),
    ("taken back", "interrupted, reverted"),
    ("looked after", "reconciled, managed"),
];

/// Folders and files whose whole text is for users.
const PAGES: [&str; 6] = [
    "README.md",
    "SECURITY.md",
    "docs/",
    "deploy/",
    "crates/controller/tests/golden/",
    "crates/kubectl-foo/tests/golden/",
];

/// Crates whose string literals are for users: conditions, events, logs, errors, what is printed.
const PROGRAMS: [&str; 14] = [
    "crates/api/src/",
    "crates/bootstrap/src/",
    "crates/controller/src/",
    "crates/model/src/",
    "crates/planner/src/",
    "crates/calls/src/",
    "crates/eks/src/",
    "crates/cloud/src/",
    "crates/cloud-adapter/src/",
    "crates/kubectl-foo/src/",
    "crates/runtime-extension/src/",
    "crates/runtime-sdk/src/",
    "crates/simulator/src/",
    "crates/simulator-core/src/",
];

/// A sentence for each such word in one file.
pub(crate) fn findings(path: &str, text: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    if PAGES.iter().any(|page| path.starts_with(page)) {
        for (index, line) in text.lines().enumerate() {
            found.extend(of(path, index + 1, line));
        }
    }
    if crate::is_rust(path) && PROGRAMS.iter().any(|folder| path.starts_with(folder)) && !is_test(path) {
        for (line, literal) in literals(text).with_context(|| format!("reading {path}"))? {
            found.extend(of(path, line, &literal));
        }
    }
    Ok(found)
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("tests.rs")
}

fn of(path: &str, line: usize, text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words = WORDS.iter().filter(|(word, _)| has(&text, word));
    words.map(|(word, instead)| format!("{path}:{line}: \"{word}\": write {instead}")).collect()
}

/// Whether a text has this word, and not only as part of another.
fn has(text: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|it| it.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|it| it.chars().next());
        !is_part(before) && !is_part(after)
    })
}

/// The string literals of a Rust file outside of its unit tests, each with its line.
fn literals(text: &str) -> Result<Vec<(usize, String)>> {
    let tokens: TokenStream = text.parse().ok().context("a file that is not Rust")?;
    let mut found = Vec::new();
    collect(tokens, &mut found);
    let mut from = 0;
    let mut lines = Vec::new();
    for literal in found.iter().map(Literal::to_string).filter(|literal| literal.contains('"')) {
        // A literal is written in the file as it is printed; the same one again stands further down.
        let Some(at) = text.get(from..).and_then(|rest| rest.find(&literal)) else { continue };
        from += at;
        let line = text.get(..from).map_or(0, |before| before.lines().count()).max(1);
        from += literal.len();
        lines.push((line, literal));
    }
    Ok(lines)
}

/// Literals in their order. Comments for rustdoc are attributes here, and left out like all attributes but those of macros.
fn collect(tokens: TokenStream, found: &mut Vec<Literal>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Literal(literal) => found.push(literal),
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                let Some(TokenTree::Group(attribute)) = tokens.next_if(
                    |next| matches!(next, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket),
                ) else {
                    continue;
                };
                let attribute = attribute.stream();
                let begins = attribute.to_string();
                if begins.starts_with("cfg (test") || begins.starts_with("cfg(test") {
                    skip_item(&mut tokens);
                } else if !begins.starts_with("doc") {
                    collect(attribute, found);
                }
            }
            TokenTree::Group(group) => collect(group.stream(), found),
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// Up to the end of what an attribute is about: its braces, or a semicolon.
fn skip_item(tokens: &mut impl Iterator<Item = TokenTree>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
            TokenTree::Punct(punct) if punct.as_char() == ';' => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        findings(path, text).unwrap()
    }

    #[test]
    fn pages_are_read_line_by_line() {
        let text = "Fine.\nReplicas are wished for.\nMarshalling, wishbone.\n";
        assert_eq!(found("docs/a.md", text), ["docs/a.md:2: \"wished\": write desired, requested"]);
        assert!(found("CONTRIBUTING.md", text).is_empty(), "it has the list");
    }

    #[test]
    fn programs_are_read_without_comments_and_tests() {
        let text = "/// Made anew.\nfn f() {\n    // seldom\n    warn!(\"planned \\\n    Anew\");\n}\n\
                    #[cfg(test)]\nmod tests {\n    const A: &str = \"lest\";\n}\n";
        assert_eq!(found("crates/cloud/src/a.rs", text), ["crates/cloud/src/a.rs:4: \"anew\": write again"]);
        assert!(found("crates/cloud/src/b/tests.rs", "const A: &str = \"lest\";").is_empty());
        assert!(found("crates/testbed/src/a.rs", "const A: &str = \"lest\";").is_empty());
    }

    #[test]
    fn rules_of_fields_are_read() {
        let text = "#[x(message(\"you shall not\"))]\nstruct A;\n";
        assert_eq!(
            found("crates/api/src/a.rs", text),
            ["crates/api/src/a.rs:1: \"shall\": write must, is to"]
        );
    }
}
