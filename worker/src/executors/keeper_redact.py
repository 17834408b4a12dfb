"""Values of secrets are taken out of a program's output before it is written anywhere."""
import base64
import json
import os
import re
import urllib.parse

from keeper_stream import CHUNK, Stream

SHORTEST = 8  # bytes; shorter values stand in too much ordinary text


def hidden_forms(secrets):
    """Each form a value is likely to be printed in, with the mark that takes its place."""
    forms = {}
    for secret in (secrets or {}).get("hidden") or []:
        mark = f"***{secret['name']}***".encode()
        value = base64.b64decode(secret["value"])
        for form in forms_of(value):
            if len(form) >= SHORTEST:
                forms.setdefault(form, mark)
    return forms


def forms_of(value):
    """Whole, line by line, and as JSON and URLs spell it; not in base64 or any other disguise."""
    for raw in [value.strip(), *(line.strip() for line in value.splitlines())]:
        yield raw
        yield urllib.parse.quote_from_bytes(raw, safe="").encode()
        text = raw.decode(errors="replace")
        if text.encode() == raw:
            yield json.dumps(text)[1:-1].encode()
            yield json.dumps(text, ensure_ascii=False)[1:-1].encode()


class Redactor:
    def __init__(self, forms):
        self.forms, self.held = forms, b""
        longest_first = sorted(forms, key=len, reverse=True)
        self.pattern = re.compile(b"|".join(map(re.escape, longest_first)))
        self.longest, self.starts = len(longest_first[0]), {form[0] for form in forms}

    def feed(self, data):
        """What is safe to write; the end is held back while it may be the beginning of a value."""
        data = self.held + data
        return self.cut(data, self.hold_from(data))

    def flush(self):
        return self.cut(self.held, len(self.held))

    def cut(self, data, until):
        clean, at = [], 0
        for match in self.pattern.finditer(data):
            if match.start() >= until:
                break
            clean += [data[at:match.start()], self.forms[match.group()]]
            at = match.end()
        clean.append(data[at:until])
        self.held = data[max(at, until):]
        return b"".join(clean)

    def hold_from(self, data):
        for at in range(max(0, len(data) - self.longest + 1), len(data)):
            if data[at] in self.starts:
                tail = data[at:]
                if any(len(tail) < len(form) and form.startswith(tail) for form in self.forms):
                    return at
        return len(data)


class RedactedStream(Stream):
    """Passes through the keeper's memory, which costs; so only attempts with secrets have it."""

    def __init__(self, name, folder, redactor, segments=None, said=0):
        super().__init__(name, folder, segments, said)
        self.redactor = redactor

    def move(self, room, null):
        data = os.read(self.pipe, CHUNK)
        if data:
            self.enlarge(len(data))
            self.put(self.redactor.feed(data), room)
        return len(data)

    def put(self, data, room):
        if room > 0:
            self.keep(data[:room])
            data = data[room:]
        if data:
            self.keep_events(data)

    def close(self):
        self.put(self.redactor.flush(), CHUNK)
        super().close()
