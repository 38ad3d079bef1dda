//! Why a node's configuration is not rendered.

use serde::{Deserialize, Serialize};

/// One mistake in the input, as a message for the user who wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{field}: {message}")]
pub struct InputRefusal {
    /// Where: the path of the field in a FooNodeConfig's spec, or `cluster.…` for a fact of the cluster.
    pub field: String,
    /// What kind of thing it is.
    pub kind: RefusalKind,
    /// A sentence without the field.
    pub message: String,
}

/// What kind of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
pub enum RefusalKind {
    /// The value does not have the form that it must have.
    Invalid,
    /// The value is right, but nodes of this family cannot have it.
    Unsupported,
    /// Two fields concern the same setting.
    SetTwice,
    /// The user data is longer than EC2 accepts.
    TooLong,
}

/// The refusals found so far: users see all of them at once.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Vec<InputRefusal>);

impl Refusals {
    /// The value of this field does not have the form that it must have.
    pub(crate) fn invalid(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push(InputRefusal {
            field: field.into(),
            kind: RefusalKind::Invalid,
            message: message.into(),
        });
    }

    /// Nodes of this family cannot have this field.
    pub(crate) fn unsupported(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push(InputRefusal {
            field: field.into(),
            kind: RefusalKind::Unsupported,
            message: message.into(),
        });
    }

    /// Another field concerns the same setting.
    pub(crate) fn set_twice(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.0.push(InputRefusal {
            field: field.into(),
            kind: RefusalKind::SetTwice,
            message: message.into(),
        });
    }

    /// The value, if nothing was refused.
    pub(crate) fn or<T>(self, value: Option<T>) -> Result<T, Vec<InputRefusal>> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            Some(_) | None => Err(self.0),
        }
    }
}
