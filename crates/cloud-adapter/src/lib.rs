//! AWS Auto Scaling and EC2 behind the cloud traits; the only crate that links the AWS SDK.
