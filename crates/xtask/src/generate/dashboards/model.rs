//! What a dashboard is, without Grafana's details.

/// A dashboard.
pub(super) struct Dashboard {
    /// Name of its file, without the ending.
    pub(super) file: &'static str,
    pub(super) title: &'static str,
    /// What it shows.
    pub(super) about: &'static str,
    pub(super) variables: Vec<Variable>,
    pub(super) rows: Vec<Row>,
}

/// What a user chooses besides the data source.
#[derive(Clone, Copy)]
pub(super) enum Variable {
    /// The namespaces of the managers: one, or the three of clusterctl.
    Namespace,
    /// The namespaces of the objects, from kube-state-metrics.
    ObjectNamespace,
    /// The controllers of the manager.
    Controller,
    /// AWS's services.
    Service,
}

/// Panels under a heading.
pub(super) struct Row {
    pub(super) title: &'static str,
    pub(super) panels: Vec<Panel>,
}

/// One panel.
pub(super) struct Panel {
    pub(super) title: &'static str,
    /// What it shows, what a bad value means, what to do.
    pub(super) about: &'static str,
    pub(super) view: View,
    pub(super) unit: Unit,
    pub(super) bounds: Bounds,
    pub(super) queries: Vec<Query>,
    /// The heading of docs/operations/metrics.md that says more.
    pub(super) more: Option<&'static str>,
}

/// One query of a panel.
pub(super) struct Query {
    pub(super) expression: String,
    /// The name of each series, with labels in double braces.
    pub(super) legend: &'static str,
}

/// How a panel shows its values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum View {
    /// The last value of each series, as a number.
    Number,
    /// Lines over time.
    Lines,
    /// Lines over time, one upon the other.
    Stack,
    /// The buckets of a histogram over time.
    Heat,
    /// A row for each series of now, with its labels.
    Table,
}

/// The unit of a panel's values, by Grafana's ids.
#[derive(Clone, Copy)]
pub(super) enum Unit {
    Count,
    Seconds,
    /// 0 to 1.
    Share,
    /// 0 to 100.
    Percent,
    PerSecond,
    Bytes,
    /// Seconds since 1970.
    Moment,
    /// CPUs, and other plain numbers.
    Plain,
}

/// From which value on one is to be worried, and alarmed.
#[derive(Clone, Copy)]
pub(super) enum Bounds {
    /// No value is bad by itself.
    Any,
    /// High ones are bad.
    Above(f64, f64),
    /// Low ones are bad: below the first alarmed, below the second worried.
    Below(f64, f64),
}

/// A panel without more to read.
pub(super) fn panel(title: &'static str, view: View, unit: Unit, about: &'static str) -> Panel {
    Panel { title, about, view, unit, bounds: Bounds::Any, queries: Vec::new(), more: None }
}

impl Panel {
    /// Adds a query.
    pub(super) fn shows(mut self, legend: &'static str, expression: impl Into<String>) -> Self {
        self.queries.push(Query { expression: expression.into(), legend });
        self
    }

    /// Adds three quantiles of a histogram; `labels` select its series.
    pub(super) fn quantiles(mut self, histogram: &str, labels: &str) -> Self {
        for (legend, quantile) in [("half of them", "0.5"), ("95 %", "0.95"), ("99 %", "0.99")] {
            let buckets = rate("le", &format!("{histogram}_bucket"), labels);
            self = self.shows(legend, format!("histogram_quantile({quantile}, {buckets})"));
        }
        self
    }

    /// From these values on it is worrying, and alarming.
    pub(super) fn bad_above(self, worrying: f64, alarming: f64) -> Self {
        Self { bounds: Bounds::Above(worrying, alarming), ..self }
    }

    /// Below these values it is alarming, and worrying.
    pub(super) fn bad_below(self, alarming: f64, worrying: f64) -> Self {
        Self { bounds: Bounds::Below(alarming, worrying), ..self }
    }

    /// The heading of the page of metrics that says more; of an alert, mostly.
    pub(super) fn read_on(self, heading: &'static str) -> Self {
        Self { more: Some(heading), ..self }
    }
}

/// How often something happens each second, by these labels; `labels` select its series.
pub(super) fn rate(by: &str, counter: &str, labels: &str) -> String {
    format!("sum by ({by}) (rate({counter}{{{labels}}}[$__rate_interval]))")
}

/// The 95th percentile of a histogram, by these labels; `labels` select its series.
pub(super) fn slowest(by: &str, histogram: &str, labels: &str) -> String {
    let buckets = rate(&format!("{by}, le"), &format!("{histogram}_bucket"), labels);
    format!("histogram_quantile(0.95, {buckets})")
}
