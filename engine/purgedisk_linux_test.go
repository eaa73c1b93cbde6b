package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"emberd/engine/storage"
	"emberd/op"
)

// On a full disk a purge is written and its files are not rewritten: the answer says both, since an error
// would say that nothing was done. When there is room, the rest is done without being asked.
func TestAPurgeOnAFullDiskSaysWhatItDid(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	dir := filepath.Dir(h.Data)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=40m"); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	e := h.open(t)
	gone, stays := save(t, e, "quixotic zeppelin"), save(t, e, "apple pie")
	var fs syscall.Statfs_t
	ok(t, syscall.Statfs(dir, &fs))
	full := place(t, dir, "full", strings.Repeat("x", int(fs.Bavail)*int(fs.Bsize)-(8<<20)))

	res := do(t, e, op.Purge, &op.PurgeRequest{ID: string(gone.ID)})
	if places := left(res, "unfinished"); res.Tx == "" || len(places) != 1 {
		t.Errorf("the purge answers %+v", res)
	}
	if _, there := e.Stm.Get(gone.ID); there || !e.Stm.PurgesDue() {
		t.Error("the memory is there, or its files are not to be rewritten any more")
	}
	if found := filesWith(t, []string{"zeppelinxx"}, h.Data); len(found) == 0 {
		t.Error("no file has the word, so that this proves nothing")
	}
	ok(t, os.Remove(full))
	c := storage.Compactor{E: e.Storage}
	if _, err := c.Tidy(t.Context()); err != nil || e.Stm.PurgesDue() {
		t.Errorf("with room it is not finished: %v", err)
	}
	ok(t, e.Close())
	if found := filesWith(t, []string{"zeppelinxx"}, dir); len(found) > 0 {
		t.Errorf("the word is in %v", found)
	}
	e = h.open(t)
	if look(t, e, stays.ID).Content != "apple pie" {
		t.Error("the other memory is gone")
	}
	ok(t, e.Close())
}
