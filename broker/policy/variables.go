package policy

import (
	"slices"
	"strings"
)

// The two tables below are not what keeps the environment clean: that is the
// rule that nothing comes in but what env_pass names. They keep an administrator
// from naming what would undo it.

// family is a group of variables with one reason against them. A name that
// ends in * stands for all that begin with it.
type family struct {
	why   string
	names string // separated by blanks
}

// code are variables by which somebody can make a program run code, or load
// configuration that does.
var code = []family{
	{"the dynamic loader and the C library load or write files by it", "LD_* DYLD_* _RLD* LDR_* LIBPATH SHLIB_PATH GCONV_PATH GETCONF_DIR LOCPATH NLSPATH HOSTALIASES LOCALDOMAIN RES_OPTIONS RESOLV_* MALLOC_* GLIBC_TUNABLES GMON_OUT_PREFIX TZDIR NIS_PATH AUTHSTATE MEMPROF_* MALLOCTYPE LIBC_FATAL_STDERR_ QEMU_LD_PREFIX COREFILE"},
	{"shells run it, or read it as commands", "BASH* ENV SHELLOPTS PS0 PS1 PS2 PS3 PS4 PROMPT_COMMAND CDPATH GLOBIGNORE HISTFILE INPUTRC KSH_VERSION ZDOTDIR ZSH* FPATH NULLCMD READNULLCMD POSIXLY_CORRECT IFS FUNCNEST FCEDIT CSHRC fish_* READLINE_*"},
	{"Python loads code by it", "PYTHON* PIP_* VIRTUAL_ENV CONDA_* PDM_* POETRY_* UV_* PYENV_* WORKON_HOME"},
	{"Perl loads code by it", "PERL* PERLLIB"},
	{"Ruby loads code by it", "RUBY* GEM_* BUNDLE_* RAILS_* RACK_* IRBRC"},
	{"Node.js loads code by it", "NODE_* NPM_* npm_* YARN_* BUN_* DENO_* COREPACK_* NVM_*"},
	{"Java loads code by it", "JAVA* _JAVA_OPTIONS JDK_* CLASSPATH MAVEN_* M2_HOME GRADLE_* ANT_* SBT_* SCALA_* KOTLIN_* CATALINA_* JRE_HOME"},
	{"the language loads code by it", "PHP* LUA_* TCL* TCLLIBPATH TK_LIBRARY GUILE_* ERL_* ELIXIR_* JULIA_* R_* OCAML* CAML_* GHC* HASKELL_* CABAL_* STACK_* SBCL_HOME AWKPATH AWKLIBPATH GAWK_* M4PATH EMACS* OCTAVE_* MONO_* DOTNET_* CORECLR_* COR_* COMPlus_* COMPLUS_* CLR_* MATLABPATH SMLNJ_*"},
	{"compilers and build tools run programs by it", "CC CXX CPP LD AR AS NM RANLIB STRIP FC CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LIBS CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH OBJC_INCLUDE_PATH LIBRARY_PATH COMPILER_PATH GCC_* MAKE MAKEFLAGS MAKEFILES MAKEOVERRIDES MFLAGS GNUMAKEFLAGS CMAKE_* NINJA_* PKG_CONFIG* GOFLAGS GOPATH GOROOT GOENV GOTOOLCHAIN GOPROXY GOSUMDB GOINSECURE GODEBUG GOBIN GOCACHE GOMODCACHE GOWORK GOEXPERIMENT GOCOVERDIR CGO_* CARGO* RUSTC* RUSTFLAGS RUSTUP_* RUST_* CCACHE_* DISTCC_* SCONS* MESON* AUTOM4TE ACLOCAL* CONFIG_SITE CONFIG_SHELL LIBTOOL* DEBUGINFOD_* GDB* LLDB_* ASAN_* LSAN_* MSAN_* TSAN_* UBSAN_* LLVM_* VALGRIND_*"},
	{"git runs programs by it", "GIT_* SSH_ASKPASS SSH_ASKPASS_REQUIRE HG* SVN_* CVS_RSH BZR_* EMAIL_EDITOR"},
	{"remote shells and copies run programs by it", "RSYNC_* SSH_* SCP_* SFTP_* RSH CVS* BORG_* RESTIC_* RCLONE_*"},
	{"it names a program that is run", "EDITOR VISUAL SUDO_EDITOR SYSTEMD_EDITOR SELECTED_EDITOR BROWSER PAGER MANPAGER SYSTEMD_PAGER SYSTEMD_LESS SYSTEMD_PAGERSECURE DELTA_PAGER BAT_PAGER BAT_* AWS_PAGER PSQL_* GH_* LESS LESSOPEN LESSCLOSE LESSKEY* LESSSECURE LESSECHO LESSHISTFILE MORE MANOPT MANROFFOPT MANPATH MANLESS TEXMF* TEXINPUTS VIM* MYVIMRC EXINIT NVIM_* VIMINIT GVIMINIT NANORC TERMINAL XTERM_SHELL SHELL MAILER MAILCAPS TAR_OPTIONS TAPE RMT TAR_LONGLINK GZIP BZIP BZIP2 XZ_OPT XZ_DEFAULTS ZSTD_* LZOP ZIPOPT UNZIP UNZIPOPT ZIPINFO GREP_OPTIONS GREP_COLORS LS_OPTIONS DIFF_OPTIONS SORT_* FZF_* RIPGREP_CONFIG_PATH TMUX* SCREENRC WGETRC SYSTEM_WGETRC CURL_HOME CURLOPT_*"},
	{"package managers run hooks by it", "APT_CONFIG APT_* DPKG_* DEBIAN_* DEBCONF_* DEB_* DEBHELPER_* RPM_* UCF_* NEEDRESTART_* YUM* DNF_* ZYPP_* SNAP* FLATPAK_* NIX_* GUIX_* BREW_* HOMEBREW_*"},
}

