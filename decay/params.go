package decay

import (
	"cmp"
	"fmt"
	"time"
)

// A Model names the curve by which memories fade.
type Model string

// The models; the package comment gives their formulas.
const (
	PowerLaw     Model = "power_law"     // a long tail, the default
	Exponential  Model = "exponential"   // the same share lost in equal times
	TwoComponent Model = "two_component" // most of it fast, the rest slowly
)

// String returns the name of the model, as settings have it.
func (m Model) String() string { return string(m) }

// Validate reports a model that is none of the three.
func (m Model) Validate() error {
	switch m {
	case PowerLaw, Exponential, TwoComponent:
		return nil
	}
	return fmt.Errorf("invalid decay model %q; use %s, %s or %s", string(m), PowerLaw, Exponential, TwoComponent)
}

// Params are the settings of decay. Start from [DefaultParams] and call
// [Params.Validate] after changing any; the methods take valid ones for granted.
type Params struct {
	Model Model

	// Beta is the exponent of use_count + 1, 0 to 5. At 0 use does not count.
	Beta float64

	// HalfLife is the age at which the power law, and the exponential unless
	// Lambda is set, have fallen to a half: 1 second to 100 years.
	HalfLife time.Duration

	// Alpha is the exponent of the power law, 0.1 to 10. A smaller one has the
	// same half-life, a steeper start and a longer tail.
	Alpha float64

	// Lambda is the exponential model's rate per second, 1e-12 to 1; it wins over
	// HalfLife. 0 derives it from HalfLife.
	Lambda float64

	// FastLambda and SlowLambda are the two-component model's rates per second,
	// 1e-12 to 1, the fast one not below the slow one. FastWeight is the fast
	// one's share at age 0, 0 to 1.
	FastLambda, SlowLambda float64
	FastWeight             float64
}

// DefaultParams returns CortexGraph's documented settings: a power law that
// halves in three days. The two-component rates halve in about 12 hours and
// 7 days.
func DefaultParams() Params {
	return Params{
		Model:      PowerLaw,
		Beta:       0.6,
		HalfLife:   72 * time.Hour,
		Alpha:      1.1,
		FastLambda: 1.603e-5,
		SlowLambda: 1.147e-6,
		FastWeight: 0.7,
	}
}

// The bounds of the half-life and of every rate, which is per second.
const (
	minHalfLife = time.Second
	maxHalfLife = 100 * 365 * 24 * time.Hour
	minLambda   = 1e-12
	maxLambda   = 1
)

// Validate reports the first setting that is out of bounds, those of the models
// not in use included, and names the bound.
func (p Params) Validate() error {
	if err := p.Model.Validate(); err != nil {
		return err
	}
	if p.HalfLife < minHalfLife || p.HalfLife > maxHalfLife {
		return fmt.Errorf("decay half-life %v is out of range (1 second to 100 years)", p.HalfLife)
	}
	if p.Lambda != 0 {
		if err := within("lambda", p.Lambda, minLambda, maxLambda); err != nil {
			return fmt.Errorf("%w; use 0 to derive lambda from the half-life", err)
		}
	}
	return cmp.Or(
		within("beta", p.Beta, 0, 5),
		within("alpha", p.Alpha, 0.1, 10),
		within("fast lambda", p.FastLambda, minLambda, maxLambda),
		within("slow lambda", p.SlowLambda, minLambda, p.FastLambda),
		within("fast weight", p.FastWeight, 0, 1),
	)
}

// within reports a value outside low to high; NaN is outside.
func within(setting string, value, low, high float64) error {
	if value >= low && value <= high {
		return nil
	}
	return fmt.Errorf("decay %s %v is out of range (%v to %v)", setting, value, low, high)
}
