package stm_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"emberd/stm/record"
	"emberd/stm/table"
)

// BenchmarkMergeDevices merges the logs of three other devices with 100,000
// memories each, whose stamps interleave: into a store that runs, and at a start
// without a snapshot. It reports lines per second.
func BenchmarkMergeDevices(b *testing.B) {
	const devices, records = 3, 100_000
	source := b.TempDir()
	size := peerLogs(b, filepath.Join(source, "stm"), devices, records)
	for _, live := range []bool{true, false} {
		b.Run(map[bool]string{true: "running", false: "start"}[live], func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				b.StopTimer()
				ts := &testStore{t: b, root: b.TempDir()}
				if live {
					ts.open()
				}
				if err := os.CopyFS(filepath.Join(ts.root, "data"), os.DirFS(source)); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if live {
					ts.refresh()
				} else {
					ts.open()
				}
				b.StopTimer()
				if ts.Len() != devices*records || int(ts.Words.Indexed.Load()) != ts.Len() {
					b.Fatalf("%d memories, %d indexed", ts.Len(), ts.Words.Indexed.Load())
				}
				if err := ts.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(b.N*devices*records)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

// peerLogs writes segments of 4 MiB and returns how many bytes they have.
func peerLogs(b *testing.B, dir string, devices, records int) (size int64) {
	b.Helper()
	rng, begin := rand.New(rand.NewPCG(1, 2)), time.Now().Add(-time.Hour)
	for d := range devices {
		name := bytes.Repeat([]byte{byte('a' + d)}, 8)
		folder := filepath.Join(dir, string(name))
		if err := os.MkdirAll(folder, 0o700); err != nil {
			b.Fatal(err)
		}
		var buf []byte
		segment := 0
		for q := range records {
			tx := proseTx(rng)
			l := record.Line{Seq: uint64(q + 1), Op: record.OpPut, Verb: tx.Verb, By: record.Encode(tx.By),
				Stamp: record.Stamp{T: uint64(begin.UnixMilli()+int64(q))<<16 | uint64(d), Dev: record.Device(name)}}
			l.Tx = l.Stamp
			l.Changes = []record.Change{{Op: record.OpPut, ID: tx.Changes[0].ID, Data: record.Encode(tx.Changes[0].Set)}}
			buf = l.Append(buf)
			if len(buf) >= 4<<20 || q == records-1 {
				segment++
				if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("s-%08d.jsonl", segment)), buf, 0o600); err != nil {
					b.Fatal(err)
				}
				size += int64(len(buf))
				buf = buf[:0]
			}
		}
	}
	return size
}

func describe(r *table.Row) string {
	if !r.Live() {
		return fmt.Sprintf("not live, tomb %s", r.Rest().Tomb)
	}
	keys := map[string]string{}
	for _, key := range []string{"content", "source", "x"} {
		keys[key] = fmt.Sprintf("%s@%s", r.Value(key), r.StampOf(key))
	}
	return fmt.Sprintf("%v tomb %s rev %s", keys, r.Rest().Tomb, r.Latest())
}
