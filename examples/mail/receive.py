#!/usr/bin/env python3
"""usage: receive.py BOX    Claims one message, prints its body, removes it.

Written from docs/mail.md alone, with nothing but the standard library. Exits 1
when no message is there. A message that is no JSON is left to others.
"""

import base64
import fcntl
import json
import os
import re
import sys
import time

PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}\Z")
CLAIMED = re.compile(r"([A-Za-z0-9_-][A-Za-z0-9._-]{0,127}):([1-9][0-9]*):(0|[1-9][0-9]*)\Z")
MAX_BYTES = 1 << 20
MAX_LEASE = 24 * 3600
MAX_DELIVERIES = 5


def candidates(box):
    """Yield (path, name in cur) of what may be claimed: left claims, then new."""
    now = time.time()
    for name in sorted(os.listdir(os.path.join(box, "cur"))):
        match = CLAIMED.match(name)
        if not match or now < int(match[3]) <= now + MAX_LEASE:
            continue
        if int(match[2]) < MAX_DELIVERIES:
            yield os.path.join(box, "cur", name), f"{match[1]}:{int(match[2]) + 1}:0"
    for name in sorted(os.listdir(os.path.join(box, "new"))):
        if PLAIN.match(name):
            yield os.path.join(box, "new", name), f"{name}:1:0"


def claim(box):
    """Return (open file that holds the lock, its path in cur, message) or None."""
    for path, name in candidates(box):
        try:
            if not os.path.isfile(path) or os.path.islink(path):
                continue
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue
        file = os.fdopen(fd, "rb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(fd), os.lstat(path)):
                raise FileNotFoundError(path)
            message = json.loads(file.read(MAX_BYTES).decode())
            claimed = os.path.join(box, "cur", name)
            if os.path.lexists(claimed):
                raise FileExistsError(claimed)
            os.rename(path, claimed)
            return file, claimed, message
        except (OSError, ValueError):
            file.close()  # somebody was faster, or it is no message
    return None


def main():
    found = claim(sys.argv[1])
    if found is None:
        return 1
    file, path, message = found
    body = message["body"]
    data = body.encode() if isinstance(body, str) else base64.b64decode(body["base64"])
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
    os.unlink(path)  # the work is done; after a crash before here it comes again
    file.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
