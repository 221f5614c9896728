package edit

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"snens/cmd/snens-tools/internal/visible"
)

// nearest says what in content comes nearest to old, which does not occur in
// it: the usual slips first, then the place that agrees longest, then the most
// similar line. "" when nothing is near.
func nearest(content []byte, old string) string {
	if s := slip(content, old); s != "" {
		return s
	}
	lines := bytes.Split(content, []byte("\n"))
	wanted := strings.Split(strings.TrimSuffix(old, "\n"), "\n")
	if s := onlySpace(lines, wanted); s != "" {
		return s
	}
	if s := longestStart(lines, wanted); s != "" {
		return s
	}
	return similar(lines, wanted)
}

// numberPrefix finds the numbers that read prints. It is compiled only here,
// because most calls of this program never need it.
var numberPrefix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^-?\d+\t`) })

// slip recognises an old text that is right but for how it was written.
func slip(content []byte, old string) string {
	if bare := numberPrefix().ReplaceAllString(old, ""); bare != old && bare != "" && bytes.Contains(content, []byte(bare)) {
		return "it occurs without the line numbers that read prints; leave them out"
	}
	unescaped := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`, `\\`, `\`).Replace(old)
	if unescaped != old && bytes.Contains(content, []byte(unescaped)) {
		return "it is escaped once too often: it occurs with real line breaks, tabs and quotes"
	}
	if trimmed := strings.TrimSpace(old); trimmed != old && trimmed != "" && bytes.Contains(content, []byte(trimmed)) {
		_, at := places(content, []byte(trimmed), true)
		return fmt.Sprintf("it occurs on %s without the white space at its beginning or end", Places(at, len(at), 10))
	}
	return ""
}

// onlySpace finds the wanted lines where only white space differs.
func onlySpace(lines [][]byte, wanted []string) string {
	normal := make([]string, len(wanted))
	for i, w := range wanted {
		normal[i] = strings.Join(strings.Fields(w), " ")
	}
	if strings.Join(normal, "") == "" {
		return ""
	}
	for i := 0; i+len(wanted) <= len(lines); i++ {
		k := 0
		for k < len(wanted) && sameWords(lines[i+k], normal[k]) {
			k++
		}
		if k < len(wanted) {
			continue
		}
		for k := range wanted {
			if string(lines[i+k]) != wanted[k] {
				return fmt.Sprintf("line %d differs in white space only: %s", i+k+1, quote(lines[i+k]))
			}
		}
	}
	return ""
}

func sameWords(line []byte, normal string) bool {
	// Most lines are told apart without building anything.
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) == 0 || normal == "" {
		return len(trimmed) == 0 && normal == ""
	}
	return trimmed[0] == normal[0] && string(bytes.Join(bytes.Fields(trimmed), []byte(" "))) == normal
}

// longestStart finds where most of the first wanted lines agree, and names the
// first that does not.
func longestStart(lines [][]byte, wanted []string) string {
	if len(wanted) < 2 {
		return ""
	}
	best, at := 0, 0
	for i := range lines {
		k := 0
		for k < len(wanted) && i+k < len(lines) && string(lines[i+k]) == wanted[k] {
			k++
		}
		if k > best && strings.TrimSpace(strings.Join(wanted[:k], "")) != "" {
			best, at = k, i
		}
	}
	if best == 0 {
		return ""
	}
	if at+best >= len(lines) {
		return fmt.Sprintf("it agrees for %s from line %d on, then the file ends", visible.Count(best, "line"), at+1)
	}
	return fmt.Sprintf("it agrees for %s from line %d on, then line %d is %s",
		visible.Count(best, "line"), at+1, at+best+1, quote(lines[at+best]))
}

// similarBytes is how much of a line is compared.
const similarBytes = 400

// similar finds the line that shares most pairs of bytes with the first wanted
// line that is not blank.
func similar(lines [][]byte, wanted []string) string {
	want := ""
	for _, w := range wanted {
		if want = strings.TrimSpace(w); want != "" {
			break
		}
	}
	if len(want) < 2 {
		return ""
	}
	want = want[:min(len(want), similarBytes)]
	var pairs [1 << 16]int16
	for i := range len(want) - 1 {
		pairs[int(want[i])<<8|int(want[i+1])]++
	}
	best, at := 0.0, -1
	for i, line := range lines {
		line = bytes.TrimSpace(line)
		line = line[:min(len(line), similarBytes)]
		if s := likeness(&pairs, len(want), line); s > best {
			best, at = s, i
		}
	}
	// Below this the two lines share little but common letters.
	if best < 0.4 {
		return ""
	}
	return fmt.Sprintf("the nearest line is %d: %s", at+1, quote(lines[at]))
}

// likeness is Dice's coefficient over pairs of bytes, from 0 to 1. It leaves
// pairs as it was.
func likeness(pairs *[1 << 16]int16, length int, line []byte) float64 {
	if len(line) < 2 {
		return 0
	}
	shared := 0
	for i := range len(line) - 1 {
		key := int(line[i])<<8 | int(line[i+1])
		if pairs[key] > 0 {
			shared++
		}
		pairs[key]--
	}
	for i := range len(line) - 1 {
		pairs[int(line[i])<<8|int(line[i+1])]++
	}
	return 2 * float64(shared) / float64(length-1+len(line)-1)
}

func quote(line []byte) string {
	const most = 200
	cut := visible.Cut(line, most)
	if len(cut) < len(line) {
		return fmt.Sprintf("%q (cut)", cut)
	}
	return fmt.Sprintf("%q", cut)
}
