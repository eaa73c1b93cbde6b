package models_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"emberd/internal/bert"
	"emberd/internal/durable"
	"emberd/internal/gguf"
	"emberd/internal/models"
	"emberd/internal/tinybert"
)

func TestInstall(t *testing.T) {
	for _, tt := range []struct {
		name    string
		data    []byte
		engines []string
	}{
		{"for both engines", tiny(t), []string{models.Llama, models.Go}},
		{"for llama.cpp alone", pieces(t), []string{models.Llama}},
	} {
		for way, source := range map[string]models.Source{
			"from a file": {Place: file(t, "Tiny.GGUF", tt.data)},
			"from an address": {Place: serve(t, tt.data) + "/dir/Tiny.gguf?token=geheim",
				SHA256: strings.ToUpper(digest(tt.data))},
		} {
			t.Run(tt.name+" "+way, func(t *testing.T) {
				m := openModels(t)
				var last int64
				got, err := m.Install(t.Context(), source, func(done, _ int64) { last = done })
				if err != nil {
					t.Fatal(err)
				}
				if got.Name != "Tiny" || got.Path != filepath.Join(m.dir, "Tiny.gguf") ||
					got.SHA256 != digest(tt.data) || got.Size != int64(len(tt.data)) {
					t.Errorf("Install = %+v", got)
				}
				if got.Dim != 32 || got.Pooling != "mean" || got.Weights != "F32" || got.MaxTokens == 0 ||
					!slices.Equal(got.Engines, tt.engines) || got.Problem != "" {
					t.Errorf("Install = %+v, want the facts of the file and engines %q", got, tt.engines)
				}
				if got.Installed.IsZero() || got.Source == "" || strings.Contains(got.Source, "geheim") ||
					got.Known != nil {
					t.Errorf("Install = %+v, want where it came from", got)
				}
				if last != got.Size {
					t.Errorf("the last progress was %d, want %d", last, got.Size)
				}
				holds(t, m.dir, "Tiny.gguf", "Tiny.json")
				again, err := m.Find("Tiny")
				if err != nil || again.SHA256 != got.SHA256 || again.Source != got.Source {
					t.Errorf("Find = %+v, %v, want %+v", again, err, got)
				}
				if _, err := m.Verify(t.Context(), "Tiny", nil); err != nil {
					t.Errorf("Verify: %v", err)
				}
			})
		}
	}
}

func TestSameNameAgain(t *testing.T) {
	m := openModels(t)
	data := tiny(t)
	source := models.Source{Place: serve(t, data), SHA256: digest(data), Name: "m"}
	first := m.install(t, source)
	for way, again := range map[string]models.Source{"the address": source, "a file": {Place: file(t, "m.gguf",
		data)}, "itself": {Place: first.Path}, "itself in place of itself": {Place: first.Path, Replace: true}} {
		if got := m.install(t, again); !got.Installed.Equal(first.Installed) || got.Source != first.Source {
			t.Errorf("installed again from %s: %+v, want %+v", way, got, first)
		}
	}
	other := models.Source{Place: file(t, "m.gguf", pieces(t))}
	_, err := m.Install(t.Context(), other, nil)
	fails(t, err, "m.gguf already exists with a different SHA-256", "--replace", "--name")
	if !errors.Is(err, models.ErrTaken) {
		t.Errorf("Install: %v, want ErrTaken", err)
	}
	other.Replace = true
	if got := m.install(t, other); got.SHA256 != digest(pieces(t)) {
		t.Errorf("replaced by %+v", got)
	}
	// What cannot be used does not take the place of what can.
	_, err = m.Install(t.Context(), models.Source{Place: file(t, "m.gguf", []byte("GGUF")), Replace: true}, nil)
	fails(t, err, "m.gguf")
	if _, err := m.Verify(t.Context(), "m", nil); err != nil {
		t.Errorf("Verify: %v", err)
	}
	holds(t, m.dir, "m.gguf", "m.json")
}

