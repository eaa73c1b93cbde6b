package models

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"emberd/internal/durable"
	"emberd/internal/gguf"
	"emberd/internal/text/spelling"
)

// maxModel is the maximum size of a model file. The largest common embedding models have a few
// gigabytes.
const maxModel = 16 << 30

// A Source says what to install.
type Source struct {
	// Place is a path, an http or https address or, for a model, a name of the pinned list. A
	// folder with a model as Hugging Face lays it out is converted.
	Place string
	// SHA256 is the expected digest of the file or archive in hex, of a folder that of its
	// weights. A download needs it, unless the file is pinned.
	SHA256 string
	// Type is what the weights of a folder are written as: q8_0, which is the default, f16 or f32.
	Type string
	// Name is the name to install under. By default a model is called like its file or its entry
	// in the pinned list, a runtime like its release.
	Name string
	// Replace allows replacing what is installed under the name.
	Replace bool
	// Link leaves the libraries of a directory where they are, and follows their upgrades.
	Link bool
	// Trust says that the user agreed to have the libraries of a runtime loaded, though nothing
	// that is known vouches for them. Without it they are not, and the error is [ErrUntrusted].
	Trust bool
}

// clean returns the source with an absolute path and a lower-case digest.
func (s Source) clean() (Source, error) {
	s.SHA256 = strings.ToLower(s.SHA256)
	if raw, err := hex.DecodeString(s.SHA256); s.SHA256 != "" && (err != nil || len(raw) != 32) {
		return s, problemf(ErrInput, "invalid SHA-256 %q; use 64 hexadecimal digits, as printed by sha256sum", s.SHA256)
	}
	if isURL(s.Place) {
		return s, nil
	}
	var err error
	s.Place, err = filepath.Abs(s.Place)
	return s, err
}

// A stage is the folder below a folder of models or runtimes in which one process at a time
// prepares an installation. Its content never counts as installed.
type stage struct {
	dir  string
	lock *durable.Lock
}

const (
	stageName = ".new"
	lockName  = ".lock"
)

// openStage locks the folder, which it creates if necessary, and empties the stage.
func openStage(folder string) (*stage, error) {
	if err := durable.MkdirAll(durable.OS{}, folder); err != nil {
		return nil, explainWrite(err, folder)
	}
	lock, err := durable.AcquireLock(filepath.Join(folder, lockName))
	if errors.Is(err, durable.ErrLocked) {
		return nil, problemf(ErrBusy, "another process is changing %s; try again later", folder)
	}
	if err != nil {
		return nil, explainWrite(err, folder)
	}
	st := &stage{filepath.Join(folder, stageName), lock}
	if err := errors.Join(os.RemoveAll(st.dir), os.Mkdir(st.dir, 0o700)); err != nil {
		st.close()
		return nil, explainWrite(err, folder)
	}
	return st, nil
}

// close removes the stage. What stays after an error, the next installation removes.
func (st *stage) close() {
	_ = os.RemoveAll(st.dir)
	_ = st.lock.Close() // the lock ends with the descriptor in any case
}

// A Plan describes an installation of a model.
type Plan struct {
	Name   string
	Path   string      // of the installed file
	From   string      // the source without secrets
	Remote bool        // whether it is downloaded
	Folder bool        // whether it is converted
	Size   int64       // bytes; 0 if unknown
	SHA256 string      // expected digest; empty for a local file without one
	Known  *KnownModel // nil if it is not pinned

	source  string // the address or the path
	weights string // the digest of what was converted
}

// Plan returns what Install would do, without using the network.
func (m *Models) Plan(s Source) (*Plan, error) {
	p := &Plan{Known: knownModel(s.Place, "")}
	if p.Known != nil {
		s.Place, s.Name = p.Known.URL, cmp.Or(s.Name, p.Known.Name)
	} else if err := checkPlace(s.Place); err != nil {
		return nil, err
	}
	s, err := s.clean()
	if err != nil {
		return nil, err
	}
	p.source, p.From, p.Remote = s.Place, shownSource(s.Place), isURL(s.Place)
	p.SHA256, p.Name = s.SHA256, baseName(cmp.Or(s.Name, path.Base(shownSource(s.Place))))
	switch {
	case p.Remote:
		err = p.pin()
	case isFolder(s.Place):
		p.planFolder(s)
	case s.Type != "":
		err = problemf(ErrInput, "--type requires a folder to convert: %s is a file; omit --type", p.From)
	default:
		p.Size, err = sizeOf(s.Place)
	}
	if err != nil {
		return nil, err
	}
	if !validName(p.Name) || strings.EqualFold(p.Name, "none") { // which embedding.model uses for no model
		return nil, problemf(ErrInput,
			"invalid model name %q; use --name with up to 100 letters, digits, dots, dashes and underscores", p.Name)
	}
	p.Path = m.path(p.Name)
	return p, nil
}

