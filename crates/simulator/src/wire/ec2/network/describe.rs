//! What all Describe calls of networking have in common: ids, filters, pages.

use super::parse::fields::only;
use crate::core::error::AwsResult;
use crate::core::network::part::Part;
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::filters::Filters;
use crate::wire::operation::Caller;
use crate::wire::paging::{Page, Paging};
use crate::wire::xml::Xml;
use std::borrow::Cow;

/// A kind of parts with a Describe call.
pub(super) trait Shown: Part {
    /// Name of the list in the response.
    const SET: &'static str;
    /// Name of the parameter with ids.
    const IDS: &'static str;
    /// Other parameters than ids, filters and pages.
    const ALSO: &'static [&'static str] = &[];
    /// Bounds of a page; `None`: the call has no pages.
    const PAGES: Option<Paging> = Some(PAGING);
    /// Names of filters, except those about tags.
    const FILTERS: &'static [&'static str];

    /// Its values for a filter.
    fn values(&self, filter: &str, region: &Region) -> Vec<String>;
    /// Whether the call's other parameters select it.
    fn asked(&self, _: &Params) -> bool {
        true
    }
    /// Writes the inside of an element of the list.
    fn write(&self, xml: &mut Xml, region: &Region);
}

/// Bounds of MaxResults in most Describe calls.
pub(super) const PAGING: Paging = Paging { limit: "MaxResults", default: 1_000, min: 5, max: 1_000 };

/// A Describe call.
pub(super) fn describe<T: Shown>(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let mut known = vec![T::IDS, "Filter"];
    known.extend(T::ALSO);
    known.extend(T::PAGES.iter().flat_map(|_| ["MaxResults", "NextToken"]));
    only(params, &known)?;
    let page = Page::of(params, &T::PAGES.unwrap_or(PAGING))?;
    let filters = Filters::ec2(params)?.only(T::FILTERS)?;
    let ids = params.texts(T::IDS);
    let region: &Region = region;
    let found: Vec<Cow<'_, T>> =
        if ids.is_empty() { region.parts_seen::<T>().collect() } else { region.parts_by_id::<T>(&ids)? };
    let entries = found
        .into_iter()
        .filter(|part| part.asked(params))
        .filter(|part| filters.match_with(part.tags(), |name| part.values(name, region)))
        .filter(|part| page.after.as_ref().is_none_or(|after| &part.id().to_string() > after));
    let (found, next) = page.take(entries, |part| part.id().to_string());
    xml.list(T::SET, "item", found, |xml, part| part.write(xml, region));
    xml.optional("nextToken", next);
    Ok(())
}

/// Values of a filter with one value.
#[expect(clippy::needless_pass_by_value, reason = "values and references to them are given")]
pub(super) fn one(value: impl ToString) -> Vec<String> {
    vec![value.to_string()]
}

/// Values of a filter with one value for each item.
pub(super) fn each<T>(things: impl IntoIterator<Item = T>, value: impl Fn(T) -> String) -> Vec<String> {
    things.into_iter().map(value).collect()
}
