package llama

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"emberd/internal/gguf"
	"emberd/internal/testutil/llamatest"
	"emberd/internal/tinybert"
)

// uncheckedVariable names a model that TestUnchecked gives to llama.cpp as it is.
const uncheckedVariable = "EMBERD_TEST_UNCHECKED"

// What llama.cpp does with files that the preflight keeps from it: it ends the process, in a
// way that whoever watches it can tell. If a release stops doing so, a rule may go.
func TestLlamaEndsWithoutThePreflight(t *testing.T) {
	pieces, nomic := seeded(), seeded()
	pieces.Tokenizer = "t5"
	nomic.Architecture = "nomic-bert"
	odd := nomic
	odd.Dim = 6
	lost := tinybert.Charsmap(map[string]string{"ﬁ": "fi"}) // whose one string is made to be far behind the last
	copy(lost[bytes.Index(lost, []byte{0, 0, 0, 0x80}):], []byte{0xff, 0xff, 0, 0x80})
	for name, test := range map[string]struct {
		path string
		says string // on standard error, one of these
	}{
		"no layers":          {file(t, seeded(), with("bert.block_count", uint32(0))), "n_layer_all > 0|fatal error"},
		"100,000 layers":     {file(t, seeded(), with("bert.block_count", uint32(100000))), "n_layer_all > 0"},
		"pooling 77":         {file(t, seeded(), with("bert.pooling_type", uint32(77))), "unknown pooling type|fatal error"},
		"two equal tokens":   {file(t, seeded(), doubled), "id_to_token.size() == token_to_id.size()"},
		"a zero in a token":  {file(t, seeded(), cutShort), "id_to_token.size() == token_to_id.size()"},
		"no beginning":       {file(t, pieces, without("tokenizer.ggml.bos_token_id")), "special_bos_id != LLAMA_TOKEN_NULL"},
		"lost characters":    {file(t, pieces, with("tokenizer.ggml.precompiled_charsmap", lost)), "terminate called"},
		"heads of 3":         {file(t, odd), "n_dims % 2 == 0"},
		"turned too far":     {file(t, nomic, with("nomic-bert.rope.dimension_count", uint32(64))), "n_dims <= ne0"},
		"scaling of no kind": {file(t, nomic, with("nomic-bert.rope.scaling.type", "round")), "rope_scaling_type_train != "},
		"wide alignment":     {file(t, seeded(), with("general.alignment", uint64(32))), "type_to_gguf_type<T>::value == type"},
		"narrow alignment":   {file(t, seeded(), with("general.alignment", uint32(1))), "buffer pointer must be aligned"},
		"a byte":             {file(t, seeded(), aByte), "fatal error"},
		"labels of numbers":  {file(t, seeded(), with("bert.classifier.output_labels", []int32{1, 2})), "std::is_same<T, int32_t>"},
		"an epsilon below 0": {file(t, seeded(), with("bert.attention.layer_norm_epsilon", float32(-1))), "eps >= 0.0f"},
		"rounded types":      {file(t, seeded(), rounded), "unsupported types"},
		"integers":           {file(t, seeded(), integers), "fatal error|cur_backend_id|SIGSEGV"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := gguf.PreflightNative(test.path); err == nil {
				t.Errorf("the preflight lets the file through")
			}
			dirs, ends := llamatest.Libraries(t), 0
			for _, dir := range dirs {
				out, code := unchecked(t, dir, test.path)
				ended := code == 2 && bytes.Contains(out, []byte("\nSIG"))
				if ended {
					ends++
				}
				if says := strings.Split(test.says, "|"); ended && !slices.ContainsFunc(says, func(s string) bool { return bytes.Contains(out, []byte(s)) }) {
					t.Errorf("exit code %d and %q, want one of %q", code, out, says)
				}
			}
			if ends == 0 && len(dirs) > 1 {
				t.Errorf("none of %d releases ends its process", len(dirs))
			}
		})
	}
}

// unchecked gives a file to llama.cpp as it is, in a process of its own, and returns what it
// says and how it ends. The Go runtime ends a process with 2 for a signal of native code.
func unchecked(t *testing.T, dir, path string) (says []byte, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUnchecked$", "-test.count=1")
	cmd.Env = append(os.Environ(), "EMBERD_TEST_LLAMA="+dir, uncheckedVariable+"="+path, "GGML_NO_BACKTRACE=1", "GOTRACEBACK=none")
	says, err := cmd.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	return says, cmd.ProcessState.ExitCode()
}

// rounded writes the one table that is used as it is written in another type.
func rounded(m *tinybert.Model) {
	for i := range m.Tensors {
		if m.Tensors[i].Name == "token_types.weight" {
			m.Tensors[i].Type = tinybert.Q8_0
		}
	}
}

// aByte says of a token of WordPiece that it is a byte, as SentencePiece has them.
func aByte(m *tinybert.Model) {
	for _, kv := range m.Meta {
		if kinds, ok := kv.Value.([]int32); ok && kv.Key == "tokenizer.ggml.token_type" {
			kinds[len(kinds)-1] = 6
		}
	}
}

// integers calls the weights of tokens integers, which take as many bytes.
func integers(m *tinybert.Model) {
	const i32 = 26
	m.Tensors[0].Type = i32
}

// cutShort gives a token a name that is another's up to a zero byte, where C ends it.
func cutShort(m *tinybert.Model) {
	for _, kv := range m.Meta {
		if tokens, ok := kv.Value.([]string); ok && kv.Key == "tokenizer.ggml.tokens" {
			tokens[len(tokens)-1] = tokens[len(tokens)-2] + "\x00"
		}
	}
}

// TestUnchecked is what TestLlamaEndsWithoutThePreflight runs again and again.
func TestUnchecked(t *testing.T) {
	path := os.Getenv(uncheckedVariable)
	if path == "" {
		t.Skip("runs in processes of TestLlamaEndsWithoutThePreflight")
	}
	f, err := gguf.Open(path)
	if err != nil {
		f = &gguf.File{}
	}
	pooling, _ := f.Uint("bert.pooling_type")
	m := &Model{engine: engine(t), limit: 64}
	if m.model = m.engine.lib.modelLoad(path, m.engine.lib.modelDefaults().trim()); m.model == 0 {
		return
	}
	m.vocab = m.engine.lib.modelVocab(m.model)
	m.facts = gguf.Facts{Dim: int(m.engine.lib.modelDim(m.model)), Context: int(m.engine.lib.modelContext(m.model)), Pooling: gguf.Pooling(max(pooling, 1))}
	if err := m.newContext(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"note memory search", "a\tb ﬁ"} {
		v, _, _, err := m.Embed(text, 1)
		t.Log(v, err)
	}
}
