package models

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"emberd/internal/durable"
	"emberd/internal/fetch"
	"emberd/internal/gguf"
	"emberd/internal/spelling"
)

// A Source is where a model comes from: one of Known, File and URL. [From] tells them apart.
type Source struct {
	Known   string // a name of the catalogue
	File    string
	URL     string // http or https
	SHA256  string // that the file must have; needed for what is downloaded and not in the catalogue
	Name    string // what to call it; its name in the catalogue or that of the file, if empty
	Replace bool   // take the place of another model of this name
}

// From is the source that a person means by a name of the catalogue, a path or an address.
func From(what string) (Source, error) {
	switch _, err := os.Stat(what); {
	case fetch.IsURL(what):
		return Source{URL: what}, nil
	case known(what, "") != nil && !strings.ContainsRune(what, filepath.Separator):
		return Source{Known: what}, nil
	case err == nil:
		return Source{File: what}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return Source{}, fmt.Errorf("%s cannot be examined: %w", what, err)
	}
	if strings.ContainsRune(what, filepath.Separator) || strings.HasSuffix(what, extension) {
		return Source{}, fmt.Errorf("there is no file %s: check its path", what)
	}
	var names []string
	for _, k := range Catalogue() {
		names = append(names, k.Name)
	}
	if best := spelling.Meant(what, names); best != "" {
		return Source{}, fmt.Errorf("%w %q, and no file either; did you mean %s?", ErrUnknown, what, best)
	}
	return Source{}, fmt.Errorf("%w %q, and no file either; emberd model list shows those that are known", ErrUnknown, what)
}

// A Plan is what an installation would do.
type Plan struct {
	Name   string
	Path   string // of the file to be
	From   string // where it comes from, without secrets
	Remote bool   // that it is downloaded
	Size   int64  // bytes; 0 if they are not known yet
	SHA256 string // that it must have; empty for a file that nothing is known of
	Known  *Known // nil if it is not in the catalogue
	There  bool   // a file of that name is there already

	source string // the address or path itself
}

// Plan says what Install would do, without a look at the network.
func (m *Models) Plan(s Source) (*Plan, error) {
	p := &Plan{Name: baseName(s.Name), SHA256: strings.ToLower(s.SHA256)}
	var err error
	switch {
	case s.Known != "":
		err = p.ofKnown(s.Known)
	case s.URL != "":
		err = p.ofURL(s.URL)
	case s.File != "":
		err = p.ofFile(s.File)
	default:
		err = errors.New("no model was named: name one of the catalogue, a file or an address")
	}
	if err != nil {
		return nil, err
	}
	if !validName(p.Name) || strings.EqualFold(p.Name, "none") { // as embedding.model says that there is none
		return nil, fmt.Errorf("%q %w: give one with --name, of up to 100 letters, digits, dots, dashes and underscores", p.Name, ErrName)
	}
	p.From, p.Path = fetch.Shown(p.source), m.path(p.Name)
	_, err = os.Lstat(p.Path)
	p.There = err == nil
	return p, nil
}

func (p *Plan) ofKnown(name string) error {
	p.Known = known(name, "")
	if p.Known == nil {
		return fmt.Errorf("%w %q in the catalogue", ErrUnknown, name)
	}
	p.Remote, p.source = true, p.Known.URL
	p.Name = cmp.Or(p.Name, p.Known.Name)
	if p.Known.SHA256 == "" && p.SHA256 == "" {
		return fmt.Errorf("nobody here knows the SHA-256 of %s: give it with --sha256, as the page of the file tells it (%s), or download the file and install it from there", p.Known.Name, p.Known.URL)
	}
	if p.SHA256 == "" || p.SHA256 == p.Known.SHA256 {
		p.SHA256, p.Size = p.Known.SHA256, p.Known.Size
	}
	return nil
}

func (p *Plan) ofURL(address string) error {
	p.Remote, p.source = true, address
	shown := fetch.Shown(address)
	p.Name = cmp.Or(p.Name, baseName(path.Base(shown)))
	for _, k := range Catalogue() {
		if k.SHA256 != "" && (k.SHA256 == p.SHA256 || p.SHA256 == "" && k.URL == shown) {
			p.Known, p.SHA256, p.Size = &k, k.SHA256, k.Size
		}
	}
	if p.SHA256 == "" {
		return fmt.Errorf("what is downloaded from %s must be known by its SHA-256: give it with --sha256, as the page of the file tells it", shown)
	}
	return nil
}

func (p *Plan) ofFile(file string) error {
	full, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	info, err := os.Stat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no file %s: check its path", full)
	case err != nil:
		return fmt.Errorf("%s cannot be examined: %w", full, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file: name the model's file itself", full)
	}
	p.source, p.Size = full, info.Size()
	p.Name = cmp.Or(p.Name, baseName(filepath.Base(full)))
	return nil
}

