//! Turns text into one that is safe to print: messages of objects may contain control characters, which a terminal
//! interprets.

/// The same text with control characters and changes of the writing direction as kubectl shows them: `^[` for
/// escape, and so on. New lines stay.
pub(crate) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => shown.push('\n'),
            '\0'..='\u{1f}' | '\u{7f}' => {
                shown.push('^');
                shown.extend(char::from_u32(u32::from(character) ^ 0x40));
            }
            '\u{80}'..='\u{9f}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                shown.extend(character.escape_unicode());
            }
            character => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_are_printed_and_not_executed() {
        assert_eq!(
            harmless("a\u{1b}[31mred\r\u{7f}\u{9b}0m\u{202e}\n"),
            "a^[[31mred^M^?\\u{9b}0m\\u{202e}\n"
        );
        assert_eq!(harmless("äöü 漢 😀\n"), "äöü 漢 😀\n");
    }
}
