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
