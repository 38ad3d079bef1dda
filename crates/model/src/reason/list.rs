//! The list of reasons, one file for each kind of object. Each entry: reason, class, where it is shown; then what it means; then what to
//! do.
//!
//! The files' order, and that of the entries in them, is the order of the documentation.

mod aws_calls;
mod cluster;
mod control_plane;
mod credentials;
mod eks;
mod identity;
mod machine;
mod node_config;
mod pool_conditions;
mod pool_ready;

use super::{Class, Entry, Place};
use aws_calls::aws_calls;
use cluster::cluster;
use control_plane::control_plane;
use credentials::credentials;
use eks::eks;
use identity::identity;
use machine::machine;
use node_config::node_config;
use pool_conditions::pool_conditions;
use pool_ready::pool_ready;
use serde::{Deserialize, Serialize};

/// A condition and its status.
pub type Shown = (Place, &'static str);

macro_rules! reasons {
    ($($name:ident $class:ident [$($place:ident $status:ident),+] $meaning:literal $action:literal)+) => {
        /// Why a condition has its status: CamelCase, what is the case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Reason {
            $(#[doc = $meaning] $name,)+
        }

        impl Reason {
            /// Its text.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }

            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// What the documentation says of it.
            pub const fn entry(self) -> Entry {
                match self {
                    $(Self::$name => Entry {
                        class: Class::$class,
                        shown: &[$((Place::$place, stringify!($status))),+],
                        meaning: $meaning,
                        action: $action,
                    },)+
                }
            }
        }
    };
}

/// Brings the entries of all files together: each file adds its own and passes them on to the next.
macro_rules! all {
    ([] $($entries:tt)*) => {
        reasons! { $($entries)* }
    };
    ([$file:ident $($rest:ident)*] $($entries:tt)*) => {
        $file! { [$($rest)*] $($entries)* }
    };
}

all! {
    [aws_calls pool_ready credentials pool_conditions machine cluster identity control_plane eks node_config]
}
