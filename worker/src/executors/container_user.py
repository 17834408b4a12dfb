"""Which numbers a container's user has: names are the image's own, so it is asked for its passwd and group."""
import io
import tarfile

from container_engine import EngineRefused


def find_user(engine, container, user):
    """(uid, gid) of `uid`, `uid:gid`, or the same with names."""
    name, _, group = user.partition(":")
    accounts = {} if name.isdigit() and (group.isdigit()) else table(engine, container, "/etc/passwd")
    uid, own = (int(name), accounts.get(name, (0, 0))[1]) if name.isdigit() else accounts.get(name, (None, None))
    if uid is None:
        raise EngineRefused(400, f"the image has no user {name}")
    if group == "":
        return uid, own
    if group.isdigit():
        return uid, int(group)
    found = table(engine, container, "/etc/group").get(group)
    if found is None:
        raise EngineRefused(400, f"the image has no group {group}")
    return uid, found[0]


def table(engine, container, path):
    """name, and the number as text -> the numbers of its line."""
    try:
        archive = engine.fetch("GET", f"/containers/{container}/archive?path={path}")
    except EngineRefused:
        return {}
    rows = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files.getmembers():
            for line in (files.extractfile(member) or io.BytesIO()).read().decode("utf-8", "replace").splitlines():
                name, _, *numbers = line.split(":")
                numbers = [int(number) for number in numbers[:2] if number.isdigit()]
                if numbers:
                    rows[name] = rows[str(numbers[0])] = (numbers[0], numbers[-1])
    return rows
