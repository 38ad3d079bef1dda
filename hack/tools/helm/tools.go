//go:build tools

// Package tools pins Helm, which renders and installs the chart of a release in tests; nothing of it is part of the product.
package tools

import _ "helm.sh/helm/v4/cmd/helm"
