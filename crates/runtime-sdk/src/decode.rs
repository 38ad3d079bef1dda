//! Reading structs that keep the fields they do not know, without the copy of serde's `flatten`.
//!
//! `flatten` keeps a whole object in an intermediate form before it reads the first field. Requests of the topology
//! hooks have megabytes, nearly all of them inside such objects.

use serde::de::{DeserializeOwned, DeserializeSeed, Error, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use serde_json::{Map, Value};
use std::fmt;

/// Reads a struct, and beside it the fields that its type does not have.
///
/// # Errors
///
/// Those of the type.
pub(crate) fn with_unknown<'de, T, D>(deserializer: D) -> Result<(T, Map<String, Value>), D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let mut unknown = Map::new();
    let known = T::deserialize(Sieve { inner: deserializer, unknown: &mut unknown })?;
    Ok((known, unknown))
}

/// A deserializer of one struct, which declares its fields.
struct Sieve<'a, D> {
    inner: D,
    unknown: &'a mut Map<String, Value>,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Sieve<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_map(Fields { visitor, names: fields, unknown: self.unknown })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// The struct's visitor, and in front of it the sieve.
struct Fields<'a, V> {
    visitor: V,
    names: &'static [&'static str],
    unknown: &'a mut Map<String, Value>,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Fields<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Known { map, fields: self.names, unknown: self.unknown })
    }
}

/// The entries of an object that the struct knows.
struct Known<'a, A> {
    map: A,
    fields: &'static [&'static str],
    unknown: &'a mut Map<String, Value>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Known<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.map.next_key_seed(Sorted(self.fields))? {
            match key {
                Key::Known(field) => return seed.deserialize(field.into_deserializer()).map(Some),
                Key::Unknown(key) => {
                    let value = self.map.next_value()?;
                    self.unknown.insert(key, value);
                }
            }
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// A key, read against the fields of the struct.
enum Key {
    Known(&'static str),
    Unknown(String),
}

/// Reads a key.
struct Sorted(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Sorted {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Sorted {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Key, E> {
        let known = self.0.iter().find(|field| **field == key);
        Ok(known.map_or_else(|| Key::Unknown(key.to_owned()), |field| Key::Known(field)))
    }
}

/// A struct with the field `unknown`, which has the fields that the others are not.
macro_rules! keeps_unknown {
    (
        $(#[$about:meta])*
        $name:ident { $($(#[$meta:meta])* $field:ident: $type:ty,)* }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($(#[$meta])* pub $field: $type,)*
            /// Fields of another version of Cluster API.
            #[serde(flatten)]
            pub unknown: serde_json::Map<String, serde_json::Value>,
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct $name {
                    $($(#[$meta])* $field: $type,)*
                }
                let (known, unknown): ($name, _) = crate::decode::with_unknown(deserializer)?;
                Ok(Self { $($field: known.$field,)* unknown })
            }
        }
    };
}

pub(crate) use keeps_unknown;

#[cfg(test)]
#[expect(unreachable_pub, reason = "the macro is for requests, which are public")]
mod tests {
    use serde_json::{Value, json};

    keeps_unknown! {
        /// Two fields, one of which has to be there.
        Sample {
            /// The first.
            needed_field: u32,
            /// The second.
            #[serde(default)]
            other: Option<Vec<String>>,
        }
    }

    fn read(value: &Value) -> Result<Sample, String> {
        let from_text = serde_json::from_str(&value.to_string()).map_err(|error| error.to_string());
        let from_value = serde_json::from_value(value.clone()).map_err(|error| error.to_string());
        assert_eq!(from_text.is_ok(), from_value.is_ok());
        if let (Ok(from_text), Ok(from_value)) = (&from_text, from_value) {
            assert_eq!(*from_text, from_value);
        }
        from_text
    }

    #[test]
    fn unknown_fields_are_preserved() {
        let sent = json!({"a\"b": 1, "neededField": 2, "new": {"deep": [1, null]}, "other": ["x"]});
        let sample = read(&sent).unwrap();
        assert_eq!((sample.needed_field, sample.other.as_deref()), (2, Some(&["x".to_owned()][..])));
        assert_eq!(sample.unknown.keys().collect::<Vec<_>>(), ["a\"b", "new"]);
        assert_eq!(serde_json::to_value(&sample).unwrap(), sent);
    }

    #[test]
    fn fields_of_the_wrong_type_are_named() {
        let why = |value: Value| read(&value).unwrap_err();
        assert!(
            why(json!({"new": 1})).starts_with("missing field `neededField`"),
            "{}",
            why(json!({"new": 1}))
        );
        assert!(why(json!({"neededField": "x"})).starts_with("invalid type: string \"x\", expected u32"));
        assert!(why(json!("text")).starts_with("invalid type: string \"text\", expected struct Sample"));
        assert!(why(json!([1])).starts_with("invalid type: sequence"), "a list of fields is no object");
        let twice: Result<Sample, _> = serde_json::from_str(r#"{"neededField": 1, "neededField": 2}"#);
        assert!(twice.unwrap_err().to_string().starts_with("duplicate field `neededField`"));
    }
}
