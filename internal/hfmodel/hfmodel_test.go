package hfmodel_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/internal/bert"
	"emberd/internal/gguf"
	"emberd/internal/ggufwrite"
	"emberd/internal/hfmodel"
	"emberd/internal/tinybert"
)

// spec is the model that the folders of these tests have.
func spec(as ggufwrite.Type) tinybert.Spec {
	s := tinybert.Tiny()
	s.Type = as
	return s
}

// folder writes the model as Hugging Face lays it out.
func folder(t *testing.T) string {
	t.Helper()
	s, dir := spec(ggufwrite.F32), t.TempDir()
	if err := tinybert.WriteFolder(dir, s); err != nil {
		t.Fatal(err)
	}
	return dir
}

func put(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// converted writes the model of a folder as a file.
func converted(t *testing.T, dir string, as ggufwrite.Type) string {
	t.Helper()
	m, err := hfmodel.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var b bytes.Buffer
	if err := m.Write(&b, as); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "converted.gguf")
	put(t, name, b.String())
	return name
}

// TestConvertedModelsMakeTheSameVectors compares with the file that the same weights were written to directly.
func TestConvertedModelsMakeTheSameVectors(t *testing.T) {
	dir := folder(t)
	for _, as := range []ggufwrite.Type{ggufwrite.F32, ggufwrite.F16, ggufwrite.Q8_0} {
		direct := filepath.Join(t.TempDir(), "direct.gguf")
		if err := tinybert.New(spec(as)).WriteFile(direct); err != nil {
			t.Fatal(err)
		}
		got, want := vectors(t, converted(t, dir, as)), vectors(t, direct)
		if !slices.EqualFunc(got, want, slices.Equal[[]float32]) {
			t.Errorf("as type %d: vectors differ from those of the weights themselves", as)
		}
	}
}

func vectors(t *testing.T, name string) (all [][]float32) {
	t.Helper()
	m, err := bert.Open(name, &bert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, text := range []string{"the memory of a note", "Café SEARCH, unknowable", "x"} {
		v, _, err := m.Embed(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// TestAConvertedModelSaysWhereItComesFrom reads the header of the file.
func TestAConvertedModelSaysWhereItComesFrom(t *testing.T) {
	dir := folder(t)
	f, err := gguf.Open(converted(t, dir, ggufwrite.Q8_0))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	facts, err := f.BERT()
	if err != nil {
		t.Fatal(err)
	}
	licence, _ := f.String("general.license")
	digest, _ := f.String("general.source.sha256")
	if facts.Name != "A tiny one" || licence != "apache-2.0" || len(digest) != 64 || facts.Pooling != gguf.Mean {
		t.Errorf("it says %q, %q, %q, %v", facts.Name, licence, digest, facts.Pooling)
	}
}

// TestFoldersThatCannotBeConverted changes one file of a folder at a time.
func TestFoldersThatCannotBeConverted(t *testing.T) {
	for name, test := range map[string]struct{ file, from, to, want string }{
		"another architecture": {"config.json", `"bert"`, `"roberta"`, `model_type in config.json is "roberta"; only "bert"`},
		"another activation":   {"config.json", `"gelu"`, `"relu"`, `hidden_act in config.json is "relu"; only "gelu"`},
		"no layers":            {"config.json", `"num_hidden_layers":2`, `"num_hidden_layers":0`, "num_hidden_layers in config.json is 0"},
		"a layer too many":     {"config.json", `"num_hidden_layers":2`, `"num_hidden_layers":3`, "tensor bert.encoder.layer.2.attention.self.query.weight not found"},
		"another width":        {"config.json", `"hidden_size":32`, `"hidden_size":64`, "has the shape [197 32]"},
		"a token too many":     {"vocab.txt", "[PAD]", "[PAD]\nmore", "198 tokens"},
		"two poolings":         {"1_Pooling/config.json", "false", "true", "one of mean_tokens"},
		"another pooling":      {"1_Pooling/config.json", "mean_tokens", "max_tokens", "one of mean_tokens"},
		"a dense layer":        {"modules.json", "models.Normalize", "models.Dense", "models.Dense"},
		"a folder elsewhere":   {"modules.json", "1_Pooling", "../1_Pooling", "invalid folder of the pooling module in modules.json"},
		"no JSON":              {"config.json", "{", "", "cannot read config.json"},
		"no weights":           {"model.safetensors", "", "", "only from one model.safetensors file"},
		"a header too long":    {"model.safetensors", "\x00{", "\x7f{", "the size of the header is"},
		"other numbers":        {"model.safetensors", `"F32"`, `"I32"`, `has the type "I32"`},
		"numbers elsewhere":    {"model.safetensors", `"data_offsets":[0,`, `"data_offsets":[4,`, "which do not match its 6304 numbers"},
		"Chinese as words":     {"tokenizer_config.json", `chars":true`, `chars":false`, "tokenize_chinese_chars"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t)
			path := filepath.Join(dir, test.file)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if test.from == "" {
				err = os.Remove(path)
			} else {
				put(t, path, strings.Replace(string(b), test.from, test.to, 1))
			}
			if err == nil {
				err = convert(dir)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func convert(dir string) error {
	m, err := hfmodel.Open(dir)
	if err != nil {
		return err
	}
	defer m.Close()
	return m.Write(&bytes.Buffer{}, ggufwrite.F32)
}
