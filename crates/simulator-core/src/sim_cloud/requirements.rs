//! Attributes of instance types, in `foo_model` and as a document.

use crate::core::document::Document;
use foo_model::requirements::{Bounds, Feature, List, PriceLimit, Range, Requirements};
use std::collections::BTreeSet;
use strum::IntoEnumIterator as _;

/// In the names of Auto Scaling's requests.
pub(super) fn document_of(requirements: &Requirements) -> Document {
    let Requirements { ranges, lists, features, prices } = requirements;
    let mut document = Document::map();
    for (range, Bounds { min, max }) in ranges {
        let bounds =
            Document::map().with("Min", min.map(Document::text)).with("Max", max.map(Document::text));
        document.set(range.into(), bounds);
    }
    for (list, values) in lists {
        document.set(list.into(), Document::List(values.iter().map(Document::text).collect()));
    }
    for (feature, inclusion) in features {
        document.set(feature.into(), Document::text(<&str>::from(inclusion)));
    }
    for (limit, percentage) in prices {
        document.set(limit.into(), Document::text(percentage));
    }
    document
}

/// What `foo_model` expresses of a document.
pub(super) fn requirements_of(document: &Document) -> Requirements {
    let bounds = |range: Range| {
        let name = range.into();
        let number = |end| document.get_text(&[name, end])?.parse().ok();
        document.get(&[name]).map(|_| (range, Bounds { min: number("Min"), max: number("Max") }))
    };
    let list = |list: List| {
        let values: BTreeSet<String> = document.get_texts(&[list.into()]).into_iter().collect();
        (list, values)
    };
    let feature = |feature: Feature| Some((feature, document.get_text(&[feature.into()])?.parse().ok()?));
    let price = |limit: PriceLimit| Some((limit, document.get_text(&[limit.into()])?.parse().ok()?));
    Requirements {
        ranges: Range::iter().filter_map(bounds).collect(),
        lists: List::iter().map(list).collect(),
        features: Feature::iter().filter_map(feature).collect(),
        prices: PriceLimit::iter().filter_map(price).collect(),
    }
    .without_defaults()
}
