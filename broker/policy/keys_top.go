package policy

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"

	"snens/internal/tomlread"
)

var defaultSecurePath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

var topKeys = []key[Policy]{
	{"secure_path", "list of paths", `["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]`, takeSecurePath},
	{"rule", "tables", "", func(d *decoder, path []string, v any, _ *Policy) {
		d.tables(path, v, "tables, each written as [[rule]]", d.rule)
	}},
	{"person", "tables", "", func(d *decoder, path []string, v any, _ *Policy) {
		d.tables(path, v, "tables, each written as [[person]]", d.person)
	}},
}

var personKeys = []key[Person]{
	{"name", "text", "", func(d *decoder, path []string, v any, p *Person) {
		if d.text(path, v, 64, &p.Name) && !personForm.MatchString(p.Name) {
			d.Fail(path, "%s cannot name a person; use letters, digits, - _ . @, a letter first", quote(p.Name))
		}
	}},
	{"uids", "list of integers", "[]", takeUIDs},
	{"principals", "list of texts", "[]", func(d *decoder, path []string, v any, p *Person) {
		d.Strings(path, v, &p.Principals, func(at []string, s string) (string, bool) {
			ok := principalForm.MatchString(s)
			if !ok {
				d.Fail(at, "%s cannot be a principal; write it as in the file of allowed signers, ann@example, without patterns", quote(s))
			}
			return s, ok
		})
	}},
}

var (
	personForm    = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._@-]*$`)
	principalForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$`)
)

func takeUIDs(d *decoder, path []string, v any, p *Person) {
	list, ok := v.([]any)
	if !ok {
		d.WrongType(path, "a list of integers", v)
		return
	}
	for i, v := range list {
		var n int
		if d.Integer(tomlread.Item(path, i), v, 0, NoID-1, &n) {
			p.UIDs = append(p.UIDs, UID(n))
		}
	}
}

// file takes a whole file.
func (d *decoder) file(values map[string]any) { table(d, "", nil, values, topKeys, d.p) }

func takeSecurePath(d *decoder, at []string, v any, p *Policy) {
	if where := d.seen["secure_path"]; where != "" {
		d.FailKey(at, "is already set at %s", where)
		return
	}
	d.seen["secure_path"] = d.Origin(at)
	d.Strings(at, v, &p.SecurePath, func(item []string, dir string) (string, bool) {
		if !path.IsAbs(dir) || path.Clean(dir) != dir {
			d.Fail(item, "%s must be an absolute path without //, . and ..", quote(dir))
			return "", false
		}
		return dir, d.trusted(item, dir)
	})
	if len(p.SecurePath) == 0 {
		d.Fail(at, "must name a folder")
	}
}

// trusted notes a fault when somebody but root could change what is at path.
// What does not exist is left to whoever uses it.
func (d *decoder) trusted(at []string, path string) bool {
	err := d.host.Files.Trusted(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.Fail(at, "%s", err)
		return false
	}
	return true
}

// person takes one [[person]] and compares it with those before it.
func (d *decoder) person(path []string, v any) {
	var p Person
	before := d.Count()
	seen := table(d, "person", path, v, personKeys, &p)
	if !seen["name"] {
		d.FailKey(path, "a person needs a name")
	}
	if len(p.UIDs)+len(p.Principals) == 0 && d.Count() == before {
		d.FailKey(path, "a person needs uids or principals")
	}
	at := func(name string) []string { return tomlread.Child(path, name) }
	for _, other := range d.p.Persons {
		if other.Name == p.Name && p.Name != "" {
			d.Fail(at("name"), "there is a person %s already", quote(p.Name))
		}
		for _, uid := range p.UIDs {
			if slices.Contains(other.UIDs, uid) {
				d.Fail(at("uids"), "the uid %d belongs to person %s already", uid, quote(other.Name))
			}
		}
		for _, principal := range p.Principals {
			if slices.Contains(other.Principals, principal) {
				d.Fail(at("principals"), "the principal %s belongs to person %s already", quote(principal), quote(other.Name))
			}
		}
	}
	d.p.Persons = append(d.p.Persons, p)
}
