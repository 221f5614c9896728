package privileged

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhichBrokerIsAsked(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return "SNENS_CONFIG=" + path
	}
	none, own := "SNENS_CONFIG=/dev/null", write("own.toml", "[priv]\nuser = true\n")
	named, broken := write("named.toml", "[priv]\nsocket = '/n.sock'\n"), write("broken.toml", "[priv\n")
	me := uint32(os.Getuid())
	for _, c := range []struct {
		env      []string
		socket   string
		listener uint32
	}{
		{[]string{none}, "/run/snens-priv/request.sock", 0},
		{[]string{none, "SNENS_PRIV=/v.sock"}, "/v.sock", 0},
		{[]string{named}, "/n.sock", 0},
		{[]string{named, "SNENS_PRIV=/v.sock"}, "/v.sock", 0},
		{[]string{broken, "SNENS_PRIV=/v.sock"}, "/v.sock", 0},
		{[]string{own, "XDG_RUNTIME_DIR=/r"}, "/r/snens-priv/request.sock", me},
		{[]string{own, "SNENS_PRIV=/v.sock"}, "/v.sock", me},
	} {
		if o, err := where(c.env); err != nil || o.Socket != c.socket || o.Listener != c.listener {
			t.Errorf("%q: %+v, %v", c.env, o, err)
		}
	}
	for want, env := range map[string][]string{
		"cannot find out where the broker is": {broken},
		"cannot find out where your broker":   {own},
	} {
		if _, err := where(env); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", env, err)
		}
	}
}
