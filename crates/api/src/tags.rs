//! Rules of tags that users write, whatever has them.

use kube::core::Rule;

/// The keys of AWS and of the provider. Networks have [more](crate::cluster).
pub(crate) fn reserved_keys() -> Rule {
    Rule::new("self.all(key, !key.startsWith('aws:') && !key.startsWith('infrastructure.foo.com/'))")
        .message("tags must not begin with aws: or infrastructure.foo.com/")
}

/// What AWS takes as a key.
pub(crate) fn lengths_of_keys() -> Rule {
    Rule::new("self.all(key, size(key) >= 1 && size(key) <= 128)")
        .message("keys of tags must have 1 to 128 characters")
}

/// EC2 refuses them or changes them.
pub(crate) fn no_control_characters() -> Rule {
    Rule::new(
        r"self.all(key, !key.matches('[\\x00-\\x1f\\x7f]') && !self[key].matches('[\\x00-\\x1f\\x7f]'))",
    )
    .message("tags must not contain control characters")
}
