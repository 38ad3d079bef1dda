//! Responses, before they become HTTP responses.

/// The content type of XML responses.
pub(crate) const XML: &str = "text/xml;charset=UTF-8";

/// Responses, before they become HTTP responses.
#[derive(Debug)]
pub(crate) enum WireResponse {
    /// A body of XML with its request id.
    Xml { status: u16, body: String, request_id: String },
    /// A body of JSON with its request id.
    Json {
        status: u16,
        body: String,
        request_id: String,
        content_type: &'static str,
        /// The header `x-amzn-query-error`: what the error's code in the query protocol.
        query_error: Option<String>,
        /// The header `x-amzn-errortype`: what the error is called where the body does not say.
        error_type: Option<String>,
    },
    /// A response of S3: the content of an object, XML or nothing.
    Object { status: u16, body: Vec<u8>, request_id: String },
    /// The beginning of a response; then the connection ends.
    Truncated { status: u16, body: String, content_type: &'static str },
    /// Nothing: the connection is reset.
    Dropped,
}
