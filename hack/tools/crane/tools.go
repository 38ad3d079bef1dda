//go:build tools

// Package tools pins crane with its registry, to which tests push the image of a release; nothing of it is part of the product.
package tools

import _ "github.com/google/go-containerregistry/cmd/crane"
