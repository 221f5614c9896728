// Package nspawn holds the tests that need a whole machine: a Debian tree on
// which make install has put the programs, booted by systemd-nspawn.
//
//	m := boot(t)                        // a fresh machine, gone with the test
//	m.root("systemctl enable --now snens-priv")
//	said := m.as("agent", "snens priv rules")
//
// The tree is made by debootstrap once, in $SNENS_TREE_CACHE or else in the
// user's cache folder, and never written again: each machine is an overlay of
// three layers, the tree, what make install put, and a file system in memory.
// Everything that is mounted is mounted in a mount namespace of the machine's
// own, whose /run is empty, and all processes are in one control group; so a
// machine leaves nothing behind, however its test ended. It has no network
// and is registered nowhere.
//
// A command is run by the machine's own systemd, as a service of the user that
// is asked for, so that groups, control groups and limits are what they are on
// a real machine. A terminal is one that systemd-run makes inside.
//
// pages_test.go reads docs/approvals.md and docs/install.md and runs what they
// show, as they show it. What does not need a booted system is tested in
// package e2e, or beside the code.
package nspawn
