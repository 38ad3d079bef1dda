//! Which Cluster a request is about, for the log. Requests are large, and name it near their beginning: what follows is
//! not read.

use crate::variables::{BUILTIN, Variable};
use serde::Deserialize;
use serde::de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// `<namespace>/<name>` of the Cluster; empty if the request names none.
pub(crate) fn cluster(request: &[u8]) -> String {
    let mut found = None;
    // It ends with an error whenever it ends early.
    drop(serde_json::Deserializer::from_slice(request).deserialize_map(Search(&mut found)));
    found.map(|Name { name, namespace }| format!("{namespace}/{name}")).unwrap_or_default()
}

#[derive(Default, Deserialize)]
struct Named {
    #[serde(default)]
    metadata: Name,
}

#[derive(Default, Deserialize)]
struct Name {
    #[serde(default)]
    name: String,
    #[serde(default)]
    namespace: String,
}

struct Search<'a>(&'a mut Option<Name>);

impl<'de> Visitor<'de> for Search<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a request")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let found = match key.as_ref() {
                "cluster" => Some(map.next_value::<Named>()?.metadata),
                "variables" => builtin(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    None
                }
            };
            if let Some(found) = found.filter(|found| !found.name.is_empty()) {
                *self.0 = Some(found);
                return Err(A::Error::custom("the rest is not read"));
            }
        }
        Ok(())
    }
}

/// The Cluster in the variable that core creates.
fn builtin(variables: Vec<Variable>) -> Option<Name> {
    let builtin = variables.into_iter().find(|variable| variable.name == BUILTIN)?;
    Name::deserialize(builtin.value.get("cluster")?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cluster_is_found_wherever_it_stands_and_what_follows_is_not_read() {
        let builtin =
            r#"{"name": "builtin", "value": {"cluster": {"name": "c", "namespace": "n", "topology": {}}}}"#;
        let in_variables =
            format!(r#"{{"kind": "A", "variables": [{{"name": "size", "value": 3}}, {builtin}]"#);
        for (request, name) in [
            (r#"{"cluster": {"spec": {}, "metadata": {"name": "c", "namespace": "n"}}}"#, "n/c"),
            (r#"{"cluster": {"metadata": {"name": "c", "namespace": "n"}}, and so on"#, "n/c"),
            (in_variables.as_str(), "n/c"),
            (r#"{"items": [1], "cluster": {"metadata": {}}}"#, ""),
            (r#"{"variables": 1, "cluster": {"metadata": {"name": "c"}}}"#, ""),
            ("[1]", ""),
            ("", ""),
        ] {
            assert_eq!(cluster(request.as_bytes()), name, "{request}");
        }
    }
}
