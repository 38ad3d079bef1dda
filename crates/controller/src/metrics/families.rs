//! Families of metrics that are written while a scrape is encoded.

use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use std::fmt;

/// Writes a family of metrics of this type.
pub(super) fn family<L: EncodeLabelSet, M: EncodeMetric>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    of_type: MetricType,
    members: impl IntoIterator<Item = (L, M)>,
) -> fmt::Result {
    let mut family = encoder.encode_descriptor(name, help, None, of_type)?;
    members.into_iter().try_for_each(|(labels, metric)| metric.encode(family.encode_family(&labels)?))
}

/// Writes a family of gauges.
pub(super) fn gauges<L: EncodeLabelSet, V: EncodeGaugeValue>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    members: impl IntoIterator<Item = (L, V)>,
) -> fmt::Result {
    let members = members.into_iter().map(|(labels, value)| (labels, ConstGauge::new(value)));
    family(encoder, name, help, MetricType::Gauge, members)
}

/// Writes a family of counters.
pub(super) fn counters<L: EncodeLabelSet>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    members: impl IntoIterator<Item = (L, u64)>,
) -> fmt::Result {
    let members = members.into_iter().map(|(labels, count)| (labels, ConstCounter::new(count)));
    family(encoder, name, help, MetricType::Counter, members)
}
