package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"snens/internal/accounts"
	"snens/internal/safefile"
)

// System is the machine itself: the users of /etc/passwd and /etc/group as they
// are now, and its files, which are trusted when root and owner alone can change
// them. Users and groups are a snapshot, taken for one load: a policy that is
// loaded again sees new ones.
func System(owner UID) (Host, error) {
	db, err := accounts.Read("/etc/passwd", "/etc/group")
	if err != nil {
		return Host{}, err
	}
	return Host{Accounts: FromDB(db), Files: systemFiles{int(owner)}}, nil
}

// FromDB makes Accounts of a snapshot.
func FromDB(db *accounts.DB) Accounts { return snapshot{db} }

type snapshot struct{ db *accounts.DB }

func (s snapshot) account(u accounts.User, err error) (Account, error) {
	if err != nil {
		return Account{UID: NoID, GID: NoID}, err
	}
	a := Account{Name: u.Name, UID: UID(u.UID), GID: GID(u.GID), Home: u.Home}
	for _, gid := range s.db.GroupIDs(u) {
		a.Groups = append(a.Groups, GID(gid))
	}
	return a, nil
}

func (s snapshot) User(name string) (Account, error) { return s.account(s.db.User(name)) }

func (s snapshot) UserID(uid UID) (Account, error) { return s.account(s.db.UserID(uint32(uid))) }

func (s snapshot) Group(name string) (GID, error) {
	g, err := s.db.Group(name)
	if err != nil {
		return NoID, err
	}
	return GID(g.GID), nil
}

func (s snapshot) Members(gid GID) []UID {
	var out []UID
	for _, uid := range s.db.Members(uint32(gid)) {
		out = append(out, UID(uid))
	}
	return out
}

type systemFiles struct{ owner int }

func (s systemFiles) Trusted(path string) error { return safefile.CheckTrusted(path, s.owner) }

func (systemFiles) File(path string) (FileInfo, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return FileInfo{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return FileInfo{}, err
	}
	return FileInfo{
		ID:         FileID{st.Dev, st.Ino},
		Real:       real,
		Executable: st.Mode&unix.S_IFMT == unix.S_IFREG && st.Mode&0o111 != 0,
	}, nil
}

// Beneath opens nothing but O_PATH descriptors.
func (systemFiles) Beneath(folder, path string) error {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(folder, "/")+"/")
	if !ok || rest == "" {
		return fmt.Errorf("%s is not beneath %s", path, folder)
	}
	dir, err := unix.Open(folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: folder, Err: err}
	}
	defer unix.Close(dir)
	for _, name := range []string{rest, filepath.Dir(rest)} {
		var fd int
		fd, err = unix.Openat2(dir, name, &unix.OpenHow{
			Flags:   unix.O_PATH | unix.O_CLOEXEC, // with O_NOFOLLOW a symlink at the end would do
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
		})
		if err == nil {
			unix.Close(fd)
			return nil
		}
		if err != unix.ENOENT { // only what does not exist may be looked for in its folder
			break
		}
	}
	return &os.PathError{Op: "open beneath " + folder, Path: path, Err: err}
}
