#!/usr/bin/env python3
"""Ask the privilege broker, list what waits, approve (docs/protocol.md).

  snens_priv.py [--user] [--socket PATH] run RULE [SLOT=WORD,WORD ...] | list | approve ID DIGEST

For Python 3.10. It renders no requests, so it cannot know what a digest stands for:
read the request in `snens approve show ID`, and give the whole digest of there.
"""
import argparse, json, os, socket, struct, sys
def fail(status, *words):
    sys.exit(print("snens_priv.py:", *words, file=sys.stderr) or status)

class Broker:
    def __init__(self, path, listener):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(path)
        peer = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        if struct.unpack("iII", peer)[1] != listener:  # before anything is sent
            fail(69, "somebody else listens at", ascii(path))
        self.lines = self.socket.makefile("r", encoding="utf-8", newline="\n")
        self.say(hello={"version": 1, "capabilities": []})
        self.hear()

    def say(self, **line):
        self.socket.sendall(json.dumps(line).encode() + b"\n")

    def hear(self):
        line = json.loads(self.lines.readline() or fail(69, "the broker hung up"))
        if "error" in line:
            fail(1, json.dumps(line["error"]))
        return line

    def ask(self, out, method, **params):
        self.say(id=1, method=method, params=params)
        while line := self.hear():
            if line["result"].get("state") == "send_fds":
                socket.send_fds(self.socket, [b"\0"], [0, 1, 2])
            else:  # ASCII alone reaches the terminal
                print(json.dumps(line["result"]), file=out, flush=True)
            if not line.get("more"):
                return line["result"]

arguments = argparse.ArgumentParser(usage=__doc__)
arguments.add_argument("--user", action="store_true"), arguments.add_argument("--socket")
arguments.add_argument("words", nargs="+")
o = arguments.parse_args()
folder = os.path.join(os.environ["XDG_RUNTIME_DIR"] if o.user else "/run", "snens-priv")
path = o.socket or os.path.join(folder, "request.sock" if o.words[0] == "run" else "approval.sock")
broker = Broker(path, os.getuid() if o.user else 0)
match o.words:
    case ["run", rule, *words]:  # stdout is the command's, so our lines go to stderr
        slots = {name: value.split(",") for name, _, value in (w.partition("=") for w in words)}
        sys.exit(broker.ask(sys.stderr, "run", rule=rule, slots=slots, fds=3).get("exit_code", 1))
    case ["list"]:
        broker.ask(sys.stdout, "list")
    case ["approve", id, digest]:
        broker.ask(sys.stdout, "answer", request=id, decision="approve", digest=digest, lifespan="once")
    case _:
        arguments.error("give run RULE, list, or approve ID DIGEST")
