package notename

// Invisible reports whether a letter shows as nothing.
var Invisible = invisible
