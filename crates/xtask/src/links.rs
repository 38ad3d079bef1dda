//! Links between Markdown files, and the headings that they lead to.

use crate::files::File;
use std::collections::BTreeSet;

/// Links of a Markdown file outside of code, with their line: `[text](path#anchor)`.
pub(crate) fn targets(file: &File) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut code = false;
    for (number, line) in file.lines().filter(|_| file.ends_with(&["md"])) {
        if line.trim_start().starts_with("```") {
            code = !code;
        }
        if !code {
            // Between an odd number of backticks and an even one is code, such as a regular expression.
            let links = line
                .match_indices("](")
                .filter(|(at, _)| line.get(..*at).is_some_and(|before| before.matches('`').count() % 2 == 0));
            let targets = links.filter_map(|(at, found)| line.get(at + found.len()..)?.split(')').next());
            found.extend(targets.map(|target| (number, target)));
        }
    }
    found.retain(|(_, target)| !target.contains("://") && !target.starts_with("mailto:"));
    found
}

/// The file that a relative link leads to, as files are named here.
pub(crate) fn leads_to(file: &File, path: &str) -> String {
    if path.is_empty() {
        return file.path.clone();
    }
    let mut parts: Vec<&str> = file.path.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The anchors of a page's headings, as GitHub makes them.
pub(crate) fn headings(file: &File) -> BTreeSet<String> {
    let mut code = false;
    let mut found = BTreeSet::new();
    for (_, line) in file.lines() {
        code ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if !code && heading.len() < line.len() && heading.starts_with(' ') {
            let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            found.insert(kept.collect::<String>().to_lowercase().replace(' ', "-"));
        }
    }
    found
}
