//! Texts with wildcards, as IAM and EC2 write them.

/// `*` stands for any text, `?` for one character. Linear in memory, and never exponential in time.
pub fn like(pattern: &str, text: &str) -> bool {
    // `reached[n]`: whether the part of the pattern read so far matches the first `n` characters of the text.
    let text: Vec<char> = text.chars().collect();
    let mut reached: Vec<bool> = std::iter::once(true).chain(text.iter().map(|_| false)).collect();
    for wanted in pattern.chars() {
        let mut next = Vec::with_capacity(reached.len());
        let (mut before, mut any) = (false, false);
        for (at, here) in reached.iter().copied().enumerate() {
            any |= here;
            let fits = at
                .checked_sub(1)
                .and_then(|at| text.get(at))
                .is_some_and(|it| wanted == '?' || *it == wanted);
            next.push(if wanted == '*' { any } else { before && fits });
            before = here;
        }
        reached = next;
    }
    reached.last().copied().unwrap_or(false)
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

/// Whether a text matches a pattern in which a backslash makes the next character literal. Greedy, with one position
/// for backtracking: linear in practice.
pub fn matches(pattern: &str, text: &str) -> bool {
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
}
