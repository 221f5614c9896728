package packages_test

import (
	"strings"
	"testing"

	"snens/cmd/snens-tools/internal/packages"
)

func TestCheckName(t *testing.T) {
	for _, good := range []string{"jq", "g++", "libc6:i386", "memtest86+", "a.b-c"} {
		if err := packages.CheckName(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "a", "-jq", "jq-", "jq-:amd64", "jq=1", "jq/sid", "./jq", "JQ", "jq*", "jq "} {
		if packages.CheckName(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	for name, fine := range map[string]bool{"jq": true, "g++": true, "jq+": false, "jq+:amd64": false, "jq-": false} {
		if err := packages.CheckRemoved(name); (err == nil) != fine {
			t.Errorf("removing %q: %v", name, err)
		}
	}
}

// Whatever is taken is a name: no option, file, version or pattern, and nothing by
// which apt-get removes.
func FuzzCheckName(f *testing.F) {
	for _, s := range []string{"jq", "g++", "-y", "jq-", "./x.deb", "a=1", "a/b", "jq:amd64"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if packages.CheckName(s) != nil {
			return
		}
		if strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-") || strings.ContainsAny(s, "/=*?^~ \n\x00$|;") {
			t.Errorf("%q is taken", s)
		}
	})
}
