package discovery

import (
	"strings"

	"snens/supervisor/tool"
)

// DescribeComments reads the description from the head of a #! file: when the
// first two comment lines after the shebang read "# NAME — essence" and
// "# NAME usage", those are it, and the program need not be run. An ASCII dash
// or a colon serves as well as the long dash. Empty lines and empty comments
// in between do not count. The caller sets Source.
func DescribeComments(head string, name tool.Name) (tool.Description, bool) {
	_, body, found := strings.Cut(head, "\n")
	if !found || !strings.HasPrefix(head, "#!") {
		return tool.Description{}, false
	}
	var comments []string
	for raw := range strings.SplitSeq(body, "\n") {
		raw = strings.TrimSpace(raw)
		if raw == "" || raw == "#" {
			continue
		}
		text, ok := strings.CutPrefix(raw, "#")
		if !ok {
			return tool.Description{}, false
		}
		comments = append(comments, oneLine(stripEscapes(text)))
		if len(comments) == 2 {
			break
		}
	}
	if len(comments) < 2 || !introduces(comments[0], string(name)) || !firstWordIs(comments[1], string(name)) {
		return tool.Description{}, false
	}
	essence := comments[0]
	if hasFold(essence, "usage") {
		essence = fallbackEssence(name)
	}
	return tool.Description{Essence: essence, Usage: comments[1], NeedsStdin: wantsStdin(essence, comments[1])}, true
}

// introduces: "NAME — text", with any of the separators, and some text.
func introduces(text, name string) bool {
	rest, ok := strings.CutPrefix(text, name)
	if !ok {
		return false
	}
	trimmed := strings.TrimLeft(rest, " ")
	for _, sep := range []string{"—", "–", "--", "-", ":"} {
		after, ok := strings.CutPrefix(trimmed, sep)
		if !ok || sep != ":" && trimmed == rest { // a dash needs a blank before it
			continue
		}
		return strings.HasPrefix(after, " ") && strings.TrimSpace(after) != ""
	}
	return false
}
