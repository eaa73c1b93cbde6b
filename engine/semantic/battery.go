package semantic

import (
	"context"
	"time"
)

// batteryLook is how often it is looked whether the machine is on battery, while texts are embedded
// or wait for that.
const batteryLook = time.Minute

// battery is whether texts wait because the machine is on battery. [Embeddings.Mu] guards on and
// ignored; only the goroutine of RunEmbedder uses looked.
type battery struct {
	looked  time.Time
	on      bool
	ignored bool // the user wants texts embedded anyway, until the next start
}

// lookAtBattery finds out whether the machine is on battery, unless it did lately or does not
// matter.
func (e *Semantic) lookAtBattery(ctx context.Context) {
	m := e.Meaning
	m.Mu.Lock()
	matters := !m.battery.ignored && m.Share < 1 && m.Todo.Left() > 0
	m.Mu.Unlock()
	if !matters || time.Since(m.battery.looked) < batteryLook {
		return
	}
	on := e.Opt.Power.OnBattery(ctx)
	m.battery.looked = time.Now()
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.battery.on = on && !m.battery.ignored
}

// waitsOnBattery reports whether texts wait until the machine is not on battery. Mu must be held.
func (m *Embeddings) waitsOnBattery() bool { return m.battery.on && !m.paused && m.Todo.Left() > 0 }

// ignoreBattery embeds texts on battery until the next start, if they wait for another supply.
func (m *Embeddings) ignoreBattery() {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	if m.waitsOnBattery() {
		m.battery.on, m.battery.ignored = false, true
	}
}
