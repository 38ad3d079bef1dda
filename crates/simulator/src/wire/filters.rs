//! Filters of Describe calls: all of them must match, each with any of its values; `*` and `?` in a value match any
//! text and any character (EC2 User Guide, "List and filter your resources").

use crate::core::error::{AwsError, AwsResult};
use crate::core::wildcard::matches;
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

#[cfg(test)]
mod tests {
    use super::*;

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
