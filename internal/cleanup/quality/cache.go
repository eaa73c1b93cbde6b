package quality

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
)

// Bounds of a Cache.
const (
	defaultAnswers = 20_000
	maxCacheRead   = 16 << 20
)

// Cache keeps the answers of models by the text, the model and the question that were
// asked. It may be shared.
type Cache struct {
	most int

	mu      sync.Mutex
	answers map[string]kept
	used    int64 // how often any was used
	changed bool
}

type kept struct {
	Dimensions
	used int64
}

// line is an answer in a file.
type line struct {
	Key   string     `json:"k"`
	Score [5]float64 `json:"s"` // in the order of Dimensions
}

// NewCache keeps the latest so many answers, 0 for 20,000. In a file each has some 80 bytes.
func NewCache(most int) *Cache {
	if most <= 0 {
		most = defaultAnswers
	}
	return &Cache{most: most, answers: make(map[string]kept)}
}

// keyOf returns the first half of a SHA-256 over what an answer depends on.
func keyOf(model, text string) string {
	sum := sha256.Sum256([]byte(version + "\x00" + model + "\x00" + text))
	return hex.EncodeToString(sum[:16])
}

func (c *Cache) get(key string) (Dimensions, bool) {
	if c == nil {
		return Dimensions{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.answers[key]
	if ok {
		c.used++
		k.used = c.used
		c.answers[key] = k
	}
	return k.Dimensions, ok
}

func (c *Cache) put(key string, d Dimensions) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used++
	c.answers[key] = kept{d, c.used}
	c.changed = true
	if len(c.answers) > c.most+c.most/8 {
		c.drop()
	}
}

// drop lets go of what was used longest ago. The caller holds the lock.
func (c *Cache) drop() {
	keys := c.keys()
	for _, key := range keys[:max(0, len(keys)-c.most)] {
		delete(c.answers, key)
	}
}

// keys returns all, the one that was used longest ago first.
func (c *Cache) keys() []string {
	return slices.SortedFunc(maps.Keys(c.answers), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.answers[a].used, c.answers[b].used), cmp.Compare(a, b))
	})
}

// Load takes in what [Cache.Save] wrote: a line of JSON for each answer, the oldest first.
// Lines that are none are left out. It reads at most 16 MiB. The error is that of r.
func (c *Cache) Load(r io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(r, maxCacheRead))
	if err != nil {
		return fmt.Errorf("cannot read the stored quality scores: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for text := range bytes.Lines(data) {
		var l line
		if json.Unmarshal(text, &l) != nil || len(l.Key) != 32 ||
			slices.ContainsFunc(l.Score[:], func(x float64) bool { return !(x >= 0 && x <= 1) }) {
			continue
		}
		c.used++
		s := l.Score
		c.answers[l.Key] = kept{Dimensions{s[0], s[1], s[2], s[3], s[4]}, c.used}
	}
	c.drop()
	return nil
}

// Save writes all answers. The error is that of w.
func (c *Cache) Save(w io.Writer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop()
	to := bufio.NewWriter(w)
	enc := json.NewEncoder(to)
	for _, key := range c.keys() {
		d := c.answers[key].Dimensions
		if err := enc.Encode(line{key,
			[5]float64{d.Accuracy, d.Completeness, d.Specificity, d.Reusability, d.Recency}}); err != nil {
			return fmt.Errorf("cannot write the quality scores: %w", err)
		}
	}
	if err := to.Flush(); err != nil {
		return fmt.Errorf("cannot write the quality scores: %w", err)
	}
	c.changed = false
	return nil
}

// Changed reports whether there are answers that neither Load nor Save knows of.
func (c *Cache) Changed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}
