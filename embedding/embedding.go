// Package embedding turns texts into vectors that are near each other when the texts
// mean about the same.
package embedding

// Embedder makes vectors by the first of its providers that can.
type Embedder struct{}
