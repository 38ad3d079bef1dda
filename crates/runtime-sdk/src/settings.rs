//! Settings of an `ExtensionConfig`: text by text, read as a type.

use serde::de::value::MapDeserializer;
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, Visitor};
use serde::{Deserialize, Serialize, forward_to_deserialize_any};
use std::collections::BTreeMap;

/// Settings as they reach a handler: those of the `ExtensionConfig`, overridden by those of the reference in the
/// ClusterClass. Values are texts, since that is what the API has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(pub BTreeMap<String, String>);

/// Settings that do not fit the type that is asked for. The text is the same for the same settings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the extension's settings are wrong: {0}")]
pub struct SettingsError(String);

impl Settings {
    /// One setting.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// All settings as a type: numbers, booleans (`true`, `false`) and names of enum variants are read from their text,
    /// lists from text with commas. Give the type `deny_unknown_fields`, so that a mistyped name is refused.
    ///
    /// # Errors
    ///
    /// When a value does not fit, or one that is needed is missing.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, SettingsError> {
        let entries = self.0.iter().map(|(key, value)| (key.as_str(), Text { key, value }));
        T::deserialize(MapDeserializer::<_, serde::de::value::Error>::new(entries))
            .map_err(|error| SettingsError(error.to_string()))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// One value, and the name it stands under, for errors.
struct Text<'a> {
    key: &'a str,
    value: &'a str,
}

impl IntoDeserializer<'_> for Text<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl Text<'_> {
    fn parsed<T: std::str::FromStr>(&self, what: &str) -> Result<T, serde::de::value::Error> {
        self.value.parse().map_err(|_error| {
            serde::de::Error::custom(format_args!("{} is {:?}, which is not {what}", self.key, self.value))
        })
    }
}

macro_rules! numbers {
    ($($method:ident $visit:ident $type:ty),+ $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
            visitor.$visit(self.parsed::<$type>("a number that fits here")?)
        })+
    };
}

impl<'de> Deserializer<'de> for Text<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_str(self.value)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_bool(self.parsed("true or false")?)
    }

    numbers! {
        deserialize_i8 visit_i8 i8, deserialize_i16 visit_i16 i16, deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64, deserialize_u8 visit_u8 u8, deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32, deserialize_u64 visit_u64 u64, deserialize_f32 visit_f32 f32,
        deserialize_f64 visit_f64 f64,
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        self.value.into_deserializer().deserialize_enum(name, variants, visitor)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        let key = self.key;
        let items = self.value.split(',').map(str::trim).filter(|item| !item.is_empty());
        visitor.visit_seq(serde::de::value::SeqDeserializer::new(items.map(|value| Text { key, value })))
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Wanted {
        preflight: bool,
        #[serde(default)]
        retry_seconds: Option<u32>,
        #[serde(default)]
        mode: Mode,
        #[serde(default)]
        zones: Vec<String>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    enum Mode {
        #[default]
        Warn,
        Enforce,
    }

    fn decoded(pairs: &[(&str, &str)]) -> Result<Wanted, String> {
        let settings = pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Settings(settings).decode().map_err(|error| error.to_string())
    }

    #[test]
    fn texts_become_values() {
        let wanted = decoded(&[
            ("preflight", "true"),
            ("retrySeconds", "30"),
            ("mode", "Enforce"),
            ("zones", "eu-central-1a, eu-central-1b"),
        ]);
        let zones = vec!["eu-central-1a".to_owned(), "eu-central-1b".to_owned()];
        assert_eq!(
            wanted,
            Ok(Wanted { preflight: true, retry_seconds: Some(30), mode: Mode::Enforce, zones })
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (pairs, problem) in [
            (vec![("preflight", "yes")], "preflight is \"yes\", which is not true or false"),
            (
                vec![("preflight", "true"), ("retrySeconds", "-1")],
                "retrySeconds is \"-1\", which is not a number",
            ),
            (vec![], "missing field `preflight`"),
            (vec![("preflight", "true"), ("zone", "a")], "unknown field `zone`"),
            (vec![("preflight", "true"), ("mode", "Panic")], "unknown variant `Panic`"),
        ] {
            let error = decoded(&pairs).unwrap_err();
            assert!(
                error.starts_with("the extension's settings are wrong: ") && error.contains(problem),
                "{error}"
            );
        }
    }
}
