//go:build tools

// Package tools pins aws-iam-authenticator, which judges the tokens of EKS clusters in the test bed; nothing of it is part of
// the product.
package tools

import _ "sigs.k8s.io/aws-iam-authenticator/cmd/aws-iam-authenticator"
