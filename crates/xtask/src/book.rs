//! The documentation as a book with navigation and search: mdBook, as a library.
//!
//! `docs/SUMMARY.md` has the chapters. The book contains the Markdown files of the root and of `docs`; links to other files
//! of the repository lead to where it is published. mdBook builds a book with links that lead nowhere, and its ids of headings
//! are not those of GitHub in every case, so what it wrote is checked.

use crate::files::{self, File};
use crate::links::{leads_to, targets};
use anyhow::{Context as _, Result, bail, ensure};
use mdbook_driver::MDBook;
use mdbook_driver::config::Config;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

/// Where the repository is published unless something else is given.
pub const REPOSITORY: &str = "https://github.com/example/cluster-api-provider-foo/blob/main";
const SUMMARY: &str = "docs/SUMMARY.md";
/// mdBook's settings. It must not change quotes: commands have them.
const CONFIG: &str = r#"
[book]
title = "cluster-api-provider-foo"
src = "."
language = "en"
[build]
create-missing = false
[output.html]
smart-punctuation = false
no-section-label = true
"#;

/// Writes the book into a folder, which it empties, and returns its first page. `repository`: the address below which the
/// files of the repository are.
pub fn write(root: &Path, out: &Path, repository: &str) -> Result<PathBuf> {
    let files = files::read(root)?;
    let pages: Vec<&File> = files.iter().filter(|file| is_page(&file.path)).collect();
    let summary = pages.iter().find(|file| file.path == SUMMARY).context("no docs/SUMMARY.md")?;
    has_every_page(summary, &pages)?;
    let folder = tempfile::tempdir().context("creating a folder for the sources of the book")?;
    for page in &pages {
        let (path, text) = if page.path == SUMMARY {
            // Beside the root's files, where mdBook expects it.
            ("SUMMARY.md", with_links(page, &|target| leads_to(page, target)))
        } else {
            (page.path.as_str(), with_links(page, &|target| in_the_book(page, target, repository)))
        };
        save(&folder.path().join(path), &text)?;
    }
    // Pictures, and the JSON files that pages link to.
    for path in files::paths(root)?.iter().filter(|path| path.starts_with("docs/") && !is_page(path)) {
        let bytes = std::fs::read(root.join(path)).with_context(|| format!("reading {path}"))?;
        save(&folder.path().join(path), &bytes)?;
    }
    crate::sources::emptied(out)?;
    let out = std::path::absolute(out).context("the path of the book")?;
    let mut config = Config::from_str(CONFIG).context("the configuration of the book")?;
    config.build.build_dir.clone_from(&out);
    let book = MDBook::load_with_config(folder.path(), config).context("reading the book")?;
    book.build().context("writing the book")?;
    let dead = dead_links(&out)?;
    ensure!(dead.is_empty(), "links of the book lead nowhere:\n  {}", dead.join("\n  "));
    Ok(out.join("index.html"))
}

fn is_page(path: &str) -> bool {
    let is_here = !path.contains('/') || path.starts_with("docs/");
    is_here && Path::new(path).extension().is_some_and(|extension| extension == "md")
}

/// Every page is a chapter.
fn has_every_page(summary: &File, pages: &[&File]) -> Result<()> {
    let chapters: BTreeSet<String> =
        targets(summary).into_iter().map(|(_, target)| leads_to(summary, target)).collect();
    let missing: Vec<&str> = pages
        .iter()
        .map(|page| page.path.as_str())
        .filter(|it| *it != SUMMARY && !chapters.contains(*it))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    bail!("{SUMMARY} has no link to {}", missing.join(", "))
}

/// A page with these targets in its links.
fn with_links(page: &File, target: &dyn Fn(&str) -> String) -> String {
    let mut links: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (number, old) in targets(page) {
        links.entry(number).or_default().push(old);
    }
    let lines = page.lines().map(|(number, line)| {
        let olds = links.get(&number).into_iter().flatten();
        olds.fold(line.to_owned(), |line, old| {
            line.replace(&format!("]({old})"), &format!("]({})", target(old)))
        })
    });
    lines.map(|line| line + "\n").collect()
}

/// A target as mdBook needs it, or below the address of the repository.
fn in_the_book(page: &File, target: &str, repository: &str) -> String {
    let (path, heading) = target.split_once('#').map_or((target, ""), |(path, heading)| (path, heading));
    let path = leads_to(page, path);
    if is_page(&path) {
        // mdBook makes a README the first page of its folder, and leaves links to it as they are.
        return target.replace("README.md", "index.md");
    }
    if path.starts_with("docs/") && path.contains('.') {
        return target.to_owned();
    }
    if heading.is_empty() { format!("{repository}/{path}") } else { format!("{repository}/{path}#{heading}") }
}

