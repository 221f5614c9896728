package session

// StateBaseIn is StateBase with another folder in place of /tmp.
var StateBaseIn = stateBase
