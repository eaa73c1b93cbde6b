package models

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"emberd/internal/hfmodel"
)

// planFolder completes the plan for a folder, which is converted.
func (p *Plan) planFolder(s Source) {
	name, _ := hfmodel.Card(p.source)
	p.Folder, p.Name = true, cmp.Or(s.Name, fileName(name))
}

// isFolder reports whether a place is a folder of this machine.
func isFolder(place string) bool {
	info, err := os.Stat(place)
	return err == nil && info.IsDir()
}

// installFolder converts the folder of the plan in the stage, and installs the model file made of it.
func (m *Models) installFolder(ctx context.Context, st *stage, p *Plan, s Source) (*Model, error) {
	file := filepath.Join(st.dir, "model")
	c, err := Convert(p.source, file, cmp.Or(s.Type, "q8_0"))
	if err != nil {
		return nil, err
	}
	if p.SHA256 != "" && c.Source != p.SHA256 {
		return nil, fmt.Errorf("the weights in %s have the SHA-256 %s instead of %s: the weights are "+
			"damaged or from a different model; check where the folder comes from", p.From, c.Source, p.SHA256)
	}
	p.weights = c.Source
	if _, err := os.Lstat(p.Path); err == nil && !s.Replace {
		digest, _, err := digestOf(ctx, p.Path, nil)
		if err != nil {
			return nil, fmt.Errorf("cannot check whether %s already exists: %w", p.Name, err)
		}
		if digest != c.SHA256 {
			return nil, errOther(p, digest)
		}
	}
	return m.place(p, file, c.SHA256, c.Bytes)
}

// errOther says that another file is installed under the plan's name.
func errOther(p *Plan, digest string) error {
	return problemf(ErrTaken, "%s already exists with a different SHA-256 (%s); use --replace "+
		"to replace the file, or --name to choose another name", p.Path, digest)
}
