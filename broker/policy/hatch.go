package policy

import (
	"path"
	"slices"
	"strings"
)

// hatch is a family of programs by which one who may run them can run others,
// or read and write files of his choice, and so leave what the rule says.
type hatch struct {
	names  string // separated by blanks; a name that ends in * stands for all that begin with it
	probes string // words that open it; "" = the program as such
	why    string // reads after "NAME"
	source string // where that is written
	free   bool   // fits only when the rule has a slot: with fixed arguments the rule says all
}

// hatches are tried in order; the first that fits is reported. A row with probes
// fits only when an argument of the rule is one of them, or has a slot that
// would take one.
var hatches = []hatch{
	{"sh bash dash ash zsh ksh ksh93 mksh lksh oksh pdksh csh tcsh fish rc es elvish nu pwsh xonsh yash posh sash rbash rzsh osh", "", "is a shell", "its manual: -c", false},
	{"busybox toybox busybox.static", "", "has a shell and an editor among its applets", "busybox --list", false},
	{"python* pypy* ipython* perl* ruby* irb node nodejs deno bun php* lua* tclsh* expect wish* guile* racket erl escript elixir iex julia R Rscript octave* ocaml ghci scala kotlin groovy jshell java jrunscript dotnet mono csi gawk mawk nawk awk original-awk gjs js d8 qjs sbcl ecl clisp swipl gforth raku janet", "", "is an interpreter", "its manual: it runs the code it is given", false},
	{"vi vim vim.* vimdiff view rvim rview ex nvim gvim nano pico emacs* emacsclient joe jed mcedit micro kak helix hx ed red ne mg zile tilde gedit kate vipw vigr visudo sensible-editor editor select-editor sudoedit crontab", "", "is an editor, or starts one", "its manual: writes any file, runs commands (:!, ^T, !)", false},
	{"less more most pg pager sensible-pager bat batcat lnav man info pinfo w3m lynx links elinks tig ranger nnn mc vifm", "", "is a pager or viewer with commands", "less(1): !command, v, |", false},
	{"env xargs parallel nice ionice chrt taskset timeout nohup setsid setarch linux32 linux64 stdbuf time watch script scriptreplay unbuffer flock chronic ts entr faketime fakeroot eatmydata proot prlimit cpulimit choom catchsegv ltrace strace gdb gdbserver lldb rr perf valgrind bpftrace stap daemon start-stop-daemon run-parts at batch atd anacron xvfb-run dbus-run-session dbus-launch rlwrap socat ncat nc nc.* netcat telnet logsave unshare nsenter chroot schroot arch-chroot systemd-nspawn systemd-run systemd-inhibit machinectl capsh setpriv su sudo sudo-rs doas pkexec runuser run0 s6-* chpst setuidgid softlimit envdir dumb-init tini tmux screen dtach byobu zellij multitime hyperfine make gmake bmake ninja cmake just rake ant mvn gradle bazel scons", "", "runs another program that its arguments name", "its manual: the command is an argument", false},
	{"find fd fdfind", "", "runs other programs and removes files", "find(1): -exec, -delete, -fprint", false},
	{"tar bsdtar star cpio pax zip unzip 7z 7za rar ar gtar", "", "runs other programs, or writes files wherever the archive says", "tar(1): --checkpoint-action, --to-command, -I", false},
	{"sed gsed", "", "runs other programs and writes files", "sed(1): e, w, -i", false},
	{"nmap masscan tcpdump tshark wireshark dumpcap", "", "runs scripts or programs, and writes files", "nmap(1): --script; tcpdump(8): -z, -w", false},
	{"git hg svn cvs bzr fossil jj", "", "runs hooks, aliases, pagers and editors of the repository it is in", "git-config(1): core.pager, core.sshCommand, alias", false},
	{"ssh scp sftp slogin rsh rsync rclone mosh sshfs ftp lftp tftp wget curl aria2c", "", "runs other programs, or writes files of the requester's choice", "ssh(1): -o ProxyCommand; rsync(1): -e; curl(1): -o", false},
	{"gcc* g++* cc c++ clang* ld as cpp go rustc cargo javac tcc pip* npm npx yarn pnpm gem bundle composer cpan cpanm poetry uv uvx pipx easy_install conda mamba", "", "runs code of what it builds or installs", "gcc(1): -wrapper; npm(1): scripts", false},
	{"psql mysql mariadb sqlite3 mongo mongosh redis-cli sqlplus isql bc dc m4 gnuplot latex pdflatex xelatex lualatex tex ghostscript gs convert magick ffmpeg ffplay", "", "has a language that reads files or runs programs", `psql(1): \!; m4(1): syscmd; tex: \write18`, false},
	{"cp mv ln install dd tee truncate split csplit shred sponge rename mmv cat head tail tac nl od xxd hexdump base32 base64 cut sort uniq comm join paste diff cmp look strings grep egrep fgrep rgrep rg zcat zless zmore zgrep zdiff xz gzip bzip2 zstd file stat readlink chmod chown chgrp chattr setfacl setcap mount umount losetup debugfs mkfs* fsck* mknod mkfifo patch restic borg duplicity", "", "reads, writes or gives away files that its arguments name", "its manual", true},
	{"passwd chpasswd chage usermod useradd adduser groupmod groupadd gpasswd newusers chsh chfn vipw", "", "makes and changes accounts, root's among them", "usermod(8): -o -u 0, -aG", true},
	{"insmod modprobe kmod kexec ldconfig ldd ld.so ld-linux* update-alternatives debconf dpkg-reconfigure dpkg-divert dpkg-statoverride sysctl", "", "changes what every program loads or runs", "its manual", true},
	{"docker podman nerdctl ctr crictl lxc lxc-attach incus kubectl virsh buildah", "run create exec cp build load import attach commit compose debug edit console", "starts programs as root, with any folder of this machine", "docker(1): run -v /:/host, exec, cp", false},
	{"systemctl", "edit set-environment import-environment link enable revert set-default preset switch-root /tmp/x.service", "starts an editor, or makes the service manager load or pass on what it is given", "systemctl(1): edit, link, set-environment, enable PATH", false},
	{"journalctl", "--file=/tmp/x --directory=/tmp -D/tmp --root=/tmp -M", "reads files that its arguments name", "journalctl(1): --file, --directory, --root", false},
	{"apt apt-get aptitude dpkg dpkg-deb", "-oDpkg::Pre-Invoke=id -o ./x.deb /tmp/x.deb -i --install --pre-invoke=id source build-dep changelog", "runs the scripts of a package that anybody can have made, or hooks", "apt-get(8): -o; install takes a path; deb-postinst(5)", false},
	{"dnf yum microdnf zypper rpm pacman apk snap flatpak nix* guix", "./x.rpm /tmp/x.rpm --setopt=pluginpath=/tmp -c/tmp/x shell -i -U --dangerous", "runs the scripts of a package that anybody can have made", "rpm(8): scriptlets", false},
	{"certbot acme.sh lego dehydrated", "--pre-hook=id --post-hook=id --deploy-hook=id --renew-hook=id --manual-auth-hook=id --config=/tmp/x --pre-hook --hook", "runs commands", "certbot: --pre-hook, --deploy-hook", false},
	{"iptables ip6tables ip6tables-* iptables-*", "--modprobe=/tmp/x", "runs a program", "iptables(8): --modprobe", false},
	{"nft", "-f --file -f/tmp/x -i -I/tmp", "reads its rules from a file or a terminal", "nft(8): -f, -i", false},
	{"ip", "netns vrf -batch -b -force", "runs another program, or reads commands from a file", "ip-netns(8): exec", false},
	{"logrotate", "/tmp/x -s --state=/tmp/x -l --mail=/tmp/x", "runs the scripts of a configuration that anybody can have made", "logrotate(8): prerotate", false},
	{"service invoke-rc.d rc-service", "../../tmp/x --full-restart", "runs a script by a path that its argument leads to", "service(8)", false},
	{"openssl", "", "loads engines and writes files that its arguments name", "openssl(1): -engine, -out", true},
	{"mail mailx mutt sendmail exim4 postfix", "", "runs programs from within a message or by options", "mailx(1): ~!", false},
	{"pg_dump pg_restore pg_dumpall mysqldump mariadb-dump", "--file=/tmp/x -f/tmp/x -f", "writes files that its arguments name", "its manual", false},
}

