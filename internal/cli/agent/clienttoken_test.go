package agent

import (
	"strings"
	"testing"
)

// Two projects never share the token of a client, and with it what the other was limited to.
func TestProjectsHaveTokensOfTheirOwn(t *testing.T) {
	t.Parallel()
	if got := asTokenName("Shop-2"); got != "shop-2" {
		t.Errorf("the token of Shop-2 is named %s", got)
	}
	names := make(map[string]string)
	for _, project := range []string{"web-app", "web_app", "web app", "日記", "家計簿", strings.Repeat("a", 50),
		strings.Repeat("a", 60), "-"} {
		name := asTokenName(project)
		if other, taken := names[name]; taken {
			t.Errorf("%s and %s share the token %s", project, other, name)
		}
		names[name] = project
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || name == "" || len(name) > 49 {
			t.Errorf("the token of %s is named %q", project, name)
		}
	}
}
