//! The simulator against AWS's own Python SDK, which knows nothing of us.
//!
//! boto3 is an independent judge of the wire: its model says which parameters exist, how they are encoded and which
//! elements an answer may have. `python/round_trip.py` does the judging. `python/page.py` looks at the simulator's web page
//! with a browser. `tests/suite` runs both.
