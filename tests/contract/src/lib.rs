//! Our types against Cluster API's own: nothing but tests, in `tests/`.
//!
//! * `capi_views`: every field we read of Cluster API's objects exists upstream, with a type we can read;
//! * `our_crds`: our CRDs keep the rules of the contracts;
//! * `labels`: label values that both sides compute;
//! * `release`: the real clusterctl takes the release folder.
//!
//! They need what `hack/tools/build.sh` builds, and fail when it is not there.
