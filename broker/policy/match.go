package policy

import (
	"slices"

	"snens/broker/action"
)

// maxWords bounds the arguments of a request. More than this nobody reviews.
const maxWords = action.MaxItems - 1

// fill says for each word which entry of args it fills.
type fill []int

// miss is the place where words and args part for good.
type miss struct {
	word int    // index of the word; len(words) = the words ended
	arg  int    // index of the entry of args; len(args) = the args ended
	why  string // what the entry wants
}

// match fills args with words. Where slots with many or optional allow several
// ways, an earlier slot takes as many words as it can. When there is no way, the
// miss is the one that came furthest: what a person would call the mistake.
func match(args []Arg, words []string, loose bool) (fill, miss, bool) {
	m := matcher{args: args, words: words, loose: loose, filled: make(fill, len(words))}
	if len(words) > capacity(args) {
		// Still walk, so that an explanation names the first wrong word, but
		// never more of them than the args could take.
		m.words = words[:capacity(args)+1]
		m.filled = m.filled[:len(m.words)]
	}
	m.dead = make([]bool, (len(args)+1)*(len(m.words)+1))
	if m.from(0, 0) {
		return m.filled, miss{}, true
	}
	return nil, m.far, false
}

// capacity is how many words args can take at most.
func capacity(args []Arg) int {
	n := 0
	for _, a := range args {
		if a.Slot != nil {
			n += a.Slot.Many
		} else {
			n++
		}
	}
	return n
}

type matcher struct {
	args   []Arg
	words  []string
	loose  bool
	filled fill
	dead   []bool // (arg, word) from which there is no way
	far    miss
}

// from matches args[i:] with words[j:].
func (m *matcher) from(i, j int) bool {
	state := i*(len(m.words)+1) + j
	switch {
	case m.dead[state]:
		return false
	case i == len(m.args):
		if j == len(m.words) {
			return true
		}
		m.missed(i, j, "no argument is declared here")
	case m.args[i].Slot == nil:
		if m.literal(i, j) && m.from(i+1, j+1) {
			return true
		}
	case m.slot(i, j):
		return true
	}
	m.dead[state] = true
	return false
}

func (m *matcher) literal(i, j int) bool {
	if j == len(m.words) || m.words[j] != m.args[i].Literal {
		m.missed(i, j, "must be "+quote(m.args[i].Literal))
		return false
	}
	m.filled[j] = i
	return true
}

func (m *matcher) slot(i, j int) bool {
	s := m.args[i].Slot
	most := 0
	for most < s.Many {
		if j+most == len(m.words) {
			if most == 0 {
				m.missed(i, j, "the words end here")
			}
			break
		}
		if why := s.reject(m.words[j+most], m.loose); why != "" {
			m.missed(i, j+most, why)
			break
		}
		most++
	}
	least := 1
	if s.Optional {
		least = 0
	}
	for n := most; n >= least; n-- {
		for k := range n {
			m.filled[j+k] = i
		}
		if m.from(i+1, j+n) {
			return true
		}
	}
	return false
}

// missed keeps the furthest miss; of several at one word the first entry that
// was tried there.
func (m *matcher) missed(arg, word int, why string) {
	if m.far.why == "" || word > m.far.word {
		m.far = miss{word, arg, why}
	}
}

// Fits says whether the rule's command with these arguments is what the rule
// is about, by text alone: from, and what only the machine can tell (does the
// user exist, whose are the folders of a path), are left out. This is how match
// and no_match are judged.
func (r *Rule) Fits(words []string) bool {
	_, _, ok := r.match(words)
	return ok
}

// match fills the rule's args with words.
func (r *Rule) match(words []string) (fill, miss, bool) {
	if r.AnyArgs {
		return nil, miss{}, true
	}
	return match(r.Args, words, r.Decision == Deny)
}

// Slots says which words fill which slot, in order; nil when they do not fit.
// Words that are literals of the rule are left out.
func (r *Rule) Slots(words []string) map[string][]string {
	filled, _, ok := r.match(words)
	if !ok {
		return nil
	}
	out := map[string][]string{}
	for j, i := range filled {
		if s := r.Args[i].Slot; s != nil {
			out[s.Name] = append(out[s.Name], words[j])
		}
	}
	return out
}

// slotNamed finds a slot, nil when there is none of that name.
func (r *Rule) slotNamed(name string) *Slot {
	i := slices.IndexFunc(r.Args, func(a Arg) bool { return a.Slot != nil && a.Slot.Name == name })
	if i < 0 {
		return nil
	}
	return r.Args[i].Slot
}
