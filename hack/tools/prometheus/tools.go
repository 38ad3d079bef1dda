//go:build tools

// Package tools pins promtool, with which tests play the alerts of deploy/monitoring; nothing of it is part of the product.
package tools

import _ "github.com/prometheus/prometheus/cmd/promtool"
