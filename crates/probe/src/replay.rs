//! Sends the requests of a recording to a simulated AWS, and compares the responses: status, code, and which elements there are.
//!
//! Ids that AWS gave in the recording are other ones in the simulated AWS: both responses show them at the same place, and
//! later requests get the new ones.

use crate::journal::Entry;
use crate::shape::{code, leaves, paths};
use anyhow::{Context as _, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// Codes that depend on how busy the account was.
const THROTTLED: [&str; 4] =
    ["RequestLimitExceeded", "Throttling", "ThrottlingException", "TooManyRequestsException"];

/// Longest time of one response.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Where the simulated AWS responds otherwise than AWS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The belief that the request was sent for.
    pub belief: String,
    /// AWS's name of the operation.
    pub operation: String,
    /// What differs.
    pub what: String,
}

/// Sends a recording to `endpoint` (`http://host:port`). A read that waits for a change is repeated for `patience`.
pub async fn replay(entries: &[Entry], endpoint: &str, patience: Duration) -> Result<Vec<Difference>> {
    let host = endpoint.strip_prefix("http://").context("the endpoint is to begin with http://")?;
    let mut replay = Replay { host: host.trim_end_matches('/'), patience, ids: BTreeMap::new() };
    let mut differences = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let later = entries.get(index + 1..).unwrap_or_default();
        if is_compared(entry, later)
            && let Some(what) = replay.send(entry).await?
        {
            let Entry { belief, operation, .. } = entry;
            differences.push(Difference { belief: belief.clone(), operation: operation.clone(), what });
        }
    }
    Ok(differences)
}

/// Not what was refused because AWS was busy, and of reads that wait only the last. The clean-up depends on what else is in the
/// account.
fn is_compared(entry: &Entry, later: &[Entry]) -> bool {
    let busy = entry.status >= 500
        || entry.status >= 400
            && code(&entry.response).is_some_and(|code| THROTTLED.contains(&code.as_str()));
    let same = |other: &Entry| {
        other.belief == entry.belief
            && other.waits
            && (&other.service, &other.path, &other.request) == (&entry.service, &entry.path, &entry.request)
    };
    entry.belief != "clean" && !busy && !(entry.waits && later.iter().any(same))
}

/// A response of the simulated AWS.
struct Response {
    status: u16,
    body: String,
}

struct Replay<'a> {
    host: &'a str,
    patience: Duration,
    /// Ids and zones of the recording, and those that the simulated AWS has in their place.
    ids: BTreeMap<String, String>,
}

impl Replay<'_> {
    /// What differs, if anything.
    async fn send(&mut self, entry: &Entry) -> Result<Option<String>> {
        let since = Instant::now();
        loop {
            let request = self.request(entry);
            let response = tokio::time::timeout(TIMEOUT, exchange(self.host, &request)).await;
            let response = response.with_context(|| format!("{}: no response", entry.operation))??;
            let difference = difference(entry, &response);
            if difference.is_none() || !entry.waits || since.elapsed() >= self.patience {
                self.learn(&entry.response, &response.body);
                return Ok(difference);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// HTTP/1.0, so that the connection ends with the response. The signature names a key that no simulated AWS verifies.
    fn request(&self, entry: &Entry) -> String {
        let (path, body) = (self.translated(&entry.path), self.translated(&entry.request));
        let header = |name: &str, value: Option<&String>| {
            value.map(|value| format!("{name}: {value}\r\n")).unwrap_or_default()
        };
        let Entry { method, region, service, content_type, target, .. } = entry;
        [
            format!("{method} {path} HTTP/1.0\r\nHost: {}\r\nContent-Length: {}\r\n", self.host, body.len()),
            format!(
                "Authorization: AWS4-HMAC-SHA256 Credential=replay/20260101/{region}/{service}/aws4_request, "
            ),
            "SignedHeaders=host, Signature=0\r\n".to_owned(),
            header("Content-Type", content_type.as_ref()),
            header("X-Amz-Target", target.as_ref()),
            "\r\n".to_owned(),
            body,
        ]
        .concat()
    }

    fn translated(&self, text: &str) -> String {
        let is_of_id = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(|c: char| !is_of_id(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            out.push_str(self.ids.get(word).map_or(word, String::as_str));
            let next = after.chars().next().map_or(0, char::len_utf8);
            let (separator, after) = after.split_at(next);
            out.push_str(separator);
            rest = after;
        }
        out
    }

    /// Ids at the same place of both responses mean the same.
    fn learn(&mut self, recorded: &str, replayed: &str) {
        let mut places = by_path(replayed);
        for (path, values) in by_path(recorded) {
            let others = places.remove(&path).unwrap_or_default();
            let pairs = values.into_iter().zip(others);
            let ids = pairs.filter(|(in_aws, _)| is_id(in_aws) || path.ends_with("zoneName"));
            for (in_aws, here) in ids {
                // Lists may have another order: what a creation showed first counts.
                self.ids.entry(in_aws).or_insert(here);
            }
        }
    }
}

fn by_path(response: &str) -> BTreeMap<String, Vec<String>> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, value) in leaves(response) {
        places.entry(path).or_default().push(value);
    }
    places
}

/// An id as EC2 gives it: `subnet-`, and 8 or 17 hexadecimal digits.
fn is_id(text: &str) -> bool {
    text.rsplit_once('-').is_some_and(|(kind, number)| {
        kind.chars().all(|c| c.is_ascii_lowercase() || c == '-')
            && [8, 17].contains(&number.len())
            && number.chars().all(|c| c.is_ascii_hexdigit())
    })
}

fn difference(entry: &Entry, response: &Response) -> Option<String> {
    let (recorded, replayed) = (code(&entry.response), code(&response.body));
    if entry.status >= 400 || response.status >= 400 {
        let aws = (entry.status, recorded.unwrap_or_default());
        let here = (response.status, replayed.unwrap_or_default());
        return (aws != here).then(|| format!("AWS: {} {}, here: {} {}", aws.0, aws.1, here.0, here.1));
    }
    if entry.status != response.status {
        return Some(format!("AWS: {}, here: {}", entry.status, response.status));
    }
    let (aws, here) = (paths(&entry.response), paths(&response.body));
    let only = |some: &BTreeSet<String>, others: &BTreeSet<String>| {
        some.difference(others).cloned().collect::<Vec<_>>().join(", ")
    };
    let (missing, more) = (only(&aws, &here), only(&here, &aws));
    (aws != here).then(|| format!("only in AWS: [{missing}], only here: [{more}]"))
}

async fn exchange(host: &str, request: &str) -> Result<Response> {
    let mut stream = TcpStream::connect(host).await.with_context(|| format!("connecting to {host}"))?;
    stream.write_all(request.as_bytes()).await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    let (head, body) = text.split_once("\r\n\r\n").context("the response is not one of HTTP")?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok(Response { status: status.context("the response has no status")?, body: body.to_owned() })
}
