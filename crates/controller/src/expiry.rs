//! Until when credentials are valid, read from certificates and tokens.
//!
//! Nothing is verified here; the server that accepts the credentials does that. Of a certificate only this
//! one field is read.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

const SEQUENCE: u8 = 0x30;
/// `[0]`, which contains the version of a certificate.
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// `notAfter` of the first certificate in PEM text (RFC 5280, 4.1), which is the owner's certificate.
pub(crate) fn of_certificate(pem: &str) -> Option<Timestamp> {
    let (_, rest) = pem.split_once("-----BEGIN CERTIFICATE-----")?;
    let (body, _) = rest.split_once("-----END CERTIFICATE-----")?;
    let body: String = body.split_whitespace().collect();
    not_after(&STANDARD.decode(body).ok()?)
}

/// `exp` of a token that is a JWT, as tokens of ServiceAccounts are (RFC 7519, 4.1.4).
pub(crate) fn of_token(token: &str) -> Option<Timestamp> {
    let mut parts = token.trim().split('.');
    let (_header, claims, _signature) = (parts.next()?, parts.next()?, parts.next()?);
    let claims = URL_SAFE_NO_PAD.decode(claims.trim_end_matches('=')).ok()?;
    let claims: serde_json::Value = serde_json::from_slice(&claims).ok()?;
    Timestamp::from_second(claims.get("exp")?.as_i64()?).ok()
}

fn not_after(der: &[u8]) -> Option<Timestamp> {
    let certificate = Der(der).expect_tag(SEQUENCE)?;
    let mut fields = Der(Der(certificate).expect_tag(SEQUENCE)?);
    // A certificate of version 1 begins with its serial number.
    if fields.next()?.0 == VERSION {
        fields.next()?;
    }
    let (_signature_algorithm, _issuer) = (fields.next()?, fields.next()?);
    let mut validity = Der(fields.expect_tag(SEQUENCE)?);
    let _not_before = validity.next()?;
    let (tag, text) = validity.next()?;
    time(tag, std::str::from_utf8(text).ok()?)
}

/// `YYMMDDHHMMSSZ` or `YYYYMMDDHHMMSSZ`.
fn time(tag: u8, text: &str) -> Option<Timestamp> {
    let digits = text.strip_suffix('Z')?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = digits.split_at_checked(2)?;
            let year: i16 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = digits.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let part = |at: usize| rest.get(at..at + 2)?.parse::<i8>().ok();
    let at = DateTime::new(year, part(0)?, part(2)?, part(4)?, part(6)?, part(8)?, 0).ok()?;
    Some(at.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// The DER bytes that are not read yet.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// Tag and content of the next value.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (tag, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = if *first < 0x80 {
            (usize::from(*first), rest)
        } else {
            let (digits, rest) = rest.split_at_checked(usize::from(*first & 0x7f))?;
            // No certificate has 4 GB.
            if digits.len() > 4 {
                return None;
            }
            (digits.iter().fold(0_usize, |length, digit| length << 8 | usize::from(*digit)), rest)
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*tag, content))
    }

    fn expect_tag(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, content)| content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Self-signed, P-256, good until 2027-03-04 05:06:07 UTC.
    const UNTIL_2027: &str = "-----BEGIN CERTIFICATE-----
MIIBBTCBrAIBATAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDAR0ZXN0MB4XDTI2MDEw
MTAwMDAwMFoXDTI3MDMwNDA1MDYwN1owDzENMAsGA1UEAwwEdGVzdDBZMBMGByqG
SM49AgEGCCqGSM49AwEHA0IABHfukc/jrG7CVyJXcTXtyJgvVFmurrdzFoVG1iKa
veyKTtErDe/65qKQV8iNGnQaEBZ6Mb7I7kx+evP/88m27GAwCgYIKoZIzj0EAwID
SAAwRQIhAMpfcsTCFO1AK39DMpGNBk2tyALHATbkO3lappkHpmJYAiBbfyivfRD8
CGRnuqPtcYrt99eHJhEu2GMNz7wV9RIR+A==
-----END CERTIFICATE-----";
    /// The same until 2061-01-01 00:00:00 UTC, which takes the longer form.
    const UNTIL_2061: &str = "-----BEGIN CERTIFICATE-----
MIIBCDCBrgIBAjAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDAR0ZXN0MCAXDTI2MDEw
MTAwMDAwMFoYDzIwNjEwMTAxMDAwMDAwWjAPMQ0wCwYDVQQDDAR0ZXN0MFkwEwYH
KoZIzj0CAQYIKoZIzj0DAQcDQgAEd+6Rz+OsbsJXIldxNe3ImC9UWa6ut3MWhUbW
Ipq97IpO0SsN7/rmopBXyI0adBoQFnoxvsjuTH568//zybbsYDAKBggqhkjOPQQD
AgNJADBGAiEA11a5GogmCSDZockxtlk7fNAgG+RTwAYehvInPcIA3WACIQD2oZC/
l5q/y8fY57fEoRI9yCPH0+z7wPmtytTrwQrCNw==
-----END CERTIFICATE-----";

    #[test]
    fn the_expiry_of_a_certificate_is_read() {
        let until = |pem: &str| of_certificate(pem).map(|at| at.to_string());
        assert_eq!(until(UNTIL_2027).as_deref(), Some("2027-03-04T05:06:07Z"));
        assert_eq!(until(UNTIL_2061).as_deref(), Some("2061-01-01T00:00:00Z"));
        // In a chain the first is the owner's.
        assert_eq!(until(&format!("{UNTIL_2061}\n{UNTIL_2027}")), until(UNTIL_2061));
    }

    #[test]
    fn other_data_have_no_expiry() {
        assert_eq!(of_certificate(""), None);
        assert_eq!(of_certificate("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"), None);
        let der =
            STANDARD.decode(UNTIL_2027.lines().filter(|line| !line.contains("---")).collect::<String>());
        let der = der.unwrap();
        assert!(not_after(&der).is_some());
        for end in 0..150 {
            assert_eq!(not_after(&der[..end]), None, "cut at {end}");
        }
        let _ = not_after(&[0x30, 0xff, 0xff]);
        let _ = not_after(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0]);
    }

    #[test]
    fn the_expiry_of_a_token_is_read_if_it_is_a_jwt() {
        let jwt = |claims: &str| format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims));
        assert_eq!(of_token(&jwt(r#"{"exp":1800000000}"#)).map(Timestamp::as_second), Some(1_800_000_000));
        assert_eq!(of_token(&jwt("{}")), None);
        assert_eq!(of_token("an-opaque-token"), None);
        assert_eq!(of_token("a.b.c"), None);
    }
}
