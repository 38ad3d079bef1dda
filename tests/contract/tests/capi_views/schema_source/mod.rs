//! A serde source that is an OpenAPI schema: whatever a type requests is looked up in the schema, and served with a
//! value the schema would allow. Fields that the schema does not have, or has with another type, are noted.

use serde::de::value::{MapDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;
use std::cell::RefCell;
use std::fmt;

/// Which fields the imagined object has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// All that the type asks for.
    Everything,
    /// Only those that the schema requires.
    OnlyRequired,
}

/// What came out of reading a type.
#[derive(Debug, Default)]
pub(crate) struct ReadOutcome {
    /// Paths of the fields the type asked for and got.
    pub(crate) fields: Vec<String>,
    /// What does not fit.
    pub(crate) problems: Vec<String>,
}

/// Reads `T` from the schema.
pub(crate) fn read<T: DeserializeOwned>(schema: &Value, amount: Amount) -> ReadOutcome {
    let outcome = RefCell::new(ReadOutcome::default());
    let source = Source { schema, path: String::new(), amount, outcome: &outcome };
    let result = T::deserialize(source);
    let mut outcome = outcome.into_inner();
    if let Err(error) = result {
        outcome.problems.push(error.to_string());
    }
    outcome
}

#[derive(Clone)]
struct Source<'a> {
    schema: &'a Value,
    path: String,
    amount: Amount,
    outcome: &'a RefCell<ReadOutcome>,
}

impl<'a> Source<'a> {
    fn at(&self, name: &str, schema: &'a Value) -> Self {
        let dot = if self.path.is_empty() || name == "[]" { "" } else { "." };
        Self { schema, path: format!("{}{dot}{name}", self.path), ..self.clone() }
    }

    /// Notes if the schema has another type than the one we read.
    fn expect(&self, own: &str) {
        let kind = self.schema["type"].as_str().unwrap_or("any");
        let upstream = match (kind, self.schema["format"].as_str()) {
            ("integer", Some(format)) => format,
            _ => kind,
        };
        let fits = match own {
            // An integer without a format has to be bounded to fit.
            "int32" => upstream == "int32" || (upstream == "integer" && self.schema["maximum"].is_number()),
            "int64" => matches!(upstream, "int32" | "int64" | "integer"),
            other => upstream == other,
        };
        if !fits {
            self.note(&format!("we read {own}, upstream has {upstream}"));
        }
    }

    fn note(&self, problem: &str) {
        self.outcome.borrow_mut().problems.push(format!("{}: {problem}", self.path));
    }

    fn text(&self) -> &'static str {
        if self.schema["format"] == "date-time" { "2026-01-02T03:04:05Z" } else { "x" }
    }
}

#[derive(Debug)]
struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

macro_rules! unread {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
            Err(Error(format!("{}: no Kubernetes field is read by {}", self.path, stringify!($method))))
        })*
    };
}

impl<'de> Deserializer<'de> for Source<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        // CRDs leave the schema of metadata to Kubernetes.
        if name == "ObjectMeta" {
            return visitor.visit_map(MapDeserializer::new(std::iter::empty::<(&str, &str)>()));
        }
        self.expect("object");
        let properties = self.schema["properties"].as_object();
        let mut requested = Vec::new();
        for field in fields {
            let Some(schema) = properties.and_then(|properties| properties.get(*field)) else {
                self.at(field, self.schema).note("upstream has no such field");
                continue;
            };
            let required =
                self.schema["required"].as_array().is_some_and(|all| all.iter().any(|name| name == field));
            // The API server adds metadata to every object, and spec is required in the provider's kinds.
            let always = self.path.is_empty() && matches!(*field, "metadata" | "spec");
            if self.amount == Amount::Everything || required || always {
                let source = self.at(field, schema);
                self.outcome.borrow_mut().fields.push(source.path.clone());
                requested.push((*field, source));
            }
        }
        visitor.visit_map(Fields { left: requested.into_iter(), next: None })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.expect("boolean");
        visitor.visit_bool(true)
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.expect("int32");
        visitor.visit_i32(1)
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.expect("int64");
        visitor.visit_i64(1)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.expect("string");
        visitor.visit_str(self.text())
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.expect("array");
        let item = self.at("[]", &self.schema["items"]);
        visitor.visit_seq(Once(Some(item)))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.expect("object");
        let value = self.at("*", &self.schema["additionalProperties"]);
        visitor.visit_map(Fields { left: vec![("x", value)].into_iter(), next: None })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.expect("string");
        let upstream = self.schema["enum"].as_array().cloned().unwrap_or_default();
        for value in upstream.iter().filter_map(Value::as_str).filter(|value| !variants.contains(value)) {
            self.note(&format!("we cannot read the value {value:?}"));
        }
        let first: StrDeserializer<'_, Error> =
            variants.first().copied().unwrap_or_default().into_deserializer();
        visitor.visit_enum(first)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    unread! {
        deserialize_any deserialize_i8 deserialize_i16 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_f32 deserialize_f64 deserialize_char deserialize_bytes deserialize_byte_buf deserialize_unit
        deserialize_identifier
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }
}

struct Fields<'a> {
    left: std::vec::IntoIter<(&'static str, Source<'a>)>,
    next: Option<Source<'a>>,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some((name, source)) = self.left.next() else { return Ok(None) };
        self.next = Some(source);
        let key: StrDeserializer<'_, Error> = name.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let source = self.next.take().ok_or_else(|| Error("a value before its key".into()))?;
        seed.deserialize(source)
    }
}

struct Once<'a>(Option<Source<'a>>);

impl<'de> SeqAccess<'de> for Once<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        self.0.take().map(|source| seed.deserialize(source)).transpose()
    }
}
