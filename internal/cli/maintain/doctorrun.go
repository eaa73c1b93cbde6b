package maintain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"emberd/embedding"
	"emberd/internal/cli"
	"emberd/internal/cli/daemon"
	"emberd/internal/cli/model"
	"emberd/internal/doctor"
	"emberd/internal/durable"
	"emberd/internal/models"
	"emberd/internal/service"
	"emberd/internal/text"
	"emberd/memory"
	"emberd/stm"
)

// maxHashed is up to which size, in bytes, a model is read whole for its digest: about a
// second from a disk.
const maxHashed = 1 << 30

// copies tells of copies of log files that a sync tool made, which are read like all others.
func (e *diagnostics) copies(r *stm.LogCheck) {
	for _, f := range r.Files {
		if !strings.Contains(f.Path, ".sync-conflict-") && !strings.Contains(strings.ToLower(f.Path),
			"conflicted copy") {
			continue
		}
		e.add(doctor.Finding{Area: "log", Code: "log-copy", Severity: doctor.Note, Next: "emberd doctor log compact",
			Text: fmt.Sprintf("%s is a conflict copy of a log file, which a sync tool made; emberd also reads the "+
				"copy; after the device that wrote the log file has compacted the log, you can delete the copy",
				f.Path)})
	}
}

// model looks at the file that vectors are made with, and whether something runs it.
func (e *diagnostics) model(ctx context.Context) error {
	path := e.c.Embedding.Model
	if path == "" {
		return nil
	}
	name := strings.TrimSuffix(filepath.Base(path), model.ModelSuffix)
	folder := models.Open(filepath.Dir(path))
	f := doctor.Finding{Area: "model", Severity: doctor.Warning}
	m, err := folder.Find(name)
	if err == nil && m.Problem == "" && m.Size <= maxHashed {
		_, err = folder.Verify(ctx, name, nil)
	}
	switch {
	case errors.Is(err, models.ErrUnknown):
		f.Code, f.Next = "model-missing", e.another(name, "")
		f.Text = fmt.Sprintf(
			"model %s not found, so searches use keywords only; restore the file or select another model", path)
	case err != nil:
		f.Code, f.Text, f.Next = "model-damaged", err.Error(), e.another(name, m.Source)
	case m.Problem != "":
		f.Code, f.Text, f.Next = "model-damaged", m.Problem, e.another(name, m.Source)
	default:
		return e.runner(m)
	}
	e.add(f)
	return nil
}

// another is the command that brings a model back, or that shows which others there are.
func (e *diagnostics) another(name, source string) string {
	if _, err := os.Stat(source); err == nil && filepath.IsAbs(source) {
		return "emberd model install --replace " + text.ShellWord(source)
	}
	known := slices.ContainsFunc(models.Pinned().Models, func(k models.KnownModel) bool { return k.Name == name })
	if known && filepath.Dir(e.c.Embedding.Model) == e.c.Embedding.Folder {
		return "emberd model install --replace " + text.ShellWord(name)
	}
	return "emberd model list"
}

// runner tells when nothing runs the model.
func (e *diagnostics) runner(m *models.Model) error {
	set := &e.c.Embedding
	if slices.Contains(set.Providers, embedding.Go) && slices.Contains(m.Engines, models.Go) || set.URL != "" {
		return nil
	}
	list, err := model.ListEngines(e.c)
	if err != nil {
		return err
	}
	if slices.Contains(set.Providers, embedding.Llama) && slices.Contains(m.Engines, models.Llama) &&
		list.Without == "" {
		return nil
	}
	why := list.Without
	if why == "" {
		why = "embedding.providers does not list a suitable provider"
	}
	e.add(doctor.Finding{Area: "model", Code: "model-unrun", Severity: doctor.Warning, Next: "emberd model " +
		"runtime list",
		Text: fmt.Sprintf("no runtime supports model %s, so searches use keywords only: %s", m.Name, why)})
	return nil
}

// service looks whether the service that keeps this daemon running does so.
func (e *diagnostics) service(ctx context.Context) error {
	m, in, err := daemon.Installed(e.s)
	if memory.CodeOf(err) == memory.Conflict {
		e.add(doctor.Finding{Area: "service", Code: "service-foreign", Severity: doctor.Note, Text: err.Error()})
		return nil
	}
	if err != nil || len(in.Present) == 0 || in.Config != e.c.File {
		return err
	}
	e.outdated(in)
	st, err := m.State(ctx)
	f := doctor.Finding{Area: "service", Severity: doctor.Warning}
	switch {
	case err != nil:
		f.Code, f.Text = "service-unknown", err.Error()
	case strings.HasPrefix(st.Says, "failed"):
		f.Severity, f.Code, f.Next = doctor.Error, "service-failed", "emberd service restart"
		f.Text = fmt.Sprintf("the service failed: %s; run: emberd service logs", st.Says)
	case !st.Running:
		f.Code, f.Text, f.Next = "service-stopped", "the service is installed but not running: "+st.Says,
			"emberd service start"
	case !st.Enabled:
		f.Code, f.Text, f.Next = "service-disabled", "the service is running but will not start at the next login",
			"emberd service install"
	default:
		return nil
	}
	e.add(f)
	return nil
}

// outdated tells of a service that is not what the settings ask for. It is mended only where
// it is about this very program: another one may be a trial.
func (e *diagnostics) outdated(in *service.Installed) {
	stale, err := daemon.StaleService(e.s)
	f := doctor.Finding{Area: "service", Severity: doctor.Warning}
	switch {
	case err != nil:
		f.Code, f.Text = "service-unknown",
			"cannot check whether the service matches the settings: "+err.Error()
	case len(stale) > 0:
		f.Code, f.Next = "service-stale", "emberd service install"
		f.Text = "the service does not match the settings: " + strings.Join(stale, ", ")
		if e.ofThisProgram(in) {
			f.Fix = e.renew
		}
	default:
		return
	}
	e.add(f)
}

// ofThisProgram tells whether a service starts this program.
func (e *diagnostics) ofThisProgram(in *service.Installed) bool {
	program, err := cli.ThisProgram()
	if err != nil {
		return false
	}
	for _, path := range in.Present {
		if text, err := durable.ReadGiven(path, 1<<20); err == nil && strings.Contains(string(text), program) {
			return true
		}
	}
	return false
}

// renew installs the service again, which starts the daemon anew.
func (e *diagnostics) renew(ctx context.Context) (string, error) {
	spec, err := daemon.ServiceSpec(e.s)
	if err != nil {
		return "", err
	}
	m, err := daemon.ManagerOf(e.s)
	if err != nil {
		return "", err
	}
	files, err := m.Render(spec)
	if err != nil {
		return "", err
	}
	written, err := daemon.PutService(ctx, e.s, m, spec, files)
	if err != nil {
		return "", err
	}
	return "wrote " + strings.Join(written, ", ") + " and restarted the daemon", nil
}

// sameDisk tells whether two folders are on one file system, as far as they are there.
func sameDisk(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX != nil || errY != nil {
		return true
	}
	one, okX := x.Sys().(*syscall.Stat_t)
	other, okY := y.Sys().(*syscall.Stat_t)
	return okX && okY && one.Dev == other.Dev
}