// steering are variables that change where a program looks, or whom it takes
// for its user. A rule may set them; a requester may not.
var steering = []family{
	{"the program loads modules or configuration by it", "OPENSSL_* SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE REQUESTS_CA_BUNDLE CURL_CA_BUNDLE GNUTLS_* GNUPGHOME GPG_* P11_KIT_* PKCS11_* KRB5* GSS_* SASL_* LDAP* NSS_* PAM_* XDG_* DBUS_* SYSTEMD_* KUBECONFIG KUBE_* HELM_* DOCKER_* CONTAINER_* CONTAINERS_* CONTAINERD_* PODMAN_* BUILDAH_* CRIO_* VAGRANT_* ANSIBLE_* TF_* PULUMI_* CHEF_* PUPPET_* AWS_* AZURE_* GOOGLE_* CLOUDSDK_* VAULT_* CONSUL_* NOMAD_* PGSERVICEFILE PGSYSCONFDIR PGPASSFILE PGSERVICE PGOPTIONS MYSQL_* MARIADB_* REDIS* MONGO* SQLITE_* ODBC* SQLPATH ORACLE_* TNS_ADMIN QT_* GTK* GDK_* GIO_* GST_* GI_TYPELIB_PATH GVFS_* LIBGL_* MESA_* VK_* EGL_* __EGL_* __GLX_* ALSA_* PULSE_* VDPAU_* LIBVA_* OCL_* CUDA_* NVIDIA_* FONTCONFIG_* MAGICK_* GS_* TERMINFO* TERMCAP TERMPATH NCURSES_* KPSE* PCAP_* NMAPDIR WIRESHARK_* LUA* SNMP* MIBDIRS MIBS NETRC PROXYCHAINS_* OPENBLAS_* OMP_* KMP_* MKL_* BLAS_*"},
	{"programs look for other programs and files by it", "PATH HOME PWD OLDPWD TMPDIR TMP TEMP TEMPDIR TMPPREFIX LOCATE_PATH"},
	{"programs take it for their user", "USER LOGNAME USERNAME SUDO_* PKEXEC_* DOAS_* LOGIN MAIL MAILPATH UID EUID GID GROUPS SSH_USER REMOTE_USER HOSTNAME HOST NOTIFY_SOCKET LISTEN_* MAINPID INVOCATION_ID JOURNAL_STREAM CREDENTIALS_DIRECTORY STATE_DIRECTORY RUNTIME_DIRECTORY WATCHDOG_*"},
	{"it can name a file that is read", "TZ"},
	{"it leads a privileged program through the requester's server or display", "http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY RSYNC_PROXY DISPLAY WAYLAND_* XAUTHORITY XAPPLRESDIR XENVIRONMENT XFILESEARCHPATH XUSERFILESEARCHPATH XLOCALEDIR XKB_* XMODIFIERS XCURSOR_* ICEAUTHORITY SESSION_MANAGER WINDOWID"},
}

// pagers are in the table of code, yet a rule sets them all the time, to cat.
var pagers = []string{"EDITOR", "VISUAL", "PAGER", "MANPAGER", "SYSTEMD_PAGER", "SYSTEMD_LESS", "SYSTEMD_PAGERSECURE", "SYSTEMD_COLORS", "GIT_PAGER", "LESS", "LESSSECURE", "LESSHISTFILE", "DEBIAN_FRONTEND", "DEBIAN_PRIORITY", "APT_LISTCHANGES_FRONTEND", "NEEDRESTART_MODE", "NEEDRESTART_SUSPEND", "UCF_FORCE_CONFFOLD", "SHELL"}

// runsCode says why a variable can make a program run something, "" when no
// way is known.
func runsCode(name string) string { return inFamily(code, name) }

// steers says why a requester may not set a variable that a rule may.
func steers(name string) string { return inFamily(steering, name) }

func inFamily(table []family, name string) string {
	for _, f := range table {
		for pattern := range strings.FieldsSeq(f.names) {
			prefix, isPrefix := strings.CutSuffix(pattern, "*")
			if name == pattern || isPrefix && strings.HasPrefix(name, prefix) {
				return f.why
			}
		}
	}
	return ""
}

// needsIKnow says why a rule may set a variable only with i_know, "" when it may.
func needsIKnow(name string) string {
	if slices.Contains(pagers, name) {
		return ""
	}
	return runsCode(name)
}
