// Package environ builds the environment of a call. It starts from nothing:
// what the caller's environment holds reaches a tool only by name.
//
// Build puts together, each later one replacing an earlier one of the same name:
//
//  1. from the caller: HOME, USER, LOGNAME, SHELL, LANG, LANGUAGE, the LC_
//     variables of the C library, TZ, TMPDIR, XDG_RUNTIME_DIR, XDG_CONFIG_HOME,
//     XDG_DATA_HOME, XDG_STATE_HOME, XDG_CACHE_HOME, and what env_allow of the
//     configuration adds (a name, or a prefix as "AWS_*");
//  2. TERM=dumb, because a call has no terminal;
//  3. the caller's variables that [tool.NAME] env_pass names, and those that
//     [tool.NAME] env sets;
//  4. the variables that the tool's own x-snens "env" makes from its arguments;
//  5. PATH, with the folder of links to tools first (see CleanPath);
//  6. the SNENS_ variables of Context that are known, and SNENS_DEPTH.
//
// XDG_RUNTIME_DIR is let through because it is only a path that anybody can
// guess, and without it "systemctl --user" and the like do not work; what lies
// there is guarded by its own permissions. Sockets and keys of the session
// (SSH_AUTH_SOCK, DBUS_SESSION_BUS_ADDRESS), proxies (they hold passwords) and
// DISPLAY are not. Of the LC_ variables only those the C library knows are let
// through: others are used to carry all kinds of things over ssh.
//
// Nothing is ever set to an empty SNENS_ value: a variable that is not there
// tells a tool that it does not know that context. SNENS_ variables of the
// caller are not copied, and neither a grant nor a tool can set one.
//
// Values of step 3 are returned as Secrets for redaction, except those shorter
// than MinSecret bytes (replacing every "1" or "yes" in an output would destroy
// it and hide nothing) and those of PATH, TERM and the variables of step 1, which
// hide nothing either. What env_allow lets through goes to every tool and is not
// redacted: a key belongs into env_pass of the tool that needs it.
package environ
