//! Reasons of a FooClusterIdentity. `reason/list.rs` says what each line has.

macro_rules! identity {
    ([$($rest:ident)*] $($before:tt)*) => {
        all! {
            [$($rest)*]
            $($before)*

            // FooClusterIdentity.
            Complete Good [IdentityReady True]
            "the manager has all parts of its credentials. Whether AWS accepts them is said by the FooClusters and pools that use them"
            ""

            InUse NeedsUser [IdentityDeleting True]
            "FooClusters use it; the message names them"
            "delete them first, or reference another identity there"
        }
    };
}
pub(super) use identity;
