//! The syntax of small texts: labels, quantities, durations, paths.

/// Whether this is a label's key (Kubernetes, "Labels and Selectors", "Syntax and character set").
pub(crate) fn is_label_key(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    prefix.is_none_or(is_dns_subdomain) && !name.is_empty() && is_label_value(name)
}

/// Whether this is a label's value.
pub(crate) fn is_label_value(value: &str) -> bool {
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let bytes = value.as_bytes();
    let ends = bytes.first().into_iter().chain(bytes.last()).all(u8::is_ascii_alphanumeric);
    bytes.len() <= 63 && ends && bytes.iter().copied().all(inner)
}

/// Kubernetes, "Object Names and IDs".
fn is_dns_subdomain(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_part = |part: &str| {
        part.starts_with(plain) && part.ends_with(plain) && part.chars().all(|c| plain(c) || c == '-')
    };
    text.len() <= 253 && text.split('.').all(is_part)
}

/// Labels in Kubernetes' own namespaces that a kubelet may set on its Node (`kubelet/pkg/apis/well_known_labels.go`).
const KUBELET_LABELS: [&str; 11] = [
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
];

/// Whether a kubelet starts with this label: with others of Kubernetes' namespaces it ends with "unknown
/// 'kubernetes.io' or 'k8s.io' labels specified with --node-labels".
pub(crate) fn may_kubelet_set(key: &str) -> bool {
    let Some((namespace, _)) = key.split_once('/') else { return true };
    let within = |domain: &str| {
        namespace == domain || namespace.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
    };
    let reserved = within("kubernetes.io") || within("k8s.io");
    !reserved
        || KUBELET_LABELS.contains(&key)
        || within("kubelet.kubernetes.io")
        || within("node.kubernetes.io")
}

/// Whether this is a quantity that the kubelet and Bottlerocket both accept: `100m`, `1.5`, `2Gi`.
pub(crate) fn is_quantity(text: &str) -> bool {
    const UNITS: [&str; 14] = ["", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(number.len()..).unwrap_or_default();
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    text.len() <= 32 && UNITS.contains(&unit) && digits(whole) && digits(fraction)
}

/// Whether this is a threshold for evictions: a quantity, or a percentage from 0 to below 100.
pub(crate) fn is_threshold(text: &str) -> bool {
    match text.strip_suffix('%') {
        Some(percent) => {
            percent.bytes().all(|b| b.is_ascii_digit() || b == b'.')
                && percent.parse::<f64>().is_ok_and(|percent| (0.0..100.0).contains(&percent))
        }
        None => is_quantity(text),
    }
}

/// Milliseconds of a duration like `1h2m3s4ms`: what both Go and Bottlerocket accept, without fractions.
pub(crate) fn milliseconds(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
    let mut rest = text;
    let mut units = UNITS.iter();
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest.get(..digits)?.parse().ok()?;
        rest = rest.get(digits..)?;
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let unit = rest.get(..letters)?;
        rest = rest.get(letters..)?;
        let (_, worth) = units.find(|(name, _)| *name == unit)?;
        total = total.checked_add(number.checked_mul(*worth)?)?;
    }
    (!text.is_empty()).then_some(total)
}

/// Whether this is an absolute path of a file, without anything that could lead elsewhere or ends a line.
pub(crate) fn is_file_path(path: &str) -> bool {
    let part = |part: &str| !part.is_empty() && part != "." && part != "..";
    path.len() <= 1024
        && !path.chars().any(char::is_control)
        && path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(part))
}

/// Whether this is `user` or `user:group`.
pub(crate) fn is_owner(owner: &str) -> bool {
    let name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'))
    };
    owner.len() <= 65 && owner.splitn(2, ':').all(name)
}

/// Whether these are permissions in octal digits, three or four.
pub(crate) fn is_permissions(text: &str) -> bool {
    matches!(text.len(), 3 | 4) && text.bytes().all(|b| matches!(b, b'0'..=b'7'))
}