// checkPlace refuses a word that is neither an address nor a path nor the name of a file here.
func checkPlace(word string) error {
	if word == "" {
		return problemf(ErrInput, "missing model; use a model name, a file, a folder or a URL")
	}
	if strings.ContainsRune(word, filepath.Separator) || strings.HasSuffix(word, extension) {
		return nil
	}
	if _, err := os.Stat(word); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var names []string
	for _, k := range Pinned().Models {
		names = append(names, k.Name)
	}
	if best := spelling.Meant(word, names); best != "" {
		return problemf(ErrUnknown, "model or file %q not found; did you mean %s?", word, best)
	}
	return problemf(ErrUnknown, "model or file %q not found; run: emberd model list", word)
}

// pin finds a download in the pinned list, and refuses one whose digest is unknown.
func (p *Plan) pin() error {
	for _, k := range Pinned().Models {
		if p.Known == nil && k.SHA256 != "" && (k.SHA256 == p.SHA256 || p.SHA256 == "" && k.URL == p.From) {
			p.Known = &k
		}
	}
	if k := p.Known; k != nil && (p.SHA256 == "" || p.SHA256 == k.SHA256) {
		p.SHA256, p.Size = k.SHA256, k.Size
	}
	switch {
	case p.SHA256 != "":
		return nil
	case p.Known != nil:
		return fmt.Errorf("the SHA-256 of %s is unknown; use --sha256 with the value on the web "+
			"page of the file (%s), or download the file and install it from its path", p.Known.Name, p.Known.URL)
	}
	return fmt.Errorf(
		"a download from %s requires the SHA-256 of the file; use --sha256 with the value on the web page of the file",
		p.From)
}

// baseName returns the name of a model file without .gguf in any case.
func baseName(file string) string {
	if ending := filepath.Ext(file); strings.EqualFold(ending, extension) {
		return strings.TrimSuffix(file, ending)
	}
	return file
}

// Install adds a model and returns it. If the same file is installed under the name already,
// Install does nothing; if another one is, the error is [ErrTaken] unless the source has Replace.
// progress may be nil.
func (m *Models) Install(ctx context.Context, s Source, progress Progress) (*Model, error) {
	p, err := m.Plan(s)
	if err != nil {
		return nil, err
	}
	st, err := openStage(m.folder)
	if err != nil {
		return nil, err
	}
	defer st.close()
	if p.Folder {
		return m.installFolder(ctx, st, p, s)
	}
	if _, err := os.Lstat(p.Path); err == nil && (!s.Replace || same(p.Path, p.source)) {
		return m.adopt(ctx, p)
	}
	file := filepath.Join(st.dir, "model")
	t := transfer{source: p.source, to: file, sha256: p.SHA256, size: p.Size, maxSize: maxModel, silence: maxSilence,
		progress: progress}
	digest, size, err := t.run(ctx)
	if err != nil {
		return nil, err
	}
	if err := judge(file, p.From); err != nil {
		return nil, err
	}
	return m.place(p, file, digest, size)
}

// place moves a file that was checked to the plan's path, and writes the note about it.
func (m *Models) place(p *Plan, file, digest string, size int64) (*Model, error) {
	// The note goes before the file that it describes.
	err := removeFile(m.notePath(p.Name))
	if err == nil {
		err = os.Rename(file, p.Path)
	}
	if err != nil {
		return nil, explainWrite(err, m.folder)
	}
	return m.written(p, digest, size)
}

// judge explains why nothing can run a file that came from somewhere.
func judge(file, from string) error {
	var model Model
	err := model.judge(file)
	if refused, ok := errors.AsType[*gguf.RefusedError](err); ok {
		return &gguf.RefusedError{Path: from, Problem: refused.Problem, Remedy: refused.Remedy}
	}
	return err
}

// adopt writes a note about the installed file of the plan's name, if it is the planned one.
func (m *Models) adopt(ctx context.Context, p *Plan) (*Model, error) {
	digest, size, err := digestOf(ctx, p.Path, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot check whether %s already exists: %w", p.Name, err)
	}
	want := p.SHA256
	if want == "" && !same(p.Path, p.source) {
		if want, _, err = digestOf(ctx, p.source, nil); err != nil {
			return nil, err
		}
	}
	if want != "" && digest != want {
		return nil, errOther(p, digest)
	}
	if err := judge(p.Path, p.Path); err != nil {
		return nil, err
	}
	if n, err := m.note(p.Name); err == nil && n.SHA256 == digest && n.Size == size {
		return m.Find(p.Name)
	}
	return m.written(p, digest, size)
}

// written writes the note about an installed model.
func (m *Models) written(p *Plan, digest string, size int64) (*Model, error) {
	n := note{Source: p.From, SHA256: digest, Size: size, Weights: p.weights,
		Installed: time.Now().UTC().Truncate(time.Second)}
	if k := cmp.Or(knownModel("", digest), knownWeights(p.weights), p.Known); k != nil {
		n.Known = k.Name
	}
	data, err := json.MarshalIndent(n, "", "  ")
	if err != nil {
		return nil, err
	}
	// This also syncs the folder, and with it the name of the model.
	if err := durable.ReplaceFile(durable.OS{}, m.notePath(p.Name), append(data, '\n')); err != nil {
		return nil, fmt.Errorf("cannot write the description of model %s: %w", p.Name, explainWrite(err, m.folder))
	}
	return m.Find(p.Name)
}
