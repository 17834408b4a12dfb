"""Programs that do not want to end. The second word marks every process of the tree, so that none can hide."""
import os
import signal
import sys
import time


def stubborn():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def linger():
    while True:
        time.sleep(1)


def escape():
    """A grandchild in a session of its own, whose parent is gone."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            linger()
        os._exit(0)
    os.wait()


def reborn():
    """Each generation lives for a moment and leaves a child in a new session."""
    while True:
        if os.fork() != 0:
            os._exit(0)
        os.setsid()
        time.sleep(0.01)


def storm():
    """As many children as the system gives; they only sleep, so that the machine stays usable."""
    for count in range(100_000):
        try:
            if os.fork() == 0:
                linger()
        except OSError:
            print("refused after", count, flush=True)
            return


stubborn()
kind = sys.argv[1]
print("ready", flush=True)
if kind == "escape":
    escape()
elif kind == "reborn" and os.fork() == 0:
    reborn()
elif kind == "storm":
    storm()
linger()
