//! Pages: at most 100 entries, and a token that names the last one.

use crate::core::error::{AwsError, AwsResult};
use crate::request::call::Call;
use crate::wire::paging::Page;
use serde_json::{Value, json};

/// Most entries of a page, and how many there are if the call does not say.
const MOST: u64 = 100;

/// What of a call says how long a page is and where it begins: in the query, or of ListInsights in the body.
fn asked(call: &Call<'_>) -> AwsResult<Page> {
    let wrong = |what: &str| AwsError::new("InvalidParameterException", format!("{what} is invalid."));
    let limit = match (call.query("maxResults"), call.field("maxResults")) {
        (Some(text), _) => text.parse().map_err(|_| wrong("maxResults"))?,
        (None, Some(number)) => number.as_u64().ok_or_else(|| wrong("maxResults"))?,
        (None, None) => MOST,
    };
    if !(1..=MOST).contains(&limit) {
        return Err(wrong("maxResults"));
    }
    let token = call.query("nextToken").or_else(|| call.field("nextToken").and_then(Value::as_str));
    let after = token.filter(|token| !token.is_empty()).map(Page::after).transpose();
    let after = after.map_err(|_| wrong("nextToken"))?;
    Ok(Page { after, limit: usize::try_from(limit).unwrap_or(usize::MAX) })
}

/// A response with a page of entries, which are in the order of their keys.
pub(super) fn of<T>(
    call: &Call<'_>,
    field: &str,
    entries: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> String,
    show: impl Fn(&T) -> Value,
) -> AwsResult<Value> {
    let page = asked(call)?;
    let behind =
        entries.into_iter().filter(|entry| page.after.as_ref().is_none_or(|after| key(entry) > *after));
    let (entries, token) = page.take(behind, &key);
    let shown: Vec<Value> = entries.iter().map(show).collect();
    let mut response = json!({ field: shown });
    if let (Some(token), Some(response)) = (token, response.as_object_mut()) {
        response.insert("nextToken".to_owned(), json!(token));
    }
    Ok(response)
}

/// The same for names.
pub(super) fn of_names(
    call: &Call<'_>,
    field: &str,
    names: impl IntoIterator<Item = String>,
) -> AwsResult<Value> {
    let mut names: Vec<String> = names.into_iter().collect();
    names.sort();
    of(call, field, names, Clone::clone, |name| json!(name))
}
