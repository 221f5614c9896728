package spawn

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// verify reads back what the kernel made of the child, which stands before its
// first instruction.
func (l *launch) verify(pid int) error {
	dir := "/proc/" + strconv.Itoa(pid)
	if err := l.verifyImage(dir); err != nil {
		return err
	}
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return fmt.Errorf("cannot look at it: %w", err)
	}
	if err := l.verifyStatus(parseStatus(string(status))); err != nil {
		return err
	}
	me, ok := lookAt(pid)
	if !ok || me.sid != pid || me.tty != 0 {
		return fmt.Errorf("its session is %d and its terminal %d, not %d and none", me.sid, me.tty, pid)
	}
	if err := l.verifyFiles(dir); err != nil {
		return err
	}
	cwd, err := os.Readlink(dir + "/cwd")
	if err != nil {
		return fmt.Errorf("cannot look at its folder: %w", err)
	}
	return l.checkDir(cwd)
}

// verifyImage compares what is executed with what was hashed.
func (l *launch) verifyImage(dir string) error {
	var st unix.Stat_t
	if err := unix.Stat(dir+"/exe", &st); err != nil {
		return fmt.Errorf("cannot look at its program: %w", err)
	}
	want := l.spec.Program.image()
	if st.Dev != want.Dev || st.Ino != want.Inode {
		return fmt.Errorf("it runs inode %d of device %d, not %s (%d of %d)", st.Ino, st.Dev, want.Path, want.Inode, want.Dev)
	}
	if l.spec.Program.script() {
		// The interpreter opens the path once more; from the recheck on only root
		// or the owner could have changed where it leads.
		script := l.spec.Program.files[0]
		if err := unix.Stat(script.Path, &st); err != nil || st.Dev != script.Dev || st.Ino != script.Inode {
			return &ChangedError{script.Path, "another file is there"}
		}
	}
	return nil
}

func parseStatus(text string) map[string][]string {
	fields := map[string][]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			fields[key] = strings.Fields(value)
		}
	}
	return fields
}

// verifyStatus checks ids, groups, umask and, for other users than root, that
// no capability is passed down.
func (l *launch) verifyStatus(status map[string][]string) error {
	s, image := l.spec, l.spec.Program.image()
	if err := verifyIDs("uid", status["Uid"], s.UID, image.setID&unix.S_ISUID != 0, image.owner); err != nil {
		return err
	}
	if err := verifyIDs("gid", status["Gid"], s.GID, image.setID&unix.S_ISGID != 0, image.group); err != nil {
		return err
	}
	var groups []uint32
	for _, w := range status["Groups"] {
		g, err := strconv.ParseUint(w, 10, 32)
		if err != nil {
			return fmt.Errorf("its groups read %q", status["Groups"])
		}
		groups = append(groups, uint32(g))
	}
	if !slices.Equal(sorted(groups), sorted(s.Groups)) {
		return fmt.Errorf("its groups are %v, not %v", groups, s.Groups)
	}
	umask, err := strconv.ParseUint(strings.Join(status["Umask"], " "), 8, 32)
	if err != nil || uint32(umask) != s.Umask {
		return fmt.Errorf("its umask is %q, not %04o", status["Umask"], s.Umask)
	}
	if ambient := strings.Join(status["CapAmb"], " "); s.UID != 0 && strings.Trim(ambient, "0") != "" {
		return fmt.Errorf("it would pass capabilities on (%s)", ambient)
	}
	return nil
}

// verifyIDs: real, effective, saved and file system id. A set-id program of
// root's may have its owner in all but the first.
func verifyIDs(kind string, is []string, want uint32, setID bool, owner uint32) error {
	ok := len(is) == 4
	for i, w := range is {
		id, err := strconv.ParseUint(w, 10, 32)
		ok = ok && err == nil && (uint32(id) == want || i > 0 && setID && uint32(id) == owner)
	}
	if !ok {
		return fmt.Errorf("its %ss are %v, not %d", kind, is, want)
	}
	return nil
}

// verifyFiles: the descriptors given, and no other.
func (l *launch) verifyFiles(dir string) error {
	entries, err := os.ReadDir(dir + "/fd")
	if err != nil {
		return fmt.Errorf("cannot look at its descriptors: %w", err)
	}
	var names []int
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil {
			return fmt.Errorf("it has the descriptor %q", e.Name())
		}
		names = append(names, n)
	}
	slices.Sort(names)
	for i, n := range names {
		if n != i {
			return fmt.Errorf("its descriptors are %v, not 0 to %d", names, len(l.files)-1)
		}
	}
	if len(names) != len(l.files) {
		return fmt.Errorf("its descriptors are %v, not 0 to %d", names, len(l.files)-1)
	}
	return nil
}

// sorted is a copy without duplicates.
func sorted(ids []uint32) []uint32 {
	c := slices.Clone(ids)
	slices.Sort(c)
	return slices.Compact(c)
}
