package llama

// parameterBytes are passed as a pointer to them, so there may be as many as are returned.
const parameterBytes = maxReturned

// sizeReturned is not needed here.
func sizeReturned(uintptr) int { return 0 }
