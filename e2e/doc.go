// Package e2e holds the tests that drive the built programs as people, shells
// and services do: nothing here calls a function of another package.
//
// TestMain builds snens once, with the race detector when the tests have it.
// A world is a home, a folder of tools and an environment of one test; every
// process of it carries the world's folder in its environment, which is how a
// test knows that nothing is left running. Whatever a test starts has a
// deadline. Where a test has to wait, it waits for the thing itself: a file, a
// reader of a named pipe, a state in /proc.
//
// testdata/script holds scripts (testscript), testdata/zoo hostile tools, one
// folder each, testdata/debian.txt the programs of a Debian system that are
// discovered. What belongs to one package is tested there; here is what only
// the whole program can show.
package e2e
