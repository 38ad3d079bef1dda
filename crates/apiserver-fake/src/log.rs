//! What was asked of the server, for tests to read.

use crate::request::{Request, Verb};
use tokio::time::Instant;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Completed with this HTTP status.
    Responded(u16),
    /// The connection broke before it was done.
    LostRequest,
    /// It was done, the response was lost.
    LostResponse,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// What it did.
    pub verb: Verb,
    /// Kind (`FooMachine`).
    pub kind: String,
    /// Namespace; none for cluster-wide lists and watches.
    pub namespace: Option<String>,
    /// Name; empty if it named no object.
    pub name: String,
    /// `status`, `scale` or empty.
    pub subresource: &'static str,
    /// Field manager: as named in the request, else the client's name.
    pub manager: String,
    /// Whether it was a server-side apply.
    pub apply: bool,
    /// Name of the client (see [`crate::FakeApiServer::client_as`]).
    pub client: String,
    /// How it ended.
    pub ending: Ending,
    /// Whether the store changed: false for reads, refusals and writes that show what is already there.
    pub changed: bool,
    /// What was sent, as text.
    pub body: String,
    /// When it was completed or refused, on tokio's clock; of a watch, when it began.
    pub at: Instant,
}

impl Recorded {
    pub(crate) fn new(request: &Request, ending: Ending, changed: bool) -> Self {
        let manager = request.manager();
        Self {
            verb: request.verb,
            kind: request.kind.kind.clone(),
            namespace: request.namespace.clone(),
            name: request.object_name(),
            subresource: request.subresource,
            apply: manager.operation == crate::ownership::Operation::Apply,
            manager: manager.name,
            client: request.client.clone(),
            ending,
            changed,
            body: String::from_utf8_lossy(&request.body).into_owned(),
            at: Instant::now(),
        }
    }
}

/// A choice of recorded requests, narrowed step by step.
#[derive(Clone, Debug, Default)]
pub struct Requests(pub(crate) Vec<Recorded>);

impl Requests {
    /// Those that change something, watches and reads left out.
    #[must_use]
    pub fn writes(self) -> Self {
        self.which(|request| request.verb.is_write())
    }

    /// GET, LIST and WATCH.
    #[must_use]
    pub fn reads(self) -> Self {
        self.which(|request| !request.verb.is_write())
    }

    /// Of one kind.
    #[must_use]
    pub fn kind(self, kind: &str) -> Self {
        self.which(|request| request.kind == kind)
    }

    /// Of one verb.
    #[must_use]
    pub fn verb(self, verb: Verb) -> Self {
        self.which(|request| request.verb == verb)
    }

    /// About one object.
    #[must_use]
    pub fn name(self, name: &str) -> Self {
        self.which(|request| request.name == name)
    }

    /// Of one client.
    #[must_use]
    pub fn client(self, client: &str) -> Self {
        self.which(|request| request.client == client)
    }

    /// That changed the store.
    #[must_use]
    pub fn changing(self) -> Self {
        self.which(|request| request.changed)
    }

    /// That fit a condition.
    #[must_use]
    pub fn which(mut self, condition: impl Fn(&Recorded) -> bool) -> Self {
        self.0.retain(condition);
        self
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One after the other, in the order they were done.
    pub fn iter(&self) -> std::slice::Iter<'_, Recorded> {
        self.0.iter()
    }
}

impl IntoIterator for Requests {
    type Item = Recorded;
    type IntoIter = std::vec::IntoIter<Recorded>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Requests {
    type Item = &'a Recorded;
    type IntoIter = std::slice::Iter<'a, Recorded>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
