package similarity

// point reports which similarity a cosine of words stands for.
type point struct{ cosine, similarity float64 }

// points were found by equipercentile equating (Kolen and Brennan, "Test Equating,
// Scaling, and Linking", chapter 2) on 1,744 pairs of the SemEval STS tasks of 2013 to
// 2016: as many pairs reach a cosine of words as reach a similarity, which is what people
// gave the pair, of 5. Embeddings of sentences are trained to have that as their cosine.
// A regression would not do: it never expects the highest grade, so a high threshold
// would be met by nothing.
func points() []point {
	return []point{
		{0, 0}, {0.10, 0.10}, {0.22, 0.30}, {0.37, 0.50}, {0.43, 0.60}, {0.58, 0.70},
		{0.66, 0.80}, {0.76, 0.83}, {0.81, 0.88}, {0.84, 0.90}, {0.88, 0.95}, {1, 1},
	}
}

// Calibrate maps the cosine of two texts' [Vector]s to the scale that thresholds are
// given in: the cosine that an embedding would have. It grows with its argument, from 0
// at 0 to 1 at 1.
func Calibrate(cosine float64) float64 {
	return along(cosine, func(k point) (float64, float64) { return k.cosine, k.similarity })
}

// CosineFor is the cosine of words that [Calibrate] maps to a similarity.
func CosineFor(similarity float64) float64 {
	return along(similarity, func(k point) (float64, float64) { return k.similarity, k.cosine })
}

// along goes from one of a point's numbers to the other, in straight lines between points.
func along(x float64, axes func(point) (from, to float64)) float64 {
	all := points()
	for i, k := range all[1:] {
		from, to := axes(all[i])
		end, reached := axes(k)
		if x <= end {
			return to + (reached-to)*max(0, x-from)/(end-from)
		}
	}
	return 1
}