fn save(path: &Path, text: impl AsRef<[u8]>) -> Result<()> {
    let folder = path.parent().context("a file without a folder")?;
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

/// Links between pages of the book that lead to no page, or to no element of it, and pictures that are not there.
fn dead_links(book: &Path) -> Result<Vec<String>> {
    let mut pages = BTreeMap::new();
    read_pages(book, book, &mut pages)?;
    let mut dead = Vec::new();
    // The links of the page for addresses that do not exist begin at the root of the server.
    for (path, text) in pages.iter().filter(|(path, _)| *path != "404.html") {
        let page = File { path: path.clone(), text: String::new() };
        for link in attributes(text, "href").chain(attributes(text, "src")) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (target, id) = link.split_once('#').unwrap_or((link, ""));
            let target = leads_to(&page, target);
            let is_there = match pages.get(&target) {
                Some(target) => id.is_empty() || attributes(target, "id").any(|it| it == id),
                None => book.join(&target).is_file(),
            };
            if !is_there {
                dead.push(format!("{path}: {link}"));
            }
        }
    }
    Ok(dead)
}

fn read_pages(book: &Path, folder: &Path, pages: &mut BTreeMap<String, String>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))? {
        let path = entry.context("reading the book")?.path();
        if path.is_dir() {
            read_pages(book, &path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "html") {
            let name = path.strip_prefix(book).context("a page outside of the book")?;
            let text =
                std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
            pages.insert(name.display().to_string(), text);
        }
    }
    Ok(())
}

/// The values of an attribute in HTML.
fn attributes<'t>(html: &'t str, name: &str) -> impl Iterator<Item = &'t str> + use<'t> {
    let begin = format!(" {name}=\"");
    let mut rest = html;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(begin.as_str())?;
        let (value, after) = after.split_once('"')?;
        rest = after;
        Some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.into(), text: text.into() }
    }

    #[test]
    fn the_book_is_written_without_dead_links() {
        let out = tempfile::tempdir().unwrap();
        let first = write(&crate::root(), &out.path().join("book"), REPOSITORY).unwrap();
        let text = std::fs::read_to_string(first).unwrap();
        assert!(text.contains("cluster-api-provider-foo") && text.contains("operations/install.html"));
        let picture = |path: &str| std::fs::read(out.path().join("book/docs").join(path)).unwrap();
        assert!(picture("images/components.svg").starts_with(b"<svg "));
        assert!(picture("screenshots/simulator.png").starts_with(b"\x89PNG"), "it is not text");
    }

    #[test]
    fn every_page_is_a_chapter() {
        let summary = file(SUMMARY, "[A](a.md)\n[Root](../README.md)\n");
        let (a, b, root) = (file("docs/a.md", ""), file("docs/b.md", ""), file("README.md", ""));
        has_every_page(&summary, &[&summary, &a, &root]).unwrap();
        let error = has_every_page(&summary, &[&summary, &a, &b, &root]).unwrap_err();
        assert_eq!(error.to_string(), "docs/SUMMARY.md has no link to docs/b.md");
    }

    #[test]
    fn links_out_of_the_book_lead_to_the_repository() {
        let page = file(
            "docs/a.md",
            "[x](../deploy/crd) [x](../crates/a.rs#L1) [y](b.md#c) [y](README.md)\n`[z](../deploy)`\n",
        );
        let text = with_links(&page, &|target| in_the_book(&page, target, "https://host/main"));
        assert_eq!(
            text,
            "[x](https://host/main/deploy/crd) [x](https://host/main/crates/a.rs#L1) [y](b.md#c) [y](index.md)\n`[z](../deploy)`\n"
        );
    }

    #[test]
    fn dead_links_are_found() {
        let book = tempfile::tempdir().unwrap();
        save(
            &book.path().join("a.html"),
            r#"<a href="b/c.html#d"></a> <a href="b/c.html#e"></a> <a href="f.html"> <img src="g.svg">"#,
        )
        .unwrap();
        save(&book.path().join("b/c.html"), r#"<h2 id="d"> <a href="../a.html"> <a href="https://host/">"#)
            .unwrap();
        assert_eq!(
            dead_links(book.path()).unwrap(),
            ["a.html: b/c.html#e", "a.html: f.html", "a.html: g.svg"]
        );
    }
}
