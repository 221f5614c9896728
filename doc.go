// Package snens holds nothing but the rules of this project, as tests: which
// package may import which, what each program may link, how long a file may
// grow, which documents are generated. The programs are in cmd/.
//
// A rule that is broken fails go test with the name of the file and the fix.
// Where a rule has a table of exceptions, a new entry needs a reason beside it.
package snens
