package action_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"snens/broker/action"
)

func seal(t rapid.TB, r action.Request) *action.Sealed {
	t.Helper()
	s, err := action.Seal(r)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTextParsesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := request().Draw(t, "request")
		s := seal(t, r)
		back, err := action.Parse(s.Text())
		if err != nil {
			t.Fatalf("%v\n%s", err, s.Text())
		}
		if got := back.Request(); !reflect.DeepEqual(got, r) {
			t.Fatalf("came back as %+v\nwas          %+v", got, r)
		}
		if back.Digest() != s.Digest() || back.Key() != s.Key() {
			t.Fatal("came back with another digest or key")
		}
	})
}

// Equal texts exactly for equal requests. Draws from few values make equal
// pairs common; the changes of single fields are below.
func TestEqualTextsAreEqualRequests(t *testing.T) {
	small := rapid.Custom(func(t *rapid.T) action.Request {
		r := plain()
		r.Argv = append([]string{"p"}, rapid.SliceOfN(rapid.SampledFrom([]string{"", " ", "\n", `"`, "\"\nargv[1]: \""}), 0, 2).Draw(t, "argv")...)
		r.Stdin = action.Stdin{Mode: action.StdinSealed, Content: strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"", "\n", "a", `\u{a}`, `"`}), 0, 3).Draw(t, "content"), "")}
		return r
	})
	same := 0
	rapid.Check(t, func(t *rapid.T) {
		a, b := small.Draw(t, "a"), small.Draw(t, "b")
		equal := reflect.DeepEqual(a, b)
		if equal {
			same++
		}
		if (seal(t, a).Text() == seal(t, b).Text()) != equal {
			t.Fatalf("%+v\n%+v", a, b)
		}
	})
	if same == 0 {
		t.Error("no equal pair was drawn; the test compared nothing")
	}
}

func TestEveryFieldChangesTheDigest(t *testing.T) {
	base := seal(t, plain())
	digests := map[action.Digest]string{base.Digest(): "nothing"}
	for _, c := range changes {
		s := seal(t, changed(c.do))
		if other, ok := digests[s.Digest()]; ok {
			t.Errorf("changing %s gives the digest of changing %s", c.name, other)
		}
		digests[s.Digest()] = c.name
		if (s.Key() != base.Key()) != c.inKey {
			t.Errorf("changing %s: the key changed: %v, want %v", c.name, s.Key() != base.Key(), c.inKey)
		}
	}
}

// Every field of the object, inner ones too, is the target of a change.
func TestTheChangesCoverTheObject(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range changes {
		before, after := reflect.ValueOf(plain()), reflect.ValueOf(changed(c.do))
		for i := range before.NumField() {
			if !reflect.DeepEqual(before.Field(i).Interface(), after.Field(i).Interface()) {
				seen[before.Type().Field(i).Name] = true
			}
		}
	}
	for i := range reflect.TypeFor[action.Request]().NumField() {
		if name := reflect.TypeFor[action.Request]().Field(i).Name; !seen[name] {
			t.Errorf("no change touches %s", name)
		}
	}
}

// No value can make a line, end one early or look like another field: the
// names of the lines follow from the shape of the request alone, and every
// line is printable.
func TestNoValueCanForgeALine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := request().Draw(t, "request")
		text := seal(t, r).Text()
		if !strings.HasSuffix(text, "\n") {
			t.Fatal("the last line has no end")
		}
		harmless := r.Clone()
		for i := range harmless.Argv {
			harmless.Argv[i] = "x"
		}
		for i := range harmless.Env {
			harmless.Env[i].Value = "x"
		}
		harmless.Cwd, harmless.RunAs.User, harmless.RunAs.Group = "/", "x", "x"
		if got, want := names(t, text), names(t, seal(t, harmless).Text()); !reflect.DeepEqual(got, want) {
			t.Fatalf("the lines are named %q, with harmless values %q", got, want)
		}
		for _, c := range text {
			if c != '\n' && (!unicode.IsPrint(c) || unicode.Is(unicode.Bidi_Control, c)) {
				t.Fatalf("%U is in the text", c)
			}
		}
	})
}

