//! An AWS in one process: Auto Scaling and EC2 state machines on a virtual clock, served over the AWS wire protocol.
