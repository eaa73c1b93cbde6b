package models

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"emberd/internal/durable"
	"emberd/internal/gguf"
	"emberd/internal/ggufwrite"
	"emberd/internal/hfmodel"
)

// Converted is a model file that was made of a folder.
type Converted struct {
	File    string `json:"file"` // absolute
	Name    string `json:"name"` // as its maker calls it
	Licence string `json:"licence,omitempty"`
	Source  string `json:"source_sha256"` // of the weights that it was made of
	Dim     int    `json:"dim"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
}

// weightTypes are the names of the types that weights can be written as.
var weightTypes = map[string]ggufwrite.Type{"q8_0": ggufwrite.Q8_0, "f16": ggufwrite.F16, "f32": ggufwrite.F32}

// Convert makes a model file of a folder as Hugging Face lays it out, see [hfmodel.Open], with weights as q8_0, f16 or
// f32. Without a file's name it is called after the model. A file that is there is [ErrTaken] and stays; one that
// engines would refuse is not left behind.
func Convert(folder, file, as string) (*Converted, error) {
	t, ok := weightTypes[strings.ToLower(as)]
	if !ok {
		return nil, problemf(ErrInput, "invalid weight type %q; use q8_0, f16 or f32", as)
	}
	m, err := hfmodel.Open(folder)
	if err != nil {
		return nil, problemf(ErrInput, "cannot convert folder %s: %w", folder, err)
	}
	defer m.Close()
	c := &Converted{Name: m.Name, Licence: m.Licence, Source: m.SHA256}
	c.File, err = filepath.Abs(cmp.Or(file, fileName(m.Name)+"-"+strings.ToLower(as)+extension))
	if err == nil {
		err = durable.CreateVerified(durable.OS{}, c.File, func(to io.Writer) error { return m.Write(to, t) }, c.check)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil, problemf(ErrTaken, "%s already exists; choose another name", c.File)
	}
	return c, explainWrite(err, filepath.Dir(c.File))
}

// check completes the result from the file that was written.
func (c *Converted) check(name string) error {
	facts, err := gguf.Preflight(name)
	if err == nil {
		c.Dim, c.Bytes, c.SHA256 = facts.Dim, facts.Size, facts.SHA256
	}
	return err
}

// fileName is a model's name as that of a file.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\: `, r) || r < ' ' {
			return '-'
		}
		return r
	}, name)
}
