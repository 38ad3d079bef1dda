//! The parameters of a query request as a tree: `Filter.1.Value.2=x` becomes Filter → 1 → Value → 2.
//!
//! Both of AWS's list forms are accepted everywhere: Auto Scaling's `Names.member.1` and EC2's flattened `Name.1`.

use crate::core::document::Document;
use crate::core::error::{AwsError, AwsResult};
use std::collections::BTreeMap;

/// Deepest nesting of parameter names; AWS's own stay below ten.
const DEPTH_LIMIT: usize = 16;
/// Most parameters of a request.
const COUNT_LIMIT: usize = 20_000;

/// A node in the tree of parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Params {
    text: Option<String>,
    children: BTreeMap<String, Self>,
}

impl Params {
    /// Parses a form body or query string. Later values replace earlier ones.
    pub(crate) fn parse(form: &[u8]) -> AwsResult<Self> {
        let mut root = Self::default();
        for (count, (name, value)) in url::form_urlencoded::parse(form).enumerate() {
            if count >= COUNT_LIMIT {
                return Err(AwsError::new(
                    "MalformedQueryString",
                    "The query string has too many parameters.",
                ));
            }
            let mut at = &mut root;
            for (depth, part) in name.split('.').enumerate() {
                if depth >= DEPTH_LIMIT {
                    return Err(AwsError::new("MalformedQueryString", "A parameter is nested too deeply."));
                }
                at = at.children.entry(part.to_owned()).or_default();
            }
            at.text = Some(value.into_owned());
        }
        Ok(root)
    }

    /// The parameters below a name.
    pub(crate) fn node(&self, name: &str) -> Option<&Self> {
        self.children.get(name)
    }

    /// The children of this node, with their names.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.children.iter().map(|(name, node)| (name.as_str(), node))
    }

    /// The text of this node.
    pub(crate) fn here(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// A text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.node(name)?.here()
    }

    /// A required text that is not empty.
    pub(crate) fn required(&self, name: &str) -> AwsResult<&str> {
        self.text(name).filter(|text| !text.is_empty()).ok_or_else(|| AwsError::missing(name))
    }

    /// A number of 0 or more.
    pub(crate) fn count(&self, name: &str) -> AwsResult<Option<u32>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(AwsError::validation(format!("Value ({text}) for parameter {name} is invalid."))),
        }
    }

    /// A boolean.
    pub(crate) fn flag(&self, name: &str) -> AwsResult<Option<bool>> {
        match self.text(name) {
            None => Ok(None),
            Some("true" | "True" | "TRUE" | "1") => Ok(Some(true)),
            Some("false" | "False" | "FALSE" | "0") => Ok(Some(false)),
            Some(text) => Err(AwsError::validation(format!(
                "Value ({text}) for parameter {name} is invalid. Expected a boolean."
            ))),
        }
    }

    /// A list, in the order of its numbers.
    pub(crate) fn list(&self, name: &str) -> Vec<&Self> {
        self.node(name).map(Self::items).unwrap_or_default()
    }

    /// A list of texts.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        self.list(name).into_iter().filter_map(|item| item.here().map(str::to_owned)).collect()
    }

    /// A list of texts, or `None` if the request does not contain it; an empty list is an empty text in the request.
    pub(crate) fn given_texts(&self, name: &str) -> Option<Vec<String>> {
        self.node(name).map(|_| self.texts(name))
    }

    /// The tree below this node as a document, with the names of the request.
    pub(crate) fn document(&self) -> Document {
        if self.children.is_empty() {
            return Document::text(self.text.clone().unwrap_or_default());
        }
        let items = self.items();
        if !items.is_empty() {
            return Document::List(items.into_iter().map(Self::document).collect());
        }
        Document::Map(self.children.iter().map(|(name, node)| (name.clone(), node.document())).collect())
    }

    fn items(&self) -> Vec<&Self> {
        let numbered = self.children.get("member").unwrap_or(self);
        let mut items: Vec<(u32, &Self)> = numbered
            .children
            .iter()
            .filter_map(|(number, node)| number.parse().ok().map(|number| (number, node)))
            .collect();
        items.sort_by_key(|(number, _)| *number);
        items.into_iter().map(|(_, node)| node).collect()
    }
}

/// The tags of a call: items with `Key` and `Value`.
pub(crate) fn tags_of(items: Vec<&Params>) -> BTreeMap<String, String> {
    items
        .into_iter()
        .filter_map(|tag| {
            let value = tag.text("Value").unwrap_or_default();
            tag.text("Key").map(|key| (key.to_owned(), value.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_list_forms_are_understood_in_the_order_of_their_numbers() {
        let params =
            Params::parse(b"Names.member.10=c&Names.member.2=b&Names.member.1=a&Id.2=y&Id.1=x&Empty=")
                .expect("well formed");
        assert_eq!(params.texts("Names"), ["a", "b", "c"]);
        assert_eq!(params.texts("Id"), ["x", "y"]);
        assert_eq!(params.given_texts("Empty"), Some(vec![]));
        assert_eq!(params.given_texts("Absent"), None);
    }

    #[test]
    fn a_tree_becomes_a_document() {
        let params =
            Params::parse(b"P.Overrides.member.1.InstanceType=m7i.large&P.Distribution.Base=1").expect("ok");
        let document = params.node("P").expect("there").document();
        assert_eq!(document.get_list(&["Overrides"]).len(), 1);
        assert_eq!(document.get_text(&["Distribution", "Base"]), Some("1"));
    }

    #[test]
    fn nesting_is_limited() {
        let deep = format!("{}=x", vec!["a"; 50].join("."));
        assert!(Params::parse(deep.as_bytes()).is_err());
    }
}
