package llama

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"emberd/internal/llamawire"
)

// A release that does one thing otherwise than what this package relies on is noticed while
// a model is loaded: here the library is the real one, but for one function.
func TestNativeNoticesWhatIsOtherwise(t *testing.T) {
	pieces := seeded()
	pieces.Tokenizer = "t5" // whose texts llama.cpp cuts
	paths := map[bool]string{false: file(t, seeded()), true: file(t, pieces)}
	number := func(n uint32) func(pointer) uint32 { return func(pointer) uint32 { return n } }
	integer := func(n int32) func(pointer) int32 { return func(pointer) int32 { return n } }
	vector := func(v *float32) func(pointer, int32) *float32 {
		return func(pointer, int32) *float32 { return v }
	}
	for name, test := range map[string]struct {
		change func(*library)
		of     llamawire.Part
		says   string
	}{
		"no model":         {func(l *library) { l.modelLoad = func(string, parameters) pointer { return 0 } }, llamawire.OfBoth, "cannot load model file"},
		"other dimensions": {func(l *library) { l.modelDim = integer(31) }, llamawire.OfBoth, "31 dimensions and 128 tokens instead of 32 and 128"},
		"another context":  {func(l *library) { l.modelContext = integer(512) }, llamawire.OfBoth, "32 dimensions and 512 tokens instead of 32 and 128"},
		"a translator": {func(l *library) {
			yes := func(pointer) bool { return true }
			l.modelHasEncoder, l.modelHasDecoder = yes, yes
		}, llamawire.OfBoth, "the model has both an encoder and a decoder"},
		"no context":         {func(l *library) { l.contextNew = func(pointer, parameters) pointer { return 0 } }, llamawire.OfBoth, "cannot compute embeddings with this model"},
		"another batch":      {func(l *library) { l.nBatch = number(512) }, llamawire.OfEngine, "unsupported layout of the context parameters"},
		"another microbatch": {func(l *library) { l.nMicrobatch = number(512) }, llamawire.OfEngine, "unsupported layout of the context parameters"},
		"other sequences":    {func(l *library) { l.nSequences = number(1) }, llamawire.OfEngine, "unsupported layout of the context parameters"},
		"another pooling":    {func(l *library) { l.poolingType = integer(2) }, llamawire.OfBoth, "cls instead of mean"},
		"too many tokens": {func(l *library) {
			l.tokenize = func(pointer, *byte, int32, *int32, int32, bool, bool) int32 { return 1 << 20 }
		}, llamawire.OfBoth, "invalid number of tokens for the text: 1048576"},
		"no room for tokens": {func(l *library) {
			l.tokenize = func(pointer, *byte, int32, *int32, int32, bool, bool) int32 { return -5 }
		}, llamawire.OfBoth, "invalid number of tokens for the text: -5"},
		"not computed":   {func(l *library) { l.decode = func(pointer, batch) int32 { return -3 } }, llamawire.OfBoth, "could not compute the embedding of the text (code -3)"},
		"no vector":      {func(l *library) { l.sequenceVector = vector(nil) }, llamawire.OfBoth, "returned no embedding for the text"},
		"a vector of 0s": {func(l *library) { l.sequenceVector = vector(&make([]float32, 32)[0]) }, llamawire.OfBoth, "zero or not finite"},
	} {
		t.Run(name, func(t *testing.T) {
			e, lib := *engine(t), *engine(t).lib
			test.change(&lib)
			e.lib = &lib
			m, err := e.Load(paths[strings.HasSuffix(name, "tokens")], Options{})
			failed, ok := errors.AsType[*llamawire.Failed](err)
			if !ok || failed.Of != test.of || !strings.Contains(failed.Text, test.says) {
				t.Errorf("got %v, want a failure of the %s that says %q", err, test.of, test.says)
			}
			if m != nil {
				m.Close()
			}
		})
	}
}

func TestNativeNoticesOtherDefaults(t *testing.T) {
	for i := range 4 {
		lib := *engine(t).lib
		usual := lib.contextDefaults
		lib.contextDefaults = func() returned {
			r := usual()
			r.words[i/2] ^= 1 << (i % 2 * 32)
			return r
		}
		if err := lib.check(); err == nil || !strings.Contains(err.Error(), "unsupported layout of the context parameters: they begin with") {
			t.Errorf("number %d: got %v, want that the parameters begin otherwise", i, err)
		}
	}
	if err := engine(t).lib.check(); err != nil {
		t.Errorf("the library as it is: %v", err)
	}
}

// What llama.cpp has loaded is the file that was checked before.
func TestNativeNoticesAFileThatChanges(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"another file": func(path string) error {
			old, err := os.Stat(path)
			if err != nil {
				return err
			}
			other := file(t, seeded())
			if err := os.Chtimes(other, old.ModTime(), old.ModTime()); err != nil {
				return err
			}
			return os.Rename(other, path)
		},
		"another time": func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) },
		"gone":         os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			e, lib := *engine(t), *engine(t).lib
			load := lib.modelLoad
			lib.modelLoad = func(path string, p parameters) pointer {
				model := load(path, p)
				if err := change(path); err != nil {
					t.Error(err)
				}
				return model
			}
			e.lib = &lib
			path := file(t, seeded())
			_, err := e.Load(path, Options{})
			failed, ok := errors.AsType[*llamawire.Failed](err)
			if want := "model file " + path + " changed while emberd loaded it; load the file again"; !ok || failed.Of != llamawire.OfFile || failed.Text != want {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}
