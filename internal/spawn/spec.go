package spawn

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"
)

// NullFile stands for the null file in Spec.Files.
const NullFile = -1

// Spec is one action. Nothing in it has a default.
type Spec struct {
	// Name is unique: the control group is named after it. Letters, digits,
	// _ and -, at most 64.
	Name    string
	Program *Program // stays the caller's
	Argv    []string // Argv[0] is what the program sees as its name
	Env     []string // NAME=value, the whole environment in this order
	Dir     string   // absolute; entered with the rights of UID
	UID     uint32
	GID     uint32
	Groups  []uint32 // supplementary; root only, else those of this process
	Umask   uint32
	// Files become 0, 1, 2 and, with a fourth, 3; NullFile only among the first
	// three. They stay the caller's.
	Files   []int
	Limits  Limits
	Timeout time.Duration // from the exec
	Grace   time.Duration // between TERM and KILL
}

// Limits bind the action; zero is no limit. One that cannot be held keeps the
// action from starting.
type Limits struct {
	Memory    uint64        // bytes, of the whole tree: a control group only
	Processes uint64        // and threads, of the whole tree: a control group only
	CPU       time.Duration // of each process
	OpenFiles uint64        // of each process
	FileSize  uint64        // bytes, of each file written
}

// noID is what the kernel takes for "leave it as it is".
const noID = math.MaxUint32

// check refuses what would run as something else than it says.
func (s *Spec) check() error {
	switch {
	case s.Program == nil:
		return errors.New("no program is given")
	case len(s.Argv) == 0 || s.Argv[0] == "":
		return errors.New("argv has no name of the program")
	case !filepath.IsAbs(s.Dir) || strings.IndexByte(s.Dir, 0) >= 0:
		return fmt.Errorf("the folder %q is no absolute path", s.Dir)
	case s.Umask > 0o777:
		return fmt.Errorf("the umask %#o is above 0777", s.Umask)
	case s.UID == noID || s.GID == noID:
		return errors.New("the id 4294967295 is nobody's")
	case s.Timeout <= 0 || s.Grace < 0:
		return errors.New("a time limit above zero and a grace are needed")
	case s.Limits.Memory > math.MaxInt64 || s.Limits.Processes > math.MaxInt32:
		return errors.New("a limit is beyond what the kernel counts")
	}
	for _, g := range s.Groups {
		if g == noID {
			return errors.New("the group id 4294967295 is nobody's")
		}
	}
	for i, a := range s.Argv {
		if strings.IndexByte(a, 0) >= 0 {
			return fmt.Errorf("argument %d contains a NUL byte", i)
		}
	}
	if err := checkEnv(s.Env); err != nil {
		return err
	}
	return s.checkFiles()
}

func checkEnv(env []string) error {
	seen := map[string]bool{}
	for _, v := range env {
		name, _, ok := strings.Cut(v, "=")
		switch {
		case !ok || name == "":
			return fmt.Errorf("the variable %q is not NAME=value", v)
		case strings.IndexByte(v, 0) >= 0:
			return fmt.Errorf("the variable %q contains a NUL byte", name)
		case seen[name]:
			return fmt.Errorf("the variable %q is given twice", name)
		}
		seen[name] = true
	}
	return nil
}

func (s *Spec) checkFiles() error {
	if len(s.Files) != 3 && len(s.Files) != 4 {
		return fmt.Errorf("%d descriptors are given; 3 or 4 are needed", len(s.Files))
	}
	for i, fd := range s.Files {
		if fd < NullFile || (fd == NullFile && i > 2) {
			return fmt.Errorf("descriptor %d cannot be %d", i, fd)
		}
	}
	return nil
}
