//! Our types against the upstream CRDs.
