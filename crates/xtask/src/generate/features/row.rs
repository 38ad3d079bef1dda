//! What the page says about one feature.

/// One feature.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// What it is, for people.
    pub(super) feature: &'static str,
    /// What this provider has of it.
    pub(super) provider: Provider,
    /// What AWSMachinePool, Karpenter and EKS managed node groups have of it, in this order.
    pub(super) others: [Other; 3],
    /// Tests that show it, each as `path of the file::name`.
    pub(super) tests: &'static [&'static str],
}

impl Row {
    pub(super) const fn new(
        feature: &'static str,
        provider: Provider,
        others: [Other; 3],
        tests: &'static [&'static str],
    ) -> Self {
        Self { feature, provider, others, tests }
    }
}

/// What this provider has of a feature. Fields are pairs of a kind and a path, `spec.volumes[].snapshotID`; a field stands
/// for all fields below it, too.
#[derive(Clone, Copy)]
pub(super) enum Provider {
    /// These fields provide it.
    Yes(&'static [(&'static str, &'static str)]),
    /// These fields provide it, except for what the text says.
    Part(&'static [(&'static str, &'static str)], &'static str),
    /// Nothing of it: it does not fit what the provider is for, for the reason in the text.
    No(&'static str),
}

impl Provider {
    #[cfg(test)]
    pub(super) const fn fields(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Yes(fields) | Self::Part(fields, _) => fields,
            Self::No(..) => &[],
        }
    }
}

/// What another project has of a feature. The notes may be empty.
#[derive(Clone, Copy)]
pub(super) enum Other {
    /// All of it.
    Yes(&'static str),
    /// A part of it, or something that serves the same end.
    Part(&'static str),
    /// Nothing of it.
    No(&'static str),
    /// A launch template that a user writes has it.
    ByLaunchTemplate,
    /// The question has no sense there.
    DoesNotApply,
    /// No source was read.
    NotCompared,
}
