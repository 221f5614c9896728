package accounts_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"snens/internal/accounts"
)

const (
	passwd = "root:x:0:0:root:/root:/bin/bash\n" +
		"# a comment\n\n" +
		"ann:x:1000:100:Ann,,,:/home/ann:/bin/sh\n" +
		"ann:x:1:1:again:/:/bin/sh\n" +
		"twin:x:1000:100::/home/twin:/bin/sh\n" +
		"minus:x:-1:1::/:/bin/sh\n" +
		"nobody4:x:4294967295:1::/:/bin/sh\n" +
		"big:x:4294967294:4294967294::/:/bin/sh\n" +
		"huge:x:4294967296:1::/:/bin/sh\n" +
		"hex:x:0x0:0::/:/bin/sh\n" +
		"blank:x: 0:0::/:/bin/sh\n" +
		"zeros:x:00:0::/:/bin/sh\n" +
		"none:x::0::/:/bin/sh\n" +
		"badgid:x:7:-1::/:/bin/sh\n" +
		":x:0:0::/:/bin/sh\n" +
		"+nis:x:0:0::/:/bin/sh\n" +
		"short:x:0:0\n" +
		"long:x:5:5::/:/bin/sh:more\n" +
		"last:x:9:9::/:/bin/sh"
	group = "root:x:0:\nops:x:100:bob,last,ghost\nusers:x:200:ann,,last\nops:x:0:twin\nbad:x:-1:ann\n+:::\nempty:x:300:\n"
)

func TestUsers(t *testing.T) {
	db := accounts.Parse(passwd, group)
	for name, uid := range map[string]uint32{"root": 0, "ann": 1000, "twin": 1000, "big": 4294967294, "last": 9} {
		if u, err := db.User(name); err != nil || u.UID != uid || u.Name != name {
			t.Errorf("%s: %+v, %v", name, u, err)
		}
	}
	for _, name := range []string{"minus", "nobody4", "huge", "hex", "blank", "zeros", "none", "badgid", "", "+nis", "short", "long", "# a comment", "Ann", "1000"} {
		if u, err := db.User(name); !errors.Is(err, accounts.ErrUnknown) || u != (accounts.User{}) {
			t.Errorf("%q: %+v, %v", name, u, err)
		}
	}
	if u, err := db.UserID(1000); err != nil || u.Name != "ann" || u.Home != "/home/ann" || u.GID != 100 {
		t.Errorf("the uid 1000: %+v, %v", u, err)
	}
	if u, err := db.UserID(4294967295); !errors.Is(err, accounts.ErrUnknown) {
		t.Errorf("the uid -1: %+v, %v", u, err)
	}
}

func TestGroups(t *testing.T) {
	db := accounts.Parse(passwd, group)
	if g, err := db.Group("ops"); err != nil || g.GID != 100 {
		t.Errorf("ops: %+v, %v", g, err)
	}
	for _, name := range []string{"bad", "+", "", "wheel", "0"} {
		if g, err := db.Group(name); !errors.Is(err, accounts.ErrUnknown) {
			t.Errorf("%q: %+v, %v", name, g, err)
		}
	}
	ann, _ := db.User("ann")
	last, _ := db.User("last")
	for _, c := range []struct {
		got, want []uint32
	}{
		{db.GroupIDs(ann), []uint32{100, 200}},
		{db.GroupIDs(last), []uint32{9, 100, 200}},
		{db.Members(100), []uint32{9, 1000}}, // ann and twin by their primary group; bob and ghost do not exist
		{db.Members(200), []uint32{9, 1000}},
		{db.Members(300), nil},
		{db.Members(4294967295), nil},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	p, g := filepath.Join(dir, "passwd"), filepath.Join(dir, "group")
	if err := os.WriteFile(p, []byte(passwd), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := accounts.Read(p, g); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(g, []byte(group), 0o644); err != nil {
		t.Fatal(err)
	}
	db, err := accounts.Read(p, g)
	if err != nil {
		t.Fatal(err)
	}
	if u, err := db.User("root"); err != nil || u.UID != 0 {
		t.Errorf("root: %+v, %v", u, err)
	}
	if _, err := accounts.Read("/etc/passwd", "/etc/group"); err != nil {
		t.Errorf("this machine's files: %v", err)
	}
}
