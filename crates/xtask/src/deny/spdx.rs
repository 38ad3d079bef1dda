//! Licence expressions of crates: `MIT OR Apache-2.0`, `(A OR B) AND C`, `Apache-2.0 WITH LLVM-exception`, and the older
//! `MIT/Apache-2.0`.

use anyhow::{Context as _, Result, bail, ensure};

/// Whether the expression holds when exactly the licences for which `allowed` is true are acceptable.
pub(super) fn satisfied(expression: &str, allowed: impl Fn(&str) -> bool) -> Result<bool> {
    let text = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = text.split_whitespace().collect();
    ensure!(!words.is_empty(), "there is none");
    let mut parser = Parser { words: &words, allowed: &allowed };
    let result = parser.any().with_context(|| format!("cannot read {expression:?}"))?;
    ensure!(parser.words.is_empty(), "cannot read {expression:?} to its end");
    Ok(result)
}

/// What is left to read. Both sides of every operator are read, so that a later mistake is seen.
struct Parser<'a> {
    words: &'a [&'a str],
    allowed: &'a dyn Fn(&str) -> bool,
}

impl<'a> Parser<'a> {
    fn any(&mut self) -> Result<bool> {
        let mut result = self.all()?;
        while self.take("OR") {
            result |= self.all()?;
        }
        Ok(result)
    }

    fn all(&mut self) -> Result<bool> {
        let mut result = self.one()?;
        while self.take("AND") {
            result &= self.one()?;
        }
        Ok(result)
    }

    fn one(&mut self) -> Result<bool> {
        if self.take("(") {
            let result = self.any()?;
            ensure!(self.take(")"), "a parenthesis is not closed");
            return Ok(result);
        }
        let id = self.next().context("it ends too early")?;
        if matches!(id, ")" | "AND" | "OR" | "WITH") {
            bail!("{id} at the wrong place");
        }
        if self.take("WITH") {
            let exception = self.next().context("it ends too early")?;
            return Ok((self.allowed)(&format!("{id} WITH {exception}")));
        }
        Ok((self.allowed)(id))
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.first() == Some(&word);
        if found {
            self.next();
        }
        found
    }

    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expression: &str, expected: Option<bool>) {
        let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"];
        assert_eq!(satisfied(expression, |id| allowed.contains(&id)).ok(), expected, "{expression}");
    }

    #[test]
    fn expressions_are_read_as_spdx_means_them() {
        check("MIT", Some(true));
        check("GPL-3.0", Some(false));
        check("GPL-3.0 OR MIT", Some(true));
        check("MIT/Apache-2.0", Some(true));
        check("MIT AND GPL-3.0", Some(false));
        check("MIT AND (GPL-3.0 OR Apache-2.0)", Some(true));
        // AND binds tighter than OR.
        check("MIT OR GPL-3.0 AND BSD-3-Clause", Some(true));
        check("GPL-3.0 AND BSD-3-Clause OR MIT", Some(true));
        check("Apache-2.0 WITH LLVM-exception", Some(true));
        check("MIT WITH LLVM-exception", Some(false));
    }

    #[test]
    fn what_cannot_be_read_is_an_error() {
        for text in ["", "MIT OR", "(MIT", "MIT)", "AND", "MIT Apache-2.0"] {
            check(text, None);
        }
    }
}
