package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// What training goes by. It was chosen by the cosines with texts of WordNet that were kept out, and by the odd halves
// of judged sets (docs/internals/evaluation.md).
const (
	epochs      = 6
	batchTexts  = 4096
	ranked      = 1024  // texts of a batch whose order of similarity is compared
	rankWeight  = 0.2   // of that comparison, relative to the cosines
	temperature = 0.05  // of it
	aloneWeight = 0.1   // of a token as a text of its own, relative to a text
	firstRate   = 0.003 // of learning, which falls to 0 in a straight line
)

// A text is what the sum of its tokens' vectors should point to.
type text struct {
	tokens []int32
	want   []float32 // of length 1
	weight float32
}

// A trainer moves the vectors of tokens, so that the sum of those of a text points to where the model has the text.
// The loss of a batch is the mean of 1 − cosine, and, by rankWeight, the mean Kullback-Leibler divergence between the
// softmax of each text's similarities to the others by the model and by the table. Steps are those of Adam (Kingma
// and Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015).
type trainer struct {
	dim                   int
	vectors, mean, square []float32 // a row for each token: the table, and Adam's moments of the gradient
	steps                 int
}

// train moves vectors, a row of dim numbers for each token, in place. The result depends on nothing but the arguments.
func train(vectors []float32, dim int, texts []text) {
	t := &trainer{dim: dim, vectors: vectors, mean: make([]float32, len(vectors)), square: make([]float32, len(vectors))}
	order := rand.New(rand.NewPCG(1, 1))
	total := epochs * ((len(texts) + batchTexts - 1) / batchTexts)
	for range epochs {
		order.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		for from := 0; from < len(texts); from += batchTexts {
			rate := firstRate * (1 - float64(t.steps)/float64(total))
			t.step(texts[from:min(from+batchTexts, len(texts))], rate)
		}
	}
}

func (t *trainer) step(batch []text, rate float64) {
	units, lengths := t.embed(batch)
	gradient := t.pull(batch)
	t.rank(batch[:min(ranked, len(batch))], units, gradient)
	t.throughLength(units, gradient, lengths)
	t.adam(t.scatter(batch, gradient), rate)
}

// embed returns the vector of each text, a row each, and the lengths of their sums.
func (t *trainer) embed(batch []text) (units, lengths []float32) {
	units, lengths = make([]float32, len(batch)*t.dim), make([]float32, len(batch))
	parallel(len(batch), func(from, to int) {
		for i := from; i < to; i++ {
			row := units[i*t.dim:][:t.dim]
			for _, token := range batch[i].tokens {
				addScaled(row, t.vectors[int(token)*t.dim:], 1)
			}
			lengths[i] = max(length(row), 1e-6)
			scaleBy(row, 1/lengths[i])
		}
	})
	return units, lengths
}

// pull returns the gradient of 1 − cosine by the texts' vectors.
func (t *trainer) pull(batch []text) []float32 {
	gradient := make([]float32, len(batch)*t.dim)
	for i, x := range batch {
		addScaled(gradient[i*t.dim:][:t.dim], x.want, -x.weight/float32(len(batch)))
	}
	return gradient
}

// rank adds the gradient of the divergence.
func (t *trainer) rank(batch []text, units, gradient []float32) {
	n := len(batch)
	wants := make([]float32, 0, n*t.dim)
	for _, x := range batch {
		wants = append(wants, x.want...)
	}
	own := rows(n, t.dim, units[:n*t.dim])
	difference, by := similarities(own), similarities(rows(n, t.dim, wants))
	parallel(n, func(from, to int) {
		for i := from; i < to; i++ {
			addScaled(difference.Data[i*n:][:n], by.Data[i*n:], -1)
		}
	})
	share := float32(rankWeight / temperature / float64(n))
	to := rows(n, t.dim, gradient[:n*t.dim])
	blas32.Gemm(blas.NoTrans, blas.NoTrans, share, difference, own, 1, to)
	blas32.Gemm(blas.Trans, blas.NoTrans, share, difference, own, 1, to)
}

// similarities has for each text, in a row, the softmax of its similarities to the others.
func similarities(units blas32.General) blas32.General {
	n := units.Rows
	out := rows(n, n, make([]float32, n*n))
	blas32.Gemm(blas.NoTrans, blas.Trans, 1/temperature, units, units, 0, out)
	parallel(n, func(from, to int) {
		for i := from; i < to; i++ {
			softmax(out.Data[i*n:][:n], i)
		}
	})
	return out
}

// softmax leaves out the number of index self.
func softmax(row []float32, self int) {
	row[self] = float32(math.Inf(-1))
	most, sum := float32(math.Inf(-1)), 0.0
	for _, x := range row {
		most = max(most, x)
	}
	for i, x := range row {
		e := math.Exp(float64(x - most))
		row[i], sum = float32(e), sum+e
	}
	scaleBy(row, float32(1/sum))
}

// throughLength turns gradients by units into those by the sums that these are of.
func (t *trainer) throughLength(units, gradient, lengths []float32) {
	parallel(len(lengths), func(from, to int) {
		for i := from; i < to; i++ {
			g, unit := gradient[i*t.dim:][:t.dim], units[i*t.dim:][:t.dim]
			addScaled(g, unit, -inner(g, unit))
			scaleBy(g, 1/lengths[i])
		}
	})
}

// scatter returns the gradient by the tokens' vectors. Each processor has some of the columns, so that sums
// are made in the same order always.
func (t *trainer) scatter(batch []text, gradient []float32) []float32 {
	out := make([]float32, len(t.vectors))
	parallel(t.dim, func(from, to int) {
		for i, x := range batch {
			g := gradient[i*t.dim+from : i*t.dim+to]
			for _, token := range x.tokens {
				addScaled(out[int(token)*t.dim+from:][:to-from], g, 1)
			}
		}
	})
	return out
}

func (t *trainer) adam(gradient []float32, rate float64) {
	const first, second, least = 0.9, 0.99, 1e-10
	t.steps++
	unbias := 1 / (1 - math.Pow(first, float64(t.steps)))
	unbiasSquare := 1 / (1 - math.Pow(second, float64(t.steps)))
	parallel(len(gradient), func(from, to int) {
		for i := from; i < to; i++ {
			g := gradient[i]
			t.mean[i] = first*t.mean[i] + (1-first)*g
			t.square[i] = second*t.square[i] + (1-second)*g*g
			root := math.Sqrt(float64(t.square[i]) * unbiasSquare)
			t.vectors[i] -= float32(rate * float64(t.mean[i]) * unbias / (root + least))
		}
	})
}

func rows(n, dim int, data []float32) blas32.General {
	return blas32.General{Rows: n, Cols: dim, Stride: dim, Data: data}
}

// addScaled adds x, as much as is as long as to, times by.
func addScaled(to, x []float32, by float32) {
	x = x[:len(to)]
	for i := range to {
		to[i] += by * x[i]
	}
}

func scaleBy(x []float32, by float32) {
	for i := range x {
		x[i] *= by
	}
}

func inner(a, b []float32) float32 {
	var sum float64
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return float32(sum)
}

func length(x []float32) float32 { return float32(math.Sqrt(float64(inner(x, x)))) }

// parallel has parts of 0 to n done on all processors.
func parallel(n int, do func(from, to int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() { do(n*w/workers, n*(w+1)/workers) })
	}
	wait.Wait()
}
