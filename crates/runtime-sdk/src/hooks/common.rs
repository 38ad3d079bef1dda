//! What requests and responses share, and the macros that write them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// `kind` and `apiVersion`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TypeMeta {
    /// Kind.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Group and version.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub api_version: String,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
pub enum ResponseStatus {
    /// The handler did what it is for; in a blocking hook this can still mean "call again".
    #[default]
    Success,
    /// It refuses, or cannot do it. Never ignored, whatever the failure policy.
    Failure,
}

/// What core does when an extension cannot be called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailurePolicy {
    /// Stop and try again: the safe choice, and core's default.
    #[default]
    Fail,
    /// Continue as if the handler had succeeded.
    Ignore,
}

/// The two ways to write a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PatchType {
    /// A list of operations (RFC 6902).
    JSONPatch,
    /// A partial object (RFC 7386).
    JSONMergePatch,
}

/// A patch of one object; on the wire its text is in base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Patch {
    /// How it is written.
    pub patch_type: PatchType,
    /// The patch itself, JSON.
    #[serde(with = "base64_bytes")]
    pub patch: Vec<u8>,
}

/// Bytes as Go's encoder writes them: standard base64 in a string.
pub(super) mod base64_bytes {
    use super::{Deserialize, Deserializer, Serializer};
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    pub(in crate::hooks) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(in crate::hooks) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?.unwrap_or_default();
        STANDARD.decode(text).map_err(serde::de::Error::custom)
    }
}

/// A request: settings, the given fields, and whatever else came.
macro_rules! request {
    ($(#[$about:meta])* $name:ident { $($(#[$meta:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            /// Kind and version.
            #[serde(flatten)]
            pub type_meta: crate::hooks::TypeMeta,
            /// Settings of the ExtensionConfig, overridden by those of the reference in the ClusterClass.
            #[serde(default, skip_serializing_if = "crate::Settings::is_empty")]
            pub settings: crate::Settings,
            $($(#[$meta])* pub $field: $type,)*
            /// Fields of a newer Cluster API.
            #[serde(flatten)]
            pub unknown: serde_json::Map<String, serde_json::Value>,
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                #[serde(rename_all = "camelCase")]
                struct $name {
                    #[serde(default)]
                    kind: String,
                    #[serde(default)]
                    api_version: String,
                    #[serde(default)]
                    settings: crate::Settings,
                    $($(#[$meta])* $field: $type,)*
                }
                let (known, unknown): ($name, _) = crate::decode::with_unknown(deserializer)?;
                let type_meta = crate::hooks::TypeMeta { kind: known.kind, api_version: known.api_version };
                Ok(Self { type_meta, settings: known.settings, $($field: known.$field,)* unknown })
            }
        }

        impl crate::hooks::Request for $name {
            fn type_meta(&self) -> &crate::hooks::TypeMeta {
                &self.type_meta
            }
        }
    };
}

/// A response: status, message, the given fields, and whatever else a newer version has.
macro_rules! response {
    ($(#[$about:meta])* $name:ident { $($(#[$meta:meta])* $field:ident: $type:ty,)* }) => {
        crate::hooks::common::response! { $(#[$about])* $name { $($(#[$meta])* $field: $type,)* } retry |_| 0 }
    };
    (
        $(#[$about:meta])*
        $name:ident { $($(#[$meta:meta])* $field:ident: $type:ty,)* } retry |$response:pat_param| $retry:expr
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            /// Kind and version.
            #[serde(flatten)]
            pub type_meta: crate::hooks::TypeMeta,
            /// How the call ended.
            pub status: crate::hooks::ResponseStatus,
            /// Why. Shown in conditions: the same for the same request.
            #[serde(default, skip_serializing_if = "String::is_empty")]
            pub message: String,
            $($(#[$meta])* pub $field: $type,)*
            /// Fields of a newer Cluster API.
            #[serde(flatten)]
            pub unknown: serde_json::Map<String, serde_json::Value>,
        }

        impl crate::hooks::Response for $name {
            fn set_status(&mut self, status: crate::hooks::ResponseStatus, message: String) {
                self.status = status;
                self.message = message;
            }

            fn status(&self) -> (crate::hooks::ResponseStatus, &str) {
                (self.status, &self.message)
            }

            fn set_type(&mut self, hook: &str) {
                self.type_meta = crate::hooks::TypeMeta {
                    kind: format!("{hook}Response"),
                    api_version: crate::hooks::GROUP_VERSION.to_owned(),
                };
            }

            fn retry_after_seconds(&self) -> i32 {
                let $response = self;
                $retry
            }
        }
    };
}

/// A hook whose response may be "call again later".
macro_rules! blocking_hook {
    ($(#[$about:meta])* $hook:ident, $request:ident, $response:ident) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $hook;

        crate::hooks::common::response! {
            #[doc = concat!("Response of [`", stringify!($hook), "`].")]
            $response {
                /// Call again after this many seconds; 0: continue.
                retry_after_seconds: i32,
            } retry |response| response.retry_after_seconds
        }

        impl crate::hooks::Hook for $hook {
            const NAME: &'static str = stringify!($hook);
            const BLOCKING: bool = true;
            type Request = $request;
            type Response = $response;
            type Output = crate::Decision;

            fn respond(output: crate::Decision) -> $response {
                let (retry_after_seconds, message) = output.into_wire();
                $response { retry_after_seconds, message, ..$response::default() }
            }
        }
    };
}

pub(super) use {blocking_hook, request, response};
