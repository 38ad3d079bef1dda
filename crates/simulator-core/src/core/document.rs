//! A tree of texts, for settings that the simulator stores and returns. It interprets only a few of them.

use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// A text, a list or a structure. Names are those of AWS's responses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// A text, number or boolean, as in the request.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// A structure.
    Map(BTreeMap<String, Self>),
}

impl Document {
    /// An empty structure.
    pub fn map() -> Self {
        Self::Map(BTreeMap::new())
    }

    /// A text.
    pub fn text(text: impl std::fmt::Display) -> Self {
        Self::Text(text.to_string())
    }

    /// The entry at a path of names; list elements are not addressed.
    pub fn get(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |at, name| match at {
            Self::Map(entries) => entries.get(*name),
            Self::Text(_) | Self::List(_) => None,
        })
    }

    /// The text at a path.
    pub fn get_text(&self, path: &[&str]) -> Option<&str> {
        match self.get(path)? {
            Self::Text(text) => Some(text),
            Self::List(_) | Self::Map(_) => None,
        }
    }

    /// The list at a path; empty if there is none.
    pub fn get_list(&self, path: &[&str]) -> &[Self] {
        match self.get(path) {
            Some(Self::List(items)) => items,
            _ => &[],
        }
    }

    /// The texts of the list at a path.
    pub fn get_texts(&self, path: &[&str]) -> Vec<String> {
        self.get_list(path).iter().filter_map(|item| item.get_text(&[])).map(str::to_owned).collect()
    }

    /// Sets an entry of a structure; does nothing to a text or a list.
    pub fn set(&mut self, name: &str, value: Self) {
        if let Self::Map(entries) = self {
            entries.insert(name.to_owned(), value);
        }
    }

    /// This structure with an entry added, if there is a value for it.
    pub fn with(mut self, name: &str, value: Option<Self>) -> Self {
        if let Some(value) = value {
            self.set(name, value);
        }
        self
    }

    /// Whether it is a structure or a list without entries.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::List(items) => items.is_empty(),
            Self::Map(entries) => entries.is_empty(),
        }
    }
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::List(items) => items.serialize(serializer),
            Self::Map(entries) => entries.serialize(serializer),
        }
    }
}
