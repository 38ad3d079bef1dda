//! Benchmarks that print: calls, writes, memory, latency.
