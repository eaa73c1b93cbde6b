package decay_test

import (
	"math"
	"strings"
	"testing"

	"emberd/decay"
)

func TestModelValidate(t *testing.T) {
	for _, m := range models {
		if err := m.Validate(); err != nil {
			t.Errorf("Validate of %q = %v", m, err)
		}
	}
	for _, name := range []decay.Model{"", "Power_Law", "linear"} {
		err := name.Validate()
		if err == nil || !strings.Contains(err.Error(), "power_law, exponential or two_component") {
			t.Errorf("Validate of %q = %v, want an error that lists the models", name, err)
		}
	}
}

func TestValidate(t *testing.T) {
	if err := decay.DefaultParams().Validate(); err != nil {
		t.Fatalf("defaults: %v", err)
	}
	for _, c := range []struct {
		change func(*decay.Params)
		want   string
	}{
		{func(p *decay.Params) { p.Model = "linear" }, `invalid decay model "linear"; use power_law, exponential or two_component`},
		{func(p *decay.Params) { p.HalfLife = 0 }, "decay half-life 0s is out of range (1 second to 100 years)"},
		{func(p *decay.Params) { p.HalfLife = 200 * 365 * day }, "decay half-life 1752000h0m0s is out of range (1 second to 100 years)"},
		{func(p *decay.Params) { p.Lambda = -1 }, "decay lambda -1 is out of range (1e-12 to 1); use 0 to derive lambda from the half-life"},
		{func(p *decay.Params) { p.Beta = -0.1 }, "decay beta -0.1 is out of range (0 to 5)"},
		{func(p *decay.Params) { p.Beta = math.NaN() }, "decay beta NaN is out of range"},
		{func(p *decay.Params) { p.Alpha = 0 }, "decay alpha 0 is out of range (0.1 to 10)"},
		{func(p *decay.Params) { p.FastLambda = 2 }, "decay fast lambda 2 is out of range (1e-12 to 1)"},
		{func(p *decay.Params) { p.SlowLambda = 1e-4 }, "decay slow lambda 0.0001 is out of range (1e-12 to 1.603e-05)"},
		{func(p *decay.Params) { p.FastWeight = 1.1 }, "decay fast weight 1.1 is out of range (0 to 1)"},
	} {
		p := decay.DefaultParams()
		c.change(&p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
