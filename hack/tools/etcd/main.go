// Command etcd is the published etcd server, built from its Go module at the version pinned in go.mod. Its write-ahead log
// has segments of 4 MB instead of 64: each server allocates two at once, and a test run has twenty servers on one disk.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

func main() {
	wal.SegmentSizeBytes = 4 << 20
	etcdmain.Main(os.Args)
}
