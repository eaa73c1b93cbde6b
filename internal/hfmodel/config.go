package hfmodel

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"emberd/internal/durable"
)

// maxText bounds the small files of a folder in bytes.
const maxText = 64 << 20

// shape is config.json as far as it says what is computed.
type shape struct {
	Name        string  `json:"_name_or_path"`
	Kind        string  `json:"model_type"`
	Activation  string  `json:"hidden_act"`
	Positions   string  `json:"position_embedding_type"`
	Dim         int     `json:"hidden_size"`
	FeedForward int     `json:"intermediate_size"`
	Epsilon     float32 `json:"layer_norm_eps"`
	Context     int     `json:"max_position_embeddings"`
	Heads       int     `json:"num_attention_heads"`
	Layers      int     `json:"num_hidden_layers"`
	TokenTypes  int     `json:"type_vocab_size"`
	Vocabulary  int     `json:"vocab_size"`
}

// letters is tokenizer_config.json as far as it says how a text is cut into tokens.
type letters struct {
	Lower   *bool `json:"do_lower_case"`
	Strip   *bool `json:"strip_accents"`
	Chinese *bool `json:"tokenize_chinese_chars"`
}

// readJSON reads a file of the folder. It returns fs.ErrNotExist if there is none.
func readJSON(folder, name string, to any) error {
	b, err := readText(folder, name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("cannot read %s: %w", name, err)
	}
	return nil
}

func readText(folder, name string) ([]byte, error) {
	return durable.ReadGiven(filepath.Join(folder, name), maxText)
}

func readShape(folder string) (*shape, error) {
	s := &shape{Positions: "absolute", TokenTypes: 2, Epsilon: 1e-12}
	if err := readJSON(folder, "config.json", s); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("config.json not found, so this is not the folder of a model")
	} else if err != nil {
		return nil, err
	}
	for _, is := range []struct{ key, got, want string }{
		{"model_type", s.Kind, "bert"}, {"hidden_act", s.Activation, "gelu"},
		{"position_embedding_type", s.Positions, "absolute"},
	} {
		if is.got != is.want {
			return nil, fmt.Errorf("%s in config.json is %q; only %q is supported", is.key, is.got, is.want)
		}
	}
	for key, n := range map[string]int{"hidden_size": s.Dim, "intermediate_size": s.FeedForward,
		"max_position_embeddings": s.Context, "num_attention_heads": s.Heads, "num_hidden_layers": s.Layers,
		"type_vocab_size": s.TokenTypes, "vocab_size": s.Vocabulary} {
		if n < 1 || n > 1<<20 {
			return nil, fmt.Errorf("%s in config.json is %d, which is out of range (1 to 1,048,576)", key, n)
		}
	}
	return s, nil
}

// The numbers that llama.cpp has for how the vectors of tokens become one.
const (
	poolMean uint32 = 1
	poolCLS  uint32 = 2
	poolLast uint32 = 3
)

// readPooling returns how the vectors of a text's tokens become one.
func readPooling(folder string) (uint32, error) {
	var modules []struct{ Path, Type string }
	if err := readJSON(folder, "modules.json", &modules); err != nil {
		return 0, fmt.Errorf("cannot determine the pooling method for embeddings: %w", err)
	}
	at := ""
	for _, m := range modules {
		switch kind := m.Type[strings.LastIndexByte(m.Type, '.')+1:]; kind {
		case "Transformer", "Normalize":
		case "Pooling":
			at = m.Path
		default:
			return 0, fmt.Errorf("modules.json contains the module %q, which is not supported", m.Type)
		}
	}
	if !filepath.IsLocal(at) {
		return 0, fmt.Errorf("invalid folder of the pooling module in modules.json: %q", at)
	}
	return poolingOf(folder, filepath.Join(at, "config.json"))
}

func poolingOf(folder, name string) (uint32, error) {
	modes := map[string]any{}
	if err := readJSON(folder, name, &modes); err != nil {
		return 0, err
	}
	var on []string
	for key, value := range modes {
		if yes, _ := value.(bool); yes && strings.HasPrefix(key, "pooling_mode_") {
			on = append(on, key)
		}
	}
	slices.Sort(on)
	known := map[string]uint32{"pooling_mode_mean_tokens": poolMean, "pooling_mode_cls_token": poolCLS,
		"pooling_mode_lasttoken": poolLast}
	if len(on) != 1 || known[on[0]] == 0 {
		return 0, fmt.Errorf("%s enables %v; exactly one of mean_tokens, cls_token and lasttoken must be enabled", name,
			on)
	}
	return known[on[0]], nil
}

// readTokens returns the tokens in the order of their numbers, as WordPiece has them: what continues a word
// begins with ##.
func readTokens(folder string) ([]string, error) {
	b, err := readText(folder, "vocab.txt")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("vocab.txt not found; emberd converts only models with a WordPiece vocabulary")
	}
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n"), "\n"), nil
}

// readLetters returns whether capital letters, and accents, become plain ones.
func readLetters(folder string) (lower, strip bool, err error) {
	var l letters
	if err := readJSON(folder, "tokenizer_config.json", &l); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, false, err
	}
	if l.Chinese != nil && !*l.Chinese {
		return false, false, errors.New(
			"tokenize_chinese_chars in tokenizer_config.json is false; only true is supported")
	}
	lower = l.Lower == nil || *l.Lower
	return lower, l.Strip != nil && *l.Strip || l.Strip == nil && lower, nil
}

// Card returns the name and the licence that README.md tells: its first heading, or else the
// folder's name, and what the front matter says, "" if it does not.
func Card(folder string) (name, licence string) {
	name, licence = readCard(folder)
	return cmp.Or(name, filepath.Base(filepath.Clean(folder))), licence
}

// readCard returns the name and the licence that README.md tells: its first heading, and what the front matter
// says; "" for what it does not.
func readCard(folder string) (name, licence string) {
	b, err := readText(folder, "README.md")
	if err != nil {
		return "", ""
	}
	for lines := bufio.NewScanner(bytes.NewReader(b)); name == "" && lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "license:"); ok && licence == "" {
			licence = strings.Trim(strings.TrimSpace(rest), `"'`)
		}
		if rest, ok := strings.CutPrefix(lines.Text(), "# "); ok {
			name = strings.TrimSpace(rest)
		}
	}
	return name, licence
}
