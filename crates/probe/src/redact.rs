//! Removes from recordings what identifies an account, its users and its machines: account ids, names in ARNs of IAM and STS,
//! access keys and unique ids with their sessions, public addresses, UUIDs (request ids), encoded authorization messages, and the
//! headers with the session token that a refusal of a signature quotes.
//!
//! Ids of resources stay: a replay needs them, and they mean nothing outside of the account. Private addresses stay,
//! because the probe itself chooses them.

use std::net::Ipv4Addr;

/// In place of each account id.
const ACCOUNT: &str = "000000000000";
/// In place of each public address (RFC 5737).
const ADDRESS: &str = "192.0.2.1";
/// In place of each UUID.
const UUID: &str = "00000000-0000-0000-0000-000000000000";
/// What precedes text that is left out: one that only the account's administrators can decode, and the headers of a request whose
/// signature AWS refuses, `x-amz-security-token` among them.
const LEFT_OUT: [&str; 2] =
    ["Encoded authorization failure message:", "The Canonical String for this request should have been"];
/// Prefixes of access keys and unique ids (IAM User Guide, "IAM identifiers": unique ID prefixes).
const KEYS: [&str; 11] =
    ["ABIA", "ACCA", "AGPA", "AIDA", "AIPA", "AKIA", "ANPA", "ANVA", "APKA", "AROA", "ASIA"];

/// The text without what identifies the account.
pub(crate) fn redacted(text: &str) -> String {
    let text = LEFT_OUT.iter().fold(text.to_owned(), |text, start| without_what_follows(&text, start));
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let end = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        out.push_str(&redacted_word(word));
        let between = separator(after);
        let (separator, next) = after.split_at(between);
        out.push_str(separator);
        rest = next;
    }
    out
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || ":.-_/@+=,".contains(c)
}

/// How long the separator at the start of a text is. An encoded character (`%3A`) is one separator.
fn separator(text: &str) -> usize {
    let mut chars = text.chars();
    match chars.next() {
        None => 0,
        Some('%') => {
            let encoded = text.get(1..3).is_some_and(|code| code.chars().all(|c| c.is_ascii_hexdigit()));
            if encoded { 3 } else { 1 }
        }
        Some(first) => first.len_utf8(),
    }
}

fn redacted_word(word: &str) -> String {
    if word.starts_with("arn:")
        && let [arn, partition, service @ ("iam" | "sts"), region, account, _] =
            *word.splitn(6, ':').collect::<Vec<_>>()
    {
        let account = if account.is_empty() { "" } else { ACCOUNT };
        return format!("{arn}:{partition}:{service}:{region}:{account}:caller");
    }
    let first = word.split(':').next().unwrap_or_default();
    if is_key(first) {
        // A session is named after its key: `AROA…:alice`.
        return key(first);
    }
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    loop {
        let end = rest.find([':', '/', '@', '=', ',']).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        out.push_str(&redacted_piece(piece));
        let Some(separator) = after.chars().next() else { return out };
        out.push(separator);
        rest = after.get(separator.len_utf8()..).unwrap_or_default();
    }
}

fn redacted_piece(piece: &str) -> String {
    if is_key(piece) {
        return key(piece);
    }
    if is_uuid(piece) {
        return UUID.to_owned();
    }
    match piece.parse::<Ipv4Addr>() {
        Ok(address) if is_own(address) => piece.to_owned(),
        Ok(_) => ADDRESS.to_owned(),
        Err(_) => without_accounts(piece),
    }
}

/// Account ids are parts of names, too: of buckets and hosts.
fn without_accounts(piece: &str) -> String {
    let is_between = |c: char| !c.is_ascii_alphanumeric();
    let mut out = String::with_capacity(piece.len());
    for part in piece.split_inclusive(is_between) {
        let name = part.trim_end_matches(is_between);
        out.push_str(if is_account(name) { ACCOUNT } else { name });
        out.push_str(part.get(name.len()..).unwrap_or_default());
    }
    out
}

/// Whether an address says nothing about the account.
fn is_own(address: Ipv4Addr) -> bool {
    address.is_private() || address.is_loopback() || address.is_unspecified() || address.is_link_local()
}

fn is_account(word: &str) -> bool {
    word.len() == 12 && word.chars().all(|c| c.is_ascii_digit())
}

fn is_key(word: &str) -> bool {
    word.len() >= 16
        && KEYS.iter().any(|prefix| word.starts_with(prefix))
        && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
}

fn key(word: &str) -> String {
    format!("{}EXAMPLE", word.get(..4).unwrap_or_default())
}

fn is_uuid(word: &str) -> bool {
    let lengths: Vec<usize> = word.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && word.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}

/// The text without what begins like this, up to where the XML or JSON around it continues.
fn without_what_follows(text: &str, start: &str) -> String {
    let mut parts = text.split(start);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(['<', '"']).unwrap_or(part.len());
        out.push_str(part.get(end..).unwrap_or_default());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_callers_keys_addresses_and_request_ids_are_left_out() {
        for (text, expected) in [
            ("<Account>123456789012</Account>", "<Account>000000000000</Account>"),
            (
                "<Arn>arn:aws:sts::123456789012:assumed-role/Admin/alice@example.com</Arn>",
                "<Arn>arn:aws:sts::000000000000:caller</Arn>",
            ),
            ("<UserId>AROAEXAMPLE123456789:alice@example.com</UserId>", "<UserId>AROAEXAMPLE</UserId>"),
            ("key AKIAIOSFODNN7EXAMPLE is unknown", "key AKIAEXAMPLE is unknown"),
            (
                "arn:aws:autoscaling:r:123456789012:autoScalingGroup:0d9f3a77-5c3b-4d6e-8d5e-3c2f1a0b9c8d:x/pool",
                "arn:aws:autoscaling:r:000000000000:autoScalingGroup:00000000-0000-0000-0000-000000000000:x/pool",
            ),
            ("arn%3Aaws%3Asns%3Ar%3A123456789012%3At", "arn%3Aaws%3Asns%3Ar%3A000000000000%3At"),
            (
                "from 203.0.113.9 to 10.77.0.0/24 and 0.0.0.0/0",
                "from 192.0.2.1 to 10.77.0.0/24 and 0.0.0.0/0",
            ),
            ("123456789012.dkr.ecr.r.amazonaws.com", "000000000000.dkr.ecr.r.amazonaws.com"),
            ("s3://data-123456789012-r/x", "s3://data-000000000000-r/x"),
            (
                "<Message>no. Encoded authorization failure message: AbC_d-1</Message>",
                "<Message>no. </Message>",
            ),
            (
                "{\"message\":\"no.\\n\\nThe Canonical String for this request should have been\\n'POST\\n/\\n\\n\
                 x-amz-security-token:IQoJb3JpZ2lu+/==\\n'\"}",
                "{\"message\":\"no.\\n\\n\"}",
            ),
        ] {
            assert_eq!(redacted(text), expected);
        }
    }

    #[test]
    fn ids_times_numbers_and_other_characters_stay() {
        for text in [
            "<launchTemplateId>lt-0a1b2c3d4e5f60718</launchTemplateId>",
            "2026-02-02T09:00:00.123456789012Z",
            "Action=CreateVpc&CidrBlock=10.77.0.0%2F24&Name=a%",
            "{\"Value\":\"ami-0a000000000000001\",\"Version\":1234567890123}",
            "für alle – 100 %",
        ] {
            assert_eq!(redacted(text), text);
        }
    }
}
