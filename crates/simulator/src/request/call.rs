//! A call of a service that speaks REST with JSON, as its actions see it.

use crate::core::eks::Principals;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// An action: it works on the region and makes the body of its response.
pub(crate) type Operation = fn(&mut Region, &Call<'_>) -> AwsResult<Value>;

/// An action, its method and its path with variables in braces.
pub(crate) type Route = (&'static str, &'static str, &'static str, Operation);

/// A call, as an action sees it.
pub(crate) struct Call<'a> {
    /// The variables of the path.
    pub(crate) path: BTreeMap<&'static str, String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: Value,
    pub(crate) principals: Principals,
    pub(crate) caller: &'a str,
}

impl Call<'_> {
    /// A variable of the path. The route has it.
    pub(crate) fn path(&self, name: &str) -> &str {
        self.path.get(name).map_or("", String::as_str)
    }

    /// A parameter of the query.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All values of a parameter of the query.
    pub(crate) fn queries(&self, name: &str) -> Vec<String> {
        self.query.iter().filter(|(key, _)| key == name).map(|(_, value)| value.clone()).collect()
    }

    /// A field of the body.
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.body.get(name)
    }

    /// The body, as a request. A field that is not simulated is refused.
    pub(crate) fn body<T: DeserializeOwned>(&self) -> AwsResult<T> {
        serde_json::from_value(self.body.clone())
            .map_err(|error| AwsError::new("InvalidParameterException", error.to_string()))
    }
}
