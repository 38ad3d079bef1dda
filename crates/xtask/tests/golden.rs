//! The generated files in the repository are what the code says.

#[test]
fn generated_files_are_up_to_date() {
    let root = xtask::root();
    for file in xtask::generate::files().unwrap() {
        let there = std::fs::read_to_string(root.join(&file.path)).unwrap_or_default();
        similar_asserts::assert_eq!(there, file.text, "{}: run `cargo xtask generate`", file.path);
    }
    // The same once more, as a user runs it; it also finds files that nothing generates any more.
    xtask::generate::check(&root).unwrap();
}
