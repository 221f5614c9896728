package cgroup

import "fmt"

// TryStart is one round of Probe.
func (t *Tree) TryStart(kills int) (bool, error) { return t.tryStart(kills) }

// KillEach is Kill without cgroup.kill.
func (g *Group) KillEach() error { return g.killEach() }

// PIDs1 is the folder of the group in the v1 pids hierarchy.
func (g *Group) PIDs1() string { return g.v1 }

// WithoutPIDs1 is t on a machine without cgroup v1.
func (t *Tree) WithoutPIDs1() *Tree { c := *t; c.pids1 = ""; return &c }

// FakeTree works on plain folders.
func FakeTree(parent string, free bool) *Tree {
	return &Tree{mount: parent, parent: parent, free: free}
}

// Prepare applies limits to a folder that stands in for a fresh group.
func (t *Tree) Prepare(path string, l Limits) (*Group, error) {
	g := &Group{path: path}
	if err := t.handDown(l, t.Can()); err != nil {
		return nil, err
	}
	return g, g.prepare(t, l, t.Can())
}

// HandDownError is the text for a parent that may not hand down.
var HandDownError = handDownError

// DetectFrom is Detect with these contents of /proc/self.
func DetectFrom(mountinfo, cgroup string) (*Tree, error) {
	return detect(parseMounts(mountinfo), parseMembership(cgroup))
}

// Mounts lists what mountinfo says as lines "v2|v1 controllers root point".
func Mounts(text string) []string {
	var list []string
	for _, m := range parseMounts(text) {
		kind := "v2"
		if !m.v2 {
			kind = fmt.Sprint("v1 ", m.controllers)
		}
		list = append(list, fmt.Sprintf("%s %s %s", kind, m.root, m.point))
	}
	return list
}

// Membership reads /proc/PID/cgroup.
func Membership(text string) map[string]string { return parseMembership(text) }

// Folder is where a group lies below a mount.
func Folder(root, point, path string) (string, error) {
	return mount{v2: true, root: root, point: point}.folder(path)
}
