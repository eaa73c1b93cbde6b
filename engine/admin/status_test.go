package admin_test

import (
	"testing"

	"emberd/engine/admin"
	"emberd/op"
)

func TestHealthNamesTheWorst(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]op.StatusResult{
		"ok":        {},
		"degraded":  {Warnings: []string{"the disk is slow"}},
		"loading":   {Warnings: []string{"the disk is slow"}, Loading: &op.Loading{}},
		"read-only": {Loading: &op.Loading{}, Log: op.LogStatus{ReadOnly: "disk full"}},
	} {
		if got := admin.Health(&s); got != want {
			t.Errorf("health of %+v is %q, want %q", s, got, want)
		}
	}
}
