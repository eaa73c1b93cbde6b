package durable

// LinkAndUnlink lets the tests reach what only some file systems need.
var LinkAndUnlink = linkAndUnlink
