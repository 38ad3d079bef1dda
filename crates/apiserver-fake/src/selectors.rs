//! Label and field selectors, parsed from their query form.

use crate::failure::{ApiError, bad_request};
use crate::json::text;
use kube::core::{Expression, Selector, SelectorExt};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a list or a watch is narrowed to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) namespace: Option<String>,
    labels: Selector,
    fields: Vec<(Vec<String>, bool, String)>,
}

impl Filter {
    pub(crate) fn new(
        namespace: Option<String>,
        labels: Option<&str>,
        fields: Option<&str>,
    ) -> Result<Self, ApiError> {
        let labels =
            split(labels.unwrap_or_default()).into_iter().map(expression).collect::<Result<_, _>>()?;
        let fields = split(fields.unwrap_or_default()).into_iter().map(field).collect::<Result<_, _>>()?;
        Ok(Self { namespace, labels, fields })
    }

    pub(crate) fn matches(&self, object: &Value) -> bool {
        let namespace = text(object, &["metadata", "namespace"]);
        self.namespace.as_deref().is_none_or(|wanted| namespace == Some(wanted))
            && (self.labels.selects_all() || self.labels.matches(&labels_of(object)))
            && self.fields.iter().all(|(path, equal, wanted)| {
                let path: Vec<&str> = path.iter().map(String::as_str).collect();
                (text(object, &path).unwrap_or_default() == wanted) == *equal
            })
    }
}

fn labels_of(object: &Value) -> BTreeMap<String, String> {
    crate::json::at(object, &["metadata", "labels"])
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}

/// The parts between commas that stand outside parentheses.
fn split(selector: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    selector
        .split(|c: char| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            c == ',' && depth == 0
        })
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect()
}

fn expression(part: &str) -> Result<Expression, ApiError> {
    let own = |text: &str| text.trim().to_owned();
    if let Some((key, value)) = part.split_once("!=") {
        return Ok(Expression::NotEqual(own(key), own(value)));
    }
    if let Some((key, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return Ok(Expression::Equal(own(key), own(value)));
    }
    if let Some((head, values)) = part.split_once('(') {
        let values = values.trim_end_matches(')').split(',').map(own).collect();
        let mut words = head.split_whitespace();
        return match (words.next(), words.next()) {
            (Some(key), Some("in")) => Ok(Expression::In(own(key), values)),
            (Some(key), Some("notin")) => Ok(Expression::NotIn(own(key), values)),
            _ => Err(bad_request(format!("unable to parse requirement: {part}"))),
        };
    }
    if let Some(key) = part.strip_prefix('!') {
        return Ok(Expression::DoesNotExist(own(key)));
    }
    if part.contains(char::is_whitespace) {
        return Err(bad_request(format!("unable to parse requirement: {part}")));
    }
    Ok(Expression::Exists(own(part)))
}

fn field(part: &str) -> Result<(Vec<String>, bool, String), ApiError> {
    let (path, equal, value) = if let Some((path, value)) = part.split_once("!=") {
        (path, false, value)
    } else if let Some((path, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        (path, true, value)
    } else {
        return Err(bad_request(format!("invalid field selector: {part}")));
    };
    let known =
        ["metadata.", "involvedObject.", "regarding.", "spec.nodeName", "type", "reason", "status.phase"];
    if !known.iter().any(|prefix| path.starts_with(prefix)) {
        return Err(bad_request(format!("field label not supported: {path}")));
    }
    Ok((path.split('.').map(ToOwned::to_owned).collect(), equal, value.to_owned()))
}