// hatch says in what way the command of the rule leads out of it, "" when no
// way is known. A symlink is judged by both its names.
func (r *Rule) hatch(files Files) string {
	names := []string{path.Base(r.Command)}
	if info, err := files.File(r.Command); err == nil && path.Base(info.Real) != names[0] {
		names = append(names, path.Base(info.Real))
	}
	for _, name := range names {
		for _, h := range hatches {
			if !h.is(name) {
				continue
			}
			word, opens := h.opens(r)
			if !opens {
				continue
			}
			why := quote(name) + " " + h.why
			if word != "" {
				why = "the rule lets " + quote(word) + " through, and with it " + why
			}
			return why + " (" + h.source + ")"
		}
	}
	return ""
}

func (h hatch) is(name string) bool {
	for pattern := range strings.FieldsSeq(h.names) {
		prefix, isPrefix := strings.CutSuffix(pattern, "*")
		if name == pattern || isPrefix && versioned(name, prefix) {
			return true
		}
	}
	return false
}

// versioned says that name is prefix with a version or variant behind it:
// python3.11, perl5.36-x86_64, vim.basic, but not perldoc.
func versioned(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	return ok && (rest == "" || !('a' <= rest[0] && rest[0] <= 'z') || strings.ContainsAny(prefix[len(prefix)-1:], "-."))
}

// opens finds a word that opens the hatch and that the rule lets through.
func (h hatch) opens(r *Rule) (word string, ok bool) {
	probes := strings.Fields(h.probes)
	if len(probes) == 0 {
		return "", !h.free || slices.ContainsFunc(r.Args, func(a Arg) bool { return a.Slot != nil })
	}
	verb := true // the next word may be the one that says what to do
	for _, a := range r.Args {
		for _, probe := range probes {
			isVerb := !strings.ContainsAny(probe[:1], "-./")
			switch {
			case a.Slot == nil && (a.Literal == probe || option(probe, a.Literal)),
				a.Slot != nil && (verb || !isVerb) && a.Slot.reject(probe, false) == "":
				return probe, true
			}
		}
		if a.Slot == nil && !strings.HasPrefix(a.Literal, "-") || a.Slot != nil && !a.Slot.Optional && !a.Slot.AllowDash {
			verb = false
		}
	}
	return "", false
}

// option says that literal is the option of the probe --name=value with another
// value.
func option(probe, literal string) bool {
	name, _, hasValue := strings.Cut(probe, "=")
	return hasValue && strings.HasPrefix(name, "--") && (literal == name || strings.HasPrefix(literal, name+"="))
}
