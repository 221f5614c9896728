// Package policy is what an administrator lets others do: it reads policy files,
// checks them, judges requests by them, and explains the judgement.
//
// Load makes a Policy, or one error that lists every fault with file, line and
// column. A Policy never changes; Holder keeps the one in force and replaces it
// when a reload succeeds. docs/policy.md is the reference of the files, and a
// test compares it with Keys.
//
// The questions, all asked of one Policy:
//
//   - Judge: may this subject run this command, and by which rule? The answer
//     has the rule with everything that the run needs: environment, run-as, limits.
//     Judge again when the approved command is about to run, and compare the
//     rule's Digest: an edit elsewhere in the policy does not change it.
//   - Names and Visible: what may this subject ask for? Whoever is not named
//     gets the same answer to everything.
//   - Rule.Approve.Holds and SamePerson: may this subject approve that request?
//   - Explain: how did each rule fare? For the administrator alone.
//   - Findings: what loads, but is probably not meant.
//
// Everything fails towards no. The zero Decision is Deny, a request that no rule
// matches is denied, a rule with a fault makes the whole load fail rather than
// disappear, and a key whose feature this version lacks is an error.
//
// What a rule cannot see for itself comes through Host: accounts, and whose
// files are. System is the real machine; tests bring their own. Judging reads no
// clock, opens no file and starts nothing.
//
// Not here: who a peer is (package peer), how long a request lives and who
// voted (package approval), what runs in the end (package broker).
package policy
