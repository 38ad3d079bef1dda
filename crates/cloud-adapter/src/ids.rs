//! Unknown ids in an EC2 request for many.

use std::collections::BTreeSet;

/// The batches that replace one that EC2 refused because of an unknown id: the other ids, if its message
/// names the unknown ones, otherwise halves, until the unknown id is alone. The message is only searched for
/// ids of the batch.
pub(crate) fn without_unknown<'a>(batch: &[&'a str], message: &str) -> Vec<Vec<&'a str>> {
    let words: BTreeSet<&str> = message
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty())
        .collect();
    let rest: Vec<&str> = batch.iter().copied().filter(|id| !words.contains(id)).collect();
    let parts = if rest.len() < batch.len() {
        vec![rest]
    } else if batch.len() <= 1 {
        Vec::new()
    } else {
        let (left, right) = batch.split_at(batch.len() / 2);
        vec![left.to_vec(), right.to_vec()]
    };
    parts.into_iter().filter(|part| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_ids_are_dropped_by_name_or_found_by_halving() {
        let batch = ["i-0a", "i-0b", "i-0c", "i-0d"];
        let named = without_unknown(&batch, "The instance IDs 'i-0b, i-0d' do not exist");
        assert_eq!(named, [["i-0a", "i-0c"]]);
        assert_eq!(
            without_unknown(&batch, "Some of them do not exist"),
            [["i-0a", "i-0b"], ["i-0c", "i-0d"]]
        );
        assert_eq!(without_unknown(&batch[..1], "It does not exist"), Vec::<Vec<&str>>::new());
        assert_eq!(without_unknown(&batch[..1], "Invalid id: \"i-0a\""), Vec::<Vec<&str>>::new());
        assert_eq!(without_unknown(&batch[..2], "The instance ID 'i-0abc' does not exist").len(), 2);
    }
}
