package mutants

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// mutant is one change of the source that breaks a promise.
type mutant struct {
	what string // what is missing, as the table says it
	file string // from the root of the module
	old  string // found exactly once in file
	new  string
	kill suite
}

// suite is the tests that are to kill a mutant.
type suite struct{ pkg, tests string }

// The suites, each as small as its mutants allow.
var (
	crashes   = suite{"./stm", "^(TestPowerCutAt|TestEveryDiskError|TestWhatAStartShows|TestAnIdentity)/^all$/^(save|use)$"}
	starts    = suite{"./stm", "^(TestTheNextProcess|TestWhatAStart|TestAnIdentity)"}
	reading   = suite{"./stm", "^TestAReadErrorInAFile"}
	doubts    = suite{"./stm", "^(TestAnUnknownAnswer|TestWhatIsInDoubt|TestNumbersInDoubt|TestADiskThatNever)"}
	firsts    = suite{"./stm", "^TestAFirstSave"}
	damage    = suite{"./stm", "^(TestDamage|TestEveryByte|TestSnapshotIsOnly|TestOneBitOfASnapshot|TestASnapshot|TestPlaces|TestALost|TestAFolder|TestADeleted|TestSnapshotsWhile|TestADamaged|TestDamageUnder)"}
	restoring = suite{"./stm", "^TestPowerCutAt/^all$/^restore_a_backup$"}
	days      = suite{"./stm", "^TestEveryDiskError/^all$/^(a_day|purge)$"}
	rotating  = suite{"./stm", "^TestSegmentsFollow"}
	folding   = suite{"./stm", "^(TestPowerCutAt|TestEveryDiskError)/^all$/^a_tidy_day$"}
	// What compaction checks shows only when something is wrong with the files.
	verifying = suite{"./stm", "^(TestACompactionThatAnswered|TestWhatWasWrittenWrong|TestAnInputChangedInPlace|TestADamagedReplacement|TestAFlippedByte|TestAChangedInput|TestACopyIs|TestAnyMix|TestCompactionLeaves|TestHeadersOf)"}
	// Forgotten texts, and the past.
	prints  = suite{"./stm", "^(TestACrashLeavesTheKey|TestAKeyThat|TestWhatWasForgotten|TestTheTrashHolds|TestATextForgotten|TestCompactionCompares)"}
	forgets = suite{"./stm", "^TestEveryDiskError/^all$/^forget$"}
	pasts   = suite{"./stm", "^TestThePast"}
	replace = suite{"./internal/durable", "."}
	// What is displaced when a note is written.
	displacing = suite{"./vault", "^(TestABackupIsOn|TestATornText|TestWhatIsDiscarded|TestAFreshNote)"}
	// What agents add.
	adding      = suite{"./engine", "^(TestWhatSaysSomethingElse|TestAnotherNoun|TestAddAtTheThreshold|TestReinforceAtTheThreshold)"}
	echoing     = suite{"./engine", "^(TestWhatIsNoEchoIsStored|TestWhatIsGoneOrOtherwise|TestWhatALongTextLeavesOut|TestATextLikeThat)"}
	superseding = suite{"./engine", "^(TestWhatCannotTakeAPlace|TestTwoDevicesThatMakeACircle|TestSomeMemoryAlwaysCounts)"}
	confirming  = suite{"./engine", "^(TestConfirm|TestReinforcementOfDataIsHeld)$"}
	learning    = suite{"./memory", "^(TestLearn$|TestAFullChain|TestWhateverTheOrder)"}
)

// mutate returns the file with the change, and the line it is in.
func (m *mutant) mutate() (source []byte, line int, err error) {
	source, err = os.ReadFile(m.path())
	if err != nil {
		return nil, 0, err
	}
	if n := bytes.Count(source, []byte(m.old)); n != 1 {
		return nil, 0, fmt.Errorf("the text to replace is found %d times, want once:\n%s", n, m.old)
	}
	at := bytes.Index(source, []byte(m.old))
	line = 1 + bytes.Count(source[:at], []byte("\n"))
	return bytes.Replace(source, []byte(m.old), []byte(m.new), 1), line, nil
}

func (m *mutant) path() string { return filepath.Join("..", "..", "..", filepath.FromSlash(m.file)) }

