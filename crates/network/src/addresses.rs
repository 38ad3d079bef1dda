//! How the ranges of a network are carved.
