//! Common misspellings in Markdown files, by the dictionary of the `typos` project: it knows wrong words, not all correct
//! ones. The descriptions of the API and of all reasons are in Markdown as well, generated from the code.

use crate::files::File;
use std::borrow::Cow;
use typos::tokens::{Identifier, Tokenizer, Word};
use typos::{Dictionary, Status};
use typos_dict::WORD;
use unicase::UniCase;

/// Shorter ones are abbreviations, and parts of ids.
const SHORTEST: usize = 4;

/// Words that the dictionary takes for others.
const CORRECT: [&str; 3] = ["flate", "intoto", "ratatui"];

struct Misspellings;

impl Dictionary for Misspellings {
    fn correct_ident<'s>(&'s self, _: Identifier<'_>) -> Option<Status<'s>> {
        None
    }

    fn correct_word<'s>(&'s self, word: Word<'_>) -> Option<Status<'s>> {
        let word = word.token();
        if word.len() < SHORTEST || CORRECT.iter().any(|correct| word.eq_ignore_ascii_case(correct)) {
            return None;
        }
        let corrections = WORD.find(&UniCase::new(word))?;
        Some(Status::Corrections(corrections.iter().map(|it| Cow::Borrowed(*it)).collect()))
    }
}

/// The misspelled words of a file.
pub(crate) fn findings(file: &File) -> Vec<String> {
    if !file.ends_with(&["md"]) {
        return Vec::new();
    }
    let tokenizer = Tokenizer::new();
    let lines = file.lines().flat_map(|(number, line)| {
        typos::check_str(line, &tokenizer, &Misspellings).map(move |typo| (number, typo.into_owned()))
    });
    lines.map(|(number, typo)| format!("{}:{number}: {}", file.path, sentence(&typo))).collect()
}

fn sentence(typo: &typos::Typo<'_>) -> String {
    match &typo.corrections {
        Status::Corrections(words) => format!("{:?} is misspelled: {}", typo.typo, words.join(", ")),
        Status::Valid | Status::Invalid => format!("{:?} is misspelled", typo.typo),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_words_are_found_within_names_too() {
        // In parts, so that this file has no such word.
        let text = format!(
            "the launch is {}\nlet {}_of_zone = 1;\n",
            concat!("recie", "ved"),
            concat!("adress", "es")
        );
        let file = File { path: "docs/a.md".into(), text };
        assert_eq!(
            findings(&file),
            [
                format!("docs/a.md:1: {:?} is misspelled: received", concat!("recie", "ved")),
                format!("docs/a.md:2: {:?} is misspelled: addresses", concat!("adress", "es")),
            ]
        );
        assert!(findings(&File { path: "a.rs".into(), text: file.text }).is_empty());
    }
}
