//go:build !race

// The race detector keeps memory of its own for each byte, so this says nothing with it.

package embedding

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"emberd/internal/testutil/bubble"
	"emberd/internal/testutil/trainedtest"
	"emberd/internal/tinybert"
)

// resident is the memory that this process has of the system, in bytes.
func resident(t *testing.T) int64 {
	t.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(data))[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// An unloaded model's memory is the system's again.
func TestMemoryComesBack(t *testing.T) {
	path := modelFile(t, tinybert.Spec{Seed: 1, Layers: 1, Dim: 256, Heads: 4, FeedForward: 512, Context: 64, Vocabulary: 1 << 15, Pooling: 1})
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	bubble.Test(t, func(t *testing.T) {
		e, err := Open(Options{Providers: []string{Go}, Model: path})
		if err != nil {
			t.Fatal(err)
		}
		ready(t, e)
		debug.FreeOSMemory() // not for what comes later: that is for the model to do
		before := resident(t)
		embedOne(t, e, "memory")
		loaded := resident(t)
		time.Sleep(defaultUnloadAfter)
		synctest.Wait()
		after := resident(t)
		t.Logf("resident: %d MB before, %d with a model file of %d MB, %d after it was unloaded", before>>20, loaded>>20, info.Size()>>20, after>>20)
		if loaded-before < info.Size()*3/4 {
			t.Errorf("loading a model of %d bytes took %d bytes; this measures nothing", info.Size(), loaded-before)
		}
		if after-before > info.Size()/4 {
			t.Errorf("%d bytes of a model of %d bytes are still held", after-before, info.Size())
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A loaded model takes its file and a few MiB of memory; emberd init tells its file and 8.
func TestMemoryOfATrainedModel(t *testing.T) {
	for _, weights := range []string{"Q8_0", "F32"} {
		path := trainedtest.File(t, weights)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		e := openModel(t, path)
		debug.FreeOSMemory()
		before := resident(t)
		embedOne(t, e, strings.Repeat("The policy for the van covers hail and theft, but not what was left inside. ", 5))
		debug.FreeOSMemory()
		took := resident(t) - before
		t.Logf("%s: %.1f MiB for a file of %.1f MiB", weights, float64(took)/(1<<20), float64(info.Size())/(1<<20))
		if took < info.Size()*3/4 || took > info.Size()+12<<20 {
			t.Errorf("a model file of %d bytes takes %d bytes of memory", info.Size(), took)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
