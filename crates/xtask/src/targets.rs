//! Platforms of released programs: rustc's targets, with the names of operating systems and architectures that Go, and
//! with it Krew and container images, use.

/// A target, its operating system and its architecture.
pub(crate) const PLATFORMS: [(&str, &str, &str); 4] = [
    ("x86_64-unknown-linux-musl", "linux", "amd64"),
    ("aarch64-unknown-linux-musl", "linux", "arm64"),
    ("x86_64-apple-darwin", "darwin", "amd64"),
    ("aarch64-apple-darwin", "darwin", "arm64"),
];

/// Targets of Linux, with their architectures.
pub(crate) fn linux() -> impl Iterator<Item = (&'static str, &'static str)> {
    PLATFORMS.into_iter().filter(|(_, system, _)| *system == "linux").map(|(target, _, it)| (target, it))
}
