//! User input in messages.

/// User input for a message: unchanged if it is plain, else quoted, with invisible characters escaped. Its
/// length is limited.
pub fn shown(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@+".contains(c);
    let plain = !text.is_empty() && text.chars().all(is_plain);
    cut(&if plain { text.to_owned() } else { format!("{text:?}") })
}

/// The beginning of a text that is too long for a message: 200 characters.
pub fn cut(text: &str) -> String {
    const LONGEST: usize = 200;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_plain_is_quoted_and_what_is_long_is_cut() {
        assert_eq!(shown("ami-0a1b2c3d"), "ami-0a1b2c3d");
        assert_eq!(shown("ami-\u{93}oops"), r#""ami-\u{93}oops""#);
        assert_eq!(shown(&"x".repeat(300)), format!("{}…", "x".repeat(200)));
    }
}