// Every mutant fits the source as it is, so that none is forgotten when the
// code moves. This runs always, the rest with make mutants.
func TestMutantsFitTheSource(t *testing.T) {
	names := map[string]bool{}
	for _, m := range mutants() {
		source, _, err := m.mutate()
		if err == nil {
			_, err = parser.ParseFile(token.NewFileSet(), m.file, source, 0)
		}
		if err != nil {
			t.Errorf("%s in %s: %v", m.what, m.file, err)
		}
		if names[m.what] {
			t.Errorf("two mutants are called %s", m.what)
		}
		names[m.what] = true
	}
}

func TestMutantsDie(t *testing.T) {
	if os.Getenv("EMBERD_TEST_MUTANTS") == "" {
		t.Skip("set EMBERD_TEST_MUTANTS=1 to build and kill every mutant, which takes minutes")
	}
	wanted := regexp.MustCompile(os.Getenv("EMBERD_TEST_MUTANT"))
	var all []mutant
	for _, m := range mutants() {
		if wanted.MatchString(m.what) {
			all = append(all, m)
		}
	}
	sound := map[suite]bool{}
	for _, m := range all {
		if sound[m.kill] {
			continue
		}
		sound[m.kill] = true
		if v := run(t, m.kill, nil); v.killer != "" {
			t.Fatalf("without any mutant %s fails in %s:\n%s", m.kill.tests, v.killer, v.output)
		}
	}
	verdicts := make([]verdict, len(all))
	var wg sync.WaitGroup
	next := make(chan int)
	for range 2 {
		wg.Go(func() {
			for i := range next {
				verdicts[i] = run(t, all[i].kill, &all[i])
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	wg.Wait()
	report(t, all, verdicts)
}

func report(t *testing.T, all []mutant, verdicts []verdict) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what is missing\twhere\tkilled by\tseconds")
	killed := 0
	for i, m := range all {
		v := verdicts[i]
		switch v.killer {
		case "":
			t.Errorf("%s: survives %s", m.what, m.kill.tests)
		case "build":
			t.Errorf("%s: does not compile:\n%s", m.what, v.output)
		default:
			killed++
		}
		fmt.Fprintf(w, "%s\t%s:%d\t%s\t%.1f\n", m.what, m.file, v.line, cmp.Or(v.killer, "nobody"), v.took.Seconds())
	}
	w.Flush()
	fmt.Printf("%d of %d mutants killed\n", killed, len(all))
}

// verdict is how a run of a suite ended.
type verdict struct {
	line   int
	killer string // the first test that failed; "" is none, "build" is a mutant that does not compile
	took   time.Duration
	output []byte
}

// run runs a suite against a mutant, or against the product itself.
func run(t *testing.T, s suite, m *mutant) verdict {
	ctx, cancel := context.WithTimeout(t.Context(), 11*time.Minute)
	defer cancel()
	v := verdict{}
	args := []string{"test", "-vet=off", "-count=1", "-failfast", "-timeout=10m", "-run", s.tests}
	if m != nil {
		overlay, line, err := m.overlay(t.TempDir())
		if err != nil {
			t.Error(err)
			return v
		}
		v.line = line
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, s.pkg)...)
	cmd.Dir = filepath.Join("..", "..", "..")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "EMBERD_TEST_EVERY=1", "RAPID_CHECKS=100")
	begin := time.Now()
	var err error
	v.output, err = cmd.CombinedOutput()
	v.took = time.Since(begin)
	if _, failed := errors.AsType[*exec.ExitError](err); failed {
		v.killer = killer(v.output)
	} else if err != nil {
		t.Error(err)
	}
	return v
}

var failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// killer names the test that failed; the innermost says most.
func killer(output []byte) string {
	all := failure.FindAllSubmatch(output, -1)
	switch {
	case len(all) > 0:
		return string(all[len(all)-1][1])
	case bytes.Contains(output, []byte("[build failed]")), bytes.Contains(output, []byte("[setup failed]")):
		return "build"
	}
	first, _, _ := strings.Cut(string(output), "\n")
	return first
}

// overlay writes the mutant and the file that puts it in place.
func (m *mutant) overlay(dir string) (name string, line int, err error) {
	source, line, err := m.mutate()
	if err != nil {
		return "", 0, err
	}
	original, err := filepath.Abs(m.path())
	if err != nil {
		return "", 0, err
	}
	mutated := filepath.Join(dir, "mutant.go")
	spec, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		return "", 0, err
	}
	name = filepath.Join(dir, "overlay.json")
	return name, line, errors.Join(os.WriteFile(mutated, source, 0o600), os.WriteFile(name, spec, 0o600))
}
