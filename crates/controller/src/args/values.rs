//! Values of flags: what was typed, parsed once into what cannot be wrong.

use jiff::SignedDuration;
use std::net::SocketAddr;
use std::time::Duration;

/// An address and port; without an address (`:9440`) it is every address of the machine, of IPv6 and of IPv4, as Go
/// programs have it.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let full = if text.starts_with(':') { format!("[::]{text}") } else { text.to_owned() };
    full.parse().map_err(|_| format!("{text}: not an address and port"))
}

/// A duration as Kubernetes components take it: `90s`, `10m`, `1h`, `500ms`, or several of these in a row. Never zero.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let parsed: Option<SignedDuration> = text.parse().ok();
    let positive = parsed.and_then(|it| Duration::try_from(it).ok()).filter(|it| !it.is_zero());
    positive.ok_or_else(|| format!("{text}: not a duration such as 30s, 10m or 1h"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_host_is_every_address() {
        assert_eq!(address(":9440").unwrap().to_string(), "[::]:9440");
        assert_eq!(address("127.0.0.1:1").unwrap().to_string(), "127.0.0.1:1");
        assert!(address("9440").is_err());
    }

    #[test]
    fn durations_have_the_format_of_other_components() {
        assert_eq!(duration("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        for bad in ["", "5", "s", "5d", "0s", "-1s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