// baseName is the name of a file without .gguf, however that is written.
func baseName(file string) string {
	if ending := filepath.Ext(file); strings.EqualFold(ending, extension) {
		return strings.TrimSuffix(file, ending)
	}
	return file
}

// Install adds a model and returns it. Where just this file is there already under the name,
// nothing is done; where another one is, the error is [ErrTaken], unless the source says to
// replace it. The progress, of bytes and a total that is 0 where it is not known, may be nil.
func (m *Models) Install(ctx context.Context, s Source, progress func(done, total int64)) (*Model, error) {
	p, err := m.Plan(s)
	if err != nil {
		return nil, err
	}
	if p.There && !s.Replace {
		if err := p.sameFile(ctx); err != nil {
			return nil, err
		}
		return m.adopt(ctx, p)
	}
	if p.There && same(p.Path, p.source) {
		return m.adopt(ctx, p)
	}
	got, err := fetch.Fetch(ctx, fetch.Options{
		Source: p.source, To: p.Path, SHA256: p.SHA256, Size: p.Size, Most: mostBytes, Retries: fetch.Retries, Progress: progress,
		Check: func(file, _ string) error {
			if err := judge(file, p.From); err != nil {
				return err
			}
			return removeFile(m.notePath(p.Name)) // that of the file whose place this one takes
		},
	})
	if err != nil {
		return nil, err
	}
	return m.written(p, got.SHA256, got.Size)
}

// judge says why no engine can run a file, which came from somewhere and may be gone by then.
func judge(file, from string) error {
	var model Model
	err := model.judge(file)
	if refused, ok := errors.AsType[*gguf.RefusedError](err); ok {
		return &gguf.RefusedError{Path: from, Problem: refused.Problem, Remedy: refused.Remedy}
	}
	return err
}

// sameFile says whether what is there is what would be installed.
func (p *Plan) sameFile(ctx context.Context) error {
	want := p.SHA256
	if want == "" && !same(p.Path, p.source) {
		var err error
		if want, err = digestOf(ctx, p.source, p.Size, nil); err != nil {
			return err
		}
	}
	if want == "" { // the file itself, in its place
		return nil
	}
	info, err := os.Stat(p.Path)
	if err != nil {
		return fmt.Errorf("find out whether %s is there already: %w", p.Name, err)
	}
	is, err := digestOf(ctx, p.Path, info.Size(), nil)
	if err != nil {
		return err
	}
	if is != want {
		return fmt.Errorf("%w: %s is another file; --replace takes its place, --name calls this one something else", ErrTaken, p.Path)
	}
	return nil
}

// adopt makes a note of a file that is in its place already.
func (m *Models) adopt(ctx context.Context, p *Plan) (*Model, error) {
	if err := judge(p.Path, p.Path); err != nil {
		return nil, err
	}
	info, err := os.Stat(p.Path)
	if err != nil {
		return nil, err
	}
	digest, err := digestOf(ctx, p.Path, info.Size(), nil)
	if err != nil {
		return nil, err
	}
	if p.SHA256 != "" && digest != p.SHA256 {
		return nil, fmt.Errorf("%s has the SHA-256 %s where %s was expected: it is another file, or damaged", p.Path, digest, p.SHA256)
	}
	if n, err := m.note(p.Name); err == nil && n.SHA256 == digest && n.Size == info.Size() {
		return m.Find(p.Name) // nothing new is known of it
	}
	return m.written(p, digest, info.Size())
}

// written writes down what is known of a model that is in its place.
func (m *Models) written(p *Plan, digest string, size int64) (*Model, error) {
	n := note{Source: p.From, SHA256: digest, Size: size, Installed: time.Now().UTC().Truncate(time.Second)}
	if k := known("", digest); k != nil {
		n.Known = k.Name
	} else if p.Known != nil {
		n.Known = p.Known.Name
	}
	data, err := json.MarshalIndent(n, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := durable.ReplaceFile(durable.OS{}, m.notePath(p.Name), append(data, '\n')); err != nil {
		return nil, fmt.Errorf("write down what model %s is: %w", p.Name, fetch.Explain(err, m.folder))
	}
	return m.Find(p.Name)
}

// digestOf is the SHA-256 of a file in hex.
func digestOf(ctx context.Context, name string, size int64, progress func(done, total int64)) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	buf := make([]byte, 1<<20)
	for done := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := f.Read(buf)
		sum.Write(buf[:n])
		if done += int64(n); progress != nil {
			progress(done, size)
		}
		if errors.Is(err, io.EOF) {
			return hex.EncodeToString(sum.Sum(nil)), nil
		}
		if err != nil {
			return "", fmt.Errorf("read %s: %w", name, err)
		}
	}
}
