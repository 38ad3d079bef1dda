//! `multipart/mixed`, as far as user data needs it.

use crate::seen::Unreadable;

/// Begins no line of any part: lines of parts are JSON, or fixed.
const BOUNDARY: &str = "foo-node-user-data";

/// One part.
pub(crate) struct Part {
    /// Without parameters, in lower case; `text/plain` by default.
    pub(crate) media_type: String,
    pub(crate) body: Vec<u8>,
}

/// Parts of these types, in this order.
pub(crate) fn write(parts: &[(&str, String)]) -> String {
    let part = |(media_type, body): &(&str, String)| {
        ["--", BOUNDARY, "\nContent-Type: ", media_type, "\n\n", body, "\n"].concat()
    };
    let parts: Vec<String> = parts.iter().map(part).collect();
    let parts = parts.concat();
    format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"{BOUNDARY}\"\n\n{parts}--{BOUNDARY}--\n"
    )
}

/// Whether a body has a line that would end its part.
pub(crate) fn ends_early(body: &str) -> bool {
    body.lines().any(|line| line.strip_prefix("--").is_some_and(|rest| rest.starts_with(BOUNDARY)))
}

/// The parts, or nothing if this is no multipart document.
///
/// # Errors
/// If it begins as one and does not end as one.
pub(crate) fn read(bytes: &[u8]) -> Result<Option<Vec<Part>>, Unreadable> {
    let Some((headers, body)) = split_headers(bytes) else { return Ok(None) };
    let content_type = header(&headers, "content-type").unwrap_or_default();
    let (media_type, parameters) = content_type.split_once(';').unwrap_or((&content_type, ""));
    if !media_type.trim().to_ascii_lowercase().starts_with("multipart/") {
        return Ok(None);
    }
    let Some(boundary) = parameter(parameters, "boundary") else {
        return Err(Unreadable::new("a multipart document without a boundary"));
    };
    parts(body, &boundary).map(Some)
}

fn parts(body: &[u8], boundary: &str) -> Result<Vec<Part>, Unreadable> {
    let delimiter = format!("--{boundary}");
    let last = format!("--{boundary}--");
    let mut parts = Vec::new();
    let mut current: Option<Vec<u8>> = None;
    for line in body.split_inclusive(|b| *b == b'\n') {
        let text = line.trim_ascii_end();
        if text != delimiter.as_bytes() && text != last.as_bytes() {
            if let Some(current) = &mut current {
                current.extend_from_slice(line);
            }
            continue;
        }
        if let Some(whole) = current.take() {
            parts.push(part(&whole)?);
        }
        if text == last.as_bytes() {
            return Ok(parts);
        }
        current = Some(Vec::new());
    }
    Err(Unreadable::new("a multipart document without an end"))
}

fn part(whole: &[u8]) -> Result<Part, Unreadable> {
    // The end of the last line belongs to the boundary.
    let whole = whole.strip_suffix(b"\n").unwrap_or(whole);
    let whole = whole.strip_suffix(b"\r").unwrap_or(whole);
    let headless = whole.strip_prefix(b"\n").or_else(|| whole.strip_prefix(b"\r\n"));
    let (headers, body) = match headless {
        Some(body) => (Vec::new(), body),
        None => split_headers(whole).ok_or_else(|| Unreadable::new("a part whose headers do not end"))?,
    };
    let content_type = header(&headers, "content-type").unwrap_or_else(|| "text/plain".into());
    let media_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    Ok(Part { media_type, body: body.to_vec() })
}

type Headers = Vec<(String, String)>;

/// Headers up to the first empty line, and what is after it; nothing if there is a line that is no header.
fn split_headers(bytes: &[u8]) -> Option<(Headers, &[u8])> {
    let mut headers: Headers = Vec::new();
    let mut rest = bytes;
    loop {
        let end = rest.iter().position(|b| *b == b'\n')?;
        let (line, after) = rest.split_at_checked(end + 1)?;
        let line = std::str::from_utf8(line).ok()?.trim_end();
        rest = after;
        if line.is_empty() {
            return Some((headers, rest));
        }
        if line.starts_with([' ', '\t']) {
            let (_, value) = headers.last_mut()?;
            value.push_str(line);
            continue;
        }
        let (name, value) = line.split_once(':')?;
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
}

fn header(headers: &Headers, name: &str) -> Option<String> {
    headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
}

fn parameter(parameters: &str, name: &str) -> Option<String> {
    parameters.split(';').find_map(|parameter| {
        let (other, value) = parameter.split_once('=')?;
        let named = other.trim().eq_ignore_ascii_case(name);
        named.then(|| value.trim().trim_matches('"').to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(text: &str) -> Vec<(String, String)> {
        let parts = read(text.as_bytes()).unwrap().unwrap();
        parts.into_iter().map(|part| (part.media_type, String::from_utf8(part.body).unwrap())).collect()
    }

    #[test]
    fn a_written_document_is_read_back() {
        let written = write(&[("text/a", "one\ntwo".into()), ("text/b", String::new())]);
        assert_eq!(
            bodies(&written),
            [("text/a".into(), "one\ntwo".into()), ("text/b".into(), String::new())]
        );
    }

    #[test]
    fn documents_of_other_writers_are_read() {
        let text = "Content-Type: multipart/mixed;\r\n boundary=//\r\nMIME-Version: 1.0\r\n\r\npreamble\r\n--//\r\n\
                    Content-Type: Text/A; charset=\"us-ascii\"\r\n\r\none\r\n--//\r\n\r\ntwo\r\n--//--\r\nepilogue";
        assert_eq!(bodies(text), [("text/a".into(), "one".into()), ("text/plain".into(), "two".into())]);
    }

    #[test]
    fn other_documents_are_none() {
        for text in ["", "---\nkind: NodeConfig\n", "#!/bin/sh\n", "a: b\n\n", "\u{1f}"] {
            assert!(read(text.as_bytes()).unwrap().is_none(), "{text}");
        }
    }

    #[test]
    fn a_truncated_document_is_refused() {
        let whole = write(&[("text/a", "one".into())]);
        let half = whole.strip_suffix("--\n").unwrap();
        assert!(read(half.as_bytes()).is_err());
        assert!(read(b"Content-Type: multipart/mixed\n\n--a\n\n--a--\n").is_err());
    }
}