// The note of what was there goes before the file does, and if it cannot, both stay.
func TestNoteNeverSpeaksOfAnotherFile(t *testing.T) {
	m := openModels(t)
	old := m.install(t, models.Source{Place: file(t, "m.gguf", tiny(t))})
	if err := errors.Join(os.Remove(filepath.Join(m.dir, "m.json")), os.MkdirAll(filepath.Join(filepath.Join(m.dir,
		"m.json"), "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	_, err := m.Install(t.Context(), models.Source{Place: file(t, "m.gguf", pieces(t)), Replace: true}, nil)
	fails(t, err, "m.json")
	if got := digest(read(t, old.Path)); got != old.SHA256 {
		t.Errorf("the model was replaced by %s though its note could not be", got)
	}
}

// A file that a person put there is a model, too, and can be taken up where it is.
func TestFileOfAPerson(t *testing.T) {
	m := openModels(t)
	if err := os.Mkdir(m.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	data := tiny(t)
	elsewhere := file(t, "there.gguf", data)
	mine := filepath.Join(m.dir, "mine.gguf")
	if err := errors.Join(os.WriteFile(mine, data, 0o644), os.Symlink(elsewhere, filepath.Join(m.dir, "link.gguf")),
		os.Symlink("none", filepath.Join(m.dir, "stale.gguf")), os.Symlink("loop.gguf", filepath.Join(m.dir,
			"loop.gguf")), os.WriteFile(filepath.Join(m.dir, "page.gguf"), []byte("<html>"), 0o644),
		os.Mkdir(filepath.Join(m.dir, "dir.gguf"), 0o700), os.Mkdir(filepath.Join(m.dir, "engines"),
			0o700)); err != nil {
		t.Fatal(err)
	}
	all, err := m.List()
	if err != nil {
		t.Fatal(err)
	}
	problems := map[string]string{}
	var names []string
	for _, model := range all {
		names = append(names, model.Name)
		problems[model.Name] = model.Problem
	}
	if want := []string{"link", "loop", "mine", "page", "stale"}; !slices.Equal(names, want) {
		t.Errorf("List = %q, want %q", names, want)
	}
	if problems["link"] != "" || problems["mine"] != "" || !strings.Contains(problems["page"], "is a web page") ||
		!strings.Contains(problems["stale"], "is a link to a missing file") {
		t.Errorf("problems %q", problems)
	}
	if want := "run: emberd model remove loop"; !strings.Contains(problems["loop"], want) {
		t.Errorf("the link to itself has the problem %q, want it to have %q", problems["loop"], want)
	}
	got, err := m.Verify(t.Context(), "mine", nil)
	if err != nil || got.SHA256 != digest(data) || got.Source != "" {
		t.Errorf("Verify = %+v, %v, want its digest and no source", got, err)
	}
	if got := m.install(t, models.Source{Place: mine}); got.Source != mine || got.SHA256 != digest(data) {
		t.Errorf("taken up: %+v", got)
	}
	if err := m.Remove("link", ""); err != nil {
		t.Fatal(err)
	}
	if got := read(t, elsewhere); len(got) != len(data) {
		t.Error("removing a link removed what it leads to")
	}
}

func TestVerifyFindsDamage(t *testing.T) {
	data := tiny(t)
	for _, tt := range []struct {
		name   string
		change func(path string) error
		want   string
	}{
		{"another byte", func(path string) error {
			changed := slices.Clone(data)
			changed[len(changed)-1] ^= 1
			return os.WriteFile(path, changed, 0o600)
		}, " instead of " + digest(data) + ": the file changed after the installation; "},
		{"cut short", func(path string) error { return os.Truncate(path, 5000) }, "has 5000 bytes instead of "},
		{"longer", func(path string) error { return os.Truncate(path, int64(len(data))+5) }, " bytes instead of "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := openModels(t)
			model := m.install(t, models.Source{Place: file(t, "m.gguf", data)})
			if err := tt.change(model.Path); err != nil {
				t.Fatal(err)
			}
			if found, err := m.Find("m"); err != nil || tt.name != "another byte" && found.SHA256 != "" {
				t.Errorf("Find = %+v, %v, want no digest for a file of another size", found, err)
			}
			got, err := m.Verify(t.Context(), "m", nil)
			fails(t, err, tt.want, "to install the model again, use emberd model install --replace")
			if got == nil || got.Name != "m" {
				t.Errorf("Verify = %+v, want the model beside the error", got)
			}
		})
	}
}

// What Find says runs a model is what the helper and the engine in Go accept.
func TestEnginesAreThoseThatRunIt(t *testing.T) {
	last, mean, nomic := tinybert.Tiny(), tinybert.Tiny(), tinybert.Tiny()
	last.Pooling, mean.Type, nomic.Architecture = 3, tinybert.Q8_0, "nomic-bert"
	for name, data := range map[string][]byte{"bert": tiny(t), "unigram": pieces(t), "last": written(t, last),
		"q8": written(t, mean), "nomic": written(t, nomic), "page": []byte("<html>")} {
		path := file(t, name+".gguf", data)
		model, err := models.Open(filepath.Dir(path)).Find(name)
		if err != nil {
			t.Fatal(err)
		}
		_, native := gguf.PreflightNative(path)
		_, own := bert.Preflight(path)
		if slices.Contains(model.Engines, models.Llama) != (native == nil) || slices.Contains(model.Engines,
			models.Go) != (own == nil) {
			t.Errorf("%s: engines %q; llama.cpp: %v, go: %v", name, model.Engines, native, own)
		}
	}
}

func TestInstallRefuses(t *testing.T) {
	data := tiny(t)
	page := []byte("<!DOCTYPE html><html></html>")
	pointer := []byte("version https://git-lfs.github.com/spec/v1\noid sha256:" + digest(data) + "\nsize 1234\n")
	other := strings.Repeat("0", 64)
	for _, tt := range []struct {
		name   string
		source models.Source
		kind   error
		want   []string
	}{
		{"a web page", models.Source{Place: file(t, "x.gguf", page)}, nil, []string{"is a web page"}},
		{"a pointer", models.Source{Place: file(t, "x.gguf", pointer)}, nil, []string{"Git LFS", "x.gguf"}},
		{"a pointer from an address", models.Source{Place: serve(t, pointer) + "/x.gguf", SHA256: digest(pointer)}, nil,
			[]string{"Git LFS", "model file http"}},
		{"cut short", models.Source{Place: file(t, "x.gguf", data[:len(data)-100])}, nil, []string{"x.gguf"}},
		{"wrong digest", models.Source{Place: serve(t, data) + "/x.gguf", SHA256: other}, nil, []string{digest(data),
			other}},
		{"wrong digest of a file", models.Source{Place: file(t, "x.gguf", data), SHA256: other}, nil,
			[]string{digest(data), other}},
		{"no digest", models.Source{Place: file(t, "x.gguf", data), SHA256: "abc"}, models.ErrInput,
			[]string{`invalid SHA-256 "abc"`}},
		{"an address without a digest", models.Source{Place: "https://example.org/x.gguf"}, nil, []string{"--sha256"}},
		{"a known model without a digest", models.Source{Place: "snowflake-arctic-embed-m"}, nil,
			[]string{"the SHA-256 of snowflake-arctic-embed-m is unknown", "--sha256", "huggingface.co"}},
		{"no known model", models.Source{Place: "gpt"}, models.ErrUnknown,
			[]string{`model or file "gpt" not found`, "emberd model list"}},
		{"almost a known model", models.Source{Place: "bge-small-en-v15"}, models.ErrUnknown,
			[]string{"did you mean bge-small-en-v1.5?"}},
		{"no file", models.Source{Place: "/nonexistent"}, models.ErrInput, []string{"file /nonexistent not found"}},
		{"embedding.model is not set", models.Source{Place: "nowhere.gguf"}, models.ErrInput, []string{"not found; check its path",
			"/nowhere.gguf"}},
		{"a directory", models.Source{Place: t.TempDir()}, nil, []string{"config.json not found"}},
		{"a bad name", models.Source{Place: file(t, "x y.gguf", data)}, models.ErrInput,
			[]string{`invalid model name "x y"`, "--name"}},
		{"the word for no model", models.Source{Place: file(t, "x.gguf", data), Name: "none"}, models.ErrInput,
			[]string{`invalid model name "none"`, "--name"}},
		{"nothing", models.Source{}, models.ErrInput, []string{"missing model; use"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := openModels(t)
			_, err := m.Install(t.Context(), tt.source, nil)
			fails(t, err, tt.want...)
			if tt.kind != nil && !errors.Is(err, tt.kind) {
				t.Errorf("Install: %v, want a %v", err, tt.kind)
			}
			holds(t, m.dir)
		})
	}
}

func TestRemove(t *testing.T) {
	m := openModels(t)
	model := m.install(t, models.Source{Place: file(t, "mine.gguf", tiny(t))})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(model.Path, link); err != nil {
		t.Fatal(err)
	}
	for _, inUse := range []string{model.Path, link, m.dir + "/./mine.gguf"} {
		err := m.Remove("mine", inUse)
		fails(t, err, "model mine is in use")
		if !errors.Is(err, models.ErrInUse) {
			t.Errorf("Remove: %v, want ErrInUse", err)
		}
	}
	for _, name := range []string{"mint", "", "../models/mine", "none"} {
		if err := m.Remove(name, ""); !errors.Is(err, models.ErrUnknown) {
			t.Errorf("Remove(%q): %v, want ErrUnknown", name, err)
		}
	}
	_, err := m.Find("mint")
	fails(t, err, "did you mean mine?")
	if err := m.Remove("mine", "/elsewhere.gguf"); err != nil {
		t.Fatal(err)
	}
	holds(t, m.dir)
}

// One process at a time installs, and what a killed one left is removed.
func TestOneInstallationAtATime(t *testing.T) {
	m := openModels(t)
	if err := os.MkdirAll(filepath.Join(m.dir, ".new", "half"), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := durable.AcquireLock(filepath.Join(m.dir, ".lock"))
	if err != nil {
		t.Fatal(err)
	}
	source := models.Source{Place: file(t, "m.gguf", tiny(t))}
	if _, err := m.Install(t.Context(), source, nil); !errors.Is(err, models.ErrBusy) {
		t.Errorf("Install: %v, want ErrBusy", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	m.install(t, source)
	holds(t, m.dir, "m.gguf", "m.json")
}

func TestPlan(t *testing.T) {
	m := openModels(t)
	k := models.Pinned().Models[0]
	got, err := m.Plan(models.Source{Place: k.Name})
	if err != nil || got.Name != k.Name || got.Path != filepath.Join(m.dir, k.Name+".gguf") || got.From != k.URL ||
		!got.Remote ||
		got.Size != k.Size || got.SHA256 != k.SHA256 || got.Known == nil || got.Known.Name != k.Name {
		t.Errorf("Plan = %+v, %v, want the pinned %+v", got, err, k)
	}
	byURL, err := m.Plan(models.Source{Place: k.URL})
	if err != nil || byURL.SHA256 != k.SHA256 || byURL.Known == nil || byURL.Name != "all-MiniLM-L6-v2-Q8_0" {
		t.Errorf("Plan of its address = %+v, %v, want its digest", byURL, err)
	}
	if p, err := m.Plan(models.Source{Place: k.Name, Name: "x.GGUF"}); err != nil || p.Name != "x" {
		t.Errorf("Plan for the name of a file = %+v, %v, want it called x", p, err)
	}
	own := strings.Repeat("1", 64)
	p, err := m.Plan(models.Source{Place: "snowflake-arctic-embed-m", SHA256: own})
	if err != nil || p.SHA256 != own || p.Size != 0 {
		t.Errorf("Plan with a digest = %+v, %v", p, err)
	}
}

func TestPinned(t *testing.T) {
	names, digests := map[string]bool{}, map[string]bool{}
	distinct := func(sha256 string) bool {
		known := digests[sha256]
		digests[sha256] = true
		return len(sha256) == 64 && strings.Trim(sha256, "0123456789abcdef") == "" && !known
	}
	for _, k := range models.Pinned().Models {
		if k.Name == "" || names[k.Name] {
			t.Errorf("%s: no name of its own", k.Name)
		}
		if k.SHA256 != "" && !distinct(k.SHA256) {
			t.Errorf("%s: %q is no digest of its own", k.Name, k.SHA256)
		}
		if (k.SHA256 == "") != (k.Size == 0) {
			t.Errorf("%s: its size and its digest are not of one source", k.Name)
		}
		if k.Dim == 0 || k.MaxTokens == 0 || k.Licence == "" || k.Languages == "" || len(k.Engines) == 0 {
			t.Errorf("%s: %+v is not complete", k.Name, k)
		}
		if !strings.HasPrefix(k.URL, "https://") || !strings.EqualFold(filepath.Ext(k.URL), ".gguf") {
			t.Errorf("%s: %s is no address of a model", k.Name, k.URL)
		}
		if k.PassagePrefix != "" && k.QueryPrefix == "" {
			t.Errorf("%s: a prefix for passages and none for queries", k.Name)
		}
		names[k.Name] = true
	}
	if !names["all-MiniLM-L6-v2"] {
		t.Error("the model that the documentation names is not there")
	}
	for _, k := range models.Pinned().Runtimes {
		if !distinct(k.SHA256) || k.Release == "" || k.Platform == "" || k.Size < 1<<20 {
			t.Errorf("%+v is not complete", k)
		}
	}
}