func names(t *rapid.T, text string) (all []string) {
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		name, _, ok := strings.Cut(line, ": ")
		if !ok && i > 0 {
			t.Fatalf("line %d has no name: %q", i+1, line)
		}
		all = append(all, name)
	}
	return all
}

func TestABlankAtTheEndIsSeen(t *testing.T) {
	r := plain()
	r.Argv = []string{"true ", "x"}
	if text := seal(t, r).Text(); !strings.Contains(text, "argv[0]: \"true \"\n") {
		t.Errorf("got %s", text)
	}
}

func TestTooLongToReview(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*action.Request)
		ok   bool
	}{
		{"one argument of 64 KiB", func(r *action.Request) { r.Argv[1] = strings.Repeat("x", 64<<10) }, false},
		{"the longest argument", func(r *action.Request) { r.Argv[1] = strings.Repeat("x", action.MaxArgument) }, true},
		{"one byte more", func(r *action.Request) { r.Argv[1] = strings.Repeat("x", action.MaxArgument+1) }, false},
		{"a variable", func(r *action.Request) { r.Env[0].Value = strings.Repeat("x", action.MaxArgument) }, false},
		{"five long ones", func(r *action.Request) {
			for range 5 {
				r.Argv = append(r.Argv, strings.Repeat("x", action.MaxArgument-10))
			}
		}, false},
		{"short bytes, long text", func(r *action.Request) { r.Argv[1] = strings.Repeat("\x01", action.MaxArgument-1) }, false},
		{"many arguments", func(r *action.Request) { r.Argv = make([]string, action.MaxItems+1); r.Argv[0] = "x" }, false},
		{"most arguments", func(r *action.Request) { r.Argv = make([]string, action.MaxItems); r.Argv[0] = "x" }, true},
		{"sealed input", func(r *action.Request) {
			r.Stdin = action.Stdin{Mode: action.StdinSealed, Content: strings.Repeat("x", 64<<10)}
		}, false},
		{"sealed input of many lines", func(r *action.Request) {
			r.Stdin = action.Stdin{Mode: action.StdinSealed, Content: strings.Repeat("\n", 8000)}
		}, false},
		{"a long configuration file", func(r *action.Request) {
			r.Stdin = action.Stdin{Mode: action.StdinSealed, Content: strings.Repeat("key = value of some length\n", 800)}
		}, true},
	} {
		_, err := action.Seal(changed(c.do))
		if c.ok && err != nil || !c.ok && !errors.Is(err, action.ErrTooLong) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}