/// Whether this names a registry: a host with or without a port, or `*`.
pub(crate) fn is_registry(text: &str) -> bool {
    let (host, port) = text.split_once(':').unwrap_or((text, "0"));
    text == "*" || (is_dns_subdomain(host) && port.parse::<u16>().is_ok())
}

/// The text as one word of a POSIX shell, whatever is in it (but NUL, which no word can have).
pub(crate) fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The words of a line of a script in which every word is a [`shell_word`].
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            '\\' if !quoted => word.get_or_insert_default().extend(rest.next()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(is: fn(&str) -> bool, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(is(text), "{text}");
        }
        for text in bad {
            assert!(!is(text), "{text}");
        }
    }

    #[test]
    fn keys_of_labels() {
        let long = "a".repeat(63);
        let too_long = "a".repeat(64);
        check(
            is_label_key,
            &["a", "A_b.c-9", "a.b/c", &long],
            &["", "/", "a/", "/a", "-a", "a-", "A.b/c", "a/b/c", "a b", "a\n", "ä", &too_long],
        );
    }

    #[test]
    fn values_of_labels() {
        check(is_label_value, &["", "a", "A_b.c-9"], &["-", "a-", ".a", "a/b", "a,b", "a=b", "a\n"]);
    }

    #[test]
    fn labels_that_kubelets_may_set() {
        check(
            may_kubelet_set,
            &[
                "a",
                "example.com/a",
                "node.kubernetes.io/role",
                "x.node.kubernetes.io/role",
                "kubernetes.io/arch",
                "node.cluster.x-k8s.io/a",
                "notkubernetes.io/a",
            ],
            &["node-role.kubernetes.io/worker", "kubernetes.io/role", "k8s.io/a", "a.k8s.io/b"],
        );
    }

    #[test]
    fn quantities_and_thresholds() {
        check(
            is_quantity,
            &["1", "100m", "1.5", "2Gi", "128974848", "1k"],
            &["", "Gi", "1.", ".5", "1ki", "-1", "1 Gi", "1e3m", "10%"],
        );
        check(
            is_threshold,
            &["10%", "0%", "2.5%", "100Mi"],
            &["100%", "%", "-1%", "inf%", "NaN%", "1e1%", "abc"],
        );
    }

    #[test]
    fn durations() {
        assert_eq!(milliseconds("1h2m3s4ms"), Some(3_723_004));
        assert_eq!(milliseconds("90s"), Some(90_000));
        assert_eq!(milliseconds("0s"), Some(0));
        for bad in ["", "1", "s", "1m2h", "1s1s", "1.5h", "9ns", "-1s", "1s ", "99999999999999999999s"] {
            assert_eq!(milliseconds(bad), None, "{bad}");
        }
    }

    #[test]
    fn paths_owners_permissions_registries() {
        check(
            is_file_path,
            &["/a", "/etc/a b"],
            &["", "/", "a", "/a/", "/a//b", "/a/../b", "/./a", "/a\nb", "/a\0"],
        );
        check(is_owner, &["root", "root:root", "_x:y-1"], &["", ":", "root:", "Root", "a:b:c", "a b", "0"]);
        check(is_permissions, &["644", "0644", "1777"], &["", "64", "00644", "0888", "u+x"]);
        check(
            is_registry,
            &["docker.io", "localhost:5000", "*"],
            &["", "https://a", "a/b", "a:b", "a:", "../x", "*.a"],
        );
    }

    /// Words that a shell would change.
    const NASTY: [&str; 7] = ["", "a b", "it's", "'", "$(x) `y` \"z\" \\", "a\nb", "''\\''"];

    #[test]
    fn words_of_a_line_are_read_as_they_were() {
        let line: Vec<String> = NASTY.iter().map(|word| shell_word(word)).collect();
        assert_eq!(words(&line.join(" ")), NASTY);
        assert_eq!(words("  a  b "), ["a", "b"]);
    }

    #[test]
    fn a_shell_reads_a_word_as_it_was() {
        for text in NASTY {
            let script = format!("printf %s {}", shell_word(text));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
        }
    }
}
