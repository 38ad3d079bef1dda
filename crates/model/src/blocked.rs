//! Why something is blocked, and how lists of names are written in such a message.

use crate::Reason;
use serde::{Deserialize, Serialize};

/// Why something is blocked, for users. The message stays the same while the cause stays the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Blocked {
    /// Reason of the condition.
    pub reason: Reason,
    /// Its message.
    pub message: String,
}

impl Blocked {
    /// A reason with its message.
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }
}

/// The first three names, and the number of the others: `a, b, c and 4 more`.
pub fn some_names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names = names.into_iter();
    let shown = names.by_ref().take(3).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_are_named_and_the_others_counted() {
        assert_eq!(some_names(["a"]), "a");
        assert_eq!(some_names(["a", "b", "c"]), "a, b, c");
        assert_eq!(some_names(["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }
}
