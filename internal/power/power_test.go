package power_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"emberd/internal/power"
)

// supply is the files of a power supply by name.
type supply map[string]string

// machine is a Linux machine with some power supplies, as links to devices, as the kernel has them.
func machine(t *testing.T, supplies map[string]supply) power.Machine {
	t.Helper()
	root := t.TempDir()
	class := filepath.Join(root, "sys", "class", "power_supply")
	if err := os.MkdirAll(class, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, files := range supplies {
		device := filepath.Join(root, "sys", "devices", name)
		if err := os.MkdirAll(device, 0o700); err != nil {
			t.Fatal(err)
		}
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(device, file), []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(filepath.Join("..", "..", "devices", name), filepath.Join(class, name)); err != nil {
			t.Fatal(err)
		}
	}
	return power.Machine{GOOS: "linux", Root: root}
}

func TestSupplies(t *testing.T) {
	t.Parallel()
	battery := func(status string) supply { return supply{"type": "Battery", "status": status, "present": "1"} }
	mains := func(online string) supply { return supply{"type": "Mains", "online": online} }
	for name, c := range map[string]struct {
		supplies map[string]supply
		want     bool
	}{
		"a desktop":                  {nil, false},
		"unplugged":                  {map[string]supply{"AC": mains("0"), "BAT0": battery("Discharging")}, true},
		"charging":                   {map[string]supply{"AC": mains("1"), "BAT0": battery("Charging")}, false},
		"plugged in, full":           {map[string]supply{"AC": mains("1"), "BAT0": battery("Full")}, false},
		"one charges the other":      {map[string]supply{"AC": mains("1"), "BAT0": battery("Discharging"), "BAT1": battery("Charging")}, false},
		"the second is in use":       {map[string]supply{"AC": mains("0"), "BAT0": battery("Not charging"), "BAT1": battery("Discharging")}, true},
		"USB-C, no adapter listed":   {map[string]supply{"BAT0": battery("Discharging")}, true},
		"held at a limit by USB-C":   {map[string]supply{"BAT0": battery("Not charging")}, false},
		"a desktop with a mouse":     {map[string]supply{"hidpp_battery_0": {"type": "Battery", "status": "Discharging", "scope": "Device"}}, false},
		"a desktop behind a UPS":     {map[string]supply{"ups": {"type": "UPS", "status": "Discharging"}}, false},
		"a battery that says little": {map[string]supply{"BAT0": {"type": "Battery"}}, false},
	} {
		if got := machine(t, c.supplies).OnBattery(t.Context()); got != c.want {
			t.Errorf("%s: on battery %v, want %v", name, got, c.want)
		}
	}
}

func TestFilesAreTheDevices(t *testing.T) {
	t.Parallel()
	m := machine(t, map[string]supply{"BAT0": {"type": "Battery"}})
	root, err := filepath.EvalSymlinks(m.Root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(root, "sys", "class", "power_supply"), filepath.Join(root, "sys", "devices", "BAT0")}
	if got := m.Files(); !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	if got := (power.Machine{GOOS: "linux", Root: filepath.Join(root, "nowhere")}).Files(); len(got) != 0 {
		t.Errorf("files %q of a machine without /sys", got)
	}
}

// A program in the place of pmset prints what that prints.
func TestPmset(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]bool{
		"Now drawing from 'Battery Power'\n -InternalBattery-0 (id=4522083)\t85%; discharging; 4:12 remaining present: true": true,
		"Now drawing from 'AC Power'\n -InternalBattery-0 (id=4522083)\t100%; charged; 0:00 remaining present: true":         false,
		"Now drawing from 'AC Power'":                                  false,
		"Now drawing from 'UPS Power'\n -UPS (id=1)\t90%; discharging": false,
		"": false,
	} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, "usr", "bin"), 0o700); err != nil {
			t.Fatal(err)
		}
		script := "#!/bin/sh\n[ \"$*\" = '-g batt' ] && cat <<'END'\n" + printed + "\nEND\n"
		if err := os.WriteFile(filepath.Join(root, "usr", "bin", "pmset"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		if got := (power.Machine{GOOS: "darwin", Root: root}).OnBattery(t.Context()); got != want {
			t.Errorf("%q: on battery %v, want %v", printed, got, want)
		}
	}
	for _, goos := range []string{"darwin", "windows", ""} {
		if (power.Machine{GOOS: goos, Root: t.TempDir()}).OnBattery(t.Context()) {
			t.Errorf("a machine of system %q without any files is on battery", goos)
		}
	}
}
