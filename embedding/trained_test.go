package embedding

import (
	"math"
	"strings"
	"testing"

	"emberd/internal/testutil/trainedtest"
)

func trained(t *testing.T, weights string) *Embedder {
	t.Helper()
	return openModel(t, trainedtest.File(t, weights))
}

// English sentences that say the same in other words are nearer to each other than to all others.
func TestTrainedModelKnowsParaphrases(t *testing.T) {
	pairs := [][2]string{
		{"When does my car insurance run out?", "The policy for the van expires in March."},
		{"The doctor told him to rest for a week.", "He was advised by his physician to take seven days off."},
		{"Our database server ran out of disk space.", "PostgreSQL stopped because the volume was full."},
		{"She is learning to play the piano.", "Her keyboard lessons began last month."},
		{"The flight to Lisbon was cancelled.", "Our plane for Portugal did not take off."},
		{"Keep the secrets out of the repository.", "Never commit passwords or API keys to git."},
	}
	e := trained(t, "Q8_0")
	for i, pair := range pairs {
		first := embedOne(t, e, pair[0])
		near := cosine(first, embedOne(t, e, pair[1]))
		for j, other := range pairs {
			if far := cosine(first, embedOne(t, e, other[1])); i != j && far >= near-0.1 {
				t.Errorf("%q: cosine %.3f with %q, and %.3f with %q", pair[0], near, pair[1], far, other[1])
			}
		}
	}
}

// The exam of all-MiniLM-L6-v2, which was trained with English texts: it is trusted in full. The figures are those of its
// weights, and change with the exam.
func TestTrainedModelPassesTheExam(t *testing.T) {
	g := grade(t, trained(t, "Q8_0"))
	for _, test := range []struct {
		name           string
		got, want, off float64
	}{
		{"score", g.Score, 0.6554, 0.02}, {"low", g.Low, 0.0718, 0.005}, {"high", g.High, 0.5564, 0.005},
		{"low of passages", g.PassageLow, 0.0573, 0.005}, {"high of passages", g.PassageHigh, 0.4710, 0.005},
		{"trust", g.Trust(), 1, 0},
	} {
		if math.Abs(test.got-test.want) > test.off {
			t.Errorf("%s is %.4f, want %.4f", test.name, test.got, test.want)
		}
	}
}

// Weights of eight bits make nearly the vectors of those that were trained.
func TestTrainedModelInEightBits(t *testing.T) {
	small, whole := trained(t, "Q8_0"), trained(t, "F32")
	for _, text := range []string{
		"When does my car insurance run out?", "The broker is RabbitMQ, on port 5672.",
		strings.Repeat("Deploys go out on Tuesdays, after the backup has been restored once on staging. ", 30),
	} {
		if near := cosine(embedOne(t, small, text), embedOne(t, whole, text)); near < 0.999 || math.IsNaN(near) {
			t.Errorf("%.40q: cosine %.5f, want 0.999", text, near)
		}
	}
}
