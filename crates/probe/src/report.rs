//! The page "believed, seen".

use crate::belief::Seen;
use crate::redact::redacted;
use crate::run::{Finding, Outcome};
use crate::scene::RunId;
use std::fmt::Write as _;

/// The report of a run in a region, as a page of Markdown. It contains nothing that identifies the account.
pub fn report(outcome: &Outcome, run: &RunId, region: &str) -> String {
    let Outcome { findings, cleaned } = outcome;
    let count = |is: fn(&Seen) -> bool| findings.iter().filter(|finding| is(&finding.seen)).count();
    let as_believed = count(|seen| matches!(seen, Seen::AsBelieved(_)));
    let otherwise = count(|seen| matches!(seen, Seen::Otherwise(_)));
    let unknown = count(|seen| matches!(seen, Seen::Unknown(_)));
    let mut page = format!(
        "# Believed and seen\n\nRun {run} in {region}: {as_believed} as believed, {otherwise} otherwise, {unknown} \
         unknown.\n\n| Id | Believed | Seen | Verdict |\n|---|---|---|---|\n"
    );
    for Finding { id, rule, seen } in findings {
        let (seen, verdict) = match seen {
            Seen::AsBelieved(text) => (text, "as believed"),
            Seen::Otherwise(text) => (text, "**otherwise**"),
            Seen::Unknown(text) => (text, "unknown"),
        };
        // Writing to a String does not fail.
        let _ = writeln!(page, "| `{id}` | {} | {} | {verdict} |", cell(rule), cell(&redacted(seen)));
    }
    for left in &cleaned.left {
        let _ = writeln!(page, "\nLeft in AWS: {}", redacted(left));
    }
    page
}

/// Text in a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