func TestSealRefuses(t *testing.T) {
	for _, c := range []struct {
		want string
		do   func(*action.Request)
	}{
		{"argv: must have", func(r *action.Request) { r.Argv = nil }},
		{"argv: must have", func(r *action.Request) { r.Argv = []string{""} }},
		{"argv[1]: holds a NUL", func(r *action.Request) { r.Argv[1] = "a\x00b" }},
		{"executable: the path must be absolute", func(r *action.Request) { r.Executable.Path = "systemctl" }},
		{"executable: the path must be absolute", func(r *action.Request) { r.Executable.Path = "/" + strings.Repeat("x", 4095) }},
		{"executable: has no digest", func(r *action.Request) { r.Executable.SHA256 = action.Digest{} }},
		{"interpreters[0]: ", func(r *action.Request) { r.Interpreters = []action.File{{Path: "/bin/sh"}} }},
		{"interpreters, opened: at most 8", func(r *action.Request) { r.Interpreters = make([]action.File, 9) }},
		{"opened[0]: is descriptor 4", func(r *action.Request) { r.Opened = []action.OpenedFile{{Descriptor: 4, Path: "/x"}} }},
		{"opened[0]: the path", func(r *action.Request) { r.Opened = []action.OpenedFile{{Descriptor: 3}} }},
		{"cwd: the path", func(r *action.Request) { r.Cwd = "" }},
		{"cwd: holds a NUL", func(r *action.Request) { r.Cwd = "/\x00" }},
		{"env[0]: ", func(r *action.Request) { r.Env[0].Name = "" }},
		{"env[0]: ", func(r *action.Request) { r.Env[0].Name = "A=B" }},
		{"env[0]: ", func(r *action.Request) { r.Env[0].Value = "\x00" }},
		{"unique and sorted", func(r *action.Request) { r.Env[1].Name = "LANG" }},
		{"unique and sorted", func(r *action.Request) { r.Env[0], r.Env[1] = r.Env[1], r.Env[0] }},
		{"run_as.uid: 4294967295", func(r *action.Request) { r.RunAs.UID = action.NoID }},
		{"run_as.gid: 4294967295", func(r *action.Request) { r.RunAs.GID = action.NoID }},
		{"requester.uid: 4294967295", func(r *action.Request) { r.Requester.UID = action.NoID }},
		{"requester.gid: 4294967295", func(r *action.Request) { r.Requester.GID = action.NoID }},
		{"run_as.user: has 257", func(r *action.Request) { r.RunAs.User = strings.Repeat("x", 257) }},
		{"run_as.groups: 4 stands after 4", func(r *action.Request) { r.RunAs.Groups = []action.GID{4, 4} }},
		{"requester.groups: 3 stands after 4", func(r *action.Request) { r.Requester.Groups = []action.GID{4, 3} }},
		{"requester.groups: 4294967295", func(r *action.Request) { r.Requester.Groups = []action.GID{action.NoID} }},
		{"umask: ", func(r *action.Request) { r.Umask = 0o1000 }},
		{"timeout: ", func(r *action.Request) { r.Timeout = 0 }},
		{"timeout: ", func(r *action.Request) { r.Timeout = -time.Second }},
		{"timeout: ", func(r *action.Request) { r.Timeout = time.Second + 1 }},
		{"timeout: ", func(r *action.Request) { r.Timeout = action.MaxDuration + time.Millisecond }},
		{"limits.cpu: ", func(r *action.Request) { r.Limits.CPU = -1 }},
		{"stdin: the mode is not set", func(r *action.Request) { r.Stdin.Mode = 0 }},
		{"stdin: the mode is not set", func(r *action.Request) { r.Stdin.Mode = 9 }},
		{"stdin: has content", func(r *action.Request) { r.Stdin.Content = "x" }},
		{"rule: ", func(r *action.Request) { r.Rule = "" }},
		{"rule: ", func(r *action.Request) { r.Rule = "list" }},
		{"rule_digest: ", func(r *action.Request) { r.RuleDigest = action.Digest{} }},
		{"nonce: ", func(r *action.Request) { r.Nonce = action.Nonce{} }},
		{"install: ", func(r *action.Request) { r.Install = action.InstallID{} }},
		{"expires: ", func(r *action.Request) { r.Expires = time.Time{} }},
		{"expires: ", func(r *action.Request) { r.Expires = r.Expires.Add(1) }},
		{"expires: ", func(r *action.Request) { r.Expires = r.Expires.In(time.FixedZone("x", 3600)) }},
	} {
		_, err := action.Seal(changed(c.do))
		if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, action.ErrTooLong) && !strings.Contains(c.want, "257") {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// A sealed request is cut off from the object it was made of, and from the
// copies it hands out.
func TestSealedCannotBeChanged(t *testing.T) {
	r := plain()
	s := seal(t, r)
	r.Argv[1] = "stop"
	out := s.Request()
	out.Env[0].Value = "x"
	out.Requester.Groups[0] = 0
	if again := seal(t, s.Request()); again.Text() != s.Text() || s.Request().Argv[1] != "restart" {
		t.Error("it changed")
	}
}
