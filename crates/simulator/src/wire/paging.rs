//! Pages and the tokens between them. A token names the last entry of a page, so entries that are added or removed in
//! between neither invalidate it nor repeat an entry.

use crate::core::error::{AwsError, AwsResult};
use crate::request::params::Params;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Position and length of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Key of the last entry of the previous page.
    pub(crate) after: Option<String>,
    /// Maximum number of entries.
    pub(crate) limit: usize,
}

/// Names and bounds of an operation's paging parameters.
pub(crate) struct Paging {
    /// Name of the limit (`MaxRecords`, `MaxResults`).
    pub(crate) limit: &'static str,
    /// Limit if none is given.
    pub(crate) default: u32,
    /// Smallest limit.
    pub(crate) min: u32,
    /// Largest limit.
    pub(crate) max: u32,
}

const PREFIX: &str = "foo1:";

impl Page {
    /// Reads a page's parameters.
    pub(crate) fn of(params: &Params, paging: &Paging) -> AwsResult<Self> {
        Self::with_token(params, paging, "NextToken")
    }

    /// Reads a page's parameters for a service whose token has another name.
    pub(crate) fn with_token(params: &Params, paging: &Paging, token: &str) -> AwsResult<Self> {
        let limit = params.count(paging.limit)?.unwrap_or(paging.default);
        if !(paging.min..=paging.max).contains(&limit) {
            return Err(AwsError::validation(format!(
                "1 validation error detected: Value '{limit}' at '{}' failed to satisfy constraint: Member must have \
                 value between {} and {}",
                paging.limit, paging.min, paging.max
            )));
        }
        let after = params.text(token).filter(|text| !text.is_empty()).map(decode).transpose()?;
        Ok(Self { after, limit: usize::try_from(limit).unwrap_or(usize::MAX) })
    }

    /// The entry that a token names.
    pub(crate) fn after(token: &str) -> AwsResult<String> {
        decode(token)
    }

    /// The token of a page that begins after the entry with this key.
    pub(crate) fn token(key: &str) -> String {
        encode(key)
    }

    /// Takes this page's entries from those after `after`; `key` returns the key of an entry for the next token.
    pub(crate) fn take<T>(
        &self,
        mut entries: impl Iterator<Item = T>,
        key: impl Fn(&T) -> String,
    ) -> (Vec<T>, Option<String>) {
        let page: Vec<T> = entries.by_ref().take(self.limit).collect();
        let more = entries.next().is_some();
        let token = page.last().filter(|_| more).map(|last| encode(&key(last)));
        (page, token)
    }
}

fn encode(key: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{PREFIX}{key}"))
}

fn decode(token: &str) -> AwsResult<String> {
    URL_SAFE_NO_PAD
        .decode(token)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .and_then(|text| text.strip_prefix(PREFIX).map(str::to_owned))
        .ok_or_else(AwsError::bad_token)
}
