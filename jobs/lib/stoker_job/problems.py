"""What can go wrong, in sentences a person can act on."""

import errno


class Refused(Exception):
    """The caller's fault: names the two facts that disagree. Nothing was computed."""


class Failed(Exception):
    """The work went wrong in a way that is understood: says what happened and what to change."""


def sentence_of(error: BaseException) -> str:
    """One sentence for an error; the traceback is attached elsewhere."""
    if isinstance(error, (Refused, Failed)):
        return str(error)
    if is_out_of_memory(error):
        return f"out of memory ({first_line(error)}): lower batch_size or model_size, or give the job more memory"
    if isinstance(error, ModuleNotFoundError):
        return f"the Python package {error.name} is not installed here: pip install -r requirements.txt of this program"
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full while writing {error.filename or 'a file'}: give the job more disk"
    if is_lost_rank(error):
        return "another rank of this job is gone: its own output says why"
    return f"{type(error).__name__}: {first_line(error)}".rstrip(": ")


def is_out_of_memory(error: BaseException) -> bool:
    """PyTorch says it by its own class on a GPU and by a plain RuntimeError on a CPU."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(word in str(error) for word in ("can't allocate memory", "not enough memory"))


def is_lost_rank(error: BaseException) -> bool:
    """The collective calls of torch.distributed fail so when a peer ends."""
    words = ("Connection closed by peer", "Connection reset by peer", "Broken pipe", "Timed out waiting", "NCCL")
    return isinstance(error, RuntimeError) and any(word in str(error) for word in words)


def first_line(error: BaseException) -> str:
    """Of a long message the part that names the trouble."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__
