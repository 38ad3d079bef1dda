//! CRD types of the provider and the Cluster API views it reads.
