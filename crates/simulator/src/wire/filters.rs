//! Filters of Describe calls: all of them must match, each with any of its values; `*` and `?` in a value match any
//! text and any character (EC2 User Guide, "List and filter your resources").

use crate::core::error::{AwsError, AwsResult};
use crate::request::params::Params;
use std::collections::BTreeMap;

/// The filters of a request.
#[derive(Clone, Debug)]
pub(crate) struct Filters(Vec<(String, Vec<String>)>);

impl Filters {
    /// EC2's: `Filter.1.Name`, `Filter.1.Value.1`.
    pub(crate) fn ec2(params: &Params) -> AwsResult<Self> {
        Self::parse(params.list("Filter"), "Value")
    }

    /// Auto Scaling's: `Filters.member.1.Name`, `Filters.member.1.Values.member.1`.
    pub(crate) fn autoscaling(params: &Params) -> AwsResult<Self> {
        Self::parse(params.list("Filters"), "Values")
    }

    fn parse(items: Vec<&Params>, values: &str) -> AwsResult<Self> {
        items
            .into_iter()
            .map(|item| Ok((item.required("Name")?.to_owned(), item.texts(values))))
            .collect::<AwsResult<_>>()
            .map(Self)
    }

    /// Refuses filters whose names are neither in the list nor about tags.
    pub(crate) fn only(self, names: &[&str]) -> AwsResult<Self> {
        let unknown =
            self.0.iter().find(|(name, _)| !names.contains(&name.as_str()) && !name.starts_with("tag"));
        match unknown {
            Some((name, _)) => Err(AwsError::validation(format!("The filter '{name}' is invalid"))),
            None => Ok(self),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a resource matches: `attribute` returns its values for a filter, `tags` are its tags.
    pub(crate) fn match_with<S: AsRef<str>>(
        &self,
        tags: &BTreeMap<String, String>,
        attribute: impl Fn(&str) -> Vec<S>,
    ) -> bool {
        self.0.iter().all(|(name, wanted)| {
            let any = |value: &str| wanted.iter().any(|pattern| matches(pattern, value));
            match name.strip_prefix("tag:") {
                Some(key) => tags.get(key).is_some_and(|value| any(value)),
                None if name == "tag-key" => tags.keys().any(|key| any(key)),
                None if name == "tag-value" => tags.values().any(|value| any(value)),
                None => attribute(name).iter().any(|value| any(value.as_ref())),
            }
        })
    }
}

/// One part of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Any,
    One,
    Plain(char),
}

/// A pattern's parts; a backslash makes the next character literal.
fn parts(pattern: &str) -> Vec<Part> {
    let mut chars = pattern.chars();
    let mut parts = Vec::new();
    while let Some(c) = chars.next() {
        parts.push(match c {
            '*' => Part::Any,
            '?' => Part::One,
            '\\' => Part::Plain(chars.next().unwrap_or('\\')),
            plain => Part::Plain(plain),
        });
    }
    parts
}

/// Whether a text matches a pattern. Greedy, with one position for backtracking: linear in practice.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    if !pattern.contains(['*', '?', '\\']) {
        return pattern == text;
    }
    let parts = parts(pattern);
    let (mut wanted, mut text) = (parts.iter(), text.chars());
    // After the last star: the rest of the pattern, and the text at which its match began.
    let mut retry: Option<(std::slice::Iter<'_, Part>, std::str::Chars<'_>)> = None;
    loop {
        match (wanted.next(), text.clone().next()) {
            (Some(Part::Any), _) => retry = Some((wanted.clone(), text.clone())),
            (None, None) => return true,
            (Some(Part::One), Some(_)) => drop(text.next()),
            (Some(Part::Plain(plain)), Some(c)) if *plain == c => drop(text.next()),
            _ => {
                // The last star matches one more character.
                let Some((behind, from)) = retry.as_mut() else { return false };
                if from.next().is_none() {
                    return false;
                }
                (wanted, text) = (behind.clone(), from.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_aws_says() {
        assert!(matches("a*c", "abbc") && matches("*", "") && matches("a?c", "abc") && matches("*b*", "abc"));
        assert!(matches("a\\*", "a*") && !matches("a\\*", "ab"));
        assert!(matches("*\\**", "x*y") && matches("**", "x"));
        assert!(
            !matches("a?c", "ac") && !matches("a*c", "abd") && !matches("ab", "abc") && !matches("?", "")
        );
    }

    #[test]
    fn all_filters_must_match_each_with_any_value() {
        let params = Params::parse(
            b"Filter.1.Name=tag:k&Filter.1.Value.1=x&Filter.1.Value.2=y&Filter.2.Name=state&Filter.2.Value.1=on",
        )
        .expect("ok");
        let filters = Filters::ec2(&params).expect("ok");
        let tags = BTreeMap::from([("k".to_owned(), "y".to_owned())]);
        assert!(filters.match_with(&tags, |_| vec!["on"]));
        assert!(!filters.match_with(&tags, |_| vec!["off"]));
        assert!(filters.only(&["other"]).is_err());
    }
}
