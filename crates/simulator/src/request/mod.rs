//! What a request to AWS contains once it is decoded: parameters of a query, or the parts of a REST call. The protocols and the
//! policies of IAM read it.

pub(crate) mod call;
pub(crate) mod params;
