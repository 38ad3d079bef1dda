//! Words that texts must not contain: private ones, and those that the field does not use.
//!
//! Checks the pages, the manifests (descriptions of CRD fields included), the help of flags, and the string literals of
//! every crate; in the folders of [`REWRITTEN`] also the comments, the names of functions, tests among them, and the
//! texts of tests. Does not check names of types and variables. `CONTRIBUTING.md` has the reasons.

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

/// More such words. Pages and generated texts quote AWS and Kubernetes, which use some of them properly: so these are
/// checked in the folders of [`REWRITTEN`] only.
const PLAIN: [(&str, &str); 40] = [
    ("somebody", "a user, another controller"),
    ("nobody", "no user, no caller"),
    ("anybody", "any user"),
    ("everybody", "all users, all callers"),
    ("stranger", "foreign, of another owner"),
    ("strangers", "foreign, of another owner"),
    ("look at", "read, describe"),
    ("looks at", "reads, describes"),
    ("looked at", "read, described"),
    ("looking at", "reading"),
    ("looked after", "reconciled"),
    ("tell", "report, show"),
    ("tells", "reports, shows"),
    ("told", "reported, shown"),
    ("let in", "allowed, has access"),
    ("lets in", "allows"),
    ("let go", "released"),
    ("lets go", "releases"),
    ("at rest", "idle"),
    ("go on", "continue"),
    ("goes on", "continues"),
    ("going on", "in progress"),
    ("went on", "continued"),
    ("hold up", "delay, block"),
    ("holds up", "delays, blocks"),
    ("held up", "delayed, blocked"),
    ("answer", "response, result; respond"),
    ("answers", "responses, results; responds"),
    ("answered", "responded, completed"),
    ("answering", "responding"),
    ("ours", "the provider's, own"),
    ("theirs", "another owner's, foreign"),
    ("hasty", "fast"),
    ("is made", "is created, is sent"),
    ("given up", "cancelled, timed out"),
    ("gives up", "times out, stops"),
    ("behind our back", "by another user"),
    ("behind everybody's back", "by another user"),
    ("ever more seldom", "with back-off"),
    ("less and less often", "with exponential back-off"),
];

/// Folders whose comments, names of functions and texts, those of tests included, have none of these words.
const REWRITTEN: [&str; 2] = ["crates/", "tests/"];

/// It has the lists.
const THIS_FILE: &str = "crates/xtask/src/words.rs";

/// Folders and files whose whole text is for users.
const PAGES: [&str; 6] = [
    "README.md",
    "SECURITY.md",
    "docs/",
    "deploy/",
    "crates/controller/tests/golden/",
    "crates/kubectl-foo/tests/golden/",
];

/// A sentence for each such word in one file.
pub(crate) fn findings(path: &str, text: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    if PAGES.iter().any(|page| path.starts_with(page)) {
        for (index, line) in text.lines().enumerate() {
            found.extend(of(&WORDS, path, index + 1, line));
        }
    }
    if !crate::is_rust(path) || path == THIS_FILE {
        return Ok(found);
    }
    let reading = || format!("reading {path}");
    if path.starts_with("crates/") && !is_test(path) {
        for (line, literal) in literals(text, UnitTests::Skipped).with_context(reading)? {
            found.extend(of(&WORDS, path, line, &literal));
        }
    }
    let starts_with = |folder: &&str| path.starts_with(*folder);
    if REWRITTEN.iter().any(starts_with) {
        for (line, literal) in literals(text, UnitTests::Included).with_context(reading)? {
            found.extend(of(&PLAIN, path, line, &without_code(&literal)));
        }
        for (index, line) in text.lines().enumerate() {
            let texts = comment(line).into_iter().chain(function(line));
            found.extend(texts.flat_map(|text| of(&PLAIN, path, index + 1, &text)));
        }
    }
    Ok(found)
}

/// The comment in a line, without the code in it.
fn comment(line: &str) -> Option<String> {
    let is_comment = line.trim_start().starts_with("//");
    let text = if is_comment { line.trim_start() } else { line.rsplit_once(" // ")?.1 };
    // A string may contain slashes, too.
    (is_comment || !text.contains('"')).then(|| without_code(text))
}

/// A text without what is between backticks.
fn without_code(text: &str) -> String {
    text.split('`').step_by(2).collect()
}

/// The words of the name of the function that begins in a line.
fn function(line: &str) -> Option<String> {
    let (before, name) = line.split_once("fn ")?;
    if before.contains("//") || before.contains('"') || before.ends_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let name = name.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    Some(name.replace('_', " "))
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("tests.rs")
}

fn of(words: &[(&str, &str)], path: &str, line: usize, text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words = words.iter().filter(|(word, _)| has(&text, word));
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

/// Whether the unit tests of a file count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UnitTests {
    Included,
    Skipped,
}

/// The string literals of a Rust file, each with its line.
fn literals(text: &str, unit_tests: UnitTests) -> Result<Vec<(usize, String)>> {
    let tokens: TokenStream = text.parse().ok().context("a file that is not Rust")?;
    let mut found = Vec::new();
    collect(tokens, unit_tests, &mut found);
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

/// Literals in their order. Comments for rustdoc are attributes here, and left out like all attributes but those of
/// macros.
fn collect(tokens: TokenStream, unit_tests: UnitTests, found: &mut Vec<Literal>) {
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
                let is_test = begins.starts_with("cfg (test") || begins.starts_with("cfg(test");
                if is_test && unit_tests == UnitTests::Skipped {
                    skip_item(&mut tokens);
                } else if !begins.starts_with("doc") {
                    collect(attribute, unit_tests, found);
                }
            }
            TokenTree::Group(group) => collect(group.stream(), unit_tests, found),
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
    }

    #[test]
    fn rewritten_folders_are_read_with_comments_names_and_tests() {
        let text = "/// Nobody; `nobody` is code.\nfn is_told() {} // at rest\n#[cfg(test)]\nmod tests {\n\
                    const A: &str = \"goes on\"; // \"let in\"\n}\n\
                    const B: &str = \"`nobody`\";\n";
        let expected = [
            "a.rs:5: \"goes on\": write continues",
            "a.rs:1: \"nobody\": write no user, no caller",
            "a.rs:2: \"at rest\": write idle",
            "a.rs:2: \"told\": write reported, shown",
        ];
        let of_folder = expected.map(|finding| format!("crates/cloud/src/{finding}"));
        assert_eq!(found("crates/cloud/src/a.rs", text), of_folder);
        assert!(found("hack/a.rs", text).is_empty());
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
