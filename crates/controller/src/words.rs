//! Sentences for people.

/// So many are named.
const NAMED: usize = 3;

/// Names, the first three of them: `a, b, c and 4 more`.
pub(crate) fn few<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names = names.into_iter();
    let named: Vec<&str> = names.by_ref().take(NAMED).collect();
    match names.count() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_are_named_and_the_others_counted() {
        assert_eq!(few(["a"]), "a");
        assert_eq!(few(["a", "b", "c"]), "a, b, c");
        assert_eq!(few(["a", "b", "c", "d", "e"]), "a, b, c and 2 more");
    }
}
