// Package accounts reads the users and groups of this machine from files in
// the format of passwd(5) and group(5).
//
// Read takes a snapshot; every question is then answered from it, so that one
// decision cannot be made from two states of the files. Take a new one where a
// change must be seen.
//
// It is strict where getpwnam(3) is not: an entry whose ids are not plain
// decimal numbers below 4294967295 (which is the -1 of setuid(2)) does not
// exist, and neither does one without a name. The first entry of a name or an
// id counts. Users that only a directory service knows are not seen: whoever
// needs them lists their uids.
//
// os/user would do for the names, but it has no members of groups, and asks
// the C library or the files depending on how a program was built.
package accounts

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"snens/internal/safefile"
)

// ErrUnknown is part of the error for a user or group that does not exist.
var ErrUnknown = errors.New("does not exist")

// maxFile bounds each file in bytes.
const maxFile = 64 << 20

// User is an entry of passwd(5).
type User struct {
	Name     string
	UID, GID uint32
	Home     string
}

// Group is an entry of group(5).
type Group struct {
	Name    string
	GID     uint32
	Members []string // as written: users whose primary group it is are not among them
}

// DB is a snapshot.
type DB struct {
	users  []User
	groups []Group
	byName map[string]int
	byID   map[uint32]int
}

// Read reads the files, usually /etc/passwd and /etc/group.
func Read(passwd, group string) (*DB, error) {
	p, err := safefile.ReadFile(passwd, maxFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read the users: %w", err)
	}
	g, err := safefile.ReadFile(group, maxFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read the groups: %w", err)
	}
	return Parse(string(p), string(g)), nil
}

// Parse makes a DB of the contents of the two files.
func Parse(passwd, group string) *DB {
	db := &DB{byName: map[string]int{}, byID: map[uint32]int{}}
	for line := range strings.Lines(passwd) {
		f := strings.Split(strings.TrimRight(line, "\n"), ":")
		if len(f) != 7 || !nameOK(f[0]) {
			continue
		}
		uid, ok1 := parseID(f[2])
		gid, ok2 := parseID(f[3])
		if !ok1 || !ok2 {
			continue
		}
		if _, seen := db.byName[f[0]]; seen {
			continue
		}
		db.byName[f[0]] = len(db.users)
		if _, seen := db.byID[uid]; !seen {
			db.byID[uid] = len(db.users)
		}
		db.users = append(db.users, User{Name: f[0], UID: uid, GID: gid, Home: f[5]})
	}
	for line := range strings.Lines(group) {
		f := strings.Split(strings.TrimRight(line, "\n"), ":")
		if len(f) != 4 || !nameOK(f[0]) {
			continue
		}
		gid, ok := parseID(f[2])
		if !ok || slices.ContainsFunc(db.groups, func(g Group) bool { return g.Name == f[0] }) {
			continue
		}
		members := strings.FieldsFunc(f[3], func(r rune) bool { return r == ',' })
		db.groups = append(db.groups, Group{Name: f[0], GID: gid, Members: members})
	}
	return db
}

// User finds a user by name.
func (db *DB) User(name string) (User, error) {
	if i, ok := db.byName[name]; ok {
		return db.users[i], nil
	}
	return User{}, fmt.Errorf("user %q %w", name, ErrUnknown)
}

// UserID finds the first user with that uid.
func (db *DB) UserID(uid uint32) (User, error) {
	if i, ok := db.byID[uid]; ok {
		return db.users[i], nil
	}
	return User{}, fmt.Errorf("a user with the uid %d %w", uid, ErrUnknown)
}

// Group finds a group by name.
func (db *DB) Group(name string) (Group, error) {
	for _, g := range db.groups {
		if g.Name == name {
			return g, nil
		}
	}
	return Group{}, fmt.Errorf("group %q %w", name, ErrUnknown)
}

// GroupIDs lists the gids of a user, sorted: the primary group and every group
// that names him.
func (db *DB) GroupIDs(u User) []uint32 {
	ids := []uint32{u.GID}
	for _, g := range db.groups {
		if slices.Contains(g.Members, u.Name) {
			ids = append(ids, g.GID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Members lists the uids of all users who are in the group, by either file, sorted.
func (db *DB) Members(gid uint32) []uint32 {
	var ids []uint32
	for _, u := range db.users {
		if u.GID == gid {
			ids = append(ids, u.UID)
		}
	}
	for _, g := range db.groups {
		if g.GID != gid {
			continue
		}
		for _, name := range g.Members {
			if u, err := db.User(name); err == nil {
				ids = append(ids, u.UID)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// nameOK leaves out comments, the + and - of old directory services, and the
// empty name.
func nameOK(name string) bool {
	return name != "" && !strings.ContainsAny(name[:1], "+-# \t")
}

// parseID reads a uid or gid. 4294967295 means "no change" to the kernel.
func parseID(s string) (uint32, bool) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 1<<32-1 || strconv.FormatUint(n, 10) != s {
		return 0, false
	}
	return uint32(n), true
}
