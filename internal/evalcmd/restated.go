package evalcmd

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"emberd/internal/eval"
)

// sizeOf sums up the files below a folder whose names end in suffix.
func sizeOf(dir, suffix string) (sum int64) {
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, suffix) {
			return nil
		}
		if info, err := d.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// heapInUse returns the bytes of live objects after a collection.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // what pools kept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// endsOf returns the oldest and the newest of the evidence of a question.
func endsOf(evidence map[string]int, created map[string]time.Time) (oldest, newest string) {
	for name := range evidence {
		if oldest == "" || created[name].Before(created[oldest]) ||
			created[name].Equal(created[oldest]) && name < oldest {
			oldest = name
		}
		if newest == "" || created[name].After(created[newest]) {
			newest = name
		}
	}
	if created[oldest].Equal(created[newest]) {
		return oldest, oldest
	}
	return oldest, newest
}

// restatedFacts is how many facts are stated twice.
const restatedFacts = 100

func restatedName(i, version int) string { return fmt.Sprintf("restated/%d/%d", i, version) }

// restatedWords are whom and what a fact is about.
func restatedWords(i int) (who, what string) {
	who = strings.Fields("Amara Bogdan Cressida Dmitri Eszter Fergus Greta Hamish Ilse Joaquin Kirsi Lorcan " +
		"Mireille Nils Oriana Pavel Quirine Rasmus Solveig Tariq")[i%20]
	return who, []string{"dentist", "locker number", "piano teacher", "favourite tea", "spare key"}[i/20]
}

func restatedQuestion(i int) string {
	who, what := restatedWords(i)
	return fmt.Sprintf("What is the %s of %s?", what, who)
}

// restatedDoc is one of the two statements of a fact, whose wording is drawn.
func restatedDoc(i, version int, draw *rand.Rand) eval.Doc {
	who, what := restatedWords(i)
	value := fmt.Sprintf("%s %d", strings.Fields("Alder Birch Cedar Dogwood Elm Fir")[draw.IntN(6)], 10+draw.IntN(80))
	format := []string{"The %[2]s of %[1]s is %[3]s.", "%[1]s told me that the %[2]s is %[3]s", "%[3]s: %[1]s, %[2]s",
		"By the way, for %[1]s the %[2]s is %[3]s these days."}[draw.IntN(4)]
	return eval.Doc{Name: restatedName(i, version), Content: fmt.Sprintf(format, who, what, value)}
}
