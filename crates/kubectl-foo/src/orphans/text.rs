//! Prints resources that belong to nothing.

use super::owner::{Orphan, Orphans};
use crate::text::{line, table};

/// The orphans as text. Ends with a new line.
pub fn text(found: &Orphans) -> String {
    let mut text = String::new();
    let row = |it: &Orphan| {
        let Orphan { region, cluster, kind, id, why, price } = it.clone();
        [region, cluster, kind, id, price.name().to_owned(), why]
    };
    let rows = found.orphans.iter().map(row).collect();
    let lines = table(["REGION", "CLUSTER", "TYPE", "ID", "PRICE", "WHY"], rows);
    if lines.is_empty() {
        line(&mut text, &format!("no orphans in {}", found.regions.join(", ")));
    }
    for one in &lines {
        line(&mut text, one);
    }
    match found.of_other_installations {
        0 => {}
        1 => line(&mut text, "1 more belongs to another management cluster"),
        more => line(&mut text, &format!("{more} more belong to other management clusters")),
    }
    text
}
