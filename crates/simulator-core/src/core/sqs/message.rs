//! One message.

use foo_model::Timestamp;
use md5::{Digest as _, Md5};
use std::fmt::Write as _;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its id, the same at each receive.
    pub id: String,
    /// Its text.
    pub body: String,
    /// When it was sent.
    pub sent: Timestamp,
    /// How often it was received.
    pub received: u32,
    /// When it was first received.
    pub first_received: Option<Timestamp>,
    /// The receipt handle of the latest receive.
    pub receipt: Option<String>,
    /// From when it can be received.
    pub visible_from: Timestamp,
}

impl Message {
    /// MD5 of the text in hexadecimal: clients check it.
    pub fn md5(&self) -> String {
        Md5::digest(self.body.as_bytes()).iter().fold(String::new(), |mut out, byte| {
            // Writing to a String cannot fail.
            let _ = write!(out, "{byte:02x}");
            out
        })
    }
}
