package environ_test

import (
	"strings"
	"testing"

	"snens/supervisor/environ"
)

// leaky are names under which services keep keys and tokens, and names that
// make loaders, shells and interpreters run something.
var leaky = []string{
	"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS",
	"MISTRAL_API_KEY", "COHERE_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "AZURE_OPENAI_API_KEY",
	"AZURE_CLIENT_SECRET", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GITHUB_TOKEN", "GH_TOKEN",
	"GITLAB_TOKEN", "CI_JOB_TOKEN", "NPM_TOKEN", "NODE_AUTH_TOKEN", "PYPI_TOKEN", "CARGO_REGISTRY_TOKEN",
	"DOCKER_PASSWORD", "DOCKER_AUTH_CONFIG", "DATABASE_URL", "PGPASSWORD", "MYSQL_PWD", "REDIS_URL", "MONGODB_URI",
	"SLACK_BOT_TOKEN", "DISCORD_TOKEN", "TELEGRAM_BOT_TOKEN", "STRIPE_SECRET_KEY", "TWILIO_AUTH_TOKEN",
	"SENDGRID_API_KEY", "VAULT_TOKEN", "KUBECONFIG", "CLOUDFLARE_API_TOKEN", "DIGITALOCEAN_TOKEN", "HCLOUD_TOKEN",
	"SSH_AUTH_SOCK", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "XAUTHORITY", "DISPLAY", "WAYLAND_DISPLAY",
	"http_proxy", "https_proxy", "HTTP_PROXY", "ALL_PROXY", "SECRET_KEY_BASE", "JWT_SECRET", "SUDO_USER", "SUDO_UID",
	"NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "CREDENTIALS_DIRECTORY", "INVOCATION_ID", "JOURNAL_STREAM",
	"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "LD_DEBUG_OUTPUT", "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4",
	"IFS", "CDPATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "PERL5LIB", "PERL5OPT", "RUBYOPT", "NODE_OPTIONS",
	"JAVA_TOOL_OPTIONS", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GCONV_PATH", "LOCPATH", "PAGER", "LESSOPEN", "EDITOR",
	"LC_SECRET", "XDG_SESSION_COOKIE", "BASH_FUNC_ls%%", "BASH_FUNC_ls()", "SNENS_TOKEN", "SNENS_SECRET_KEY",
}

func TestNothingLeaks(t *testing.T) {
	const value = "s3cr3t-value"
	env := []string{"PATH=/bin", "HOME=/home/ann"}
	for _, name := range leaky {
		env = append(env, name+"="+value)
	}
	e := build(t, environ.Spec{Caller: env})
	if joined := strings.Join(e.Vars, "\n"); strings.Contains(joined, value) {
		t.Errorf("leaked:\n%s", joined)
	}
	wantVars(t, e, "HOME=/home/ann", "PATH=/bin", "SNENS_DEPTH=1", "TERM=dumb")
}

func TestCheckToolName(t *testing.T) {
	for _, bad := range []string{
		"", "1A", "A-B", "A=B", "É", "A\x00", "SNENS_X", "PATH", "HOME", "LD_PRELOAD", "LD_ANYTHING", "BASH_ENV",
		"ENV", "IFS", "PYTHONPATH", "PERL5OPT", "NODE_OPTIONS", "GIT_SSH_COMMAND", "PAGER", "GCONV_PATH",
	} {
		if environ.CheckToolName(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	for _, good := range []string{"A", "_", "a1", "QUERY", "TZ", "LANG", "LEDGER", "PATHS"} {
		if err := environ.CheckToolName(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}

func TestCleanPath(t *testing.T) {
	for _, c := range []struct{ path, links, want string }{
		{"/usr/bin:/bin", "", "/usr/bin:/bin"},
		{"", "", environ.DefaultPath},
		{":", "", environ.DefaultPath},
		{".:bin:~/bin", "", environ.DefaultPath},
		{":/a::/b:", "", "/a:/b"},
		{".:/a:../x:/b:/a", "", "/a:/b"},
		{"/links:/a:/links/:/b", "/links", "/a:/b"},
		{"/links", "/links", environ.DefaultPath},
		{"/a b:/c\n", "", "/a b:/c\n"},
	} {
		if got, _ := environ.CleanPath(c.path, c.links); got != c.want {
			t.Errorf("CleanPath(%q, %q) = %q, want %q", c.path, c.links, got, c.want)
		}
	}
	_, notes := environ.CleanPath("/a::b", "")
	if len(notes) != 2 || notes[0] != "PATH: dropped an empty entry" || notes[1] != `PATH: dropped the relative entry "b"` {
		t.Errorf("notes %q", notes)
	}
}

func FuzzBuild(f *testing.F) {
	f.Add("PATH", "/bin::x", "A_*", "/links")
	f.Add("LC_ALL", "() {", "B", "")
	f.Add("A_\xff", "\x00", "A_*", ":")
	f.Fuzz(func(t *testing.T, name, value, allow, links string) {
		e, err := environ.Build(environ.Spec{Caller: []string{name + "=" + value, "PATH=" + value}, Allow: []string{allow}, Links: links})
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, v := range e.Vars {
			n, val, ok := strings.Cut(v, "=")
			if !ok || seen[n] || strings.ContainsAny(v, "\x00") || (n != "SNENS_DEPTH" && environ.CheckName(n) != nil) {
				t.Fatalf("bad entry %q in %q", v, e.Vars)
			}
			seen[n] = true
			if n != "PATH" {
				continue
			}
			for entry := range strings.SplitSeq(val, ":") {
				if !strings.HasPrefix(entry, "/") {
					t.Fatalf("PATH %q", val)
				}
			}
		}
	})
}
